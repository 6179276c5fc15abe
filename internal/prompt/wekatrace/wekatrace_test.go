package wekatrace

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/lexicon"
	"github.com/inferometer/inferometer/internal/token"
)

var update = flag.Bool("update", false, "write the golden files")

// call writes a request of a trace.
func call(t, api float64, in, out int, hashes ...int) string {
	list, _ := json.Marshal(append([]int{}, hashes...))
	return fmt.Sprintf(`{"t": %g, "type": "s", "model": "m", "in": %d, "out": %d, "hash_ids": %s, "api_time": %g, "ttft": 0.1}`, t, in, out, list, api)
}

func subagent(t float64, agent string, calls ...string) string {
	return fmt.Sprintf(`{"t": %g, "type": "subagent", "agent_id": %q, "subagent_type": "Explore", "requests": [%s]}`, t, agent, strings.Join(calls, ","))
}

// aTrace writes a trace with blocks of 16 tokens and a system prompt of two of them.
func aTrace(id string, requests ...string) string {
	return fmt.Sprintf(`{"id": %q, "models": ["m"], "block_size": 16, "tool_tokens": 10, "system_tokens": 10, "requests": [%s]}`, id, strings.Join(requests, ","))
}

// agent is a session with a subagent: turns that go on, one that goes back, one that ends
// within a block, and one of the subagent that begins as the session does.
func agent(id string) string {
	return aTrace(id,
		call(0, 1, 70, 20, 1, 2, 3, 4),
		call(3, 1, 128, 30, 1, 2, 3, 4, 5, 6, 7, 8),
		subagent(5, "a", call(5, 2, 80, 10, 1, 2, 20, 21, 22), call(8, 1, 112, 0, 1, 2, 20, 21, 22, 23, 24)),
		call(12, 1, 100, 10, 1, 2, 3, 4, 9, 10),
		call(20, 1, 109, 10, 1, 2, 3, 4, 9, 10, 11),
	)
}

