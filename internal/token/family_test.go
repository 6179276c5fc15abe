package token

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// unpack reads a gzipped file under testdata.
func unpack(t testing.TB, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return data
}

// family loads one of the tokenizers that were trained for the tests.
func family(t testing.TB, name string) *Pipeline {
	t.Helper()
	e, err := FromJSON(name, unpack(t, name+".json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// families are the names of the tokenizers under testdata.
func families(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json.gz")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d tokenizers in testdata: %v", len(files), err)
	}
	var names []string
	for _, f := range files {
		names = append(names, strings.TrimSuffix(filepath.Base(f), ".json.gz"))
	}
	return names
}

// TestFamilies compares small tokenizers of every family with the reference, whose
// answers scripts/token-testdata.py wrote.
func TestFamilies(t *testing.T) {
	texts := decodeStrings(t, unpack(t, "strings.jsonl.gz"))
	for _, name := range families(t) {
		t.Run(name, func(t *testing.T) {
			compare(t, family(t, name), texts, bytes.NewReader(unpack(t, name+".truth.gz")))
		})
	}
}
