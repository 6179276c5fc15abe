package dataset

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// The files of data sets are told from one another by their columns, and each is read in its own way.
func TestRecognised(t *testing.T) {
	for name, tc := range map[string]struct{ row, kind, text, tools string }{
		"MT-Bench":     {`{"question_id": 81, "category": "writing", "turns": ["Write a post.", "Again."]}`, plan.DatasetMTBench, "Write a post.", ""},
		"LongBench":    {`{"context": "Long ago.", "input": "When?", "answers": ["ago"], "dataset": "qasper"}`, plan.DatasetLongBench, "Long ago.\n\nWhen?", ""},
		"LongBench v2": {`{"context": "Long ago.", "question": "When?", "choice_A": "now", "choice_B": "then", "answer": "B"}`, plan.DatasetLongBench, "Long ago.\n\nWhen?\nA) now\nB) then", ""},
		"OpenOrca":     {`{"system_prompt": "", "question": "Why?", "response": "So."}`, plan.DatasetOpenOrca, "Why?", ""},
		"news":         {`{"article": "It rained.", "highlights": "Rain."}`, plan.DatasetCNN, "It rained.", ""},
		"BFCL": {
			`{"id": "simple_0", "question": [[{"role": "user", "content": "Area?"}]], "function": [{"name": "area", "parameters": {"type": "dict", "properties": {"b": {"type": "float"}, "type": {"type": "tuple"}}}}]}`,
			plan.DatasetBFCL, "Area?",
			`[{"function":{"name":"area","parameters":{"properties":{"b":{"type":"number"},"type":{"type":"array"}},"type":"object"}},"type":"function"}]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "rows.jsonl")
			if err := os.WriteFile(file, []byte(tc.row+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			for _, kind := range []string{tc.kind, plan.DatasetAuto} {
				d := plan.Data{Dataset: plan.Dataset{Kind: kind, Path: file}}
				if HasPrompts(d) {
					t.Error("taken for a file of prompts")
				}
				s, err := New(d, token.Words{}, 1, nil)
				if err == nil {
					err = s.Open(t.Context(), prompt.Use{Chat: true, Fields: true})
				}
				if err != nil {
					t.Fatal(err)
				}
				p := prompttest.FirstPrompts(t, s, 1)[0]
				text, tools := p.Text, ""
				for _, m := range p.Messages {
					text += m.Content
				}
				for _, f := range p.Fields {
					tools += string(f.Value)
				}
				if text != tc.text || tools != tc.tools || (tc.kind != plan.DatasetOpenOrca && tc.kind != plan.DatasetCNN) != (p.Output == 0) {
					t.Errorf("%s: %q with %s, %d tokens to answer", kind, text, tools, p.Output)
				}
				if note := strings.Join(s.Notes(), ""); (kind == plan.DatasetAuto) != strings.Contains(note, "the data set "+tc.kind) {
					t.Errorf("%s: says %q", kind, note)
				}
			}
		})
	}
}

// A file of prompts is none of a data set.
func TestHasPrompts(t *testing.T) {
	for name, want := range map[string]struct {
		text string
		yes  bool
	}{
		"a.jsonl": {`{"prompt": "hi"}`, true}, "b.json": {`[{"messages": [{"role": "user", "content": "hi"}]}]`, true}, "c.txt": {"hi\n", true},
		"d.jsonl": {`{"conversations": [], "text": "x"}`, false}, "e.jsonl": {`{"nothing": 1}`, false}, "f.bin": {"\x00\x01", false}, "g.jsonl": {"", false},
	} {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, []byte(want.text), 0o644); err != nil {
			t.Fatal(err)
		}
		if got := HasPrompts(plan.Data{Dataset: plan.Dataset{Kind: plan.DatasetAuto, Path: file}}); got != want.yes {
			t.Errorf("%s: %t", name, got)
		}
	}
	if HasPrompts(plan.Data{Dataset: plan.Dataset{Kind: plan.DatasetShareGPT, Path: "a.txt"}}) {
		t.Error("a file whose kind is named is of that kind")
	}
}

// What a schema says in Python's names comes out in those of JSON, and nothing else changes.
func TestOpenAISchema(t *testing.T) {
	var v any
	if err := json.Unmarshal([]byte(`{"type": "dict", "description": "float", "properties": {"a": [{"type": "string"}, {"type": "float"}]}}`), &v); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"type": "object", "description": "float", "properties": map[string]any{"a": []any{map[string]any{"type": "string"}, map[string]any{"type": "number"}}}}
	if diff := cmp.Diff(want, openAISchema(v)); diff != "" {
		t.Error(diff)
	}
}
