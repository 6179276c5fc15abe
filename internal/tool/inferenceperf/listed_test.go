package inferenceperf

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// What a server is sent, and what becomes of a stream of Anthropic's, which the original
// measures no tokens of.
//
// differs: ip-anthropic-stream
// differs: ip-base-url
// differs: ip-headers
func TestStreamOfAnthropic(t *testing.T) {
	var mu sync.Mutex
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.Method+" "+r.URL.Path)
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[{"id":"m"}]}`)
			return
		}
		if h := r.Header; !strings.HasPrefix(h.Get("X-Request-Id"), "inferometer-") || h.Get("User-Agent") != "inferometer" || h.Get("Accept-Encoding") != "" {
			t.Errorf("headers %v", h)
		}
		w.Header().Set("Content-Type", "text/event-stream")
		for _, event := range []string{
			`{"type":"message_start","message":{"role":"assistant","usage":{"input_tokens":4,"output_tokens":1}}}`,
			`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"one"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" two"}}`,
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" three"}}`,
			`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":3}}`,
			`{"type":"message_stop"}`,
		} {
			fmt.Fprintf(w, "data: %s\n\n", event)
		}
	}))
	defer s.Close()
	dir, _, _ := measure(t, "api: {type: anthropic_messages, streaming: true}\ndata: {type: mock}\nload: {stages: [{rate: 20, duration: 1}]}\n"+
		"server: {model_name: m, base_url: '"+s.URL+"/v1'}\n")
	mu.Lock()
	defer mu.Unlock()
	slices.Sort(asked)
	if got := strings.Join(slices.Compact(asked), ", "); got != "GET /v1/models, POST /v1/messages" {
		t.Errorf("asked for %s", got)
	}
	data, err := os.ReadFile(filepath.Join(dir, "summary_lifecycle_metrics.json"))
	if err != nil {
		t.Fatal(err)
	}
	var summary struct {
		Successes struct {
			Count   int
			Latency map[string]*struct{ Mean float64 }
		}
	}
	if err := json.Unmarshal(data, &summary); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"time_to_first_token", "time_per_output_token", "inter_token_latency"} {
		if summary.Successes.Count != 20 || summary.Successes.Latency[name] == nil {
			t.Errorf("%d answers without a %s", summary.Successes.Count, name)
		}
	}
}
