// Package filetest compares tokenizers that were read from rank files, tekken.json
// and SentencePiece models with what the references say of many strings.
package filetest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/inferometer/inferometer/internal/token"
)

type row struct {
	ids, special []int32
	text         string // decoded from ids
}

// UnmarshalJSON reads a row of three values.
func (r *row) UnmarshalJSON(b []byte) error {
	return json.Unmarshal(b, &[]any{&r.ids, &r.special, &r.text})
}

// Opener makes a tokenizer of a file's content.
type Opener func(name string, data []byte) (*token.Pipeline, error)

// Small compares on the repository's small files that match a pattern. Dir is this package's
// testdata.
func Small(t *testing.T, dir, pattern string, read Opener) {
	t.Helper()
	texts := decode[string](t, unpack(t, filepath.Join(dir, "strings.jsonl.gz")))
	files, err := filepath.Glob(filepath.Join(dir, pattern+".gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files %s in %s: %v", pattern, dir, err)
	}
	for _, path := range files {
		name := filepath.Base(path[:len(path)-len(".gz")])
		t.Run(name, func(t *testing.T) {
			e, err := read(name, unpack(t, path))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, e, texts, unpack(t, filepath.Join(dir, name+".truth.gz")))
		})
	}
}

// Real compares on real files, which are not part of the repository.
func Real(t *testing.T, pattern string, read Opener) {
	t.Helper()
	dir := Peers(t)
	files, err := filepath.Glob(filepath.Join(dir, "ranks", pattern))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skipf("no %s in %s/ranks; scripts/token-peers.sh fetches them", pattern, dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "strings.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	texts := decode[string](t, data)
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			e, err := read(name, data)
			if err != nil {
				t.Fatal(err)
			}
			truth, err := os.ReadFile(filepath.Join(dir, "files-truth", name[:len(name)-len(filepath.Ext(name))]+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			compare(t, e, texts, truth)
		})
	}
}

// Vocabularies runs a test with each real model's tokenizer.json, outside the repository.
func Vocabularies(t *testing.T, test func(t *testing.T, e *token.Pipeline)) {
	t.Helper()
	dir := Peers(t)
	files, err := filepath.Glob(filepath.Join(dir, "vocab", "*", "tokenizer.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tokenizers in %s: %v", dir, err)
	}
	for _, name := range files {
		t.Run(filepath.Base(filepath.Dir(name)), func(t *testing.T) {
			data, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			e, err := token.FromJSON(name, data)
			if err != nil {
				t.Fatal(err)
			}
			test(t, e)
		})
	}
}

// Peers is the folder that scripts/token-peers.sh fills; without one the test is skipped.
func Peers(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("INFEROMETER_TOKENS")
	if dir == "" {
		t.Skip("INFEROMETER_TOKENS names no folder; make conformance-tokens does")
	}
	return dir
}

func unpack(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
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
	return data
}

func decode[T any](t *testing.T, data []byte) (values []T) {
	t.Helper()
	for lines := json.NewDecoder(bytes.NewReader(data)); lines.More(); {
		var v T
		if err := lines.Decode(&v); err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	return values
}

func compare(t *testing.T, e *token.Pipeline, texts []string, truth []byte) {
	t.Helper()
	faults := 0
	fault := func(format string, args ...any) {
		if faults++; faults <= 5 {
			t.Errorf(format, args...)
		}
	}
	rows := decode[row](t, truth)
	if len(rows) != len(texts) {
		t.Fatalf("%d rows of truth for %d strings", len(rows), len(texts))
	}
	for i, want := range rows {
		text := texts[i]
		if got := e.Encode(text, false); !slices.Equal(got, want.ids) {
			fault("%.80q: ids %v, want %v", text, short(got), short(want.ids))
		}
		if got := e.Encode(text, true); !slices.Equal(got, want.special) {
			fault("%.80q: with special tokens ids %v, want %v", text, short(got), short(want.special))
		}
		if got := e.Decode(want.ids, false); got != want.text {
			fault("%.80q: decoded %.80q, want %.80q", text, got, want.text)
		}
		if n := e.Count(text); n != len(want.ids) {
			fault("%.80q: %d tokens, want %d", text, n, len(want.ids))
		}
	}
	if faults > 0 {
		t.Errorf("%d faults in %d strings", faults, len(rows))
	}
}

func short(ids []int32) []int32 { return ids[:min(len(ids), 40)] }
