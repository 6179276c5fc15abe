package shaped

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// one is a source of one prompt.
type one struct{ p prompt.Prompt }

func (o one) Prompt(context.Context, prompt.Position) (prompt.Prompt, error) { return o.p, nil }

func shape(t *testing.T, target plan.Target, p prompt.Prompt) prompt.Prompt {
	t.Helper()
	s, err := New(one{p}, target, plan.Data{})
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.Prompt(t.Context(), prompt.Position{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The bodies are those of GenAI-Perf, field by field, in its order.
func TestBodies(t *testing.T) {
	template := filepath.Join(t.TempDir(), "body.jinja")
	if err := os.WriteFile(template, []byte(`[{"q": {{ text|tojson }}, "m": {{ model|tojson }}}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	picture := prompt.Part{Kind: prompt.Image, Type: "image/png", Data: []byte("x")}
	for _, tt := range []struct {
		name   string
		target plan.Target
		prompt prompt.Prompt
		want   string
	}{
		// differs: genai-extras-order
		{"chat", plan.Target{Endpoint: plan.EndpointChat, Model: "m", Streaming: true, Body: map[string]any{"top_p": 0.5, "max_tokens": int64(3), "ignore_eos": nil}},
			prompt.Prompt{Text: "hi <you>", Output: 9, Fields: []prompt.Field{{Name: "priority", Value: json.RawMessage("2")}}},
			`{"model":"m","messages":[{"role":"user","content":"hi <you>"}],"stream":true,"max_tokens":3,"ignore_eos":null,"top_p":0.5,"priority":2}`},
		{"a model of its own", plan.Target{Endpoint: plan.EndpointChat, Model: "m"},
			prompt.Prompt{Model: "n", Messages: []prompt.Message{{Role: "system", Content: "s"}, {Role: "user", Content: "u"}}},
			`{"model":"n","messages":[{"role":"system","content":"s"},{"role":"user","content":"u"}]}`},
		{"media", plan.Target{Endpoint: plan.EndpointChat, Model: "m"},
			prompt.Prompt{Text: "t", Parts: []prompt.Part{{Text: "t"}, picture, {Kind: prompt.Image, URL: "http://there"}, {Kind: prompt.Audio, Type: "audio/wav", Data: []byte("y")}}},
			`{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"t"},{"type":"image_url","image_url":{"url":"data:image/png;base64,eA=="}},{"type":"image_url","image_url":{"url":"http://there"}},{"type":"input_audio","input_audio":{"data":"eQ==","format":"wav"}}]}]}`},
		{"completions", plan.Target{Endpoint: plan.EndpointCompletions, Model: "m"}, prompt.Prompt{Text: "t", Output: 2}, `{"model":"m","prompt":["t"],"max_tokens":2}`},
		{"embeddings", plan.Target{Endpoint: plan.EndpointEmbeddings, Model: "m"}, prompt.Prompt{Text: "t", Output: 2}, `{"model":"m","input":["t"]}`},
		{"a batch with a picture", plan.Target{Endpoint: plan.EndpointEmbeddings, Model: "m"}, prompt.Prompt{Text: "t", Texts: []string{"t", "u"}, Parts: []prompt.Part{picture}},
			`{"model":"m","input":["t","u","data:image/png;base64,eA=="]}`},
		{"rankings", plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointRankings, Model: "m"}, prompt.Prompt{Text: "q", Texts: []string{"a", "b"}},
			`{"query":{"text":"q"},"passages":[{"text":"a"},{"text":"b"}],"model":"m"}`},
		{"rerank", plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointRerank}, prompt.Prompt{Text: "q", Texts: []string{"a"}}, `{"query":"q","texts":["a"]}`},
		{"images", plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointRetrieval, Model: "m"}, prompt.Prompt{Text: "t", Parts: []prompt.Part{{Text: "t"}, picture}},
			`{"input":[{"type":"image_url","url":"data:image/png;base64,eA=="}]}`},
		{"TGI", plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointTGI, Model: "m", Streaming: true}, prompt.Prompt{Text: "t", Output: 4, Parts: []prompt.Part{{Text: "t"}, picture}},
			`{"model":"m","inputs":"![](data:image/png;base64,eA==) t","stream":true,"parameters":{"max_new_tokens":4}}`},
		{"template", plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointTemplate, Model: "m", Template: template}, prompt.Prompt{Text: "t"}, `{"q":"t","m":"m"}`},
		{"nv-embedqa", plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointTemplate, Template: plan.TemplateEmbedQA}, prompt.Prompt{Text: "t"}, `{"text":["t"]}`},
		{"Triton makes its own", plan.Target{Protocol: plan.ProtocolTriton, Model: "m"}, prompt.Prompt{Text: "t"}, ""},
		{"a body of its own", plan.Target{Endpoint: plan.EndpointChat}, prompt.Prompt{Body: []byte("{}")}, "{}"},
	} {
		if got := shape(t, tt.target, tt.prompt); string(got.Body) != tt.want {
			t.Errorf("%s:\n%s, want\n%s", tt.name, got.Body, tt.want)
		}
	}
}

// Requests that differ have hashes that differ.
func TestHashes(t *testing.T) {
	seen := map[uint64]bool{}
	triton := plan.Target{Protocol: plan.ProtocolTriton, Model: "m"}
	for _, p := range []prompt.Prompt{{Text: "a"}, {Text: "a", Output: 2}, {Text: "a", Model: "n"}, {Text: "b"}} {
		for _, target := range []plan.Target{triton, {Endpoint: plan.EndpointChat, Model: "m"}} {
			h := shape(t, target, p).Hash
			if seen[h] {
				t.Errorf("%+v has the hash of another", p)
			}
			seen[h] = true
		}
	}
}

// A template gives a body, or a list with it.
func TestTemplates(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t")
	for _, text := range []string{
		`{% for item in texts %}{"key": [{{ item|tojson }}]}{% if not loop.last %},{% endif %}{% endfor %}`,
		`[ {"key": [{{ text|tojson }}]} ]`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		p := shape(t, plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointTemplate, Template: name}, prompt.Prompt{Text: "a \"b\""})
		if string(p.Body) != `{"key":["a \"b\""]}` {
			t.Errorf("%s gives %s", text, p.Body)
		}
	}
}

func TestBadTemplates(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"{% if %}": "the template of request bodies",
		"{},{}":    "is neither a JSON object nor a list with one",
		"[1, 2]":   "no single body",
	} {
		name := filepath.Join(dir, "t")
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := New(one{prompt.Prompt{Text: "t"}}, plan.Target{Protocol: plan.ProtocolHTTP, Endpoint: plan.EndpointTemplate, Template: name}, plan.Data{})
		if err == nil {
			_, err = s.Prompt(t.Context(), prompt.Position{})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
	if _, err := New(one{}, plan.Target{Endpoint: plan.EndpointTemplate, Template: filepath.Join(dir, "none")}, plan.Data{}); err == nil {
		t.Error("a template that is not there is taken")
	}
}

// rest is a conversation of so many turns.
type rest struct{ left int }

func (r *rest) Next(prompt.Response) (prompt.Prompt, time.Duration, error) {
	if r.left == 0 {
		return prompt.Prompt{}, 0, io.EOF
	}
	r.left--
	return prompt.Prompt{Text: "more", Rest: r}, time.Second, nil
}

func TestConversations(t *testing.T) {
	p := shape(t, plan.Target{Endpoint: plan.EndpointCompletions, Model: "m"}, prompt.Prompt{Text: "first", Rest: &rest{left: 2}})
	for range 2 {
		var think time.Duration
		var err error
		if p, think, err = p.Rest.Next(prompt.Response{}); err != nil || think != time.Second || string(p.Body) != `{"model":"m","prompt":["more"]}` {
			t.Errorf("%s after %s, %v", p.Body, think, err)
		}
	}
	if _, _, err := p.Rest.Next(prompt.Response{}); !errors.Is(err, io.EOF) {
		t.Errorf("%v, want the end", err)
	}
}
