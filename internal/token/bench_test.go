package token

import (
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

// peers is the folder with real vocabularies, or a skipped benchmark.
func peers(b *testing.B) string {
	b.Helper()
	dir := os.Getenv("INFEROMETER_TOKENS")
	if dir == "" {
		b.Skip("INFEROMETER_TOKENS names no folder; make bench-tokens does")
	}
	return dir
}

// each runs a benchmark for every vocabulary that is there.
func each(b *testing.B, f func(b *testing.B, path string)) {
	files, err := filepath.Glob(filepath.Join(peers(b), "vocab", "*", "tokenizer.json"))
	if err != nil || len(files) == 0 {
		b.Fatalf("no vocabularies: %v", err)
	}
	for _, path := range files {
		b.Run(filepath.Base(filepath.Dir(path)), func(b *testing.B) { f(b, path) })
	}
}

// BenchmarkEncode encodes the documents of the corpus one after another.
func BenchmarkEncode(b *testing.B) {
	docs := readStrings(b, filepath.Join(peers(b), "corpus.jsonl"))
	size := 0
	for _, d := range docs {
		size += len(d)
	}
	each(b, func(b *testing.B, path string) {
		e, err := load(path)
		if err != nil {
			b.Skip(err)
		}
		b.SetBytes(int64(size))
		var ids []int32
		start := cpuTime()
		for b.Loop() {
			for _, d := range docs {
				ids = e.AppendEncode(ids[:0], d, false)
			}
		}
		if used := cpuTime() - start; used > 0 {
			b.ReportMetric(float64(size)/1e6*float64(b.N)/used.Seconds(), "MB/cpu-s")
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	each(b, func(b *testing.B, path string) {
		if _, err := load(path); err != nil {
			b.Skip(err)
		}
		b.ReportAllocs()
		var before, after runtime.MemStats
		start := cpuTime()
		for b.Loop() {
			runtime.ReadMemStats(&before)
			e, err := load(path)
			if err != nil {
				b.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			runtime.KeepAlive(e)
		}
		b.ReportMetric(float64((cpuTime()-start).Milliseconds())/float64(b.N), "cpu-ms/load")
		b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1e6, "MB/load")
	})
}

// BenchmarkHard encodes texts that are hard on a merge loop, 100 kB each.
func BenchmarkHard(b *testing.B) {
	texts := map[string]string{
		"letter": strings.Repeat("a", 100_000), "spaces": strings.Repeat(" ", 100_000), "emoji": strings.Repeat("😀", 25_000),
		"marks": strings.Repeat("\u0301", 50_000), "lines": strings.Repeat("\n", 100_000), "han": strings.Repeat("中", 33_333), "digits": strings.Repeat("7", 100_000),
	}
	each(b, func(b *testing.B, path string) {
		e, err := load(path)
		if err != nil {
			b.Skip(err)
		}
		for name, text := range texts {
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(text)))
				start := cpuTime()
				for b.Loop() {
					e.Count(text)
				}
				if used := cpuTime() - start; used > 0 {
					b.ReportMetric(float64(len(text))/1e6*float64(b.N)/used.Seconds(), "MB/cpu-s")
				}
			})
		}
	})
}

// BenchmarkCut makes prompts of prose, each beginning at another word.
func BenchmarkCut(b *testing.B) {
	e, err := GPT2()
	if err != nil {
		b.Fatal(err)
	}
	text := prose(b)
	for _, n := range []int{32, 550} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			at := 0
			for b.Loop() {
				if at += strings.IndexByte(text[at:], ' ') + 1; at > len(text)/2 {
					at = 0
				}
				if _, ok := e.Cut(text[at:at+7*n], n); !ok {
					b.Fatal("no cut")
				}
			}
		})
	}
}

// BenchmarkPerEvent counts the tokens of a response that came in events of one word.
func BenchmarkPerEvent(b *testing.B) {
	e, err := GPT2()
	if err != nil {
		b.Fatal(err)
	}
	text := prose(b)[:4000]
	var cuts []int
	for i := range len(text) {
		if text[i] == ' ' {
			cuts = append(cuts, i)
		}
	}
	b.SetBytes(int64(len(text)))
	var counts []int
	for b.Loop() {
		counts = PerEvent(counts[:0], e, text, cuts)
	}
}
