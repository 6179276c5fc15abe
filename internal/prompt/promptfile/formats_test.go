package promptfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// Files that are no lists of prompts are refused by what they are.
func TestForeignFilesAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"p.csv", "prompt,tokens\nhello,3\n", "a table of columns"},
		{"P.TSV", "prompt\ttokens\n", "a table of columns"},
		{"p.jsonl.gz", "\x1f\x8b\x08\x00", "compressed with gzip"},
		{"p.jsonl", "\x1f\x8b\x08\x00", "compressed with gzip"},
		{"p", "\x28\xb5\x2f\xfd\x00", "compressed with zstd"},
		{"p.parquet", "PAR1\x15\x04", "a Parquet file"},
		{"p.txt", "PAR1\x15\x04", "a Parquet file"},
		{"p.xlsx", "PK\x03\x04", "a ZIP archive or a spreadsheet"},
		{"plan.yaml", "data: {}", "a form that is not read here"},
		{"p.txt", `{"prompt": "a"}` + "\n", "call it .jsonl"},
		{"t.jsonl", `{"chat_id": 1, "parent_chat_id": -1, "timestamp": 1.5, "input_length": 5, "hash_ids": [1]}`, "with data.source payload"},
	} {
		if _, err := parse(tt.name, []byte(tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.Contains(err.Error(), tt.name) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestWhatIsStillRead(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"p.txt", "BZhao is a name\nsecond\n", 2},
		{"p.txt", "{not JSON}\n{\"a\": 1}\n", 2},
		{"prompts", `["first", "second", {"prompt": "third"}]`, 3},
		{"prompts", "[1] is a footnote\nsecond\n", 2},
	} {
		if got, err := parse(tt.name, []byte(tt.text)); err != nil || len(got) != tt.want {
			t.Errorf("%s: %d prompts, %v; want %d", tt.text, len(got), err, tt.want)
		}
	}
}

const tooled = `{"prompt": "a", "tools": [{"type": "function"}], "temperature": 0.5, "id": 7}
{"prompt": "b", "topic": "x", "id": 8, "response_format": {"type": "json_object"}}
{"session_id": "s", "prompt": "c"}
{"session_id": "s", "prompt": "d", "seed": 3}
`

// What of a line belongs into a request goes there; what does not is told of.
func TestFieldsOfLines(t *testing.T) {
	for _, sent := range []bool{true, false} {
		s, err := New(plan.Data{File: "p.jsonl"}, token.Words{}, 1, with(tooled))
		if err == nil {
			err = s.Open(t.Context(), prompt.Use{Fields: sent})
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range prompttest.FirstPrompts(t, s, 3) {
			for more := true; more; {
				for _, f := range p.Fields {
					got = append(got, f.Name+"="+string(f.Value))
				}
				if more = p.Rest != nil; more {
					if p, _, err = p.Rest.Next(prompt.Response{Text: "x"}); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		want, note := []string{`tools=[{"type": "function"}]`, "temperature=0.5", `response_format={"type": "json_object"}`, "seed=3"}, `are not sent: "id", "topic".`
		if !sent {
			want, note = nil, `are not sent: "id", "topic", "tools", "temperature", "response_format", "seed".`
		}
		if !slices.Equal(got, want) {
			t.Errorf("sent %q, want %q", got, want)
		}
		if notes := s.Notes(); len(notes) != 1 || !strings.HasSuffix(notes[0], note) {
			t.Errorf("noted %q, want %q", notes, note)
		}
	}
}

// Rows of data sets have columns that are used, and others.
func TestColumnsThatAreUsedAreNotNoted(t *testing.T) {
	s, err := New(plan.Data{File: "p.jsonl"}, token.Words{}, 1, with(`{"system_prompt": "Be brief.", "question": "Why?", "response": "So."}`))
	if err != nil {
		t.Fatal(err)
	}
	if notes := s.Notes(); len(notes) != 1 || !strings.HasSuffix(notes[0], `not sent: "response".`) {
		t.Errorf("%q", notes)
	}
	if s, err = New(plan.Data{File: "p.jsonl"}, token.Words{}, 1, with(`{"prompt": "a", "max_tokens": 3, "model": "m"}`)); err != nil || s.Notes() != nil {
		t.Errorf("%v, %q", err, s.Notes())
	}
}
