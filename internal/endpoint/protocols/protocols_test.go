package protocols

import (
	"bytes"
	"context"
	"crypto/tls"
	"net"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/decodetest"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/media"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// served is an endpoint that the mock has, and what is asked of it.
type served struct {
	protocol, endpoint string
	prompt             prompt.Prompt
	streams            bool
	out                int            // tokens of a response
	body               map[string]any // fields that are added
}

const words = "one two three four"

func all() []served {
	texts := []string{"a b", "c d e"}
	sound := prompt.Prompt{Parts: []prompt.Part{{Kind: prompt.Audio, Type: "audio/wav",
		Data: media.WAV(media.Sound{Length: time.Second}, nil)}}, Output: 8}
	return []served{
		{plan.ProtocolOpenAI, plan.EndpointChat, prompt.Prompt{Text: words, Output: 8}, true, 8, nil},
		{plan.ProtocolOpenAI, plan.EndpointCompletions, prompt.Prompt{Text: words, Output: 8}, true, 8, nil},
		{plan.ProtocolOpenAI, plan.EndpointResponses, prompt.Prompt{Text: words, Output: 8}, true, 8, nil},
		{plan.ProtocolHTTP, plan.EndpointSGLang, prompt.Prompt{Text: words, Output: 8}, true, 8, nil},
		{plan.ProtocolHTTP, plan.EndpointSGLang, prompt.Prompt{IDs: []int32{1, 22, 333}, Output: 8}, true, 8, nil},
		{plan.ProtocolAnthropic, plan.EndpointMessages, prompt.Prompt{Text: words, Output: 8}, true, 8, nil},
		{plan.ProtocolOpenAI, plan.EndpointTranscriptions, sound, true, 8, nil},
		{plan.ProtocolOpenAI, plan.EndpointTranscriptions, sound, true, 8, map[string]any{"stream_include_usage": nil}}, // as OpenAI has it
		{plan.ProtocolOpenAI, plan.EndpointEmbeddings, prompt.Prompt{Text: words}, false, 0, nil},
		{plan.ProtocolOpenAI, plan.EndpointClassify, prompt.Prompt{Texts: texts}, false, 0, nil},
		{plan.ProtocolOpenAI, plan.EndpointPooling, prompt.Prompt{Text: words}, false, 0, nil},
		{plan.ProtocolOpenAI, plan.EndpointScore, prompt.Prompt{Text: words, Texts: texts}, false, 0, nil},
		{plan.ProtocolOpenAI, plan.EndpointImages, prompt.Prompt{Text: words}, false, 0, map[string]any{"n": 2, "size": "32x16"}},
		{plan.ProtocolHTTP, plan.EndpointJinaRerank, prompt.Prompt{Text: words, Texts: texts}, false, 0, nil},
		{plan.ProtocolHTTP, plan.EndpointCohereRerank, prompt.Prompt{Text: words, Texts: texts}, false, 0, map[string]any{"top_n": 1}},
		{plan.ProtocolHTTP, plan.EndpointRerank, prompt.Prompt{Text: words, Texts: texts}, false, 0, nil},
		{plan.ProtocolHTTP, plan.EndpointRankings, prompt.Prompt{Text: words, Texts: texts}, false, 0, nil},
		{plan.ProtocolHTTP, plan.EndpointTGI, prompt.Prompt{Text: words, Output: 8}, true, 8, nil},
	}
}

func (s served) target(url string, streamed bool) plan.Target {
	t := plan.Default().Target
	t.Protocol, t.Endpoint, t.Model, t.URLs, t.Streaming = s.protocol, s.endpoint, "mock", []string{url}, streamed
	t.Body = s.body
	return t
}

// truth is the mock's truth file.
type truth struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (w *truth) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.b.Write(p)
}

// ask sends a prompt twice to a strict mock, and gives the last response beside what the mock says of it.
func ask(t *testing.T, s served, streamed bool, change func(*config.Server)) (*record.Exchange, truthfile.Request) {
	t.Helper()
	c := config.Default()
	c.Strict = true
	if change != nil {
		change(&c)
	}
	w := new(truth)
	server, err := mock.New(c, mock.WithTruth(w))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	defer server.Close()
	target := s.target("http://"+l.Addr().String(), streamed)
	p := All()[s.protocol]
	e, err := p.Open(target, endpoint.Options{Clock: timedconn.NewClock(), TLS: new(tls.Config), RunID: "run"})
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	var last *record.Exchange
	for seq := range int64(2) {
		q := s.prompt
		q.Seq = seq
		call, err := e.Prepare(&q)
		if err != nil {
			t.Fatal(err)
		}
		last = &record.Exchange{Record: record.Record{Seq: seq, In: record.Tokens{Local: -1}}}
		call.Do(context.Background(), last)
		p.Decoder(target, decodetest.Words{}, true).Decode(last)
	}
	_ = server.Close()
	lines, err := truthfile.Read(&w.b)
	if err != nil || len(lines) != 2 {
		t.Fatalf("%d lines of the truth, %v", len(lines), err)
	}
	return last, lines[1]
}

