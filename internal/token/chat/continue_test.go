package chat

import (
	"encoding/json"
	"os"
	"reflect"
	"testing"

	"github.com/inferometer/inferometer/internal/token/jinja"
)

// TestContinue compares with what transformers 5 makes of continue_final_message; a row is the
// name of a template, the content of the last message, and the text, or null for an error.
func TestContinue(t *testing.T) {
	data, err := os.ReadFile("testdata/continue.json")
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Templates map[string]string
		Rows      [][3]*string
	}
	if err := json.Unmarshal(data, &truth); err != nil {
		t.Fatal(err)
	}
	if len(truth.Rows) < 60 {
		t.Errorf("only %d rows", len(truth.Rows))
	}
	for _, row := range truth.Rows {
		tmpl, err := Parse(truth.Templates[*row[0]])
		if err != nil {
			t.Fatal(err)
		}
		content, err := jinja.FromJSON([]byte(*row[1]))
		if err != nil {
			t.Fatal(err)
		}
		last := jinja.NewDict("role", "assistant", "content", content)
		got, err := tmpl.Render([]Message{NewMessage("user", "one"), last}, Options{ContinueFinalMessage: true})
		if (err != nil) != (row[2] == nil) || row[2] != nil && got != *row[2] {
			t.Errorf("%s, %s: %q, %v", *row[0], *row[1], got, err)
		}
		if v, _ := last.Get("content"); !reflect.DeepEqual(v, content) {
			t.Errorf("the message was changed: %v", v)
		}
	}
}
