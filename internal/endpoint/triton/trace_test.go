package triton

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestTracesOverHTTP(t *testing.T) {
	var asked string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked += r.Method + " " + r.URL.Path + " " + string(body)
		if strings.Contains(asked, "TENSORS") {
			http.Error(w, `{"error":"tracing is off"}`, http.StatusBadRequest)
		}
	}))
	defer s.Close()
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	server := &httpServer{client: s.Client(), base: u, header: http.Header{}}
	if err := setTraces(t.Context(), server, nil); err != nil || asked != "" {
		t.Errorf("nothing is to be set: %q, %v", asked, err)
	}
	if err := setTraces(t.Context(), server, map[string]string{"trace_level": "TIMESTAMPS", "trace_rate": "5"}); err != nil {
		t.Error(err)
	}
	if want := `POST /v2/trace/setting {"trace_level":["TIMESTAMPS"],"trace_rate":"5"}`; asked != want {
		t.Errorf("asked %s, want %s", asked, want)
	}
	err = setTraces(t.Context(), server, map[string]string{"trace_level": "TENSORS"})
	if err == nil || err.Error() != "setting the server's traces: tracing is off" {
		t.Error(err)
	}
}
