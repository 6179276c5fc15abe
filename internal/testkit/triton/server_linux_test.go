package triton

import (
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// ask sends a prompt to the model vllm_model and gives what came back.
func ask(t *testing.T, s *Server, body string) (int, string) {
	t.Helper()
	resp, err := http.Post("http://"+s.HTTP+"/v2/models/vllm_model/generate", "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(text)
}

func TestServer(t *testing.T) {
	s := Start(t, "vllm_model")
	const prompt = `{"text_input":"a b","sampling_parameters":"{\"max_tokens\":3,\"echo\":true}"}`
	answers := func(want bool) {
		t.Helper()
		code, text := ask(t, s, prompt)
		if got := code == http.StatusOK && strings.Contains(text, `"a b one two three"`); got != want {
			t.Errorf("answered %v, want %v: %d %s", got, want, code, text)
		}
	}
	answers(true)
	if _, text := ask(t, s, `{"text_input":"a","sampling_parameters":"{\"fail_after\":1}"}`); !strings.Contains(text, "asked to fail after 1 tokens") {
		t.Errorf("a request that wants to fail gave %s", text)
	}
	s.Unload(t, "vllm_model")
	answers(false)
	s.Load(t, "vllm_model")
	answers(true)
	s.Kill()
	answers(false)
	s.Restart(t)
	answers(true)
	s.Stop()
	if left, _ := filepath.Glob("/dev/shm/" + s.shared + "*"); len(left) > 0 {
		t.Errorf("shared memory is left behind: %v", left)
	}
}
