package token

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// truthRow is what the reference says of one string.
type truthRow struct {
	plain, special []int32
	decoded        string // of plain
	skipped        string // of special, without special tokens
}

// UnmarshalJSON reads a row of four values.
func (r *truthRow) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.plain, &r.special, &r.decoded, &r.skipped})
}

// lines calls f with each line of r.
func lines(t testing.TB, r io.Reader, f func(line []byte)) {
	t.Helper()
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		f(s.Bytes())
	}
	if err := s.Err(); err != nil {
		t.Fatal(err)
	}
}

// decodeStrings reads one JSON string a line.
func decodeStrings(t testing.TB, data []byte) []string {
	t.Helper()
	var texts []string
	lines(t, bytes.NewReader(data), func(line []byte) {
		var s string
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		texts = append(texts, s)
	})
	return texts
}

// readStrings reads a file with one JSON string a line.
func readStrings(t testing.TB, path string) []string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return decodeStrings(t, data)
}

// compare counts in how many strings a tokenizer and rows of truth differ, and shows
// the first of them.
func compare(t *testing.T, e *Pipeline, texts []string, truth io.Reader) {
	t.Helper()
	i, faults := 0, 0
	fault := func(format string, args ...any) {
		if faults++; faults <= 5 {
			t.Errorf(format, args...)
		}
	}
	lines(t, truth, func(line []byte) {
		var want truthRow
		if err := json.Unmarshal(line, &want); err != nil {
			t.Fatalf("row %d: %v", i, err)
		}
		text := texts[i]
		i++
		ids := e.Encode(text, false)
		if !slices.Equal(ids, want.plain) {
			fault("Encode(%q)\n got %v %q\nwant %v %q", text, ids, tokens(e, ids), want.plain, tokens(e, want.plain))
			return
		}
		if got := e.Encode(text, true); !slices.Equal(got, want.special) {
			fault("Encode(%q) with special tokens\n got %v\nwant %v", text, got, want.special)
		}
		if got := e.Decode(ids, false); got != want.decoded {
			fault("Decode of %q\n got %q\nwant %q", text, got, want.decoded)
		}
		if got := e.Decode(want.special, true); got != want.skipped {
			fault("Decode of %q without special tokens\n got %q\nwant %q", text, got, want.skipped)
		}
		if ends := e.Ends(nil, text); len(ends) != len(ids) || !slices.IsSorted(ends) || len(ends) > 0 &&
			(ends[0] < 0 || ends[len(ends)-1] > len(text)) {
			fault("Ends(%q) = %v for %d tokens", text, ends, len(ids))
		}
	})
	if i != len(texts) {
		t.Errorf("%d rows for %d strings", i, len(texts))
	}
	if faults > 0 {
		t.Errorf("%d of %d strings differ", faults, len(texts))
	}
}

func tokens(e *Pipeline, ids []int32) []string {
	var list []string
	for _, id := range ids {
		text, _ := e.Token(id)
		list = append(list, text)
	}
	return list
}

// TestConformance compares with the reference on real vocabularies. `make
// conformance-tokens` fetches them and sets the variable.
func TestConformance(t *testing.T) {
	dir := os.Getenv("INFEROMETER_TOKENS")
	if dir == "" {
		t.Skip("INFEROMETER_TOKENS names no folder; make conformance-tokens does")
	}
	texts := readStrings(t, filepath.Join(dir, "strings.jsonl"))
	files, err := filepath.Glob(filepath.Join(dir, "truth", "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no truth in %s: %v", dir, err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			e, err := load(filepath.Join(dir, "vocab", name))
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("loaded in %v", time.Since(start))
			truth, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			defer truth.Close()
			compare(t, e, texts, truth)
		})
	}
}

// load reads a tokenizer.json, or the files in a folder.
func load(path string) (*Pipeline, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		if vocab, err := os.ReadFile(filepath.Join(path, "vocab.json")); err == nil {
			merges, err := os.ReadFile(filepath.Join(path, "merges.txt"))
			if err != nil {
				return nil, err
			}
			return FromPair(path, vocab, merges)
		}
		path = filepath.Join(path, "tokenizer.json")
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return FromJSON(path, data)
}
