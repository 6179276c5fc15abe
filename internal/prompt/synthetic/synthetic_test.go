package synthetic

import (
	"bytes"
	"compress/flate"
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

var update = flag.Bool("update", false, "pack opticks.txt anew")

func fixed(n float64) plan.Length { return plan.Length{Dist: plan.DistFixed, Mean: n} }

func source(t testing.TB, d plan.Data, seed uint64) *Source {
	t.Helper()
	s, err := New(d, token.Words{}, seed)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// thirds is a tokenizer whose tokens are pieces of up to three bytes of a word.
type thirds struct{}

func (thirds) Name() string { return "thirds" }

func (thirds) Count(text string) int {
	n := 0
	for _, w := range strings.Fields(text) {
		n += (len(w) + 2) / 3
	}
	return n
}

func (thirds) Cut(text string, n int) (int, bool) {
	word := 0 // bytes of the present word
	for i := range len(text) {
		if text[i] == ' ' || text[i] == '\n' {
			word = 0
			continue
		}
		if word%3 == 0 {
			n--
		}
		word++
		if n == 0 {
			return i + 1, true
		}
	}
	return 0, false
}

// mute counts and cannot cut.
type mute struct{}

func (mute) Name() string     { return "mute" }
func (mute) Count(string) int { return 1 }

func TestConformance(t *testing.T) {
	normal := plan.Length{Dist: plan.DistNormal, Mean: 60, Stddev: 30}
	out := plan.Length{Dist: plan.DistUniform, Min: 5, Max: 9}
	for name, d := range map[string]plan.Data{
		"fixed":         {Input: fixed(32), Output: out},
		"normal":        {Input: normal, Output: out},
		"pool":          {Input: normal, Output: out, Prompts: 10},
		"salted":        {Input: normal, Output: out, Salt: plan.SaltRequest},
		"salted pool":   {Input: normal, Output: out, Prompts: 10, Salt: plan.SaltRequest},
		"stage salt":    {Input: normal, Output: out, Salt: plan.SaltStage},
		"single tokens": {Input: fixed(1), Output: out, Salt: plan.SaltRequest},
	} {
		for _, tok := range []prompt.Tokenizer{token.Words{}, thirds{}} {
			t.Run(name+"/"+tok.Name(), func(t *testing.T) {
				prompttest.Run(t, prompttest.Case{
					New: func(t *testing.T, seed uint64) prompt.Source {
						s, err := New(d, tok, seed)
						if err != nil {
							t.Fatal(err)
						}
						return s
					},
					Tokenizer: tok, MinOutput: 5, MaxOutput: 9, Seeded: true,
				})
			})
		}
	}
}

func TestCorpus(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, text := range []string{"  to be\r\n\r\nor\tnot  to be", "one", "caf\xe9 au lait"} {
		d := plan.Data{Input: fixed(11), Corpus: write("own.txt", text)}
		known := strings.Fields(strings.ToValidUTF8(text, "\uFFFD"))
		for _, p := range prompttest.FirstPrompts(t, source(t, d, 1), 40) {
			words := strings.Fields(p.Text)
			if len(words) != 11 || p.Tokens != 11 {
				t.Errorf("%d words: %q", len(words), p.Text)
			}
			for _, w := range words {
				if !slices.Contains(known, w) {
					t.Errorf("%q is not of the text", w)
				}
			}
		}
	}
	for path, want := range map[string]string{write("empty.txt", " \n"): "has no words", filepath.Join(dir, "none"): "data.corpus: "} {
		if _, err := New(plan.Data{Input: fixed(11), Corpus: path}, token.Words{}, 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestLengthIsExactWhereverThePromptBegins(t *testing.T) {
	words := len(strings.Fields(Book()))
	for _, n := range []int{1, 2, 3, 127, words - 1, words, words + 1} {
		for _, salt := range []string{"", plan.SaltRequest} {
			s := source(t, plan.Data{Input: fixed(float64(n)), Salt: salt}, 1)
			for stage := range uint64(3) {
				s.SetStage(int(stage))
				p := prompttest.TakeAt(t, s, prompt.Position{Stage: stage}, 1)[0]
				if got := len(strings.Fields(p.Text)); got != n || p.Tokens != n {
					t.Errorf("a prompt of %d words (salt %q, stage %d) has %d and says %d", n, salt, stage, got, p.Tokens)
				}
				if strings.TrimSpace(p.Text) != p.Text {
					t.Errorf("a prompt of %d words begins or ends with white space", n)
				}
			}
		}
	}
}

func gpt2(t testing.TB) *token.Pipeline {
	t.Helper()
	e, err := token.GPT2()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// TestExactTokensOfGPT2 counts the tokens of prompts of all lengths with the tokenizer
// that runs use where none is named, before and after the source has read the book as
// a whole.
// differs: genai-book
func TestExactTokensOfGPT2(t *testing.T) {
	tok := gpt2(t)
	for name, d := range map[string]plan.Data{
		"lengths":    {Input: plan.Length{Dist: plan.DistUniform, Min: 1, Max: 300}},
		"salted":     {Input: plan.Length{Dist: plan.DistUniform, Min: 12, Max: 300}, Salt: plan.SaltRequest},
		"stage salt": {Input: plan.Length{Dist: plan.DistNormal, Mean: 128, Stddev: 40, Min: 12}, Salt: plan.SaltStage},
		"pool":       {Input: plan.Length{Dist: plan.DistNormal, Mean: 550, Stddev: 100}, Prompts: 20},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := New(d, tok, 3)
			if err != nil {
				t.Fatal(err)
			}
			for stage := range uint64(2) {
				s.SetStage(int(stage))
				for i, p := range prompttest.TakeAt(t, s, prompt.Position{Stage: stage}, worthwhile) {
					ids := tok.Encode(p.Text, false)
					if len(ids) != p.Tokens || len(ids) != s.sizes.Input(number(s, stage, i), prompt.Position{}) {
						t.Fatalf("prompt %d of stage %d has %d tokens and says %d: %q", i, stage, len(ids), p.Tokens, p.Text)
					}
					if back := tok.Encode(tok.Decode(ids, false), false); !slices.Equal(back, ids) {
						t.Fatalf("prompt %d of stage %d does not come back: %q", i, stage, p.Text)
					}
				}
			}
		})
	}
	for _, n := range []int{1, 2, 7, 128, 4096, 100_000, 150_000} {
		s, err := New(plan.Data{Input: fixed(float64(n))}, tok, 1)
		if err != nil {
			t.Fatal(err)
		}
		p := prompttest.FirstPrompts(t, s, 1)[0]
		if got := tok.Count(p.Text); got != n || p.Tokens != n {
			t.Errorf("a prompt of %d tokens has %d and says %d", n, got, p.Tokens)
		}
	}
}

// number is that of a prompt of a source.
func number(s *Source, stage uint64, i int) uint64 {
	if s.pool > 0 {
		return uint64(i) % s.pool
	}
	return prompt.Position{Stage: stage, I: uint64(i)}.Number()
}

// plainCutter hides that an engine can read the book as a whole.
type plainCutter struct{ Cutter }

// TestReadingTheBookChangesNothing compares with cutting each prompt by itself, while some
// goroutines ask for prompts and another one reads.
func TestReadingTheBookChangesNothing(t *testing.T) {
	for name, d := range map[string]plan.Data{
		"plain":  {Input: plan.Length{Dist: plan.DistNormal, Mean: 60, Stddev: 30}},
		"salted": {Input: plan.Length{Dist: plan.DistNormal, Mean: 60, Stddev: 30, Min: 12}, Salt: plan.SaltRequest},
	} {
		var all [2][]prompt.Prompt
		for i, tok := range []Cutter{gpt2(t), plainCutter{gpt2(t)}} {
			s, err := New(d, tok, 9)
			if err != nil {
				t.Fatal(err)
			}
			all[i] = prompttest.TakeShared(t, s, 4*worthwhile)
			if read := s.ruler.cut.Load() != nil; read != (i == 0) {
				t.Fatalf("%s: source %d has read the book: %v", name, i, read)
			}
		}
		for i, p := range all[0] {
			if p.Text != all[1][i].Text {
				t.Fatalf("%s: prompt %d is %q, and %q when cut by itself", name, i, p.Text, all[1][i].Text)
			}
		}
	}
}

func TestPromptGoesOnAtTheBeginningOfTheBook(t *testing.T) {
	words := strings.Fields(Book())
	p := prompttest.FirstPrompts(t, source(t, plan.Data{Input: fixed(float64(2*len(words) + 5))}, 1), 1)[0]
	got := strings.Fields(p.Text)
	begin := source(t, plan.Data{}, 1).first
	for i, w := range got {
		if want := words[(int(begin)+i)%len(words)]; w != want {
			t.Fatalf("word %d is %q, want %q", i, w, want)
		}
	}
}

// begins is how much of a prompt a cache of blocks of 16 tokens looks at first.
func begins(p prompt.Prompt) string {
	end, _ := token.Words{}.Cut(p.Text, 16)
	return p.Text[:end]
}

// Through the whole book and into the second lap, and over stages, hardly two
// prompts begin alike. Those that do are where the book repeats itself.
func TestPromptsDoNotShareBeginnings(t *testing.T) {
	s := source(t, plan.Data{Input: fixed(32)}, 1)
	seen := map[string]bool{}
	alike, n := 0, 0
	look := func(stage uint64, count int) {
		for _, p := range prompttest.TakeAt(t, s, prompt.Position{Stage: stage}, count) {
			if seen[begins(p)] {
				alike++
			}
			seen[begins(p)] = true
			n++
		}
	}
	look(0, int(s.words())+5000)
	for stage := range 3 {
		s.SetStage(stage + 1)
		look(uint64(stage)+1, 5000)
	}
	if share := float64(alike) / float64(n); share > 0.001 {
		t.Errorf("%d of %d prompts begin with the 16 words of another", alike, n)
	}
}

func TestPoolIsUsedInTurn(t *testing.T) {
	s := source(t, plan.Data{Input: plan.Length{Dist: plan.DistNormal, Mean: 50, Stddev: 10}, Prompts: 7}, 1)
	all := prompttest.FirstPrompts(t, s, 70)
	distinct := map[uint64]bool{}
	for i, p := range all {
		distinct[p.Hash] = true
		if p.Text != all[i%7].Text {
			t.Errorf("prompt %d is not prompt %d again", i, i%7)
		}
	}
	if len(distinct) != 7 {
		t.Errorf("%d distinct prompts, want 7", len(distinct))
	}
	s.SetStage(1)
	if p := prompttest.TakeAt(t, s, prompt.Position{Stage: 1}, 1)[0]; p.Text != all[0].Text {
		t.Error("the second stage has another pool")
	}
}

func TestSaltIsTheOnlyDifferenceOfAPool(t *testing.T) {
	s := source(t, plan.Data{Input: fixed(20), Prompts: 1, Salt: plan.SaltRequest}, 1)
	seen := map[string]bool{}
	rest := map[string]bool{}
	for _, p := range prompttest.FirstPrompts(t, s, 1000) {
		word, after, _ := strings.Cut(p.Text, " ")
		if seen[word] {
			t.Fatalf("salt %q used twice", word)
		}
		seen[word] = true
		rest[after] = true
	}
	if len(rest) != 1 {
		t.Errorf("%d texts after the salt, want 1", len(rest))
	}
}

func TestTokenizerThatCannotCut(t *testing.T) {
	_, err := New(plan.Data{Input: fixed(3)}, mute{}, 1)
	want := `synthetic prompts: the tokenizer "mute" cannot cut text to a number of tokens; use "words"`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// refuses finds no text of any length.
type refuses struct{ token.Words }

func (refuses) Cut(string, int) (int, bool) { return 0, false }

func TestTokenizerThatFindsNoCut(t *testing.T) {
	s, err := New(plan.Data{Input: fixed(3)}, refuses{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	p, err := s.Prompt(context.Background(), prompt.Position{})
	if err != nil || (token.Words{}).Count(p.Text) != 3 {
		t.Errorf("%q, %v", p.Text, err)
	}
}

// stubborn finds seven tokens in every text.
type stubborn struct{ refuses }

func (stubborn) Count(string) int { return 7 }

// A length that cannot be had shows before the run.
func TestTokenizerThatFindsNoText(t *testing.T) {
	s, err := New(plan.Data{Input: fixed(3)}, stubborn{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	err = s.Open(t.Context(), prompt.Use{})
	want := `synthetic prompt 0 of stage 0: the tokenizer "words" finds no random text of exactly 3 tokens`
	if err == nil || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
}

// picky finds no cut in texts that begin with a capital letter.
type picky struct{ token.Words }

func (p picky) Cut(text string, n int) (int, bool) {
	if text[0] >= 'A' && text[0] <= 'Z' {
		return 0, false
	}
	return p.Words.Cut(text, n)
}

// Prompts without a cut get other words in front, and stay distinct and exact.
func TestPromptsWithoutACut(t *testing.T) {
	s, err := New(plan.Data{Input: fixed(20)}, picky{}, 1)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for _, p := range prompttest.FirstPrompts(t, s, 3000) {
		if n := (token.Words{}).Count(p.Text); n != 20 || p.Tokens != 20 {
			t.Errorf("%d words, said to be %d", n, p.Tokens)
		}
		seen[p.Hash] = true
	}
	if len(seen) != 3000 {
		t.Errorf("%d distinct prompts of 3000", len(seen))
	}
}

// The program has opticks.txt in fewer bytes.
func TestBookIsPacked(t *testing.T) {
	text, err := os.ReadFile("opticks.txt")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, flate.BestCompression)
		if _, err := w.Write(text); err != nil || w.Close() != nil || os.WriteFile("opticks.flate", out.Bytes(), 0o644) != nil {
			t.Fatal("opticks.flate was not written")
		}
	} else if Book() != string(text) {
		t.Error("opticks.flate is not opticks.txt: run go test ./internal/prompt/synthetic -run TestBookIsPacked -update")
	}
}

func TestBookIsAsTheCodeWantsIt(t *testing.T) {
	book := Book()
	words := strings.Fields(book)
	starts := wordStarts(book)
	if len(starts) != len(words)+1 {
		t.Fatalf("%d words begin where %d are", len(starts)-1, len(words))
	}
	for i, w := range words {
		if book[starts[i]:starts[i+1]-1] != w {
			t.Fatalf("word %d is %q, want %q", i, book[starts[i]:starts[i+1]-1], w)
		}
	}
	// A change of the text changes the prompts of every seed.
	if h := prompt.HashText(book); h != 0x243c00e55e856c58 {
		t.Errorf("the book has the hash %#x", h)
	}
}

// These are part of the promise that a seed gives the same run with every version
// of the program on every machine.
// differs: genai-random-seed
func TestPromptsNeverChange(t *testing.T) {
	var got []string
	s := source(t, plan.Data{Input: plan.Length{Dist: plan.DistNormal, Mean: 8, Stddev: 2},
		Output: plan.Length{Dist: plan.DistLognormal, Mean: 100, Stddev: 50}, Salt: plan.SaltRequest}, 7)
	for stage := range 2 {
		s.SetStage(stage)
		for _, p := range prompttest.TakeAt(t, s, prompt.Position{Stage: uint64(stage)}, 2) {
			got = append(got, fmt.Sprintf("%s|%d", p.Text, p.Output))
		}
	}
	want := []string{
		"fstxk75scgnrl in the 7th and 19th Observations of|34",
		"72bgnofj7nq2d they tinge it with red or yellow, as may|115",
		"lnyjkrtkezdmd be refracted, whose by some other|104",
		"edehvvckbnslk be refracted, whose now white,|33",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func BenchmarkAt(b *testing.B) {
	for name, d := range map[string]plan.Data{
		"plain":  {Input: fixed(128), Output: fixed(16)},
		"normal": {Input: plan.Length{Dist: plan.DistNormal, Mean: 128, Stddev: 20}, Output: fixed(16)},
		"salted": {Input: fixed(128), Output: fixed(16), Salt: plan.SaltRequest},
	} {
		b.Run(name, func(b *testing.B) {
			s := source(b, d, 1)
			b.ReportAllocs()
			for at := (prompt.Position{}); b.Loop(); at.I++ {
				s.Prompt(b.Context(), at)
			}
		})
	}
}

func BenchmarkAtGPT2(b *testing.B) {
	for name, salt := range map[string]string{"plain": "", "salted": plan.SaltRequest} {
		b.Run(name, func(b *testing.B) {
			s, err := New(plan.Data{Input: fixed(128), Output: fixed(16), Salt: salt}, gpt2(b), 1)
			if err != nil {
				b.Fatal(err)
			}
			for i := range uint64(worthwhile) {
				s.Prompt(b.Context(), prompt.Position{I: i})
			}
			b.ReportAllocs()
			for at := (prompt.Position{}); b.Loop(); at.I++ {
				s.Prompt(b.Context(), at)
			}
		})
	}
}

func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		source(b, plan.Data{Input: fixed(128)}, 1)
	}
}

// Every word of the text begins a prompt before one begins a second: the step from one prompt to the
// next has no divisor in common with the number of words.
func TestStartsTakeTurns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "corpus.txt")
	if err := os.WriteFile(file, []byte(strings.Repeat("one two three four five six ", 10)), 0o600); err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(50) {
		s := source(t, plan.Data{Corpus: file, Input: fixed(2)}, seed)
		if words := s.words(); words%2 != 0 || gcd(s.step, words) != 1 || s.step == 0 {
			t.Fatalf("seed %d: a step of %d through %d words", seed, s.step, words)
		}
	}
}
