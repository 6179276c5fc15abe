package jsonhttp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// seedTemplates are templates of request bodies.
func seedTemplates() []string {
	return []string{embedQA, `{"text": {{ text|tojson }}, "model": {{ model|tojson }}, "n": {{ max_tokens }}}`, `[{"a": {% if texts %}{{ texts|tojson }}{% else %}[]{% endif %}}]`}
}

// tryTemplate makes an endpoint of a template, and a request with it.
func tryTemplate(t testing.TB, text string) {
	name := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e := &Endpoint{kind: plan.EndpointTemplate}
	if e.parseTemplate(name) == nil {
		_, _ = e.encode(&prompt.Prompt{Text: "a \"text\"", Texts: []string{"b", "c"}, Output: 3})
	}
}

func FuzzTemplate(f *testing.F) {
	for _, s := range seedTemplates() {
		f.Add(s)
	}
	mutate.Fuzz(f, func(t *testing.T, text string) { tryTemplate(t, text) })
}

func TestBrokenTemplates(t *testing.T) {
	mutate.Try(t, mutate.Usual, seedTemplates(), func(text string) { tryTemplate(t, text) })
}
