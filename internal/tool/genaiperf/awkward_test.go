package genaiperf

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/tool"
	frontend "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// awkward is a server that answers byte by byte what a test says.
type awkward struct {
	*mockServer
	mu   sync.Mutex
	seen []seen
}

// seen is a request as the server has it.
type seen struct {
	method, path, body string
	header             http.Header
}

// write says something at once: the bytes go out in one segment.
type write func(bytes string)

// scripted gives every answer to a script, which has the connection to itself.
func scripted(t *testing.T, script func(n int, w write)) *awkward {
	t.Helper()
	a := new(awkward)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.mu.Lock()
		n := len(a.seen)
		a.seen = append(a.seen, seen{r.Method, r.URL.Path, string(body), r.Header.Clone()})
		a.mu.Unlock()
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		script(n, func(bytes string) { _, _ = io.WriteString(conn, bytes) })
	}))
	t.Cleanup(s.Close)
	a.mockServer = &mockServer{http: strings.TrimPrefix(s.URL, "http://")}
	return a
}

const (
	streamHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
	lastChunk  = "0\r\n\r\n"
)

// whole is an answer in one piece.
func whole(text string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(text), text)
}

// chunked is an HTTP chunk with some texts, an event for each.
func chunked(events ...string) string {
	text := strings.Join(events, "")
	return fmt.Sprintf("%x\r\n%s\r\n", len(text), text)
}

// says is an event with a text for each choice.
func says(texts ...string) string {
	var choices []string
	for i, text := range texts {
		choices = append(choices, fmt.Sprintf(`{"index":%d,"delta":{"content":%q}}`, i, text))
	}
	return `data: {"object":"chat.completion.chunk","choices":[` + strings.Join(choices, ",") + "]}\n\n"
}

const doneEvent = "data: [DONE]\n\n"

const chatLine = "profile -m gpt2 --endpoint-type chat --streaming --isl 10 --num-prompts 3 --request-count 4 --tokenizer builtin:gpt2"

// Each chunk is a response, also where several come in one read. Several events in one chunk
// are one response.
func TestChunksOfOneRead(t *testing.T) {
	for _, tt := range []struct {
		name   string
		chunks []string
		want   string // times to the second token in ms, and how many responses a request has
	}{
		{"a chunk for each event", []string{chunked(says("a")), chunked(says(" b")), chunked(says(" c")), chunked(doneEvent)}, "0.001 4"},
		{"two events in a chunk", []string{chunked(says("a"), says(" b")), chunked(says(" c"), doneEvent)}, "0.001 2"},
		{"all in one chunk", []string{chunked(says("a"), says(" b"), says(" c"), doneEvent)}, "none 1"},
		{"an event in two chunks", []string{chunked(says("a") + says(" b")[:20]), chunked(says(" b")[20:]), chunked(doneEvent)}, "0.001 3"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := scripted(t, func(_ int, w write) { w(streamHead + strings.Join(tt.chunks, "") + lastChunk) })
			a := parse(t, s.mockServer, t.TempDir(), strings.Fields(chatLine)...)
			out := profile(t, a, world(offline, t.Output()))
			second := "none"
			if st, ok := out.Summary.Stat(dialect.TimeToSecondToken); ok {
				second = fmt.Sprint(st.Avg / 1e6)
			}
			doc := exportOf(t, a)
			if got := fmt.Sprint(second, " ", len(doc.Experiments[0].Requests[0].Responses)); got != tt.want {
				t.Errorf("%s, want %s", got, tt.want)
			}
			back, err := Report(t.Context(), a.Settings.Dir, frontend.Settings{}, world(offline, t.Output()))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(out.Summary, back.Summary); diff != "" {
				t.Errorf("the run, and what is read out of its export (-run +read):\n%s", diff)
			}
		})
	}
}

// Of several choices in an event the first of the list counts.
func TestFirstOfSeveralChoices(t *testing.T) {
	body := `{"object":"chat.completion","choices":[{"index":0,"message":{"content":"one two"}},{"index":1,"message":{"content":"three four five"}}]}`
	for name, answer := range map[string]string{
		"in one event": streamHead + chunked(says("one", "three")) + chunked(says(" two", " four")) + chunked(doneEvent) + lastChunk,
		"whole":        whole(body),
	} {
		t.Run(name, func(t *testing.T) {
			s := scripted(t, func(_ int, w write) { w(answer) })
			a := parse(t, s.mockServer, t.TempDir(), strings.Fields(chatLine)...)
			out := profile(t, a, world(offline, t.Output()))
			if n := avg(t, out.Summary, dialect.OutputSequenceLength); n != 2 {
				t.Errorf("%v tokens, want 2", n)
			}
			back, err := Report(t.Context(), a.Settings.Dir, frontend.Settings{}, world(offline, t.Output()))
			if err != nil {
				t.Fatal(err)
			}
			if n := avg(t, back.Summary, dialect.OutputSequenceLength); n != 2 {
				t.Errorf("%v tokens out of the export, want 2", n)
			}
		})
	}
}