func write(t testing.TB, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for i, text := range files {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func open2(t testing.TB, r plan.Replay, tok prompt.Tokenizer, seed uint64, files ...string) (*Source, error) {
	t.Helper()
	if len(files) > 0 {
		r.Dir = write(t, files...)
	}
	s := newSource(plan.Data{Replay: r}, lexiconOf(t, tok), seed, func(string) string { return "" })
	return s, s.Open(context.Background(), prompt.Use{Chat: true})
}

// lexicons are made once for each tokenizer.
var lexicons sync.Map

func lexiconOf(t testing.TB, tok prompt.Tokenizer) *lexicon.Lexicon {
	t.Helper()
	known, ok := lexicons.Load(tok.Name())
	if !ok {
		l, err := lexicon.New(tok)
		if err != nil {
			t.Fatal(err)
		}
		known, _ = lexicons.LoadOrStore(tok.Name(), l)
	}
	return known.(*lexicon.Lexicon)
}

func mustOpen(t testing.TB, r plan.Replay, tok prompt.Tokenizer, seed uint64, files ...string) *Source {
	t.Helper()
	s, err := open2(t, r, tok, seed, files...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play gives the i-th session and all that it sends.
func play(t testing.TB, s *Source, i uint64) (*prompt.Play, []prompt.Prompt) {
	t.Helper()
	p, err := s.Prompt(context.Background(), prompt.Position{I: i})
	if err != nil {
		t.Fatal(err)
	}
	var sent []prompt.Prompt
	for i := range p.Play.Graph.Calls {
		one, err := p.Play.Prompt(i)
		if err != nil {
			t.Fatal(err)
		}
		sent = append(sent, one)
		p.Play.Answer(i, prompt.Response{Text: "what a server says"})
	}
	return p.Play, sent
}

// shape is a prompt as roles and lengths.
func shape(tok prompt.Tokenizer, p prompt.Prompt) string {
	var parts []string
	for _, m := range p.Messages {
		parts = append(parts, fmt.Sprintf("%s %d", m.Role, tok.Count(m.Content)))
	}
	return strings.Join(parts, ", ")
}

// differs: ip-weka-answers
func TestShapes(t *testing.T) {
	for name, tc := range map[string]struct {
		trace string
		want  []string
	}{
		"an agent": {agent("a"), []string{
			"system 32, user 38",
			"system 32, user 32, assistant 32, user 32",
			"user 80",
			"user 80, assistant 16, user 16",
			"system 32, user 32, assistant 32, user 4",
			"system 32, user 32, assistant 32, user 13",
		}},
		"nothing in common":           {aTrace("a", call(0, 1, 64, 40, 1, 2, 3, 4), call(2, 1, 64, 5, 5, 6, 7, 8)), []string{"system 32, user 32", "system 32, user 32"}},
		"back into the system prompt": {aTrace("a", call(0, 1, 64, 40, 1, 2, 3, 4), call(2, 1, 64, 5, 1, 6, 7, 8)), []string{"system 32, user 32", "system 16, user 48"}},
		"back to its beginning alone": {aTrace("a", call(0, 1, 64, 40, 1, 2, 3, 4), call(2, 1, 32, 5, 1, 2)), []string{"system 32, user 32", "system 16, user 16"}},
		"back into an answer": {
			aTrace("a", call(0, 1, 48, 40, 1, 2, 3), call(2, 1, 112, 17, 1, 2, 3, 4, 5, 6, 7), call(4, 1, 96, 5, 1, 2, 3, 4, 8, 9), call(6, 1, 64, 5, 1, 2, 3, 4)),
			[]string{"system 32, user 16", "system 32, user 16, assistant 48, user 16", "system 32, user 16, assistant 32, user 16", "system 32, user 32"},
		},
		"no hashes":           {aTrace("a", call(0, 1, 50, 10), call(2, 1, 70, 10)), []string{"user 50", "user 70"}},
		"fewer than blocks":   {aTrace("a", call(0, 1, 100, 10, 1, 2, 3), call(2, 1, 150, 20, 1, 2, 3, 4)), []string{"system 32, user 68", "system 32, user 16, assistant 16, user 86"}},
		"more than blocks":    {aTrace("a", call(0, 1, 40, 10, 1, 2, 3, 4, 5)), []string{"system 32, user 8"}},
		"less than a block":   {aTrace("a", call(0, 1, 5, 10, 1), call(2, 1, 6, 1, 2)), []string{"user 5", "user 6"}},
		"all of it an answer": {aTrace("a", call(0, 1, 48, 400, 1, 2, 3), call(2, 1, 80, 1, 1, 2, 3, 4, 5)), []string{"system 32, user 16", "system 32, user 16, assistant 16, user 16"}},
		"no answer before":    {aTrace("a", call(0, 1, 48, 0, 1, 2, 3), call(2, 1, 80, 1, 1, 2, 3, 4, 5)), []string{"system 32, user 16", "system 32, user 48"}},
		"not in order":        {aTrace("a", call(2, 1, 80, 10, 1, 2, 3, 4, 5), call(0, 1, 48, 10, 1, 2, 3)), []string{"system 32, user 16", "system 32, user 16, assistant 16, user 16"}},
		"blocks of its own": {`{"id": "a", "requests": [` + call(0, 1, 130, 10, 1, 2) + `,` + call(9, 1, 194, 10, 1, 2, 3) + `]}`,
			[]string{"user 130", "user 128, assistant 64, user 2"}},
	} {
		s := mustOpen(t, plan.Replay{}, token.Words{}, 1, tc.trace)
		_, sent := play(t, s, 0)
		var got []string
		for _, p := range sent {
			got = append(got, shape(token.Words{}, p))
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s:\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(tc.want, "\n"))
		}
	}
}

// tokenizers are one of each family that models are served with.
func tokenizers(t testing.TB) map[string]*token.Pipeline {
	t.Helper()
	out := map[string]*token.Pipeline{}
	files, err := filepath.Glob("../../token/testdata/*.json.gz")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d tokenizers: %v", len(files), err)
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		short := strings.TrimSuffix(filepath.Base(name), ".json.gz")
		if out[short], err = token.FromJSON(short, data); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// With every tokenizer, prompts have as many tokens as recorded, and calls that have blocks
// in common begin with the same tokens, and no more.
// differs: ip-weka-lengths
func TestTokens(t *testing.T) {
	blocks := [][]int{{1, 2, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 20, 21, 22}, {1, 2, 20, 21, 22, 23, 24}, {1, 2, 3, 4, 9, 10},
		{1, 2, 3, 4, 9, 10}}
	lengths := []int{70, 128, 80, 112, 100, 109}
	for name, tok := range tokenizers(t) {
		for _, tag := range []bool{false, true} {
			s := mustOpen(t, plan.Replay{RandomID: tag}, tok, 3, strings.ReplaceAll(agent("a"), `"agent_id"`, `"tool_tokens": 20, "agent_id"`))
			_, sent := play(t, s, 0)
			ids := make([][]uint32, len(sent))
			for i, p := range sent {
				for _, m := range p.Messages {
					for _, id := range tok.Encode(m.Content, false) {
						ids[i] = append(ids[i], uint32(id))
					}
				}
				if len(ids[i]) != lengths[i] || p.Tokens != lengths[i] {
					t.Errorf("%s, tag %v: call %d has %d tokens and says %d, want %d", name, tag, i, len(ids[i]), p.Tokens, lengths[i])
				}
				if got := strings.HasPrefix(p.Messages[0].Content, "[SESS:"); got != tag {
					t.Errorf("%s, tag %v: %q", name, tag, p.Messages[0].Content)
				}
			}
			for a := range ids {
				for b := range a {
					same := 16 * common(int64s(blocks[a]), int64s(blocks[b]))
					n := 0
					for n < min(len(ids[a]), len(ids[b])) && ids[a][n] == ids[b][n] {
						n++
					}
					if n < same || n > same+8 && n < lengths[b] {
						t.Errorf("%s, tag %v: calls %d and %d have %d tokens in common, want %d", name, tag, a, b, n, same)
					}
				}
			}
		}
	}
}

func int64s(list []int) []int64 {
	var out []int64
	for _, n := range list {
		out = append(out, int64(n))
	}
	return out
}

// ms are waits in milliseconds.
func ms(list ...int) []time.Duration {
	var out []time.Duration
	for _, n := range list {
		out = append(out, time.Duration(n)*time.Millisecond)
	}
	return out
}

// differs: ip-weka-delays, ip-weka-subagents, ip-weka-beside
func TestClock(t *testing.T) {
	three := aTrace("a", call(100, 1, 16, 1, 1), call(103, 1, 16, 1, 2), call(203.5, 1, 16, 1, 3))
	thinking := strings.ReplaceAll(three, `"ttft": 0.1`, `"think_time": 1.25`)
	for name, tc := range map[string]struct {
		replay plan.Replay
		trace  string
		after  [][]int
		waits  []time.Duration
	}{
		"as recorded":      {plan.Replay{}, three, [][]int{{}, {0}, {1}}, ms(0, 2000, 99500)},
		"idle gaps":        {plan.Replay{IdleGap: plan.Duration(60 * time.Second)}, three, [][]int{{}, {0}, {1}}, ms(0, 2000, 59000)},
		"all gaps":         {plan.Replay{IdleGap: plan.Duration(2 * time.Second)}, three, [][]int{{}, {0}, {1}}, ms(0, 1000, 1000)},
		"bounded":          {plan.Replay{MaxWait: plan.Duration(15 * time.Second)}, three, [][]int{{}, {0}, {1}}, ms(0, 2000, 15000)},
		"no delays":        {plan.Replay{IgnoreDelays: true}, three, [][]int{{}, {0}, {1}}, ms(0, 0, 0)},
		"thinking":         {plan.Replay{ThinkTimeOnly: true}, thinking, [][]int{{}, {0}, {1}}, ms(0, 1250, 1250)},
		"bounded thinking": {plan.Replay{ThinkTimeOnly: true, MaxWait: plan.Duration(time.Second)}, thinking, [][]int{{}, {0}, {1}}, ms(0, 1000, 1000)},
		"a subagent":       {plan.Replay{}, agent("a"), [][]int{{}, {0}, {1}, {2}, {3}, {4}}, ms(0, 2000, 1000, 1000, 3000, 7000)},
		"two that end together, one goes on": {plan.Replay{},
			aTrace("a", call(0, 1, 16, 1, 1), subagent(2, "a", call(2, 3, 16, 1, 2)), subagent(2, "b", call(2, 4, 16, 1, 3)), subagent(2, "c", call(2.5, 40, 16, 1, 5)), call(7, 1, 16, 1, 4)),
			[][]int{{}, {0}, {0}, {0}, {1, 2}}, ms(0, 1000, 1000, 1500, 1000)},
		"one subagent, calls at the same time, from its own begin": {plan.Replay{},
			aTrace("a", call(0, 1, 16, 1, 1), subagent(10, "a", call(2, 3, 16, 1, 2), call(3, 3, 16, 1, 3), call(8, 1, 16, 1, 4))),
			[][]int{{}, {0}, {0}, {1, 2}}, ms(0, 11000, 12000, 2000)},
		"at the same time as the first":                  {plan.Replay{}, aTrace("a", call(5, 10, 16, 1, 1), subagent(7, "a", call(7, 1, 16, 1, 2))), [][]int{{}, {}}, ms(0, 2000)},
		"the session's own calls never at the same time": {plan.Replay{}, aTrace("a", call(0, 10, 16, 1, 1), call(2, 1, 16, 1, 2)), [][]int{{}, {0}}, ms(0, 0)},
	} {
		g := mustOpen(t, tc.replay, token.Words{}, 1, tc.trace).All[0].Graph
		var after [][]int
		var waits []time.Duration
		for _, c := range g.Calls {
			after, waits = append(after, append([]int{}, c.After...)), append(waits, c.Wait)
		}
		if fmt.Sprint(after) != fmt.Sprint(tc.after) || !slices.Equal(waits, tc.waits) {
			t.Errorf("%s: after %v, waits %v; want %v, %v", name, after, waits, tc.after, tc.waits)
		}
	}
}

func TestWarp(t *testing.T) {
	w := newIdleCut([]float64{0, 1, 101, 102, 302}, 10)
	for at, want := range map[float64]float64{0: 0, 1: 1, 5: 5, 11: 11, 50: 11, 101: 11, 101.5: 11.5, 102: 12, 110: 20, 250: 22, 302: 22,
		400: 120} {
		if got := w.shortened(at); got != want {
			t.Errorf("%v is at %v, want %v", at, got, want)
		}
	}
}

func TestSessions(t *testing.T) {
	r := plan.Replay{Sessions: 5, Models: map[string]string{"m": "mapped"}, MaxTokens: 77}
	files := []string{agent("a"), strings.ReplaceAll(agent("b"), `"m"`, `"other"`)}
	s := mustOpen(t, r, token.Words{}, 1, files...)
	if s.Sessions() != 5 {
		t.Fatalf("%d sessions", s.Sessions())
	}
	texts, tags := map[string]string{}, map[string]bool{}
	for i := range uint64(5) {
		p, sent := play(t, s, i)
		texts[p.Name] = sent[0].Messages[0].Content
		original, again, dup := strings.Cut(p.Name, "_dup")
		if dup != (p.Tag != "") || tags[p.Tag] && dup {
			t.Errorf("%s has the tag %q", p.Name, p.Tag)
		}
		tags[p.Tag] = true
		if dup {
			words, first := strings.Fields(texts[p.Name]), strings.Fields(texts[original])
			if len(words) != len(first) || words[0] != p.Tag || words[1] == first[1] || words[16] != first[16] {
				t.Errorf("%s (%s): %q is not %q with a tag for its first word", p.Name, again, texts[p.Name], texts[original])
			}
		}
		model := "mapped"
		if strings.HasPrefix(p.Name, "wekatrace1_b") {
			model = "" // the run's own
		}
		for i, c := range sent {
			if c.Model != model || c.Session != p.Name || c.Turn != i || c.Output != []int{20, 30, 10, 77, 10, 10}[i] {
				t.Errorf("%s: call %d: %+v", p.Name, i, c)
			}
		}
		if p.Graph.Origin != strings.TrimSuffix(original[len("wekatrace0_"):], "") || !p.Graph.Calls[2].User || p.Graph.Calls[2].ID != "event_002_sa_a_s0_turn_0" {
			t.Errorf("%s: %+v", p.Name, p.Graph.Calls[2])
		}
	}
	first, second := texts["wekatrace0_a"], texts["wekatrace1_b"]
	if first == "" || second == "" || first == second {
		t.Errorf("hashes of two traces are the same text, or there are others: %q", texts)
	}
	if p, _ := play(t, s, 5); !strings.HasSuffix(p.Name, "#2") {
		t.Errorf("the second round has %s in it", p.Name)
	}
	static := mustOpen(t, plan.Replay{Model: "static"}, token.Words{}, 1, files...)
	if _, sent := play(t, static, 0); sent[0].Model != "static" {
		t.Errorf("%q in place of the static model", sent[0].Model)
	}
}

// The same seed is the same text, another seed is another one; hashes that are meant for
// all traces are the same text in all.
func TestSeeds(t *testing.T) {
	text := func(seed uint64, trace string) string {
		_, sent := play(t, mustOpen(t, plan.Replay{RandomID: true}, token.Words{}, seed, trace), 0)
		return fmt.Sprint(sent[1].Messages)
	}
	if once, again := text(1, agent("a")), text(1, agent("a")); once != again || once == text(2, agent("a")) {
		t.Error("a seed does not say what is sent")
	}
	global := func(id string) string { return strings.Replace(agent(id), `{`, `{"hash_id_scope": "global", `, 1) }
	s := mustOpen(t, plan.Replay{}, token.Words{}, 1, global("a"), global("b"))
	_, one := play(t, s, 0)
	_, two := play(t, s, 1)
	if one[0].Messages[0].Content != two[0].Messages[0].Content {
		t.Error("the same hash of all traces is not the same text")
	}
}

// TestGolden holds all that a session sends, and when.
func TestGolden(t *testing.T) {
	s := mustOpen(t, plan.Replay{IdleGap: plan.Duration(5 * time.Second), Sessions: 2}, token.Words{}, 1, agent("a"))
	var b strings.Builder
	for i := range uint64(2) {
		p, sent := play(t, s, i)
		fmt.Fprintln(&b, p.Name)
		for i, c := range sent {
			call := p.Graph.Calls[i]
			fmt.Fprintf(&b, "\n%s, after %v and %v, %d tokens, asks for %d\n", call.ID, call.After, call.Wait, c.Tokens, c.Output)
			for _, m := range c.Messages {
				fmt.Fprintf(&b, "%s: %s\n", m.Role, m.Content)
			}
		}
		fmt.Fprintln(&b)
	}
	const name = "testdata/session.golden"
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil || string(want) != b.String() {
		t.Errorf("other than %s (-update writes it): %v\n%s", name, err, b.String())
	}
}
