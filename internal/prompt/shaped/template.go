package shaped

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token/chat"
)

// embedQA is the template that has a name in place of a file.
const embedQA = `[{% for item in texts %}{"text": [{{ item|tojson }}]}{% if not loop.last %},{% endif %}{% endfor %}]`

func readTemplate(name string) (*chat.Template, error) {
	source := embedQA
	if name != plan.TemplateEmbedQA {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("reading the template of request bodies: %w", err)
		}
		source = string(text)
	}
	template, err := chat.Parse(source)
	if err != nil {
		return nil, fmt.Errorf("the template of request bodies, %s: %w", name, err)
	}
	return template, nil
}

// render makes the body of a request: the template gives it, or a list with it alone.
func (s *Source) render(p *prompt.Prompt, model string) ([]byte, error) {
	var list []any
	for _, text := range texts(p) {
		list = append(list, text)
	}
	out, err := s.template.Render(nil, chat.Options{Extra: map[string]any{"texts": list, "text": plain(p, " "), "model": model}})
	if err != nil {
		return nil, err
	}
	text := bytes.TrimSpace([]byte(out))
	if bytes.HasPrefix(text, []byte("{")) && json.Valid(text) {
		var body bytes.Buffer
		err := json.Compact(&body, text)
		return body.Bytes(), err
	}
	var bodies []json.RawMessage
	if err := json.Unmarshal(text, &bodies); err != nil {
		return nil, fmt.Errorf("what the template gives is neither a JSON object nor a list with one: %.100s", text)
	}
	if len(bodies) != 1 {
		return nil, errors.New("the template gives no single body for one text")
	}
	return orderedjson.Compact(bodies[0])
}