// Reasoning in an answer in one piece is output, and to the original none: also where there is
// nothing else.
// differs: genai-reasoning
func TestReasoningOfAnAnswerInOnePiece(t *testing.T) {
	for _, tt := range []struct {
		name, message   string
		output, visible float64 // tokens of each request, and what a faithful report counts
	}{
		{"beside text", `{"content":"one two","reasoning_content":"so then it is"}`, 6, 2},
		{"beside a call", `{"content":"one two","tool_calls":[{"id":"a","function":{"name":"f","arguments":"{}"}}]}`, 5, 2},
		{"alone", `{"content":null,"reasoning_content":"so then"}`, 2, 0},
		{"none", `{"content":"one two"}`, 2, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := whole(`{"object":"chat.completion","choices":[{"index":0,"message":` + tt.message + `}]}`)
			for flags, want := range map[string]float64{"": tt.output, " --faithful": tt.visible} {
				s := scripted(t, func(_ int, w write) { w(answer) })
				a := parse(t, s.mockServer, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type chat --isl 10 --num-prompts 3 --request-count 4 --tokenizer builtin:gpt2"+flags)...)
				out := profile(t, a, world(offline, t.Output()))
				back, err := Report(t.Context(), a.Settings.Dir, frontend.Settings{Faithful: a.Settings.Faithful}, world(offline, t.Output()))
				if err != nil {
					t.Fatal(err)
				}
				for from, summary := range map[string]*dialect.Summary{"the run": out.Summary, "the export": back.Summary} {
					var got float64
					if st, ok := summary.Stat(dialect.OutputSequenceLength); ok {
						got = st.Avg
					}
					if n := avg(t, summary, dialect.RequestCount); got != want || (n == 0) != (want == 0) {
						t.Errorf("%s%s: %v tokens in %v requests, want %v tokens", from, flags, got, n, want)
					}
				}
			}
		})
	}
}

// Nothing is asked of the server that the command line does not ask for, and requests have no
// headers of ours but the name.
// differs: genai-user-agent
func TestNoOtherRequestsAndHeaders(t *testing.T) {
	s := scripted(t, func(_ int, w write) { w(streamHead + chunked(says("a"), doneEvent) + lastChunk) })
	profile(t, parse(t, s.mockServer, t.TempDir(), strings.Fields(chatLine)...), world(offline, t.Output()))
	if len(s.seen) != 4 {
		t.Errorf("%d requests, want 4", len(s.seen))
	}
	for _, r := range s.seen {
		if r.method != http.MethodPost || r.path != "/v1/chat/completions" {
			t.Errorf("%s %s", r.method, r.path)
		}
		for name := range r.header {
			if !strings.Contains(" User-Agent Accept Content-Type Content-Length ", " "+name+" ") {
				t.Errorf("the header %s: %s", name, r.header.Get(name))
			}
		}
		if accept := r.header.Get("Accept"); accept != "*/*" {
			t.Errorf("Accept: %s", accept)
		}
	}
}

// The measured requests begin with the first entry, whatever the warm-up has sent.
func TestEntriesAfterAWarmup(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "in.jsonl")
	if err := os.WriteFile(file, []byte("{\"text\":\"one\"}\n{\"text\":\"two\"}\n{\"text\":\"three\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ flags, want string }{
		{"--request-count 4", "one two three one"},
		{"--request-count 4 --warmup-request-count 2", "one two one two three one"},
		{"--request-count 2 --warmup-request-count 4", "one two three one one two"},
	} {
		s := scripted(t, func(_ int, w write) { w(streamHead + chunked(says("a"), doneEvent) + lastChunk) })
		line := "profile -m gpt2 --endpoint-type chat --streaming --tokenizer builtin:gpt2 --input-file " + file + " " + tt.flags
		profile(t, parse(t, s.mockServer, t.TempDir(), strings.Fields(line)...), world(offline, t.Output()))
		var got []string
		for _, r := range s.seen {
			_, rest, _ := strings.Cut(r.body, `"content":"`)
			text, _, _ := strings.Cut(rest, `"`)
			got = append(got, text)
		}
		if text := strings.Join(got, " "); text != tt.want {
			t.Errorf("%s: %s, want %s", tt.flags, text, tt.want)
		}
	}
}

