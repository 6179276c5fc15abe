package sessions

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func openTrace(t *testing.T, text string, w plan.Trace) (*Trace, error) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return NewTrace(plan.Data{File: file, Output: fixed(9), Trace: w}, words{}, 1, made)
}

// played is what a trace sends: when, how long the prompt is, how much it asks for, and of which session it is.
func played(t *testing.T, s *Trace) (list []string) {
	t.Helper()
	due := s.Schedule()
	for i, p := range prompttest.FirstPrompts(t, s, s.Sessions()) {
		list = append(list, strings.TrimSpace(fmt.Sprintf("%v %d %d %s", due[i], p.Tokens, p.Output, p.Session)))
	}
	return list
}

// The formats as they are published, each with what a line of its own is.
var traceFiles = map[string]struct {
	text string
	want []string
}{
	plan.TraceMooncake: {
		`{"timestamp": 27482, "input_length": 1030, "output_length": 52, "hash_ids": [46, 47, 2353]}` + "\n" +
			`{"timestamp": 30535, "input_length": 512, "output_length": 26, "hash_ids": [46], "session_id": "s"}` + "\n",
		[]string{"0s 1030 52", "3.053s 512 26 s"},
	},
	plan.TraceBailian: {
		`{"chat_id": 159, "parent_chat_id": -1, "timestamp": 61.114, "input_length": 21, "output_length": 5, "type": "text", "turn": 1, "hash_ids": [1, 2]}` + "\n" +
			`{"chat_id": 160, "parent_chat_id": 159, "timestamp": 62.5, "input_length": 40, "output_length": 6, "type": "text", "turn": 2, "hash_ids": [1, 2, 3]}` + "\n",
		[]string{"0s 21 5", "1.386s 40 6"},
	},
	plan.TraceTimed: {
		`{"timestamp": 0.5, "input_length": 33, "output_length": 7, "hash_ids": [1, 2, 3]}` + "\n" + `{"timestamp": 2, "input_length": 16, "output_length": 8, "hash_ids": [1]}`,
		[]string{"0s 33 7", "1.5s 16 8"},
	},
	plan.TraceBurstGPT: {
		"Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\r\n5,ChatGPT,472,18,490,Conversation log\r\n45,ChatGPT,1087,0,1087,Conversation log\r\n118,GPT-4,417,276,693,API log\r\n",
		[]string{"0s 472 18", "1m53s 417 276"},
	},
	plan.TraceBurstGPT + " v2": {
		"Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n0.5,17,2.25,GPT-4,10,20,30,Conversation log\n3.75,17,1.5,GPT-4,40,5,45,Conversation log\n",
		[]string{"0s 10 20 17", "3.25s 40 5 17"},
	},
	plan.TraceAzure: {
		"TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n",
		[]string{"0s 374 44", "4.314579s 396 109"},
	},
	plan.TraceAzure + " 2024": {
		"TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 00:00:01+00:00,2399,6\n",
		[]string{"0s 2162 5", "990.07ms 2399 6"},
	},
}

// Each format is told from the others by its file, and is read as it is where it is named.
func TestTraceFormats(t *testing.T) {
	for name, tc := range traceFiles {
		format, _, _ := strings.Cut(name, " ")
		for _, named := range []string{"", format} {
			t.Run(name+" as "+named, func(t *testing.T) {
				s, err := openTrace(t, tc.text, plan.Trace{Format: named})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tc.want, played(t, s)); diff != "" {
					t.Error(diff)
				}
				if !strings.Contains(strings.Join(s.Notes(), ""), "is a "+format+" trace") {
					t.Errorf("says %v", s.Notes())
				}
			})
		}
		for _, other := range plan.TraceFormats() {
			alike := func(f string) bool { return f == plan.TraceMooncake || f == plan.TraceTimed }
			if other == format || alike(other) && alike(format) {
				continue // those have the same fields: what hashes stand for tells
			}
			if _, err := openTrace(t, tc.text, plan.Trace{Format: other}); err == nil || !strings.Contains(err.Error(), ":1: ") {
				t.Errorf("%s, called %s: %v", name, other, err)
			}
		}
	}
}