// The mock, which shares no code with this side, must be understood in every detail.
func TestAgainstTheMock(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*config.Server)
	}{
		{"plain", nil},
		{"HTTP/2", func(c *config.Server) { c.HTTP2 = true }},
		{"reasoning", func(c *config.Server) { c.Output.ReasoningTokens = 3 }},
		{"several tokens an event", func(c *config.Server) { c.Output.TokensPerEvent, c.Output.Coalesce = 2, 3 }},
		{"cached", func(c *config.Server) { c.Latency.PrefixCache, c.Latency.BlockSize = true, 2 }},
	} {
		for _, s := range all() {
			for _, streamed := range []bool{false, true} {
				if streamed && !s.streams {
					continue
				}
				last, truth := ask(t, s, streamed, tt.change)
				ends := s.out > 0 && s.endpoint != plan.EndpointTranscriptions // the response has a finish reason
				if last.Failure != nil || last.Finish != truth.Finish && ends || last.Out.N != s.out || truth.Tokens != s.out ||
					s.out > 0 && last.Out.Local != s.out || last.In.N != truth.Prompt && last.In.Source == record.FromServer {
					t.Errorf("%s of %s, streamed %t: %+v\nfailure %+v\ntruth %+v\n%s", tt.name, s.endpoint, streamed, decodetest.Summarise(last), last.Failure, truth, last.Body)
				}
				if truth.Cached > 0 && ends && s.endpoint != plan.EndpointTGI && last.Cached != truth.Cached {
					t.Errorf("%s of %s, streamed %t: %d tokens from a cache, the mock had %d", tt.name, s.endpoint, streamed, last.Cached, truth.Cached)
				}
				tokens := 0
				for _, e := range last.Events {
					tokens += max(e.Tokens, 0)
				}
				if s.out > 0 && tokens != s.out && tt.name != "several tokens an event" || len(last.Events) != len(truth.Events) {
					t.Errorf("%s of %s, streamed %t: %d tokens in %d events, the mock sent %d in %d", tt.name, s.endpoint, streamed, tokens, len(last.Events),
						s.out, len(truth.Events))
				}
			}
		}
	}
}

// What a server does wrong is found, whatever was asked of it.
func TestFaultsOfTheMock(t *testing.T) {
	for _, tt := range []struct {
		kind config.FaultKind
		code int
		want []record.Class
	}{
		{config.FaultStatus, 503, []record.Class{record.HTTPStatus}},
		{config.FaultError, 0, []record.Class{record.StreamError, record.HTTPStatus}},
		{config.FaultErrorEvent, 0, []record.Class{record.StreamError, record.HTTPStatus}},
		{config.FaultTruncate, 0, []record.Class{record.Truncated}},
		{config.FaultGarbage, 0, []record.Class{record.BadBody}},
		{config.FaultHTML, 0, []record.Class{record.BadBody}},
	} {
		for _, s := range all() {
			last, _ := ask(t, s, s.streams, func(c *config.Server) {
				c.Faults = []config.Fault{{Kind: tt.kind, Code: tt.code, Share: 1}}
			})
			if last.Failure == nil || !slices.Contains(tt.want, last.Failure.Class) {
				t.Errorf("%s of %s: %+v, want one of %v", tt.kind, s.endpoint, last.Failure, tt.want)
			}
		}
	}
}

// Whatever a server sends, its events have all of the text and point to reads, and a stream that is read while it
// comes says what it says as a whole.
func FuzzDecoders(f *testing.F) {
	f.Add([]byte("event: response.output_text.delta\ndata: {\"delta\":\"a\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"), uint8(2), 7)
	f.Add([]byte("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n"), uint8(0), 3)
	f.Add([]byte("data: {\"text\":\" a\",\"meta_info\":{\"completion_tokens\":1}}\n\ndata: {\"text\":\" a b\",\"output_ids\":[1,2]}\n\n"), uint8(3), 9)
	f.Add([]byte(`{"object":"response","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}],"usage":{"output_tokens":3}}`), uint8(2), 5)
	mutate.Fuzz(f, func(t *testing.T, body []byte, which uint8, step int) {
		list := all()
		s := list[int(which)%len(list)]
		target := s.target("http://x", true)
		d := All()[s.protocol].Decoder(target, decodetest.Words{}, true)
		rec := decodetest.Answered(string(body))
		rec.Marks = nil
		for off := 0; off < len(body); {
			off += max(1, step%97)
			rec.Marks = append(rec.Marks, record.Read{Off: min(off, len(body))})
		}
		d.Decode(rec)
		sum, last := 0, 0
		for _, e := range rec.Events {
			if e.Mark < last || e.Mark >= len(rec.Marks) || e.Text < 0 || e.Tokens < -1 {
				t.Fatalf("%s: event %+v of %d reads", s.endpoint, e, len(rec.Marks))
			}
			last = e.Mark
			sum += e.Text
		}
		if sum != len(rec.Text) {
			t.Fatalf("%s: events have %d bytes of text, the record %d", s.endpoint, sum, len(rec.Text))
		}
		if d.Reply != nil {
			if r := d.Reply(&rec.Record); r.Empty && (r.Text != "" || r.ToolCalls != nil) {
				t.Fatalf("%s: an empty reply %+v", s.endpoint, r)
			}
		}
	})
}
