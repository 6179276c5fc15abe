package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer"
)

// tokenServer is a stand-in for the /tokenize of a real server. Its ids are those of
// GPT-2 with a special token before, unless it is told that there is none.
type tokenServer struct {
	t     *testing.T
	tok   *token.Pipeline
	wrong map[string]bool // texts that it takes apart in another way
	key   string
}

// bos is the special token of the stand-ins.
const bos = 50256

func (s *tokenServer) ids(text string, special bool) []int32 {
	var ids []int32
	if special {
		ids = append(ids, bos)
	}
	ids = s.tok.AppendEncode(ids, text, false)
	if s.wrong[text] {
		ids = append(ids, 7)
	}
	return ids
}

func answer(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(err)
	}
}

// vllm takes prompt and answers with count, max_model_len, tokens and token_strs. The
// model may be left out.
func (s *tokenServer) vllm(w http.ResponseWriter, r *http.Request) {
	q := struct {
		Model   string  `json:"model"`
		Prompt  *string `json:"prompt"`
		Special *bool   `json:"add_special_tokens"`
	}{}
	refuse := func(status int, kind, text string) {
		answer(w, status, map[string]any{"error": map[string]any{"message": text, "type": kind, "param": nil, "code": status}})
	}
	switch err := json.NewDecoder(r.Body).Decode(&q); {
	case s.key != "" && r.Header.Get("Authorization") != "Bearer "+s.key:
		answer(w, http.StatusUnauthorized, map[string]any{"error": "Unauthorized"})
	case err != nil || q.Prompt == nil:
		refuse(http.StatusBadRequest, "Bad Request", "[{'type': 'missing', 'loc': ('body', 'TokenizeCompletionRequest', 'prompt'), 'msg': 'Field required'}]")
	case q.Model != "" && q.Model != "tiny":
		refuse(http.StatusNotFound, "NotFoundError", "The model `"+q.Model+"` does not exist.")
	default:
		ids := s.ids(*q.Prompt, q.Special == nil || *q.Special)
		answer(w, http.StatusOK, map[string]any{"count": len(ids), "max_model_len": 4096, "tokens": ids, "token_strs": nil})
	}
}

// sglang is as vllm, with lists where the prompt is one, and errors of its own shape.
func (s *tokenServer) sglang(w http.ResponseWriter, r *http.Request) {
	q := struct {
		Prompt  any   `json:"prompt"`
		Special *bool `json:"add_special_tokens"`
	}{}
	err := json.NewDecoder(r.Body).Decode(&q)
	text, ok := q.Prompt.(string)
	if err != nil || !ok {
		answer(w, http.StatusBadRequest, map[string]any{"object": "error", "message": "1 validation error", "type": "Bad Request", "param": nil, "code": 400})
		return
	}
	ids := s.ids(text, q.Special == nil || *q.Special)
	answer(w, http.StatusOK, map[string]any{"tokens": ids, "count": len(ids), "max_model_len": 4096})
}

// llamaCPP takes content; without one it answers with no tokens.
func (s *tokenServer) llamaCPP(w http.ResponseWriter, r *http.Request) {
	q := struct {
		Content string `json:"content"`
		Special bool   `json:"add_special"`
		Pieces  bool   `json:"with_pieces"`
	}{}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil {
		answer(w, http.StatusInternalServerError, map[string]any{"error": map[string]any{"code": 500, "message": err.Error(), "type": "server_error"}})
		return
	}
	ids := []int32{}
	if q.Content != "" {
		ids = s.ids(q.Content, q.Special)
	}
	answer(w, http.StatusOK, map[string]any{"tokens": ids})
}

// tgi takes inputs, always adds special tokens, which cover no text, and answers with a
// list of objects.
func (s *tokenServer) tgi(w http.ResponseWriter, r *http.Request) {
	q := struct {
		Inputs *string `json:"inputs"`
	}{}
	if err := json.NewDecoder(r.Body).Decode(&q); err != nil || q.Inputs == nil {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(http.StatusUnprocessableEntity)
		fmt.Fprint(w, "Failed to deserialize the JSON body into the target type: missing field `inputs` at line 1 column 40")
		return
	}
	type row struct {
		ID    int32  `json:"id"`
		Text  string `json:"text"`
		Start int    `json:"start"`
		Stop  int    `json:"stop"`
	}
	rows := []row{{ID: bos}}
	ids := s.ids(*q.Inputs, false)
	from := 0
	for i, end := range s.tok.Ends(nil, *q.Inputs) {
		rows = append(rows, row{ids[i], (*q.Inputs)[from:end], from, max(end, from+1)})
		from = end
	}
	for _, id := range ids[len(rows)-1:] {
		rows = append(rows, row{ID: id, Text: "?", Start: from - 1, Stop: from})
	}
	answer(w, http.StatusOK, rows)
}

