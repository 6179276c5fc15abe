package chat

import (
	"bufio"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestErrorsNameLineAndConstruct(t *testing.T) {
	for _, tc := range []struct{ src, want string }{
		{"a\n{% include 'x' %}", "line 2: the tag {% include %} is not supported"},
		{"a\nb\n{{ x | urlize }}", "line 3: the filter urlize is not supported"},
		{"\n{{ x is nosuch }}", "line 2: the test nosuch is not supported"},
		{"{{ f(*a, *b) }}", "line 1: an argument follows those of a list or a mapping"},
		{"{{ dict(**[1]) }}", "line 1: the argument after '**' is a list, not a mapping"},
		{"{% set d = {} %}{{ d[1:] }}", "line 1: only strings and sequences can be sliced: not a dict"},
		{"{{ 'a'.encode() }}", "line 1: the method encode of a str is not supported"},
		{"{% set r = range(3) %}\n{{ 1 + 1 }}\n{{ r }}", "line 3: a range cannot be printed"},
		{"{% macro f(x) %}\n{{ x.y.z }}\n{% endmacro %}\n\n{{ f(1) }}", "line 2: the attribute 'y' of a int is undefined"},
		{"{% with a, b = [1] %}{% endwith %}", "line 1: cannot assign 1 values to 2 names"},
		{"{{ '{:{:{}}}'.format(1, 2, 3) }}", "line 1: formats are nested too deeply"},
		{"{{ lipsum() }}", "line 1: the function lipsum is not supported"},
		{"{% if x %}\n\n", "line 2: the template ends before {% endif %}"},
		{"{% for x in y %}{% endif %}", "line 1: the tag {% endif %} is not supported"},
		{"\n\n{{ '\\N{BULLET}' }}", "line 3: the escape \\N is not supported"},
		{"{% break %}", "line 1: {% break %} outside of a loop"},
		{"{{ 7 ** 99999999 }}", "line 1: the result is too large"},
		{"{{ 10 ** 5000 }}", "more than 4300 digits"},
		{"{% set n = 3 ** 20000 %}{% for a in range(99999) %}{% if n * n %}{% endif %}{% if n + a %}{% endif %}{% endfor %}", "the result is too large"},
		{"{% set n = 3 ** 20000 %}{% for a in range(99999) %}{% if n + a %}{% endif %}{% endfor %}", "the template builds texts of more than"},
		{"{{ a ? b }}", "line 1: unexpected character '?'"},
		{"{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "more than 100 levels deep"},
		{"{% for a in range(99999) %}{% for b in range(99999) %}{{ 1 }}{% endfor %}{% endfor %}", "takes more than 1000000 steps"},
		{"{{ 'a' * 999999999 }}", "line 1: the result is too large"},
		{"{{ " + strings.Repeat("(", 500) + "1" + strings.Repeat(")", 500) + " }}", "nests more than 200 levels deep"},
		{strings.Repeat("{% if 1 %}", 300) + strings.Repeat("{% endif %}", 300), "nests more than 200 levels deep"},
		{"{{ 1" + strings.Repeat("|abs", 300) + " }}", "nests more than 200 levels deep"},
		{"{{ a" + strings.Repeat(".a", 300) + " }}", "nests more than 200 levels deep"},
	} {
		tmpl, err := Parse(tc.src)
		if err == nil {
			_, err = tmpl.Render(nil, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.60q: error %v, want %q", tc.src, err, tc.want)
		}
	}
}

func TestRaised(t *testing.T) {
	tmpl, err := Parse("{{ raise_exception('no ' ~ messages[0].role) }}")
	if err != nil {
		t.Fatal(err)
	}
	_, err = tmpl.Render([]Message{Say("system", "x")}, Options{})
	var r *Raised
	if !errors.As(err, &r) || r.Message != "no system" {
		t.Errorf("got %v", err)
	}
}

func TestOptions(t *testing.T) {
	tmpl, err := Parse("{{ bos_token }}{{ eos_token is defined }}{{ add_generation_prompt }}{{ tools }}{{ documents }}{{ n + 1 }}{{ m | tojson }}{{ l }}{{ strftime_now('%d %B %Y') }}")
	if err != nil {
		t.Fatal(err)
	}
	tools, err := FromJSON([]byte(`[{"b":1,"a":2}]`))
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
	got, err := tmpl.Render([]Message{Say("user", "hi")}, Options{Special: c.Special})
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

func TestManyGoroutines(t *testing.T) {
	tmpl, err := Parse("{% set ns = namespace(n=0) %}{% set j = joiner() %}{% for m in messages %}{% set ns.n = ns.n + 1 %}{{ j() }}{{ m.content }}{{ ns.n }}{% endfor %}")
	if err != nil {
		t.Fatal(err)
	}
	messages := []Message{Say("user", "a"), Say("user", "b")}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				if got, err := tmpl.Render(messages, Options{}); err != nil || got != "a1, b2" {
					t.Errorf("got %q, %v", got, err)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzRender(f *testing.F) {
	in, err := os.Open("testdata/truth.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	defer in.Close()
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var l truthLine
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			f.Fatal(err)
		}
		f.Add(l.Template, string(l.Messages))
	}
	mutate.Fuzz(f, func(t *testing.T, src, messages string) {
		tmpl, err := Parse(src)
		if err != nil {
			return
		}
		v, err := FromJSON([]byte(messages))
		if err != nil {
			return
		}
		var list []Message
		if l, ok := v.(*List); ok {
			for _, m := range l.items {
				if d, ok := m.(*Dict); ok {
					list = append(list, d)
				}
			}
		}
		o := Options{AddGenerationPrompt: true, Now: now, Special: map[string]any{"bos_token": "<s>"}}
		a, errA := tmpl.Render(list, o)
		b, errB := tmpl.Render(list, o)
		if a != b || (errA == nil) != (errB == nil) {
			t.Fatalf("two renderings differ: %q, %v and %q, %v", a, errA, b, errB)
		}
	})
}

func BenchmarkRender(b *testing.B) {
	tmpl, err := Parse("{{ bos_token }}{% for m in messages %}{{ '<|start|>' + m['role'] + '\n' + m['content'] | trim + '<|end|>\n' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start|>assistant\n' }}{% endif %}")
	if err != nil {
		b.Fatal(err)
	}
	messages := []Message{Say("system", "Be brief."), Say("user", strings.Repeat("word ", 500))}
	o := Options{AddGenerationPrompt: true, Special: map[string]any{"bos_token": "<s>"}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := tmpl.Render(messages, o); err != nil {
			b.Fatal(err)
		}
	}
}
