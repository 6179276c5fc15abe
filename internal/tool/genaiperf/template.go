package genaiperf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"inferometer/internal/chat"
	"inferometer/internal/plan"
)

// embedQA is the template that has a name in place of a file.
const embedQA = `[{% for item in texts %}{"text": [{{ item|tojson }}]}{% if not loop.last %},{% endif %}{% endfor %}]`

// readTemplate reads what makes bodies, if anything does.
func (t *tool) readTemplate() error {
	name := t.set.Template
	if name == "" {
		return nil
	}
	source := embedQA
	if name != plan.TemplateEmbedQA {
		text, err := os.ReadFile(name)
		if err != nil {
			return fmt.Errorf("payload_template: %w", err)
		}
		source = string(text)
	}
	var err error
	if t.template, err = chat.Parse(source); err != nil {
		return fmt.Errorf("payload_template: %s: %w", name, err)
	}
	return nil
}

// render makes the body of a request: the template gives a list with one.
func (t *tool) render(e *entry, model string) ([]byte, error) {
	var list []any
	for _, text := range texts(e) {
		list = append(list, text)
	}
	out, err := t.template.Render(nil, chat.Options{Extra: map[string]any{"texts": list, "text": e.text, "model": model}})
	if err != nil {
		return nil, fmt.Errorf("payload_template: %w", err)
	}
	var bodies []json.RawMessage
	if err := json.Unmarshal([]byte(out), &bodies); err != nil {
		return nil, fmt.Errorf("payload_template: what it gives is no JSON list: %.100s", bytes.TrimSpace([]byte(out)))
	}
	if len(bodies) != 1 {
		return nil, errors.New("payload_template: it gives no single body for one text")
	}
	return compact(bodies[0])
}
