//go:build linux

package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

const export = `{"experiments":[{"experiment":{"mode":"concurrency","value":2},"requests":[
{"timestamp":1000000000,"request_inputs":{"payload":"{\"messages\":[\"requests\"]}"},
 "response_timestamps":[1004000000,1005000000,1006000000],
 "response_outputs":[{"response":"data: {\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"\"}}]}\n\n"},
  {"response":"data: {\"choices\":[{\"delta\":{\"content\":\" a\"}}]}\n\n"},{"response":"data: [DONE]\n\n"}]},
{"timestamp":2000000000,"response_timestamps":[2007000000],
 "response_outputs":[{"response":"data: {\"choices\":[{\"delta\":{\"content\":\"\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\n"}]},
{"timestamp":3000000000,"response_timestamps":[],"response_outputs":[]}
],"window_boundaries":[1,5]}],"version":"2.60.0","service_kind":"openai","endpoint":"v1/chat/completions"}`

func TestReadExportTTFT(t *testing.T) {
	got, err := readExportTTFT(strings.NewReader(export))
	if err != nil {
		t.Fatal(err)
	}
	want := []time.Duration{5 * time.Millisecond, 7 * time.Millisecond}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("time to first token (-want +got):\n%s", diff)
	}
	for _, broken := range []string{"", "{}", export[:len(export)/2]} {
		if _, err := readExportTTFT(strings.NewReader(broken)); err == nil {
			t.Errorf("an export of %d bytes was accepted", len(broken))
		}
	}
}

func FuzzReadExportTTFT(f *testing.F) {
	f.Add(export)
	mutate.Fuzz(f, func(t *testing.T, text string) {
		_, _ = readExportTTFT(strings.NewReader(text)) // it must not panic
	})
}

func TestPerfAnalyzerInputs(t *testing.T) {
	text, err := perfAnalyzerInputs(work{events: 16, stream: true})
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Data []struct {
			Payload []struct {
				Messages  []struct{ Content string }
				MaxTokens int `json:"max_tokens"`
				Stream    bool
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Data) != 100 {
		t.Fatalf("%d entries, want 100", len(file.Data))
	}
	seen := map[string]bool{}
	for _, d := range file.Data {
		p := d.Payload[0]
		if n := len(strings.Fields(p.Messages[0].Content)); n != promptWords || p.MaxTokens != 16 || !p.Stream {
			t.Fatalf("entry %+v: %d words", p, n)
		}
		seen[p.Messages[0].Content] = true
	}
	if len(seen) != 100 {
		t.Errorf("%d distinct prompts, want 100", len(seen))
	}
}
