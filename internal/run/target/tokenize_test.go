package target

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

// tokenizing answers /tokenize if the body has the field, and refuses it otherwise.
func tokenizing(t *testing.T, field, answer string) *httptest.Server {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		var body map[string]any
		if err := json.Unmarshal(text, &body); err != nil || r.URL.Path != "/tokenize" || body[field] != "hello" {
			http.Error(w, "no", http.StatusUnprocessableEntity)
			return
		}
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestTokenizeSpeaksEachServersDialect(t *testing.T) {
	for _, tt := range []struct{ name, field, answer string }{
		{"vLLM", "prompt", `{"count":2,"max_model_len":10,"tokens":[31373,7]}`},
		{"llama.cpp", "content", `{"tokens":[31373,7]}`},
		{"llama.cpp with pieces", "content", `{"tokens":[{"id":31373,"piece":"hello"},{"id":7,"piece":"!"}]}`},
		{"TGI", "inputs", `[{"id":31373,"text":"hello"},{"id":7,"text":"!"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tokenizing(t, tt.field, tt.answer)
			ids, err := Tokenize(t.Context(), TokenizeRequest{URL: s.URL + "/v1", Model: "m", Text: "hello"})
			if err != nil || !slices.Equal(ids, []int32{31373, 7}) {
				t.Errorf("ids %v, error %v", ids, err)
			}
		})
	}
}

func TestTokenizeWhereThereIsNone(t *testing.T) {
	s := tokenizing(t, "prompt", `<html>hello</html>`)
	_, err := Tokenize(t.Context(), TokenizeRequest{URL: s.URL, Model: "m", Text: "hello"})
	if err == nil || !strings.Contains(err.Error(), "no list of tokens") || !strings.Contains(err.Error(), "TGI") {
		t.Errorf("error %v: want every dialect that was tried", err)
	}
	if _, err := Tokenize(t.Context(), TokenizeRequest{URL: "localhost:8000", Text: "x"}); err == nil {
		t.Error("a URL without a scheme was taken")
	}
}
