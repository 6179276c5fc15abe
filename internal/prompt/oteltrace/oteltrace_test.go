package oteltrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/prompttest"
	"inferometer/internal/token"
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

func open(t *testing.T, r plan.Replay, seed uint64, files ...string) (*Source, error) {
	t.Helper()
	r.Dir = t.TempDir()
	for i, text := range files {
		if err := os.WriteFile(filepath.Join(r.Dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := New(plan.Data{Replay: r}, token.Words{}, seed)
	if err != nil {
		return nil, err
	}
	return s, s.Open(context.Background(), prompt.Use{Chat: true})
}

func TestPlay(t *testing.T) {
	for name, tc := range map[string]struct {
		replay plan.Replay
		model  string
		said   string // in place of the recorded answer
		waits  []time.Duration
	}{
		"as recorded":     {plan.Replay{}, "m", "live words", []time.Duration{500 * time.Millisecond, 6 * time.Second}},
		"capped, static":  {plan.Replay{MaxWait: plan.Duration(time.Second), Model: "own"}, "own", "live words", []time.Duration{500 * time.Millisecond, time.Second}},
		"mapped, no subs": {plan.Replay{Models: map[string]string{"m": "to"}, NoSubstitution: true}, "to", "recorded answer", []time.Duration{500 * time.Millisecond, 6 * time.Second}},
	} {
		s, err := open(t, tc.replay, 1, talk("a"))
		if err != nil {
			t.Fatal(name, err)
		}
		first := prompttest.Take(t, s, 1)[0]
		second, wait, err := first.Rest.Next(prompt.Answer{Text: "live words"})
		if err != nil || wait != tc.waits[0] || len(second.Messages) != 3 || second.Messages[1].Content != tc.said || second.Tokens != 6 {
			t.Errorf("%s: %v, %v: %+v", name, err, wait, second)
		}
		third, wait, err := second.Rest.Next(prompt.Answer{Text: "more"})
		if err != nil || wait != tc.waits[1] || third.Rest != nil || third.Messages[0].Content != "other" {
			t.Errorf("%s: %v, %v: %+v", name, err, wait, third)
		}
		for i, p := range []prompt.Prompt{first, second, third} {
			if p.Session != "trace0_a" || p.Turn != i || p.Model != tc.model || p.Output != 12 {
				t.Errorf("%s: %+v", name, p)
			}
		}
		if again := prompttest.Take(t, s, 1)[0]; again.Session != "trace0_a#2" || again.Messages[0].Content != "hello there" {
			t.Errorf("%s: the second round begins with %+v", name, again)
		}
	}
}

func TestSessionEndsWithAFailure(t *testing.T) {
	s, err := open(t, plan.Replay{}, 1, talk("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := prompttest.Take(t, s, 1)[0].Rest.Next(prompt.Answer{Failed: true}); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

func TestSessions(t *testing.T) {
	names := func(r plan.Replay, seed uint64) (out, texts []string) {
		s, err := open(t, r, seed, talk("a")+"\n"+talk("b"), talk("c"), talk("d"))
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range prompttest.Take(t, s, s.Sessions()) {
			out, texts = append(out, p.Session), append(texts, p.Messages[0].Content)
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
	if a, _ := names(plan.Replay{Filter: "lambda x: x['session_id'] in ('a', 'd') and len(x['spans']) == 4"}, 1); len(a) != 2 {
		t.Errorf("%q", a)
	}
}

func TestRefused(t *testing.T) {
	one := func(spans ...string) string { return `{"spans": [` + strings.Join(spans, ",") + `]}` }
	tool := `[{"role": "assistant", "tool_calls": [{}]}]`
	for _, tc := range []struct {
		file, want string
		replay     plan.Replay
	}{
		{one(aSpan("s1", 0, 2, `[`+hello+`]`, ``, ""), aSpan("s2", 1, 3, `[`+hello+`]`, ``, "")), `span "s2" begins before "s1" ends`, plan.Replay{}},
		{one(aSpan("s1", 0, 2, `[`+hello+`]`, tool, "")), "calls of tools cannot be played", plan.Replay{}},
		{one(aSpan("s1", 0, 2, `[{"role": "user", "content": [{"type": "image_url"}]}]`, ``, "")), "only text can be played", plan.Replay{}},
		{one(aSpan("s1", 0, 2, `nonsense`, ``, "")), "gen_ai.input.messages", plan.Replay{}},
		{one(), "no calls of a model", plan.Replay{}},
		{one(aSpan("s1", 0, 2, `[`+hello+`]`, ``, `, "status": {"code": 2}`)), "no calls of a model", plan.Replay{SkipErrors: true}},
		{`{`, "unexpected EOF", plan.Replay{}},
		{`{`, "no session is left", plan.Replay{SkipInvalid: true}},
		{talk("a"), "data.replay.filter", plan.Replay{Filter: "open('x')"}},
		{talk("a"), "has no zzz", plan.Replay{Filter: "x['zzz']"}},
		{talk("a"), "data.replay.headers", plan.Replay{Headers: map[string]string{"a": "b"}}},
	} {
		if _, err := open(t, tc.replay, 1, tc.file); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%.60s: %v, want %s", tc.file, err, tc.want)
		}
	}
	if s, err := open(t, plan.Replay{SkipInvalid: true}, 1, `{`, talk("a")); err != nil || s.Sessions() != 1 {
		t.Errorf("a file that cannot be read is not left out: %v", err)
	}
	if s, _ := New(plan.Data{}, token.Words{}, 1); s.Open(context.Background(), prompt.Use{}) == nil {
		t.Error("completions are not refused")
	}
}

// Whatever a file has, it is read or refused, and what is read can be played.
func FuzzDecode(f *testing.F) {
	f.Add(talk("a"))
	f.Add(`{"spans": [{"attributes": {"gen_ai.input.messages": [1]}}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		s, err := New(plan.Data{}, token.Words{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		if s.sessions, err = s.decode(strings.NewReader(text), nil); err != nil || len(s.sessions) == 0 {
			return
		}
		p, err := s.Next(context.Background())
		for err == nil && p.Rest != nil {
			p, _, err = p.Rest.Next(prompt.Answer{Text: "yes"})
		}
		if err != nil {
			t.Error(err)
		}
	})
}
