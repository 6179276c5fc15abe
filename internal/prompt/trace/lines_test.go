package trace

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/blocktext"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// words counts words.
type words struct{}

func (words) Name() string          { return "words" }
func (words) Count(text string) int { return len(strings.Fields(text)) }

func (words) Cut(text string, n int) (int, bool) {
	fields := strings.Fields(text)
	if len(fields) < n {
		return 0, false
	}
	return len(strings.Join(fields[:n], " ")), true
}

// texts makes texts of so many words.
type texts struct {
	seed  uint64
	input *prompt.Lengths
}

func made(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
	return &texts{seed, prompt.NewLengths(d.Input, seed)}, nil
}

func (m *texts) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.Prompt{Text: strings.Repeat(fmt.Sprint(" w", m.seed), m.input.At(at.I))}, nil
}

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

// written is the name of a file with that text.
func written(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "trace")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

func openTrace(t *testing.T, text string, w plan.Trace) (*Lines, error) {
	t.Helper()
	s, err := New(plan.Data{File: written(t, text), Output: fixed(9), Trace: w}, words{}, 1, Kit{Texts: made})
	l, ok := s.(*Lines)
	if err == nil && !ok {
		t.Fatalf("%.99q is no trace of lines", text)
	}
	return l, err
}

// played is what a trace sends: when, how long the prompt is, how much it asks for, and of which session it is.
func played(t *testing.T, s *Lines) (list []string) {
	t.Helper()
	due := s.Schedule().List()
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
				if !strings.Contains(strings.Join(s.Notes(), ""), "is "+(&layout{name: format}).article()+" trace") {
					t.Errorf("says %v", s.Notes())
				}
			})
		}
		for _, other := range plan.TraceFormats() {
			alike := func(f string) bool { return f == plan.TraceMooncake || f == plan.TraceTimed }
			if other == format || alike(other) && (alike(format) || format == plan.TraceBailian) {
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
		`{"prompt": "x"}`:          `:1: has records with "prompt"`,
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
			s, err := New(plan.Data{File: written(t, text)}, words{}, seed, Kit{Texts: made})
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
		Tokenizer: words{}, MinOutput: 4, MaxOutput: 4, Seeded: true,
	})
}

// A file is read the same by one core and by several, with lines longer than what is read at once among them.
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
	var rows [2][]lineAt
	for i, cores := range []int{1, 4} {
		before := runtime.GOMAXPROCS(cores)
		s, err := openTrace(t, text.String(), plan.Trace{})
		runtime.GOMAXPROCS(before)
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = s.pages.Load().list[0].rows
		if r, err := s.request(rows[i][want-1]); err != nil || len(rows[i]) != want || r.input != 1+(want-1)%1000 {
			t.Errorf("%d rows, want %d; the last is %+v: %v", len(rows[i]), want, r, err)
		}
	}
	if !slices.Equal(rows[0], rows[1]) {
		t.Error("one part and several differ")
	}
}

// stream is a trace that is read as it is played: so many lines are put in order ahead of the first that is.
func stream(t *testing.T, text string, w plan.Trace, ahead int) (*Lines, error) {
	t.Helper()
	f, err := os.Open(written(t, text))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	maker, err := blocktext.NewComposer(words{}, made, 1, true)
	if err != nil {
		t.Fatal(err)
	}
	s := &Lines{file: f, data: plan.Data{File: "trace", Trace: w}, tok: words{}, maker: maker, output: prompt.NewLengths(fixed(9), 1), ahead: ahead, block: 2048}
	l := layouts()[1]
	return s, s.open(l)
}