// Several texts in a request stand in it as each endpoint has it, and are all counted.
func TestSeveralTextsInARequest(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "in.jsonl")
	if err := os.WriteFile(file, []byte("{\"text\":\"one two\"}\n{\"text\":\"three\"}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	answers := map[string]string{
		"completions":          `{"object":"text_completion","choices":[{"index":0,"text":"a"}]}`,
		"generate":             `{"text_output":"a"}`,
		"huggingface_generate": `[{"generated_text":"a"}]`,
	}
	for _, tt := range []struct{ endpoint, path, body string }{
		{"completions", "/v1/completions", `{"model":"gpt2","prompt":["one two","three"]}`},
		{"generate", "/v2/models/gpt2/generate", `{"text_input":["one two","three"]}`},
		{"huggingface_generate", "/", `{"model":"gpt2","inputs":"one two three"}`},
	} {
		s := scripted(t, func(_ int, w write) {
			text := answers[tt.endpoint]
			w(whole(text))
		})
		line := "profile -m gpt2 --endpoint-type " + tt.endpoint + " --tokenizer builtin:gpt2 --request-count 2 --batch-size-text 2 --input-file " + file
		out := profile(t, parse(t, s.mockServer, t.TempDir(), strings.Fields(line)...), world(offline, t.Output()))
		if n := avg(t, out.Summary, dialect.InputSequenceLength); n != 3 {
			t.Errorf("%s: %v tokens, want 3", tt.endpoint, n)
		}
		for _, r := range s.seen { // and nothing else is asked of the server
			if r.method != http.MethodPost || r.path != tt.path || r.body != tt.body {
				t.Errorf("%s: %s %s %s, want POST %s %s", tt.endpoint, r.method, r.path, r.body, tt.path, tt.body)
			}
		}
	}
}

// The lines of a payload file stand in inputs.json in their order, and with the delays that
// they name.
func TestInputsOfSessions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "in.jsonl")
	text := `{"text":"one","session_id":"a","delay":0}
{"text":"two","session_id":"b","delay":2}
{"text":"three","session_id":"a"}
`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s := serve(t, nil)
	a := parse(t, s, t.TempDir(), strings.Fields("profile -m gpt2 --endpoint-type chat --tokenizer builtin:gpt2 --session-concurrency 1 --input-file payload:"+file)...)
	profile(t, a, world(offline, t.Output()))
	inputs, err := os.ReadFile(filepath.Join(a.Settings.Dir, "inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Compact(&b, inputs); err != nil {
		t.Fatal(err)
	}
	entry := func(text, rest string) string {
		return `{"payload":[{"model":"gpt2","messages":[{"role":"user","content":"` + text + `"}]}],` + rest + "}"
	}
	want := `{"data":[` + entry("one", `"delay":[0],"session_id":["a"]`) + "," + entry("two", `"delay":[2],"session_id":["b"]`) + "," + entry("three", `"session_id":["a"]`) + "]}"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("inputs.json (-want +got):\n%s", diff)
	}
	if first := exportOf(t, a).Experiments[0].Requests[0].Inputs; string(first.Get("delay")) != "0" {
		t.Errorf("the export has %v", first)
	}
}

// Of several models inputs.json names those that the sessions are sent to. A session has no goodput.
func TestSessionsOfSeveralModels(t *testing.T) {
	s := serve(t, nil)
	line := "profile -m gpt2 other --endpoint-type chat --tokenizer builtin:gpt2 --num-sessions 3 --session-concurrency 1 --isl 5 --goodput request_latency:1000"
	a := parse(t, s, t.TempDir(), strings.Fields(line)...)
	out := profile(t, a, world(offline, t.Output()))
	inputs, err := os.ReadFile(filepath.Join(a.Settings.Dir, "inputs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Data []struct {
			Payload []struct{ Model string }
			Session []string `json:"session_id"`
		}
	}
	if err := json.Unmarshal(inputs, &doc); err != nil {
		t.Fatal(err)
	}
	listed := map[string]string{}
	var names []string
	for _, d := range doc.Data {
		listed[d.Session[0]] = d.Payload[0].Model
		names = append(names, d.Payload[0].Model)
	}
	if diff := cmp.Diff([]string{"gpt2", "other", "gpt2"}, names); diff != "" {
		t.Errorf("models of inputs.json (-want +got):\n%s", diff)
	}
	for _, r := range exportOf(t, a).Experiments[0].Requests {
		var sent struct{ Model string }
		text, _ := r.Inputs.Text("payload")
		session, _ := r.Inputs.Text("session_id")
		if err := json.Unmarshal([]byte(text), &sent); err != nil || sent.Model != listed[session] {
			t.Errorf("session %s was sent to %q, and inputs.json has %q; %v", session, sent.Model, listed[session], err)
		}
	}
	if _, ok := out.Summary.Stat(dialect.RequestGoodput); !ok || len(out.Sessions) != 3 {
		t.Errorf("%d sessions, goodput %v", len(out.Sessions), ok)
	}
	for _, session := range out.Sessions {
		if _, ok := session.Stat(dialect.RequestGoodput); ok {
			t.Errorf("session %s has a goodput", session.Name)
		}
	}
}