// verify runs `tokens verify` on texts.
func verify(t *testing.T, url string, env map[string]string, texts []string, flags ...string) (int, string) {
	t.Helper()
	var lines bytes.Buffer
	for _, text := range texts {
		quoted, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&lines, "%s\n", quoted)
	}
	file := filepath.Join(t.TempDir(), "texts.jsonl")
	if err := os.WriteFile(file, lines.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	args := append([]string{"tokens", "verify", url, file, "--json"}, flags...)
	code := Main(tool.Env{Args: args, Stdout: &out, Stderr: &out, Getenv: func(name string) string { return env[name] }, Restore: func() {}})
	return code, out.String()
}

func TestVerifyTokens(t *testing.T) {
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	s := &tokenServer{t: t, tok: tok, wrong: map[string]bool{"odd one": true}}
	for name, handler := range map[string]http.HandlerFunc{"vLLM": s.vllm, "SGLang": s.sglang, "llama.cpp": s.llamaCPP, "TGI": s.tgi} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("POST /tokenize", handler)
			server := httptest.NewServer(mux)
			defer server.Close()
			for _, url := range []string{server.URL, server.URL + "/v1", server.URL + "/v1/"} {
				code, out := verify(t, url, nil, []string{"Hello, world", "naïve 日本 🙂", "a\n\n  b"}, "--model", "tiny")
				if code != tool.ExitOK || out != "3 of 3 texts have the same tokens\n" {
					t.Errorf("%s: exit code %d: %s", url, code, out)
				}
			}
			code, out := verify(t, server.URL, nil, []string{"Hello", "odd one", "x"})
			want := "text 2 differs at token 2: builtin:gpt2 has no more, the server 7 (\"(\"); 2 tokens here, 3 there\n2 of 3 texts have the same tokens\n"
			if code != tool.ExitRun || out != want {
				t.Errorf("exit code %d:\n%swant\n%s", code, out, want)
			}
			// The server's tokenizer adds a token that ours does not know of.
			code, out = verify(t, server.URL, nil, []string{"Hello"}, "--special")
			if code != tool.ExitRun || !strings.Contains(out, `text 1 differs at token 0: builtin:gpt2 has 15496 ("Hello"), the server 50256 ("<|endoftext|>")`) {
				t.Errorf("special tokens, exit code %d: %s", code, out)
			}
		})
	}
}

func TestVerifyTokensThatCannotBe(t *testing.T) {
	tok, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	s := &tokenServer{t: t, tok: tok, key: "sk-very-secret"}
	serve := func(h http.HandlerFunc) string {
		server := httptest.NewServer(h)
		t.Cleanup(server.Close)
		return server.URL
	}
	dead := httptest.NewServer(nil)
	dead.Close()
	none := serve(func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusNotFound, map[string]any{"detail": "Not Found"})
	})
	ours := serve(s.vllm)
	key := map[string]string{"KEY": s.key}
	for _, tc := range []struct {
		name, url string
		env       map[string]string
		flags     []string
		code      int
		want      []string
	}{
		{"no route", none, nil, nil, tool.ExitRun, []string{"/tokenize: it does not tokenize in a way that is known here", "as vLLM or SGLang: the server answered 404 Not Found: Not Found", "as TGI"}},
		{"a web page", serve(page), nil, nil, tool.ExitRun, []string{"the response has no list of tokens"}},
		{"an old server", serve(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) }), nil, nil, tool.ExitRun, []string{"405 Method Not Allowed"}},
		{"nobody", dead.URL, nil, nil, tool.ExitRun, []string{"asking " + dead.URL + "/tokenize to tokenize", "refused"}},
		{"another model", ours, key, []string{"--model", "huge", "--api-key-env", "KEY"}, tool.ExitRun, []string{"404 Not Found: The model `huge` does not exist."}},
		{"no key", ours, nil, nil, tool.ExitRun, []string{"401 Unauthorized: Unauthorized"}},
		{"an empty key", ours, nil, []string{"--api-key-env", "KEY"}, tool.ExitUsage, []string{"the environment variable KEY", "is empty"}},
		{"the right key", ours, key, []string{"--api-key-env", "KEY"}, tool.ExitOK, []string{"1 of 1 texts have the same tokens"}},
		{"no scheme", "localhost:8000", nil, nil, tool.ExitUsage, []string{"verify needs the server's URL"}},
		{"words", ours, nil, []string{"--tokenizer", "words"}, tool.ExitUsage, []string{"can only count"}},
		{"a secret repeated", serve(broken), key, []string{"--api-key-env", "KEY"}, tool.ExitRun, []string{"500 Internal Server Error: out of memory for Bearer …"}},
	} {
		code, out := verify(t, tc.url, tc.env, []string{"Hello"}, tc.flags...)
		if code != tc.code {
			t.Errorf("%s: exit code %d, want %d", tc.name, code, tc.code)
		}
		for _, want := range tc.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not in %s", tc.name, want, out)
			}
		}
		if strings.Contains(out, s.key) {
			t.Errorf("%s: the key shows: %s", tc.name, out)
		}
	}
}