// A trace that is longer than what is kept of it is played as one that is not, from any window, whoever asks for what.
func TestStream(t *testing.T) {
	var lines []string
	at := make([]int, 6000)
	for i := range at {
		at[i] = i*10 + (i*7919)%80 // out of order by a few
		lines = append(lines, fmt.Sprintf(`{"timestamp": %d, "input_length": %d, "output_length": %d}`, at[i], 1+i%50, 1+i))
	}
	text := strings.Join(lines, "\n")
	slices.Sort(at)
	second := plan.Duration(time.Second)
	for _, w := range []plan.Trace{{}, {Speed: 2}, {From: 20 * second, To: 40 * second}, {CapGaps: second / 1000}} {
		whole, err := openTrace(t, text, w)
		if err != nil {
			t.Fatal(err)
		}
		s, err := stream(t, text, w, 100)
		if err != nil {
			t.Fatal(err)
		}
		if s.Sessions() != 0 || !strings.Contains(s.Notes()[0], "as it is played") || whole.Sessions() == 0 {
			t.Errorf("%d and %d sessions; %s", s.Sessions(), whole.Sessions(), s.Notes())
		}
		if diff := cmp.Diff(whole.Schedule().List(), s.Schedule().List()); diff != "" {
			t.Fatalf("%+v: %s", w, diff)
		}
		n := uint64(whole.Sessions())
		for _, i := range []uint64{0, n - 1, 5, n + 3, n / 2, 2*n - 1, n / 2} {
			a, err := whole.Prompt(t.Context(), prompt.Position{I: i})
			if err != nil {
				t.Fatal(err)
			}
			b, err := s.Prompt(t.Context(), prompt.Position{I: i})
			if err != nil || a.Text != b.Text || a.Output != b.Output {
				t.Errorf("%+v, prompt %d: %d and %d tokens to ask for: %v", w, i, a.Output, b.Output, err)
			}
		}
	}
}

// Several ask at once, as feeders and the load do.
func TestStreamShared(t *testing.T) {
	text := ""
	for i := range 4000 {
		text += fmt.Sprintf(`{"timestamp": %d, "input_length": 1, "output_length": %d}`+"\n", i, 1+i)
	}
	s, err := stream(t, text, plan.Trace{}, 64)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			for i := k; i < 4000; i += 4 {
				if p, err := s.Prompt(t.Context(), prompt.Position{I: uint64(i)}); err != nil || p.Output != 1+i {
					t.Errorf("prompt %d asks for %d: %v", i, p.Output, err)
				}
			}
		})
	}
	all.Go(func() {
		if list := s.Schedule().List(); len(list) != 4000 {
			t.Errorf("%d moments", len(list))
		}
	})
	all.Wait()
}

// Of a long trace, a line that is too far from its place is told, and so is one that is no line of the trace.
func TestStreamFaults(t *testing.T) {
	for line, want := range map[string]string{
		`{"timestamp": 5, "input_length": 1}`: "trace:3001: is due 2.8",
		"{}":                                  "trace:3001: has no timestamp",
	} {
		text := ""
		for i := range 4000 {
			if i == 3000 {
				text += line + "\n"
			}
			text += fmt.Sprintf(`{"timestamp": %d, "input_length": 1}`+"\n", i)
		}
		s, err := stream(t, text, plan.Trace{}, 100)
		for i := uint64(0); err == nil && i < 4000; i++ {
			_, err = s.Prompt(t.Context(), prompt.Position{I: i})
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", line, err, want)
		}
	}
}

func TestMutatedTraces(t *testing.T) {
	var seeds []string
	for _, f := range traceFiles {
		seeds = append(seeds, f.text)
	}
	mutate.Try(t, mutate.Usual/10, seeds, func(text string) {
		s, err := New(plan.Data{File: written(t, text)}, words{}, 1, Kit{Texts: made})
		l, ok := s.(*Lines)
		if err != nil || !ok {
			return
		}
		l.Schedule()
		l.Notes()
		if r, err := l.request(l.head[0]); err == nil && r.input < 1<<9 {
			if _, err := l.Prompt(t.Context(), prompt.Position{}); err != nil {
				t.Errorf("%q: %v", text, err)
			}
		}
	})
}