// What a model thought is not sent back as what it said. A session that said nothing has no figures, as in the original.
// differs: genai-session-answers
func TestThoughtsOfSessions(t *testing.T) {
	for _, tt := range []struct {
		name, message, said string
		sessions            map[string]int // in a report, by its flags
	}{
		{"beside text", `{"content":"one two","reasoning_content":"so then"}`, "one two", map[string]int{"": 1, " --faithful": 1}},
		{"alone", `{"content":null,"reasoning_content":"so then"}`, "", map[string]int{"": 1, " --faithful": 0}},
		{"nothing", `{"content":null}`, "", map[string]int{"": 0, " --faithful": 0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			answer := whole(`{"object":"chat.completion","choices":[{"index":0,"message":` + tt.message + `}]}`)
			for flags, sessions := range tt.sessions {
				s := scripted(t, func(_ int, w write) { w(answer) })
				line := "profile -m gpt2 --endpoint-type chat --tokenizer builtin:gpt2 --num-sessions 1 --session-concurrency 1 --session-turns-mean 2 --isl 5"
				out := profile(t, parse(t, s.mockServer, t.TempDir(), strings.Fields(line+flags)...), world(offline, t.Output()))
				if len(out.Sessions) != sessions {
					t.Errorf("%q: %d sessions in the report, want %d", flags, len(out.Sessions), sessions)
				}
				if want := fmt.Sprintf(`{"role":"assistant","content":%q}`, tt.said); len(s.seen) != 2 || !strings.Contains(s.seen[1].body, want) {
					t.Errorf("%q: %d requests, the last of which is %s, want %s in it", flags, len(s.seen), s.seen[len(s.seen)-1].body, want)
				}
			}
		})
	}
}

// What a checkpoint has is not measured again.
func TestCheckpointOfARun(t *testing.T) {
	s := scripted(t, func(_ int, w write) { w(streamHead + chunked(says("a"), doneEvent) + lastChunk) })
	t.Chdir(t.TempDir())
	for range 2 {
		a := parse(t, s.mockServer, ".", strings.Fields(chatLine+" --enable-checkpointing")...)
		out, err := Single(t.Context(), a, world(offline, t.Output()))
		if err != nil {
			t.Fatal(err)
		}
		if n := avg(t, out.Summary, dialect.RequestCount); n != 4 {
			t.Errorf("%v requests, want 4", n)
		}
	}
	if _, err := os.Stat("checkpoint/checkpoint.json"); err != nil || len(s.seen) != 4 {
		t.Errorf("%d requests, want 4; %v", len(s.seen), err)
	}
}

// Answers that are all empty are no failure: there are rates of 0, and no times.
func TestAllAnswersAreEmpty(t *testing.T) {
	s := scripted(t, func(_ int, w write) { w(streamHead + chunked(says("")) + chunked(doneEvent) + lastChunk) })
	a := parse(t, s.mockServer, t.TempDir(), strings.Fields(chatLine+" --goodput request_latency:100")...)
	out := profile(t, a, world(offline, t.Output()))
	var got []string
	for _, st := range out.Summary.Stats {
		got = append(got, fmt.Sprint(st.Name, " ", st.Avg))
	}
	want := "request_throughput 0, request_goodput 0, request_count 0, output_token_throughput 0"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s, want %s", text, want)
	}
	if code := printed(tool.Env{Stdout: io.Discard, Stderr: t.Output(), Getenv: offline,
		Terminal: func(io.Writer) tool.Terminal { return tool.Terminal{} }}, a, out, nil); code != tool.ExitOK {
		t.Errorf("exit code %d", code)
	}
}
