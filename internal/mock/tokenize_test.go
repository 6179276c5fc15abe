package mock

import (
	"net/http"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
)

// Each family of servers is asked in its own shape, and answers in it. Nothing of it is in the
// truth file: it is no inference.
func TestTokenize(t *testing.T) {
	for _, tt := range []struct{ name, body, want string }{
		{"vLLM", `{"model":"mock","prompt":"a bc\n a","add_special_tokens":false}`, `{"count":3,"max_model_len":1048576,"token_strs":null,"tokens":[14945321,4074409,14945321]}`},
		{"vLLM's texts", `{"prompt":"a bc","return_token_strs":true}`, `{"count":2,"max_model_len":1048576,"token_strs":["a","bc"],"tokens":[14945321,4074409]}`},
		{"vLLM's chats", `{"messages":[{"role":"system","content":"a"},{"role":"user","content":"bc"}]}`, `{"count":2,"max_model_len":1048576,"token_strs":null,"tokens":[14945321,4074409]}`},
		{"llama.cpp", `{"content":"a bc"}`, `{"tokens":[14945321,4074409]}`},
		{"llama.cpp's pieces", `{"content":"a","with_pieces":true}`, `{"tokens":[{"id":14945321,"piece":"a"}]}`},
		{"TGI", `{"inputs":" ä bc"}`, `[{"id":1678816,"start":1,"stop":2,"text":"ä"},{"id":4074409,"start":3,"stop":5,"text":"bc"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, nil)
			resp, got := f.mustPost("/tokenize", tt.body)
			if resp.StatusCode != http.StatusOK || got != tt.want {
				t.Errorf("status %d\n got %s\nwant %s", resp.StatusCode, got, tt.want)
			}
		})
	}
	f := start(t, func(c *config.Server) { c.APIKey = "k" })
	if resp, got := f.mustPost("/tokenize", `{"prompt":"a"}`); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("status %d without the key: %s", resp.StatusCode, got)
	}
	f = start(t, nil)
	if resp, _ := f.mustPost("/tokenize", `{}`); resp.StatusCode != http.StatusUnprocessableEntity {
		t.Errorf("status %d for nothing to tokenize", resp.StatusCode)
	}
}
