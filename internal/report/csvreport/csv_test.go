package csvreport_test

import (
	"bytes"
	"encoding/csv"
	"errors"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/report/csvreport"
	"github.com/inferometer/inferometer/internal/result"
)

var update = flag.Bool("update", false, "write the golden files anew")

func sample() *result.Result {
	latency := result.Stat{Unit: "ms", Count: 1234567, Avg: 1525.25, LowSamples: []string{"p99", "p99.9"}, Distribution: &result.Distribution{
		Min: 0.000001, Max: 123456789.5, Std: 3, P1: 1, P5: 5, P10: 10, P25: 25, P50: 50, P75: 75, P90: 90, P95: 95, P99: 99, P999: 99.9,
	}}
	metrics := map[string]result.Stat{
		"request_latency":    latency,
		"request_throughput": {Unit: "requests/sec", Avg: 1e21},
		"error_share":        {Unit: "share"},
	}
	hung := latency
	hung.Censored, hung.AtLeast = 12, []string{"avg", "max", "std", "p99", "p99.9"}
	metrics["time_to_first_token"] = hung
	return &result.Result{Stages: []result.Stage{
		{
			Index: 0, Name: `a "quoted", name`, Load: "50/s poisson, at most 500 in flight", Metrics: metrics,
			Counts: result.Counts{Sent: 1234567, OK: 1234560, Failed: 7, CutOff: 2},
			Steady: &result.Steady{
				Counts:  result.Counts{Sent: 1000, OK: 1000},
				Metrics: map[string]result.Stat{"request_latency": latency},
			},
		},
		{Index: 1, Load: "4 in flight", Targets: []result.Target{
			{URL: "http://a:8000", Counts: result.TargetCounts{Sent: 3, OK: 2, Failed: 1}, Metrics: map[string]result.Stat{"request_latency": latency}},
			{URL: "http://b:8000"},
		}, Models: []result.Model{
			{Name: "sql-adapter", Counts: result.TargetCounts{Sent: 3, OK: 3}, Metrics: map[string]result.Stat{"request_latency": latency}},
		}},
	}}
}

func TestGolden(t *testing.T) {
	var buf bytes.Buffer
	if err := csvreport.Write(&buf, sample()); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join("testdata", "summary.csv")
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
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestNumbersParse reads the file as a stranger would: every cell of a number
// column is empty or a number, and the number is the one in the result.
func TestNumbersParse(t *testing.T) {
	var buf bytes.Buffer
	if err := csvreport.Write(&buf, sample()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&buf).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	col := map[string]int{}
	for i, name := range rows[0] {
		col[name] = i
	}
	found := false
	for _, row := range rows[1:] {
		for i := col["count"]; i < col["thin"]; i++ {
			if row[i] == "" {
				continue
			}
			if _, err := strconv.ParseFloat(row[i], 64); err != nil || strings.ContainsAny(row[i], "eE,") {
				t.Errorf("%s of %s is %q", rows[0][i], row[col["metric"]], row[i])
			}
		}
		if row[col["metric"]] != "request_latency" || row[col["window"]] != "whole" {
			continue
		}
		found = true
		for name, want := range map[string]float64{"min": 0.000001, "max": 123456789.5, "p99.9": 99.9, "avg": 1525.25, "count": 1234567} {
			if got, _ := strconv.ParseFloat(row[col[name]], 64); got != want {
				t.Errorf("%s is %v, want %v", name, got, want)
			}
		}
	}
	if !found {
		t.Error("request_latency is not there")
	}
}

func TestNotFiniteIsRefused(t *testing.T) {
	for name, spoil := range map[string]func(*result.Stage){
		"stage 0, whole window, request_latency p99": func(s *result.Stage) { s.Metrics["request_latency"].P99 = math.NaN() },
		"stage 0, whole window, error_share avg": func(s *result.Stage) {
			s.Metrics["error_share"] = result.Stat{Avg: math.Inf(-1)}
		},
		"stage 0, steady window, x avg": func(s *result.Stage) { s.Steady.Metrics["x"] = result.Stat{Avg: math.NaN()} },
	} {
		r := sample()
		spoil(&r.Stages[0])
		var buf bytes.Buffer
		err := csvreport.Write(&buf, r)
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v does not say %q", err, name)
		}
		if buf.Len() != 0 {
			t.Errorf("something was written: %q", buf.String())
		}
	}
}

// broken refuses every write.
type broken struct{}

var errGone = errors.New("gone")

func (broken) Write([]byte) (int, error) { return 0, errGone }

func TestWriteError(t *testing.T) {
	if err := csvreport.Write(broken{}, sample()); !errors.Is(err, errGone) {
		t.Errorf("got %v", err)
	}
}
