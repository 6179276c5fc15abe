package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Numbers that index something are held against the plan's, and the error names the line.
func TestLinesBeyondTheirBounds(t *testing.T) {
	plain := &Bounds{Stages: 2, Targets: 1, Workers: 3}
	search := &Bounds{First: -2, Stages: 1}
	for _, tt := range []struct {
		bounds *Bounds
		line   string
		want   string // empty: the line is fine
	}{
		{plain, `{"kind":"request","seq":1,"stage":1,"worker":3}`, ""},
		{plain, `{"kind":"request","seq":1,"stage":2}`, "line 2: stage 2 does not exist: the run has 2"},
		{plain, `{"kind":"request","seq":1,"stage":1000000000000000000}`, "line 2: stage 1000000000000000000"},
		{plain, `{"kind":"request","seq":1,"stage":-1}`, "line 2: stage -1"},
		{plain, `{"kind":"begun","seq":1,"stage":100000000}`, "line 2: stage 100000000"},
		{plain, `{"kind":"request","seq":1,"target":1}`, "line 2: target 1 does not exist: the plan has 1"},
		{plain, `{"kind":"request","seq":1,"target":-1}`, "line 2: target -1"},
		{plain, `{"kind":"request","seq":1,"worker":4}`, "line 2: worker 4"},
		{plain, `{"kind":"health","worker":4}`, "line 2: worker 4"},
		{plain, `{"kind":"health","worker":-1}`, "line 2: worker -1"},
		{plain, `{"kind":"stage","stage":1,"worker":100000000}`, "line 2: worker 100000000"},
		{plain, `{"kind":"edge","stage":1,"worker":100000000}`, "line 2: worker 100000000"},
		{plain, `{"kind":"stage","stage":2}`, "line 2: stage 2"},
		{plain, `{"kind":"edge","stage":2}`, "line 2: stage 2"},
		{plain, `{"kind":"session","stage":2}`, "line 2: stage 2"},
		{plain, `{"kind":"figures","stage":2}`, "line 2: stage 2"},
		{plain, `{"kind":"figures","stage":-1}`, ""},
		{search, `{"kind":"request","seq":1,"stage":-2,"target":7,"worker":70}`, ""},
		{search, `{"kind":"request","seq":1,"stage":-3}`, "line 2: stage -3 does not exist: the run's search has 2 steps"},
		{search, `{"kind":"stage","stage":-3}`, "line 2: stage -3"},
		{nil, `{"kind":"request","seq":1,"stage":1000000000000000000}`, ""},
	} {
		path := filepath.Join(t.TempDir(), "requests.jsonl")
		text := fmt.Sprintf("{\"kind\":\"header\",\"schema\":%q}\n%s\n", Schema, tt.line)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := File{Path: path, Bounds: tt.bounds}.Walk(func(Line) error { return nil })
		if (err == nil) != (tt.want == "") || err != nil && (!strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: %v, want %q", tt.line, err, tt.want)
		}
	}
}
