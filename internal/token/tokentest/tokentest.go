// Package tokentest compares parts of tokenizers with what the reference makes of the
// same texts, as scripts/tokens/components.py writes it down.
package tokentest

import (
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
)

// Variable names the folder of `make conformance-tokens`. Where it is set, the
// package's file in its folder "components" is compared with too.
const Variable = "INFEROMETER_TOKENS"

// ErrSkip is what a build returns for a component that is not to be compared.
var ErrSkip = errors.New("not to be compared")

// Compare runs a package's component on all inputs of its truth. build makes it of its
// JSON.
func Compare[In, Out any](t *testing.T, build func(config []byte) (func(In) Out, error)) {
	t.Helper()
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	t.Run("testdata", func(t *testing.T) { compare(t, filepath.Join("testdata", "truth.jsonl.gz"), build) })
	if dir := os.Getenv(Variable); dir != "" {
		path := filepath.Join(dir, "components", filepath.Base(wd)+".jsonl.gz")
		t.Run("sweep", func(t *testing.T) { compare(t, path, build) })
	}
}

// row is what the reference makes of the inputs with one component. Out is nil where
// it refuses the component, and one of its values where it fails.
type row[Out any] struct {
	Config json.RawMessage
	Out    []*Out
}

func compare[In, Out any](t *testing.T, path string, build func(config []byte) (func(In) Out, error)) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	lines := json.NewDecoder(unzipped)
	var inputs []In
	if err := lines.Decode(&inputs); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	rows, compared := 0, 0
	for {
		var r row[Out]
		if err := lines.Decode(&r); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		rows++
		compared += check(t, r, inputs, build)
	}
	if rows == 0 || compared == 0 {
		t.Errorf("%s has nothing to compare with", path)
	}
	t.Logf("%d components, %d outputs compared", rows, compared)
}

// check compares one component and returns how many outputs it compared.
func check[In, Out any](t *testing.T, r row[Out], inputs []In, build func(config []byte) (func(In) Out, error)) int {
	name := string(r.Config)
	if len(name) > 200 {
		name = name[:200] + "..."
	}
	f, err := build(r.Config)
	if errors.Is(err, ErrSkip) {
		return 0
	}
	if r.Out == nil {
		if err == nil {
			t.Errorf("%s is accepted; the reference refuses it", name)
		}
		return 0
	}
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return 0
	}
	compared, faults := 0, 0
	for i, want := range r.Out {
		if want == nil {
			continue
		}
		compared++
		got := f(clone(inputs[i]))
		if reflect.DeepEqual(got, *want) || reflect.ValueOf(got).Kind() == reflect.Slice &&
			reflect.ValueOf(got).Len()+reflect.ValueOf(*want).Len() == 0 {
			continue
		}
		if faults++; faults <= 2 {
			t.Errorf("%s\n   of %q\n  got %q\n want %q", name, any(inputs[i]), any(got), any(*want))
		}
	}
	if faults > 2 {
		t.Errorf("%s: %d of %d outputs differ", name, faults, len(r.Out))
	}
	return compared
}

// clone copies an input that a component may change.
func clone[In any](in In) In {
	if list, ok := any(in).([]string); ok {
		return any(slices.Clone(list)).(In)
	}
	return in
}
