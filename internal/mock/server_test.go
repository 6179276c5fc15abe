package mock

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

var update = flag.Bool("update", false, "write the golden files anew")

// buffer is a truth file in memory.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

// fixture is a server on loopback.
type fixture struct {
	t      *testing.T
	s      *Server
	addr   string
	url    string
	client *http.Client
	truth  *buffer
}

func start(t *testing.T, change func(*config.Server)) *fixture {
	t.Helper()
	c := config.Default()
	if change != nil {
		change(&c)
	}
	f := &fixture{t: t, truth: new(buffer)}
	var err error
	if f.s, err = New(c, WithTruth(f.truth)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.addr = l.Addr().String()
	f.url = "http://" + f.addr
	served := make(chan error, 1)
	go func() { served <- f.s.Serve(l) }()
	f.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	t.Cleanup(func() {
		f.client.CloseIdleConnections()
		if err := f.s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return f
}

// post returns the response and the whole body, with the error that reading it gave.
func (f *fixture) post(path, body string, header ...string) (*http.Response, string, error) {
	f.t.Helper()
	req, err := http.NewRequest(http.MethodPost, f.url+path, strings.NewReader(body))
	if err != nil {
		f.t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := f.client.Do(req)
	if err != nil {
		return nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp, string(b), err
}

func (f *fixture) mustPost(path, body string, header ...string) (*http.Response, string) {
	f.t.Helper()
	resp, text, err := f.post(path, body, header...)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp, text
}

func (f *fixture) get(path string) (*http.Response, string) {
	f.t.Helper()
	resp, err := f.client.Get(f.url + path)
	if err != nil {
		f.t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp, string(b)
}

// truths closes the server and returns what it wrote.
func (f *fixture) truths() []truthfile.Request {
	f.t.Helper()
	f.client.CloseIdleConnections()
	if err := f.s.Close(); err != nil {
		f.t.Fatal(err)
	}
	all, err := truthfile.Read(&f.truth.b)
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

const (
	chatPath    = "/v1/chat/completions"
	textPath    = "/v1/completions"
	vectorsPath = "/v1/embeddings"
	hello       = `"messages":[{"role":"user","content":"say hello to all"}]`
)

var created = regexp.MustCompile(`"(created|created_at)":\d+`)

// TestGolden compares whole bodies with testdata, where they can be read.
func TestGolden(t *testing.T) {
	tools := `"tools":[{"type":"function","function":{"name":"look_up","parameters":{}}}]`
	tests := []struct {
		name   string
		path   string
		body   string
		change func(*config.Server)
	}{
		{"chat", chatPath, `{"model":"m",` + hello + `,"max_tokens":4}`, nil},
		{"chat-stream", chatPath, `{"model":"m",` + hello + `,"max_tokens":3,"stream":true}`, nil},
		{"chat-stream-usage", chatPath, `{"model":"m",` + hello + `,"max_tokens":2,"stream":true,"stream_options":{"include_usage":true,"continuous_usage_stats":true}}`, nil},
		{"chat-choices", chatPath, `{"model":"m",` + hello + `,"max_tokens":2,"n":2,"stream":true}`, nil},
		{"chat-reasoning", chatPath, `{"model":"m",` + hello + `,"max_tokens":4}`, func(c *config.Server) { c.Output.ReasoningTokens = 2 }},
		{"chat-reasoning-stream", chatPath, `{"model":"m",` + hello + `,"max_tokens":5,"stream":true}`, func(c *config.Server) {
			c.Output.ReasoningTokens, c.Output.ReasoningField, c.Output.TokensPerEvent, c.Output.Usage = 3, config.FieldReasoning, 2, true
		}},
		{"chat-tool", chatPath, `{"model":"m",` + hello + `,"max_tokens":3,` + tools + `}`, nil},
		{"chat-tool-stream", chatPath, `{"model":"m",` + hello + `,"max_tokens":3,"stream":true,` + tools + `}`, nil},
		{"chat-bare-stream", chatPath, `{"model":"m",` + hello + `,"stream":true}`, func(c *config.Server) {
			c.Output.Role, c.Output.Done, c.Output.FinishEvent, c.Output.Tokens = false, false, true, 2
		}},
		{"chat-cached", chatPath, `{"model":"m",` + hello + `,"max_tokens":1}`, func(c *config.Server) { c.Latency.PrefixCache, c.Latency.BlockSize = true, 3 }},
		{"text", textPath, `{"model":"m","prompt":"a b c","max_tokens":3}`, nil},
		{"text-stream", textPath, `{"model":"m","prompt":["a b c","d"],"max_tokens":2,"stream":true,"stream_options":{"include_usage":true}}`, nil},
		{"embeddings", vectorsPath, `{"model":"m","input":["a b","c"],"dimensions":3}`, nil},
		{"embeddings-base64", vectorsPath, `{"model":"m","input":"a b","dimensions":3,"encoding_format":"base64"}`, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := start(t, tt.change)
			if tt.name == "chat-cached" {
				f.mustPost(tt.path, tt.body)
			}
			resp, got := f.mustPost(tt.path, tt.body)
			if resp.StatusCode != http.StatusOK {
				t.Errorf("status %d", resp.StatusCode)
			}
			got = created.ReplaceAllString(got, `"$1":0`)
			golden(t, filepath.Join("testdata", tt.name+".golden"), got)
		})
	}
}

// golden compares a text with a file, or writes the file.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Error(d)
	}
}

// events returns the data of each event, after checking that it is JSON or [DONE].
func events(t *testing.T, stream string) []string {
	t.Helper()
	var all []string
	for block := range strings.SplitSeq(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		data, ok := strings.CutPrefix(block, "data: ")
		if !ok || data != "[DONE]" && !json.Valid([]byte(data)) {
			t.Errorf("bad event %q", block)
		}
		all = append(all, data)
	}
	return all
}

// TestWordsAreTokens checks the promise that everybody counts alike.
func TestWordsAreTokens(t *testing.T) {
	f := start(t, nil)
	_, text := f.mustPost(chatPath, `{`+hello+`,"max_tokens":300}`)
	var whole struct {
		Choices []struct{ Message struct{ Content string } }
		Usage   struct {
			Prompt int `json:"prompt_tokens"`
			Output int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal([]byte(text), &whole); err != nil {
		t.Fatal(err)
	}
	content := whole.Choices[0].Message.Content
	if n := len(strings.Fields(content)); n != 300 || whole.Usage.Output != 300 || whole.Usage.Prompt != 4 {
		t.Errorf("%d words, usage %+v", n, whole.Usage)
	}
	_, text = f.mustPost(chatPath, `{`+hello+`,"max_tokens":300,"stream":true}`)
	var streamed strings.Builder
	for _, data := range events(t, text) {
		var e struct {
			Choices []struct{ Delta struct{ Content string } }
		}
		if data != "[DONE]" {
			if err := json.Unmarshal([]byte(data), &e); err != nil {
				t.Fatal(err)
			}
			piece := e.Choices[0].Delta.Content
			if n := len(strings.Fields(piece)); n > 1 {
				t.Errorf("%d words in one event", n)
			}
			streamed.WriteString(piece)
		}
	}
	if n := len(strings.Fields(streamed.String())); n != 300 {
		t.Errorf("%d words streamed", n)
	}
}

func TestPages(t *testing.T) {
	f := start(t, func(c *config.Server) { c.Models = []string{"a", `b"c`} })
	if resp, body := f.get("/health"); resp.StatusCode != 200 || body != "" {
		t.Errorf("/health: %d %q", resp.StatusCode, body)
	}
	resp, body := f.get("/v1/models?x=1")
	var list struct{ Data []struct{ ID string } }
	if err := json.Unmarshal([]byte(body), &list); err != nil || len(list.Data) != 2 || list.Data[1].ID != `b"c` {
		t.Errorf("/v1/models: %v, %s", err, body)
	}
	if ct := resp.Header.Get("Content-Type"); ct != "application/json" {
		t.Errorf("content type %q", ct)
	}
	if resp, _ := f.get("/nothing"); resp.StatusCode != 404 {
		t.Errorf("/nothing: %d", resp.StatusCode)
	}
	if resp, _ := f.get(chatPath); resp.StatusCode != 405 || resp.Header.Get("Allow") != "POST" {
		t.Errorf("GET chat: %d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
	if resp, _ := f.mustPost("/health", "x"); resp.StatusCode != 405 {
		t.Errorf("POST health: %d", resp.StatusCode)
	}
	if resp, err := f.client.Head(f.url + "/health"); err != nil || resp.StatusCode != 405 {
		t.Errorf("HEAD: %v %v", resp, err)
	}
}

func TestRefusals(t *testing.T) {
	f := start(t, func(c *config.Server) { c.Strict, c.APIKey, c.Output.MaxModelLen = true, "secret", 20 })
	key := []string{"Authorization", "Bearer secret"}
	tests := []struct {
		body   string
		header []string
		status int
		want   string
	}{
		{`{"model":"mock",` + hello + `}`, nil, 401, "API key"},
		{`{"model":"mock",` + hello + `}`, []string{"Authorization", "Bearer wrong"}, 401, "API key"},
		{`{"model":"mock",` + hello + `,"max_tokens":5}`, key, 200, "choices"},
		{`{"model":"mock",` + hello + `,"max_tokens":5,"colour":"red"}`, key, 400, "colour"},
		{`{"model":"other",` + hello + `,"max_tokens":5}`, key, 404, "`other` does not exist"},
		{`{"model":"mock",` + hello + `,"max_tokens":17}`, key, 400, "maximum context length is 20"},
		{`{"model":"mock",` + hello + `}`, key, 200, `"completion_tokens":16`},
		{`{"model`, key, 400, "JSON ends"},
	}
	for _, tt := range tests {
		resp, body := f.mustPost(chatPath, tt.body, tt.header...)
		if resp.StatusCode != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s: %d %s, want %d and %q", tt.body, resp.StatusCode, body, tt.status, tt.want)
		}
		var e struct{ Error struct{ Code int } }
		if err := json.Unmarshal([]byte(body), &e); err != nil || resp.StatusCode != 200 && e.Error.Code != tt.status {
			t.Errorf("%s: no error object: %s", tt.body, body)
		}
	}
	if resp, _ := f.get("/v1/models"); resp.StatusCode != 401 {
		t.Errorf("/v1/models without key: %d", resp.StatusCode)
	}
	if resp, _ := f.get("/health"); resp.StatusCode != 200 {
		t.Errorf("/health without key: %d", resp.StatusCode)
	}
}

// TestWire speaks HTTP/1.1 by hand, in all the ways that clients do.
func TestWire(t *testing.T) {
	f := start(t, nil)
	body := `{` + hello + `,"max_tokens":1}`
	post := "POST " + chatPath + " HTTP/1.1\r\nHost: x\r\n"
	chunked := "10\r\n" + body[:16] + "\r\n1;x=y\r\n" + body[16:17] + "\r\n" + "32\r\n" + body[17:67] + "\r\n"
	chunked += "1\r\n" + body[67:68] + "\r\n"
	rest := body[68:]
	tests := []struct {
		name, send string
		statuses   []int
		closed     bool
	}{
		{"plain", post + "content-LENGTH: 74\r\n\r\n" + body, []int{200}, false},
		{"pipelined", strings.Repeat(post+"Content-Length: 74\r\n\r\n"+body, 3), []int{200, 200, 200}, false},
		{"chunked", post + "Transfer-Encoding: chunked\r\n\r\n" + chunked + "6\r\n" + rest + "\r\n0\r\nTrailer: x\r\n\r\n", []int{200}, false},
		{"expect", post + "Expect: 100-continue\r\nContent-Length: 74\r\n\r\n", []int{100}, false},
		{"close", post + "Connection: close\r\nContent-Length: 74\r\n\r\n" + body, []int{200}, true},
		{"old", "POST " + chatPath + " HTTP/1.0\r\nContent-Length: 74\r\n\r\n" + body, []int{200}, true},
		{"nonsense", "hello\r\n\r\n", []int{400}, true},
		{"bad length", post + "Content-Length: -1\r\n\r\n", []int{400}, true},
		{"bad chunk", post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n", []int{400}, true},
		{"no colon", post + "what\r\n\r\n", []int{400}, true},
		{"http2", http2Preface + "SM\r\n\r\n", []int{400}, true},
	}
	if len(body) != 74 {
		t.Fatalf("the body has %d bytes", len(body))
	}
	for _, tt := range tests {
		for _, slow := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				nc, err := net.Dial("tcp", f.addr)
				if err != nil {
					t.Fatal(err)
				}
				defer nc.Close()
				size := len(tt.send)
				if slow {
					size = 1
				}
				for i := 0; i < len(tt.send); i += size {
					// What cannot be sent because the server has hung up shows in the response.
					if _, err := io.WriteString(nc, tt.send[i:i+size]); err != nil && !tt.closed {
						t.Fatal(err)
					}
				}
				r := bufio.NewReader(nc)
				for _, want := range tt.statuses {
					resp, err := http.ReadResponse(r, nil)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := io.Copy(io.Discard, resp.Body); err != nil {
						t.Error(err)
					}
					if resp.StatusCode != want || tt.closed != resp.Close {
						t.Errorf("status %d, close %v; want %d, %v", resp.StatusCode, resp.Close, want, tt.closed)
					}
				}
				if tt.closed {
					if err := nc.(*net.TCPConn).CloseWrite(); err != nil {
						t.Fatal(err)
					}
					if _, err := r.ReadByte(); err != io.EOF {
						t.Errorf("the connection is still there: %v", err)
					}
				}
			})
		}
	}
}

func TestLargeBody(t *testing.T) {
	f := start(t, nil)
	text := strings.Repeat("word ", 100_000)
	_, body := f.mustPost(textPath, `{"prompt":"`+text+`","max_tokens":1}`)
	if !strings.Contains(body, `"prompt_tokens":100000`) {
		t.Errorf("answer %s", body)
	}
}
