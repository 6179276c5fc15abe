package oteltrace

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/token"
)

// aSpan writes a span that begins and ends so many seconds after noon.
func aSpan(id string, from, to float64, in, out, more string) string {
	at := func(s float64) string {
		return time.Date(2026, 1, 31, 12, 0, 0, int(s*1e9), time.UTC).Format(time.RFC3339Nano)
	}
	return fmt.Sprintf(`{"span_id": %q, "name": "chat m", "start_time": %q, "end_time": %q %s, "attributes": {"gen_ai.request.model": "m",
		"gen_ai.input.messages": %q, "gen_ai.output.messages": %q, "gen_ai.usage.output_tokens": 12}}`, id, at(from), at(to), more, in, out)
}

const (
	hello  = `{"role": "user", "content": "hello there"}`
	answer = `{"role": "assistant", "content": "recorded answer"}`
	parts  = `{"role": "assistant", "parts": [{"type": "text", "content": "recorded answer"}]}`
)

// talk is a session of three calls, written in another order, with a span that is none.
func talk(id string) string {
	return `{"session_id": "` + id + `", "spans": [` + strings.Join([]string{
		aSpan("s3", 9, 10, `[{"role": "user", "content": "other"}]`, ``, ""),
		aSpan("s1", 0, 1, `[`+hello+`]`, `[`+parts+`]`, ""),
		`{"span_id": "s0", "name": "plan", "start_time": "never"}`,
		aSpan("s2", 1.5, 3, `[`+hello+`, `+answer+`, {"role": "user", "content": "and now"}]`, `[`+answer+`]`, ""),
	}, ",") + `]}`
}

func noEnv(string) string { return "" }