// tokens runs `tokens` with a text on standard input.
func tokens(stdin string, args ...string) (int, string) {
	var out bytes.Buffer
	code := Main(tool.Env{Args: append([]string{"tokens"}, args...), Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &out,
		Getenv: func(string) string { return "" }, Restore: func() {}})
	return code, out.String()
}

func TestTokens(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	padded := file("padded.json", `{"truncation":{"max_length":3},"padding":{},"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"a":1}}}`)
	endless := file("endless.json", `{"pre_tokenizer":{"type":"Split","pattern":{"Regex":"(?=(?:a|a|ab?)*c)a"},"behavior":"Isolated","invert":false},"model":{"type":"WordLevel","unk_token":"u","vocab":{"u":0,"a":1}}}`)
	for _, tc := range []struct {
		name, stdin string
		args        []string
		code        int
		want        string
	}{
		{"count", "Hello, world", []string{"count"}, tool.ExitOK, "3\n"},
		{"count lines", "\"Hello\"\n\"Hello, world\"\n", []string{"count", "--json"}, tool.ExitOK, "1\n3\n"},
		{"count words", "Hello, world", []string{"count", "--tokenizer", "words"}, tool.ExitOK, "2\n"},
		{"encode", "Hello, world", []string{"encode"}, tool.ExitOK, "[15496,11,995]\n"},
		{"encode nothing", "", []string{"encode"}, tool.ExitOK, "[]\n"},
		{"decode", "[15496,11,995]\n[50256]", []string{"decode"}, tool.ExitOK, "Hello, world\n\n"},
		{"decode special", "[50256]", []string{"decode", "--special", "--json"}, tool.ExitOK, "\"\\u003c|endoftext|\\u003e\"\n"},
		{"decode what is none", "[99999]", []string{"decode"}, tool.ExitOK, "note: builtin:gpt2 has no token 99999: left out\n\n"},
		{"not JSON", "\"a\"\nb", []string{"count", "--json"}, tool.ExitUsage, "1\ninferometer tokens: standard input:2: not a JSON string: invalid character 'b' looking for beginning of value\n"},
		{"settings without effect", "a", []string{"count", "--tokenizer", padded}, tool.ExitOK,
			padded + ": its truncation setting is not applied: every token of a text is counted, and no padding\n" +
				padded + ": its padding setting is not applied: every token of a text is counted, and no padding\n1\n"},
		{"too many steps", strings.Repeat("a", 60), []string{"encode", "--tokenizer", endless}, tool.ExitUsage,
			"inferometer tokens: the tokenizer " + endless + ` failed on a text: the regular expression "(?=(?:a|a|ab?)*c)a" needs more than 2024000 steps on a text of 60 bytes` + "\n"},
	} {
		if code, out := tokens(tc.stdin, tc.args...); code != tc.code || out != tc.want {
			t.Errorf("%s: exit code %d, want %d:\n%swant\n%s", tc.name, code, tc.code, out, tc.want)
		}
	}
}

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

// Output that could not be written is no success, be it little or much.
func TestTokensThatCannotBeWritten(t *testing.T) {
	for _, text := range []string{"a", strings.Repeat("a ", 10000)} {
		for _, verb := range []string{"count", "encode"} {
			var stderr bytes.Buffer
			env := tool.Env{Stdin: strings.NewReader(text), Stdout: full{}, Stderr: &stderr, Getenv: func(string) string { return "" }, Restore: func() {}}
			code := inferometer.Tokens().Run(env, []string{verb})
			if want := "inferometer tokens: writing the output: no space left on device\n"; code != tool.ExitRun || stderr.String() != want {
				t.Errorf("%s: exit code %d: %s", verb, code, &stderr)
			}
		}
	}
}
