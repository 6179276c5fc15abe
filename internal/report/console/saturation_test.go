package console

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/sweep"
)

func TestSaturation(t *testing.T) {
	r := oneStage()
	r.Saturation = &sweep.Saturation{
		Kind: "linear", Rate: 99.4, Above: 400, Rates: []float64{1, 99.4},
		Why: "The server keeps up with 99.4 requests/s: the backlog stood at 9.9 and then 10.0 requests. It does not keep up with 400: the backlog grew from 1100.0 to 1480.5 requests, by more than 22.6.",
		Steps: []sweep.Step{
			{Rate: 400, Requests: 2000, OK: 1980, Failed: 20, Unsent: 3, Before: 1100, After: 1480.5, Answered: 99.42, Lag: 0.31},
			{Rate: 99.4, Requests: 1999, OK: 1999, Before: 9.9, After: 10, Answered: 99.4, Lag: 0.12, Kept: true},
		},
	}
	for _, width := range []int{80, 100} {
		var buf bytes.Buffer
		if err := Write(&buf, r, Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join("testdata", map[int]string{80: "saturation-80.txt", 100: "saturation-100.txt"}[width])
		if *update {
			if err := os.WriteFile(path, buf.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), buf.String()); diff != "" {
			t.Error(diff)
		}
	}
}
