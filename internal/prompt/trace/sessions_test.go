package trace

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func openSessions(t *testing.T, file string, w plan.Trace) (*Sessions, error) {
	t.Helper()
	s, err := New(plan.Data{File: file, Output: fixed(9), Trace: w}, words{}, 1, Kit{Texts: made})
	if err != nil {
		return nil, err
	}
	o, ok := s.(*Sessions)
	if !ok {
		t.Fatalf("%s has no sessions", file)
	}
	return o, o.Open(t.Context(), prompt.Use{Chat: true})
}

// outline is what sessions play: when each begins, and of each call after which others it goes, how long after them or
// after the session's begin, what it sends, with the length of each message, and how much it asks for.
func outline(t *testing.T, s *Sessions) (list []string) {
	t.Helper()
	due := s.Schedule().List()
	for i := range s.Sessions() {
		p, err := s.Prompt(t.Context(), prompt.Position{I: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		head := p.Session
		if due != nil {
			head += " at " + due[i].String()
		}
		list = append(list, head)
		for k, c := range p.Play.Graph.Calls {
			said, err := p.Play.Prompt(k)
			if err != nil {
				t.Fatal(err)
			}
			line := fmt.Sprintf("  %v", c.After)
			if c.Wait > 0 {
				line += " +" + c.Wait.String()
			}
			if c.NotBefore > 0 {
				line += " @" + c.NotBefore.String()
			}
			for _, m := range said.Messages {
				line += fmt.Sprintf(" %s:%d", m.Role, len(strings.Fields(m.Content)))
				if m.Raw != nil {
					line += "*"
				}
			}
			line += fmt.Sprintf(" → %d", said.Output)
			for _, f := range said.Fields {
				line += fmt.Sprintf(" %s=%s", f.Name, f.Value)
			}
			list = append(list, line)
			p.Play.Answer(k, prompt.Response{Text: "live " + fmt.Sprint(k)})
		}
	}
	return list
}

// Sessions in the layouts as they are published.
var sessionFiles = map[string]struct {
	text string
	want []string
}{
	plan.TraceTraceLab: {
		`{"provider":"claude","project":"p","session_id":"claude:1","round_index":0,"round_id":"msg_1","model":"opus","input_tokens_total":32,"prefix_tokens":20,"newly_append_tokens":12,"output_tokens":9,"reasoning_output_tokens":null,"timing_events":[{"event_type":"user_message","timestamp":"2026-06-01T05:40:20.151Z","source":"user.message","content_chars":146},{"event_type":"reasoning","timestamp":"2026-06-01T05:40:29.420Z","source":"s","content_chars":0}],"tools":[],"first_input_event_type":"user_message"}
{"provider":"codex","session_id":"codex:2","round_index":0,"model":"gpt","input_tokens_total":7,"prefix_tokens":0,"newly_append_tokens":7,"output_tokens":3,"timing_events":[{"event_type":"user_message","timestamp":"2026-06-01T05:40:22.151Z"}],"tools":[],"first_input_event_type":"user_message"}
{"provider":"claude","session_id":"claude:1","round_index":1,"model":"opus","input_tokens_total":50,"prefix_tokens":38,"newly_append_tokens":12,"output_tokens":4,"timing_events":[{"event_type":"tool_result","timestamp":"2026-06-01T05:40:31.000Z"},{"event_type":"tool_result","timestamp":"2026-06-01T05:40:50.151Z"},{"event_type":"tool_call","timestamp":"2026-06-01T05:41:00.000Z"}],"tools":[{"tool_name":"Bash","emitted_at":"2026-06-01T05:41:00.000Z","result_at":"2026-06-01T05:41:01.000Z","tool_wall_latency_ms":1000}],"first_input_event_type":"tool_result"}
{"provider":"claude","session_id":"claude:1","round_index":2,"model":"opus","input_tokens_total":26,"prefix_tokens":26,"newly_append_tokens":0,"output_tokens":0,"timing_events":[],"tools":[]}
`,
		[]string{
			"claude:1 at 0s", "  [] system:20 user:12 → 9", "  [0] @30s system:20 user:12 assistant:6 user:12 → 4", "  [1] @30s system:20 user:6 → 9",
			"codex:2 at 2s", "  [] user:7 → 3",
		},
	},
	plan.TraceLMCache: {
		`{"session_id":"swe__1","model":"minimax","input":[{"role":"system","content":"be short"},{"role":"user","content":"fix it now"}],"output_length":52,"pre_gap":0.0}
{"session_id":"swe__1","model":"minimax","input":[{"role":"system","content":"be short"},{"role":"user","content":"fix it now"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"bash","arguments":"{\"command\": \"ls\"}"}}]},{"role":"tool","tool_call_id":"c1","content":"a b c"}],"output_length":90,"pre_gap":0.0457}
{"session_id":"gaia__2","model":"minimax","input":[{"role":"user","content":"who"}],"output_length":0,"pre_gap":3}
`,
		[]string{
			"swe__1", "  [] system:2 user:3 → 52", "  [0] +45.7ms system:2 user:3 assistant:2* tool:3* → 90",
			"gaia__2", "  [] user:1 → 9",
		},
	},
	plan.TraceMultiTurn: {
		`{"session_id": "chat_1", "turns": [{"role": "system", "text": "one sentence each"}, {"text": "What is it?", "output_length": 20}, {"text": "An example", "delay": 1500, "extra": {"temperature": 0.5}}]}
{"turns": [{"texts": ["Explain", "this now"]}]}
`,
		[]string{
			"chat_1", "  [] system:3 user:3 → 20", "  [0] +1.5s system:3 user:3 assistant:2 user:2 → 9 temperature=0.5",
			"session_000001", "  [] user:3 → 9",
		},
	},
	plan.TraceMultiTurn + " with times": {
		`{"session_id": "b", "turns": [{"timestamp": 3000, "text": "x"}, {"timestamp": 9000, "text": "y"}]}
{"session_id": "a", "turns": [{"timestamp": 1000, "text": "x"}]}
`,
		[]string{"a at 0s", "  [] user:1 → 9", "b at 2s", "  [] user:1 → 9", "  [0] @6s user:1 assistant:2 user:1 → 9"},
	},
	plan.TraceDAG: {
		`{"session_id":"root","turns":[{"model":"m","messages":[{"role":"system","content":"be careful"},{"role":"user","content":"summarize it"}],"max_tokens":128,"forks":["a"],"spawns":["c"]}]}
{"session_id":"a","turns":[{"messages":[{"role":"user","content":"expand"},{"role":"user","content":"and counter"}],"max_tokens":96,"delay":250},{"messages":[{"role":"user","content":"tighten"}],"max_tokens":64,"extra":{"min_tokens":50}}]}
{"session_id":"c","turns":[{"messages":[{"role":"user","content":"check alone"}]}]}
{"session_id":"wait","turns":[{"messages":[{"role":"user","content":"plan"}],"spawns":[{"children":["c"],"join_at":2}]},{"messages":[{"role":"user","content":"go on"}]},{"messages":[{"role":"user","content":"now join"}],"tools":[{"type":"function","function":{"name":"f"}}]}]}
{"session_id":"spine","orchestrator":true,"rounds":[{"spawns":["c"]},{"spawns":["c","d"],"think_time_ms":100}]}
{"session_id":"d","context_mode":"message_array_with_responses","turns":[{"messages":[{"role":"user","content":"one"}]},{"messages":[{"role":"user","content":"one"},{"role":"assistant","content":"said"},{"role":"user","content":"two"}]}]}
`,
		[]string{
			"root", "  [] system:2 user:2 → 128", "  [0] +250ms system:2 user:2 assistant:2 user:1 user:2 → 96",
			"  [1] system:2 user:2 assistant:2 user:1 user:2 assistant:2 user:1 → 64 min_tokens=50", "  [0] user:2 → 9",
			"wait", "  [] user:1 → 9", "  [0] user:2 → 9", "  [0] user:1 assistant:2 user:2 → 9",
			`  [1 2] user:1 assistant:2 user:2 assistant:2 user:2 → 9 tools=[{"type":"function","function":{"name":"f"}}]`,
			"spine", "  [] user:2 → 9", "  [0] +100ms user:2 → 9", "  [0] +100ms user:1 → 9", "  [2] user:1 assistant:1 user:1 → 9",
		},
	},
	plan.TraceSGLang: {
		`{"metadata": {"source": "SWE-smith"}, "conversations": [
  [{"messages": [{"role": "system", "content": "you are"}, {"role": "user", "content": "fix"}], "prompt_tokens": 73821}, {"messages": [{"role": "user", "content": "it failed here"}], "prompt_tokens": 74894}],
  [{"messages": [{"role": "user", "content": "another"}], "prompt_tokens": 5}]
]}`,
		[]string{
			"conversation_0", "  [] system:2 user:1 → 9", "  [0] system:2 user:1 assistant:2 user:3 → 9", "conversation_1", "  [] user:1 → 9",
		},
	},
	plan.TraceMLPerf: {
		`{"_type":"dataset_metadata","conversation_id":"m","turn":0,"role":"user"}
{"conversation_id":"c1","turn":1,"role":"user","system":"be good","content":"do it","tools":[{"type":"function"}],"delay_seconds":0.4}
{"conversation_id":"c1","turn":2,"role":"assistant","reasoning_content":"think so","tool_calls":[{"id":"x","type":"function","function":{"name":"run","arguments":"{}"}}]}
{"conversation_id":"c1","turn":3,"role":"tool","tool_results":[{"tool_call_id":"x","content":"fine by me"}],"delay_seconds":1.25}
{"conversation_id":"c1","turn":4,"role":"assistant","content":"all is done now"}
{"conversation_id":"c2","turn":1,"role":"user","content":"hello there"}
`,
		[]string{
			"c1", `  [] +400ms system:2 user:2 → 2 tools=[{"type":"function"}]`,
			`  [0] +1.25s system:2 user:2 assistant:2* tool:3* → 4 tools=[{"type":"function"}]`,
			"c2", "  [] user:2 → 9",
		},
	},
	plan.TraceMLPerf + " articles": {
		`[{"instruction": "Summarize the following news article in 128 tokens. {input}", "input": "A dog bit", "tok_input": [1, 2], "output": "Dog bites"}]`,
		[]string{"article_0", "  [] user:11 → 9"},
	},
	plan.TraceMLPerf + " questions": {
		`{"id": "t0", "system_prompt": "You are", "question": "Why not?", "output": "a b c", "tok_input_length": 9, "tok_output_length": 40.0}
{"system_prompt": "", "question": "Why?", "response": "so be it"}`,
		[]string{"question_0", "  [] system:2 user:2 → 40", "question_1", "  [] user:1 → 3"},
	},
}

// Each layout of sessions is told from the others by its file, and is played as it was recorded.
func TestSessionLayouts(t *testing.T) {
	for name, tc := range sessionFiles {
		format, _, _ := strings.Cut(name, " ")
		for _, named := range []string{"", format} {
			t.Run(name+" as "+named, func(t *testing.T) {
				s, err := openSessions(t, written(t, tc.text), plan.Trace{Format: named})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, outline(t, s)); diff != "" {
					t.Error(diff)
				}
				if !strings.Contains(strings.Join(s.Notes(), ""), "is "+(&layout{name: format}).article()+" trace: ") {
					t.Errorf("says %v", s.Notes())
				}
			})
		}
		for _, other := range plan.TraceFormats() {
			if other == format {
				continue
			}
			if _, err := openSessions(t, written(t, tc.text), plan.Trace{Format: other}); err == nil || !strings.Contains(err.Error(), ":1: has records of "+(&layout{name: format}).article()+" trace, not of "+other) {
				t.Errorf("%s, called %s: %v", name, other, err)
			}
		}
	}
}

// A session at another speed, with its pauses cut, and those that began in a window.
func TestSessionTiming(t *testing.T) {
	s := func(n float64) plan.Duration { return plan.Duration(n * 1e9) }
	lab := sessionFiles[plan.TraceTraceLab].text
	for _, tc := range []struct {
		trace plan.Trace
		text  string
		want  string
	}{
		{plan.Trace{Speed: 2}, lab, "claude:1 at 0s, [0] @15s, [1] @15s, codex:2 at 1s"},
		{plan.Trace{CapGaps: s(1)}, lab, "claude:1 at 0s, [0] @1s, [1] @1s, codex:2 at 1s"},
		{plan.Trace{From: s(1), To: s(3)}, lab, "codex:2 at 0s"},
		{plan.Trace{Speed: 0.5, CapGaps: s(1)}, sessionFiles[plan.TraceMLPerf].text, "c1, [0] +2s, c2"},
	} {
		src, err := openSessions(t, written(t, tc.text), tc.trace)
		if err != nil {
			t.Fatal(err)
		}
		got := outline(t, src)
		for i := range got {
			got[i] = strings.TrimSpace(got[i])
			if before, _, ok := strings.Cut(got[i], " system:"); ok {
				got[i] = before
			}
		}
		got = slices.DeleteFunc(got, func(line string) bool { return strings.HasPrefix(line, "[] ") || line == "[]" })
		if diff := cmp.Diff(tc.want, strings.Join(got, ", ")); diff != "" {
			t.Errorf("%+v: %s", tc.trace, diff)
		}
	}
	if _, err := openSessions(t, written(t, sessionFiles[plan.TraceSGLang].text), plan.Trace{From: s(1)}); err == nil || !strings.Contains(err.Error(), "does not say when its sessions began") {
		t.Errorf("a window of a trace without times: %v", err)
	}
}

// What does not fit is refused with its line.
func TestSessionFaults(t *testing.T) {
	first := func(format string) string { return strings.SplitAfter(sessionFiles[format].text, "\n")[0] }
	for text, want := range map[string]string{
		first(plan.TraceTraceLab) + `{"session_id": "s", "round_index": 1, "input_tokens_total": 0}`:                    ":2: has lengths of 0",
		first(plan.TraceTraceLab) + `{"session_id": "s", "round_index": 1, "input_tokens_total": 5, "output_tokens":1}`: ":2: has no timing_events",
		first(plan.TraceTraceLab) + `{"session_id": "s"}`:                                                               ":2: has no round_index",
		first(plan.TraceLMCache) + `{"session_id": "s", "input": [], "output_length": 1}`:                               ":2: input has no messages",
		first(plan.TraceLMCache) + `{"session_id": "s", "input": [{"content": ""}], "output_length": 1}`:                ":2: input: [0] has no role",
		first(plan.TraceLMCache) + `{"session_id": "s", "input": [{"role": "user"}], "pre_gap": -1}`:                    ":2: pre_gap: -1",
		first(plan.TraceMultiTurn) + `{"turns": [{"image": "x.png", "text": "see"}]}`:                                   ":2: turns[0] has image",
		first(plan.TraceMultiTurn) + `{"turns": [{"timestamp": 5, "text": "see"}]}`:                                     ":2: of some conversations",
		first(plan.TraceMultiTurn) + `{"turns": []}`:                                                                    ":2: has no turns",
		first(plan.TraceMultiTurn) + "{\n":                                                                              ":3: unexpected EOF",
		`{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}],"max_token":1}]}`:                       `:1: is not a conversation of a DAG: unknown field "max_token"`,
		`{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}],"forks":["b"]}]}`:                       `:1: begins the conversation "b"`,
		`{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}],"spawns":["a"]}]}`:                      ":1: every conversation is begun by another",
		`{"session_id":"r","orchestrator":true,"spawns":["a"]}` + "\n" +
			`{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}],"spawns":["a"]}]}`: ":2: conversations begin one another in a circle: r → a → a",
		first(plan.TraceDAG) + first(plan.TraceDAG): `:2: the session_id "root" is there twice`,
		`{"session_id":"a","turns":[{"messages":[{"role":"user","content":"x"}],"forks":["b"]},{"messages":[{"role":"user","content":"x"}]}]}`: ":1: turns[0] has forks, which end",
		`{"conversations": []}`: ":1: has no conversations with messages",
		`{"conversation_id":"c","turn":1,"role":"user","content":"x"}` + "\n" + `{"conversation_id":"c","turn":1,"role":"assistant","content":"x"}`: ":2: turn 1 comes after turn 1",
		`{"conversation_id":"c","turn":1,"role":"assistant","content":"x"}`:                                                                         ":1: is a response, and nothing was asked",
		`{"conversation_id":"c","turn":1,"role":"tool"}`:                                                                                            ":1: is of a tool and has no tool_results",
		"a pickle": ":1: begins with",
	} {
		if _, err := openSessions(t, written(t, text), plan.Trace{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// lmcacheRow is a row of LMCache's traces as a Parquet file has it.
type lmcacheRow struct {
	Session string           `parquet:"session_id"`
	Model   string           `parquet:"model"`
	Input   []lmcacheMessage `parquet:"input,list"`
	Output  int64            `parquet:"output_length"`
	Gap     float64          `parquet:"pre_gap"`
}

type lmcacheMessage struct {
	Role    string  `parquet:"role"`
	Content *string `parquet:"content,optional"`
	CallID  *string `parquet:"tool_call_id,optional"`
}

// LMCache's traces are Parquet: fields that a message does not have are null there.
func TestParquet(t *testing.T) {
	text, id := "so it is", "c1"
	file := filepath.Join(t.TempDir(), "train.parquet")
	rows := []lmcacheRow{
		{"s", "m", []lmcacheMessage{{Role: "user", Content: &text}}, 5, 0},
		{"s", "m", []lmcacheMessage{{Role: "user", Content: &text}, {Role: "tool", Content: &text, CallID: &id}}, 6, 0.5},
	}
	if err := parquet.WriteFile(file, rows); err != nil {
		t.Fatal(err)
	}
	s, err := openSessions(t, file, plan.Trace{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"s", "  [] user:3 → 5", "  [0] +500ms user:3 tool:3* → 6"}, outline(t, s)); diff != "" {
		t.Error(diff)
	}
	if raw := string(s.All[0].Graph.Calls[1].Prompt.Messages[1].Raw); raw != `{"content":"so it is","role":"tool","tool_call_id":"c1"}` {
		t.Error(raw)
	}
}

// ServeGen's clients send about as many requests as they did, as long as theirs were.
func TestServeGen(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"chunk-0-trace.csv":    "0,2,1.5,Gamma,0.5,1\n600,0,0,,0,0\n1200,1,0.7,Weibull,1.5,1.1\n",
		"chunk-0-dataset.json": `{"0": {"input_tokens": "{10: 0.25, 30: 0.75}", "output_tokens": "{5: 1.0}"}, "1200": {"input_tokens": "{100: 1.0}", "output_tokens": "{7: 1}", "reason_ratio": "{0.5: 1.0}"}}`,
		"chunk-7-trace.csv":    "0,0.5,1,Gamma,1,2\n600,0.5,1,Gamma,1,2\n1200,0.5,1,Gamma,1,2\n",
		"chunk-7-dataset.json": `{"0": {"input_tokens": "{50: 1.0}", "output_tokens": "{60: 1.0}"}, "600": {"input_tokens": "{}", "output_tokens": "{}"}}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	load := func(w plan.Trace, seed uint64) *Clients {
		s, err := New(plan.Data{File: dir, Trace: w}, words{}, seed, Kit{Texts: made})
		if err != nil {
			t.Fatal(err)
		}
		return s.(*Clients)
	}
	s := load(plan.Trace{}, 3)
	var bursty, quiet, slow, input float64
	last := time.Duration(0)
	for i, r := range s.rows {
		if r.due < last || r.due >= 1800*time.Second {
			t.Fatalf("request %d is due at %v", i, r.due)
		}
		switch last = r.due; {
		case r.output == 60:
			slow++
		case r.due < 601*time.Second:
			bursty, input = bursty+1, input+float64(r.input)
		case r.input == 100 && r.due >= 1190*time.Second: // times are counted from the first request
			quiet++
		default:
			t.Errorf("%+v", r)
		}
	}
	near := func(what string, got, want, off float64) {
		if got < want-off || got > want+off {
			t.Errorf("%s: %v, want %v ± %v", what, got, want, off)
		}
	}
	near("requests of 600 s at 2 per second", bursty, 1200, 200)
	near("requests of 600 s at 1 per second", quiet, 600, 70)
	near("requests of 1800 s at 0.5 per second", slow, 900, 120)
	near("tokens of a prompt", input/bursty, 25, 1)
	n := load(plan.Trace{From: plan.Duration(700e9), To: plan.Duration(1000e9), Speed: 10}, 3)
	if len(n.rows) < 100 || n.rows[len(n.rows)-1].due > 30*time.Second {
		t.Errorf("%d requests in a window, the last at %v", len(n.rows), n.rows[len(n.rows)-1].due)
	}
	p, err := s.Prompt(t.Context(), prompt.Position{I: 5})
	if err != nil || p.Tokens != len(strings.Fields(p.Text)) || p.Output != int(s.rows[5].output) {
		t.Errorf("%+v: %v", p, err)
	}
	if !slices.Equal(load(plan.Trace{}, 3).rows, s.rows) || slices.Equal(load(plan.Trace{}, 4).rows, s.rows) {
		t.Error("requests do not follow from the seed")
	}
	if err := os.Remove(filepath.Join(dir, "chunk-7-dataset.json")); err != nil {
		t.Fatal(err)
	}
	if _, err := New(plan.Data{File: dir}, words{}, 1, Kit{Texts: made}); err == nil || !strings.Contains(err.Error(), "chunk-7-dataset.json") {
		t.Errorf("a chunk without lengths: %v", err)
	}
}

func TestMutatedServeGen(t *testing.T) {
	seeds := []string{"0,2,1.5,Gamma,0.5,1\n600,0,0,,0,0\n1200,1,0.7,Weibull,1.5,1.1\n", `{"0": {"input_tokens": "{10: 0.25, 30: 0.75}", "output_tokens": "{5: 1.0}"}}`}
	mutate.Try(t, mutate.Usual, seeds, func(text string) {
		c := client{}
		c.windows, _, _ = parseWindows(strings.NewReader(text))
		if l, err := parseLengths([]byte(text)); err == nil {
			c.lengths = l
		}
		for i := range c.lengths {
			c.lengths[i].input.drawLength(rand.New(rand.NewPCG(1, 2)))
		}
	})
}

func TestMutatedSessions(t *testing.T) {
	var seeds []string
	for _, f := range sessionFiles {
		seeds = append(seeds, f.text)
	}
	mutate.Try(t, mutate.Usual/5, seeds, func(text string) {
		s, err := New(plan.Data{File: written(t, text), Output: fixed(9)}, words{}, 1, Kit{Texts: made})
		o, ok := s.(*Sessions)
		if err != nil || !ok || o.Open(t.Context(), prompt.Use{Chat: true}) != nil {
			return
		}
		for i := range o.Sessions() {
			p, err := o.Prompt(t.Context(), prompt.Position{I: uint64(i)})
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			for k, c := range p.Play.Graph.Calls {
				if len(c.After) > 0 && slices.Max(c.After) >= k || c.Wait < 0 || c.NotBefore < 0 || c.Prompt.Output < 0 {
					t.Fatalf("%q: call %d is %+v", text, k, c)
				}
				if c.Make == nil || c.Prompt.Tokens < 1<<9 {
					if _, err := p.Play.Prompt(k); err != nil {
						t.Fatalf("%q: call %d: %v", text, k, err)
					}
				}
			}
		}
	})
}
