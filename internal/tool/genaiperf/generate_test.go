package genaiperf

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

// A server that answers generate, and nothing else that Triton does, is measured. What it
// gets is what inputs.json says, and its answers stand whole in the profile export.
func TestGenerateIsEnough(t *testing.T) {
	var mu sync.Mutex
	sent := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost || r.URL.Path != "/v2/models/m/generate" {
			http.NotFound(w, r)
			return
		}
		body, _ := io.ReadAll(r.Body)
		var asked struct {
			Text []string `json:"text_input"`
		}
		if err := json.Unmarshal(body, &asked); err != nil || len(asked.Text) != 1 {
			t.Errorf("%s: %v", body, err)
			return
		}
		mu.Lock()
		sent[string(body)] = true
		mu.Unlock()
		_ = json.NewEncoder(w).Encode(map[string]string{"model_name": "m", "text_output": asked.Text[0] + " one two three"})
	}))
	defer server.Close()
	// differs: genai-echo
	for flags, want := range map[string]float64{"": 3, " --endpoint v2/models/m/generate": 3, " --faithful": 23} {
		clear(sent)
		a := parse(t, &mockServer{http: strings.TrimPrefix(server.URL, "http://")}, t.TempDir(),
			strings.Fields("profile -m m --endpoint-type generate --isl 20 --osl 3 --num-prompts 2 --request-count 4 --tokenizer builtin:gpt2"+flags)...)
		out := profile(t, a, world(offline, t.Output()))
		if n := avg(t, out.Summary, "output_sequence_length"); n != want {
			t.Errorf("%s: %v output tokens, want %v", flags, n, want)
		}
		set := args.Settings{Faithful: a.Settings.Faithful}
		again, err := Report(t.Context(), a.Settings.Dir, set, world(offline, t.Output()))
		if err != nil || avg(t, again.Summary, "output_sequence_length") != want {
			t.Errorf("%s: reported again: %v, %v", flags, again, err)
		}
		inputs, err := os.ReadFile(filepath.Join(a.Settings.Dir, "inputs.json"))
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Data []struct{ Payload []json.RawMessage }
		}
		if err := json.Unmarshal(inputs, &doc); err != nil {
			t.Fatal(err)
		}
		for _, d := range doc.Data {
			if text := compact(t, d.Payload[0]); !sent[text] {
				t.Errorf("%s is not among what was sent: %v", text, sent)
			}
		}
		export, err := os.ReadFile(filepath.Join(a.Settings.Dir, "profile_export.json"))
		if err != nil {
			t.Fatal(err)
		}
		for body := range sent {
			var asked struct {
				Text []string `json:"text_input"`
			}
			_ = json.Unmarshal([]byte(body), &asked)
			if !strings.Contains(string(export), asked.Text[0]+" one two three") {
				t.Errorf("the export lacks the answer to %s", body)
			}
		}
	}
}

// compact is JSON as it goes over the wire.
func compact(t *testing.T, text json.RawMessage) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, text); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
