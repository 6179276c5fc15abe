package vllmbench

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer/foreigntest"
)

// A file of the original that goes in and out keeps its figures: they are worked out again from its single
// requests.
func TestRoundTrip(t *testing.T) {
	for file, least := range map[string]int{"chat-detailed.json": 20, "failures.json": 3} {
		path := filepath.Join("testdata", file)
		_, run := foreigntest.Import(t, Tool("vllm-bench"), path)
		var screen strings.Builder
		env := foreigntest.Env()
		env.Stdout = &screen
		files, err := as(env, &tool.ReportRequest{Run: run, Out: t.TempDir()})
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %v, %v", file, files, err)
		}
		theirs, ours := object(t, path), object(t, files[0])
		compared := 0
		for key, want := range theirs {
			got, has := ours[key].(float64)
			number, is := want.(float64)
			if !is || !has || !strings.HasSuffix(key, "_ms") && key != "completed" && key != "failed" && key != "total_output_tokens" && key != "max_concurrent_requests" {
				continue
			}
			compared++
			// Moments are whole nanoseconds here.
			if math.Abs(got-number) > 1e-6*math.Abs(number)+2e-6 {
				t.Errorf("%s: %s is %v, want %v", file, key, got, number)
			}
		}
		if compared < least {
			t.Errorf("%s: %d figures compared", file, compared)
		}
		if !strings.Contains(screen.String(), "Serving Benchmark Result") {
			t.Error(screen.String())
		}
	}
}

func object(t *testing.T, path string) map[string]any {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	return o
}