// opened is a source of files that can be read.
func opened(t *testing.T, r plan.Replay) *Source {
	t.Helper()
	s, err := New(plan.Data{Replay: r}, token.Words{}, 1, noEnv)
	if err == nil {
		err = s.Open(t.Context(), prompt.Use{Chat: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// from opens a source of texts; told is what it says to the user.
func from(t *testing.T, r plan.Replay, seed uint64, files ...string) (s *Source, told []string, err error) {
	t.Helper()
	r.Dir = t.TempDir()
	for i, text := range files {
		if err := os.WriteFile(filepath.Join(r.Dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if s, err = New(plan.Data{Replay: r}, token.Words{}, seed, noEnv); err != nil {
		return nil, nil, err
	}
	err = s.Open(t.Context(), prompt.Use{Chat: true, Tell: func(text string) { told = append(told, text) }})
	return s, told, err
}

func TestPlay(t *testing.T) {
	for name, tc := range map[string]struct {
		replay plan.Replay
		model  string
		said   string // in place of the recorded response
		waits  []time.Duration
	}{
		"as recorded":     {plan.Replay{}, "", "live words", []time.Duration{0, 500 * time.Millisecond, 6 * time.Second}},
		"capped, static":  {plan.Replay{MaxWait: plan.Duration(time.Second), Model: "own"}, "own", "live words", []time.Duration{0, 500 * time.Millisecond, time.Second}},
		"mapped, no subs": {plan.Replay{Models: map[string]string{"m": "to"}, NoSubstitution: true}, "to", "recorded answer", []time.Duration{0, 500 * time.Millisecond, 6 * time.Second}},
		"another mapped":  {plan.Replay{Models: map[string]string{"x": "to"}, IgnoreDelays: true}, "", "live words", []time.Duration{0, 0, 0}},
	} {
		s, _, err := from(t, tc.replay, 1, talk("a"))
		if err != nil {
			t.Fatal(name, err)
		}
		first := prompttest.FirstPrompts(t, s, 1)[0]
		var calls []prompt.Prompt
		for i, c := range first.Play.Graph.Calls {
			p, err := first.Play.Prompt(i)
			if err != nil || p.Session != "trace0_a" || p.Turn != i || p.Model != tc.model || p.Output != 12 || c.Wait != tc.waits[i] {
				t.Errorf("%s: call %d: %v, after %v: %+v", name, i, err, c.Wait, p)
			}
			calls = append(calls, p)
			first.Play.Answer(i, prompt.Response{Text: "live words"})
		}
		if second := calls[1]; len(second.Messages) != 3 || second.Messages[1].Content != tc.said || second.Tokens != 6 {
			t.Errorf("%s: %+v", name, second)
		}
		if again := prompttest.TakeAt(t, s, prompt.Position{I: 1}, 1)[0]; again.Session != "trace0_a#2" || again.Play == first.Play {
			t.Errorf("%s: the second round begins with %+v", name, again)
		}
	}
}

// differs: ip-otel-places
func TestSessions(t *testing.T) {
	names := func(r plan.Replay, seed uint64) (out, texts []string) {
		s, _, err := from(t, r, seed, talk("a")+"\n"+talk("b"), "["+talk("c")+"]", talk("d"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range prompttest.FirstPrompts(t, s, s.Sessions()) {
			first, err := p.Play.Prompt(0)
			if err != nil {
				t.Fatal(err)
			}
			out, texts = append(out, p.Session), append(texts, first.Messages[0].Content)
		}
		return out, texts
	}
	a, texts := names(plan.Replay{Sessions: 10}, 1)
	b, _ := names(plan.Replay{Sessions: 10}, 1)
	c, _ := names(plan.Replay{Sessions: 10}, 3)
	if len(a) != 10 || !slices.Equal(a, b) || slices.Equal(a, c) || a[4] != a[0]+"_dup1" || a[9] != a[1]+"_dup6" {
		t.Errorf("%q\n%q\n%q", a, b, c)
	}
	if texts[0] != "hello there" || !strings.HasPrefix(texts[4], "[SESS:") || texts[4] == texts[5] {
		t.Errorf("%q", texts)
	}
	if _, texts := names(plan.Replay{RandomID: true}, 1); !strings.HasPrefix(texts[0], "[SESS:") || texts[0] == texts[1] {
		t.Errorf("%q", texts)
	}
	for filter, want := range map[string]int{
		"lambda x: x['session_id'] in ('a', 'd') and len(x['spans']) == 4": 2,
		"x['benchmark'] == 'unknown' and x['total_tokens'] == 36":          4,
		"x['max_tokens'] > 12": 0,
	} {
		s, _, err := from(t, plan.Replay{Filter: filter}, 1, talk("a")+talk("b"), talk("c"), talk("d"))
		if n := s.Sessions(); n != want || (err == nil) != (want > 0) {
			t.Errorf("%s: %d sessions, want %d: %v", filter, n, want, err)
		}
	}
}

// A tag stands in front of what is a call's own, once: what it shares with another has it
// already.
func TestTag(t *testing.T) {
	s, _, err := from(t, plan.Replay{RandomID: true}, 1, talk("a"))
	if err != nil {
		t.Fatal(err)
	}
	p := prompttest.FirstPrompts(t, s, 1)[0]
	for i := range 2 {
		got, err := p.Play.Prompt(i)
		if err != nil {
			t.Fatal(err)
		}
		for k, m := range got.Messages {
			if n := strings.Count(m.Content, "[SESS:"); n != 1 && m.Role == "user" || n != 0 && m.Role != "user" {
				t.Errorf("message %d of call %d is %q", k, i, m.Content)
			}
		}
		p.Play.Answer(i, prompt.Response{Text: "live"})
	}
}

func TestRefused(t *testing.T) {
	one := func(spans ...string) string { return `{"spans": [` + strings.Join(spans, ",") + `]}` }
	for _, tc := range []struct {
		file, want string
		replay     plan.Replay
	}{
		{one(aSpan("s1", 0, 2, `[{"role": "assistant", "tool_calls": [{"name": "f"}]}]`, ``, "")), "has no id", plan.Replay{}},
		{one(aSpan("s1", 0, 2, `[`+hello+`]`, `[`+answer+`, `+answer+`]`, "")), "there are 2 responses", plan.Replay{}},
		{one(aSpan("s1", 0, 2, `[{"content": "x"}]`, ``, "")), "it has no role", plan.Replay{}},
		{one(aSpan("s1", 0, 2, `nonsense`, ``, "")), "gen_ai.input.messages", plan.Replay{}},
		{one(), "no calls of a model", plan.Replay{}},
		{one(aSpan("s1", 0, 2, `[`+hello+`]`, ``, `, "status": {"code": 2}`)), "no calls of a model", plan.Replay{SkipErrors: true}},
		{`{`, "unexpected EOF", plan.Replay{}},
		{`{`, "no session is left", plan.Replay{SkipInvalid: true}},
		{`{"spans": 1}`, "cannot unmarshal", plan.Replay{}},
		{talk("a"), "data.replay.filter", plan.Replay{Filter: "open('x')"}},
		{talk("a"), "has no zzz", plan.Replay{Filter: "x['zzz']"}},
	} {
		_, told, err := from(t, tc.replay, 1, tc.file)
		if err == nil || !strings.Contains(fmt.Sprint(err, told), tc.want) {
			t.Errorf("%.60s: %v, %q, want %s", tc.file, err, told, tc.want)
		}
		// Beside others a session without calls is left out, and the user is told.
		if s, told, err := from(t, tc.replay, 1, tc.file, talk("b")); err == nil && (s.Sessions() != 1 || len(told) == 0) {
			t.Errorf("%.60s: %d sessions, told %q", tc.file, s.Sessions(), told)
		}
	}
	if s, _ := New(plan.Data{}, token.Words{}, 1, noEnv); s.Open(context.Background(), prompt.Use{}) == nil {
		t.Error("completions are not refused")
	}
}

func TestWhatIsNotSentIsTold(t *testing.T) {
	call := `[{"role": "assistant", "tool_calls": [{"id": "1", "name": "f", "arguments": "{}"}]}]`
	text := `{"spans": [` + aSpan("s1", 0, 2, `[{"role": "user", "content": [{"type": "image_url"}, {"type": "text", "text": "see"}]}]`, call, "") + `]}`
	s, told, err := from(t, plan.Replay{}, 1, text)
	if err != nil || len(told) != 2 || !strings.Contains(told[0], `"image_url"`) || !strings.Contains(told[1], "gen_ai.tool.definitions") {
		t.Fatalf("%v, told %q", err, told)
	}
	p, err := prompttest.FirstPrompts(t, s, 1)[0].Play.Prompt(0)
	if err != nil || p.Messages[0].Content != "see" || p.Tools != nil {
		t.Errorf("%v: %+v", err, p)
	}
}

func TestAttributes(t *testing.T) {
	text := strings.ReplaceAll(talk("a"), `"gen_ai.request.model": "m",`, `"gen_ai.request.model": "m", "tenant": "blue", "weight": 2,`)
	s, _, err := from(t, plan.Replay{Headers: map[string]string{"tenant": "x-tenant", "none": "x-none"}, Labels: map[string]string{"weight": "w"}}, 1, text)
	if err != nil {
		t.Fatal(err)
	}
	p, err := prompttest.FirstPrompts(t, s, 1)[0].Play.Prompt(1)
	if err != nil || fmt.Sprint(p.Headers, p.Labels) != "[[x-none default] [x-tenant blue]] [[w 2]]" || p.Call != "event_001_s2" {
		t.Errorf("%v: %+v", err, p)
	}
}

func TestSafeSchema(t *testing.T) {
	for in, want := range map[string]string{
		`{"type":"object","title":"T"}`:                                        `{"properties":{},"type":"object"}`,
		`{"anyOf":[{"type":"integer"}],"description":"d"}`:                     `{"description":"d","type":"string"}`,
		`{"type":"integer","minimum":1,"oneOf":[]}`:                            `{"type":"integer"}`,
		`{"type":"object","properties":{"title":{"minLength":1}}}`:             `{"properties":{"title":{"type":"string"}},"type":"object"}`,
		`{"type":"array","items":{"enum":[1,null]},"additionalProperties":{}}`: `{"additionalProperties":false,"items":{"enum":[1,null],"type":"string"},"type":"array"}`,
		`null`: ``,
	} {
		got, err := safeSchema(json.RawMessage(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v, want %s", in, got, err, want)
		}
	}
}

// Several results in one message are several messages of a chat.
// differs: ip-otel-results
func TestSeveralResults(t *testing.T) {
	got, err := readMessages(json.RawMessage(`[{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "1"},
		{"type": "tool_result", "tool_use_id": "b", "content": [{"type": "text", "text": "2"}]}, {"type": "text", "text": "go on"}]}]`))
	if err != nil || len(got) != 3 {
		t.Fatalf("%v: %+v", err, got)
	}
	for i, want := range []prompt.Message{{Role: "tool", ToolCallID: "a", Content: "1"}, {Role: "tool", ToolCallID: "b", Content: "2"}, {Role: "user", Content: "go on"}} {
		if m := got[i].wire; m.Role != want.Role || m.ToolCallID != want.ToolCallID || m.Content != want.Content {
			t.Errorf("message %d is %+v, want %+v", i, m, want)
		}
	}
}

// Whatever a file has, it is read or refused, and what is read can be played.
func FuzzDecode(f *testing.F) {
	f.Add(talk("a"))
	f.Add(`{"spans": [{"attributes": {"gen_ai.input.messages": [1]}}]}`)
	for _, name := range []string{"chain", "fan", "tools", "messy"} {
		text, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	mutate.Fuzz(f, func(t *testing.T, text string) {
		s, err := New(plan.Data{Replay: plan.Replay{BadToolCalls: "use_recorded", RandomID: true, ToolMaxTokens: 4096}}, token.Words{}, 1, noEnv)
		if err != nil {
			t.Fatal(err)
		}
		one, err := s.decode([]byte(text), replay.File{Name: "f"}, 0)
		if err != nil || one == nil {
			return
		}
		s.All = append(s.All, one)
		p, err := s.Prompt(context.Background(), prompt.Position{})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range p.Play.Graph.Calls {
			got, err := p.Play.Prompt(i)
			if err != nil || len(got.Messages) != len(c.Prompt.Messages) || c.Wait < 0 {
				t.Fatalf("call %d: %v: %+v", i, err, got)
			}
			for _, j := range c.After {
				if j >= i {
					t.Fatalf("call %d comes after %d", i, j)
				}
			}
			p.Play.Answer(i, prompt.Response{Text: "yes", ToolCalls: []prompt.ToolCall{{ID: "x", Name: "f", Arguments: "{}"}}})
		}
	})
}

// A response that says nothing is in no later call's input; to the original it is in all of them.
// differs: ip-otel-empty
func TestEmptyAnswerIsQuotedNowhere(t *testing.T) {
	said := message{role: "assistant", text: "yes", wire: prompt.Message{Role: "assistant", Content: "yes"}}
	for text, want := range map[string]bool{"": false, "yes": true, "no": false} {
		l := &links{exact: map[[2]int]int{}}
		if got := l.quotes([]call{{out: &output{text: text}}, {messages: []message{said}}}, 0, 1); got != want {
			t.Errorf("%q is quoted: %v, want %v", text, got, want)
		}
	}
}
