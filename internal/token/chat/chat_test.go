package chat

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/token/jinja"
)

func TestOptions(t *testing.T) {
	tmpl, err := Parse("{{ bos_token }}{{ eos_token is defined }}{{ add_generation_prompt }}{{ tools }}{{ documents }}{{ n + 1 }}{{ m | tojson }}{{ l }}{{ strftime_now('%d %B %Y') }}")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := jinja.FromJSON([]byte(`[{"b":1,"a":2}]`))
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.Render(nil, Options{
		AddGenerationPrompt: true,
		Special:             map[string]any{"bos_token": "<s>"},
		Tools:               tools,
		Extra:               map[string]any{"n": 1, "m": map[string]any{"b": []any{1.5, nil}, "a": true}, "l": []string{"x"}},
		Now:                 time.Date(2024, 7, 26, 0, 0, 0, 0, time.UTC),
	})
	want := `<s>FalseTrue[{'b': 1, 'a': 2}]None2{"a": true, "b": [1.5, null]}['x']26 July 2024`
	if err != nil || got != want {
		t.Errorf("got %q, %v\nwant %q", got, err, want)
	}
	if _, err := tmpl.Render(nil, Options{Extra: map[string]any{"n": struct{}{}}}); err == nil || !strings.Contains(err.Error(), "variable n") {
		t.Errorf("got %v, want an error that names the variable", err)
	}
}

func TestReadConfig(t *testing.T) {
	c, err := ReadConfig([]byte(`{"bos_token": {"content": "<s>", "lstrip": false}, "eos_token": "</s>", "pad_token": null, "add_bos_token": true, "add_eos_token": null, "model_max_length": 1000000000000000019884624838656,
		"additional_special_tokens": ["<a>", {"content": "<b>"}], "chat_template": "{{ bos_token }}{{ additional_special_tokens[1] }}{{ messages[0].content }}"}`))
	if err != nil {
		t.Fatal(err)
	}
	if c.AddBOS == nil || !*c.AddBOS || c.AddEOS != nil {
		t.Errorf("AddBOS %v, AddEOS %v", c.AddBOS, c.AddEOS)
	}
	if _, ok := c.Special["pad_token"]; ok {
		t.Error("pad_token is null, and there")
	}
	tmpl, err := c.Template("", true)
	if err != nil {
		t.Fatal(err)
	}
	got, err := tmpl.Render([]Message{NewMessage("user", "hi")}, Options{Special: c.Special})
	if err != nil || got != "<s><b>hi" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSeveralTemplates(t *testing.T) {
	c, err := ReadConfig([]byte(`{"chat_template": [{"name": "default", "template": "D"}, {"name": "tool_use", "template": "T"}, {"name": "rag", "template": "R"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name  string
		tools bool
		want  string
	}{{"", false, "D"}, {"", true, "T"}, {"rag", true, "R"}, {"default", true, "D"}} {
		tmpl, err := c.Template(tc.name, tc.tools)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := tmpl.Render(nil, Options{}); err != nil || got != tc.want {
			t.Errorf("%q: got %q, %v; want %q", tc.name, got, err, tc.want)
		}
	}
	if _, err := c.Template("x", false); err == nil || !strings.Contains(err.Error(), "it has: default, rag, tool_use") {
		t.Errorf("got %v", err)
	}
	none, err := ReadConfig([]byte(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := none.Template("", false); !errors.Is(err, ErrNoTemplate) {
		t.Errorf("got %v", err)
	}
	for _, bad := range []string{``, `[]`, `{"chat_template": 5}`, `{"chat_template": [5]}`, `{"chat_template": [{"name": "x"}]}`} {
		if _, err := ReadConfig([]byte(bad)); err == nil || !strings.Contains(err.Error(), "tokenizer_config.json") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

func BenchmarkRender(b *testing.B) {
	tmpl, err := Parse("{{ bos_token }}{% for m in messages %}{{ '<|start|>' + m['role'] + '\n' + m['content'] | trim + '<|end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start|>assistant\n' }}{% endif %}")
	if err != nil {
		b.Fatal(err)
	}
	messages := []Message{NewMessage("system", "Be brief."), NewMessage("user", strings.Repeat("word ", 500))}
	o := Options{AddGenerationPrompt: true, Special: map[string]any{"bos_token": "<s>"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Render(messages, o); err != nil {
			b.Fatal(err)
		}
	}
}