// What does not fit is refused with its line.
func TestTraceFaults(t *testing.T) {
	const head = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
	mooncake := traceFiles[plan.TraceMooncake].text
	for text, want := range map[string]string{
		"":                         ":1: has no lines",
		`{"prompt": "x"}`:          `:1: has lines with "prompt"`,
		"a,b\n1,2\n":               ":1: begins with",
		"{\n":                      ":1: is not a JSON object",
		head + "5,m,1,2,3\n":       ":2: has 5 columns",
		head + "\n5,m,x,2,3,log\n": `:3: "x" is not a number of tokens`,
		head + "5,m,1,2,3,log\nnoon,m,1,2,3,log\n": ":3: the timestamp noon",
		head: "has no requests",
		mooncake + `{"timestamp": 1, "hash_ids": []}`:      ":3: has no input_length",
		mooncake + `{"timestamp": "1", "input_length": 1}`: ":3: the timestamp",
		mooncake + "{}\n": ":3: has no timestamp",
		mooncake + `{"timestamp": 1, "input_length": 2000, "hash_ids": [1]}`: ":3: input_length is 2000",
	} {
		if _, err := openTrace(t, text, plan.Trace{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := openTrace(t, mooncake, plan.Trace{Format: plan.TraceTimed}); err == nil || !strings.Contains(err.Error(), ":1: input_length is 1030") {
		t.Errorf("hashes of another length: %v", err)
	}
	if _, err := openTrace(t, mooncake, plan.Trace{From: plan.Duration(time.Hour)}); err == nil || !strings.Contains(err.Error(), "has no requests there") {
		t.Errorf("an empty window: %v", err)
	}
}

// A part of a trace, at another speed, with its pauses cut.
func TestTraceTiming(t *testing.T) {
	text := "TIMESTAMP,ContextTokens,GeneratedTokens\n"
	for _, second := range []int{3, 0, 10, 11, 40} { // not in order
		text += fmt.Sprintf("2024-05-10 00:00:%02d,%d,1\n", second, second+1)
	}
	s := func(n float64) plan.Duration { return plan.Duration(n * 1e9) }
	for _, tc := range []struct {
		trace plan.Trace
		want  string
	}{
		{plan.Trace{}, "0s 1 1, 3s 4 1, 10s 11 1, 11s 12 1, 40s 41 1"},
		{plan.Trace{Speed: 0.5}, "0s 1 1, 6s 4 1, 20s 11 1, 22s 12 1, 1m20s 41 1"},
		{plan.Trace{CapGaps: s(5)}, "0s 1 1, 3s 4 1, 8s 11 1, 9s 12 1, 14s 41 1"},
		{plan.Trace{From: s(3), To: s(11)}, "0s 4 1, 7s 11 1"},
		{plan.Trace{From: s(4), Speed: 10, CapGaps: s(20)}, "0s 11 1, 100ms 12 1, 2.1s 41 1"},
	} {
		src, err := openTrace(t, text, tc.trace)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(played(t, src), ", "); got != tc.want {
			t.Errorf("%+v: %s, want %s", tc.trace, got, tc.want)
		}
	}
}

// Equal hashes are equal tokens, block by block, and others are not.
func TestTraceBlocks(t *testing.T) {
	for name, size := range map[string]int{plan.TraceMooncake: 512, plan.TraceBailian: 16} {
		s, err := openTrace(t, traceFiles[name].text, plan.Trace{})
		if err != nil {
			t.Fatal(err)
		}
		all := prompttest.FirstPrompts(t, s, 2)
		a, b := strings.Fields(all[0].Text), strings.Fields(all[1].Text)
		if strings.Join(a[:size], " ") != strings.Join(b[:size], " ") || name == plan.TraceMooncake && a[size] == a[0] && a[size+1] == a[1] {
			t.Errorf("%s: the first blocks are %q and %q", name, a[:9], b[:9])
		}
	}
}

func TestTracePrompts(t *testing.T) {
	text := ""
	for i := range 300 {
		text += fmt.Sprintf(`{"timestamp": %d, "input_length": %d, "output_length": 4, "hash_ids": [%d]}`+"\n", i, 5+i%9, i%7)
	}
	prompttest.Run(t, prompttest.Case{
		New: func(t *testing.T, seed uint64) prompt.Source {
			file := filepath.Join(t.TempDir(), "trace")
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			s, err := NewTrace(plan.Data{File: file}, words{}, seed, made)
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Tokenizer: words{}, MinOutput: 4, MaxOutput: 4, Seeded: true,
	})
}

// A file is read the same in one part and in several, with lines longer than what is read at once among them.
func TestTraceParts(t *testing.T) {
	var text strings.Builder
	want := 0
	for i := 0; text.Len() < 9<<20; i++ {
		pad := ""
		if i == 7000 {
			pad = strings.Repeat("x", 3<<20)
		}
		fmt.Fprintf(&text, `{"timestamp": %d, "input_length": %d, "output_length": 4, "note": "%s"}`+"\n", i, 1+i%1000, pad)
		want++
	}
	var rows [2][]traceLine
	for i, cores := range []int{1, 4} {
		before := runtime.GOMAXPROCS(cores)
		s, err := openTrace(t, text.String(), plan.Trace{})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = s.rows
		if r, err := s.row(s.rows[want-1]); err != nil || len(s.rows) != want || r.input != 1+(want-1)%1000 {
			t.Errorf("%d rows, want %d; the last is %+v: %v", len(s.rows), want, r, err)
		}
	}
	if !slices.Equal(rows[0], rows[1]) {
		t.Error("one part and several differ")
	}
}

func TestMutatedTraces(t *testing.T) {
	var seeds []string
	for _, f := range traceFiles {
		seeds = append(seeds, f.text)
	}
	mutate.Try(t, mutate.Usual, seeds, func(text string) {
		lines := bytes.Split([]byte(text), []byte("\n"))
		f, err := recogniseTrace("", lines)
		for _, line := range lines {
			if err == nil {
				_, _ = f.due(line)
				_, _ = f.row(line)
			}
		}
	})
	mutate.Try(t, mutate.Usual/10, seeds, func(text string) {
		s, err := openTrace(t, text, plan.Trace{})
		if err != nil {
			return
		}
		s.Schedule()
		s.Notes()
		if r, err := s.row(s.rows[0]); err == nil && r.input < 1<<9 {
			if _, err := s.Prompt(t.Context(), prompt.Position{}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
