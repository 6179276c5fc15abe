package reader

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// What the real tool wrote is read.
func TestOriginal(t *testing.T) {
	r, err := Read(os.DirFS("testdata/original"))
	if err != nil || len(r.Faults) > 0 || len(r.Stages) != 1 {
		t.Fatalf("%v, %v, %d stages", err, r.Faults, len(r.Stages))
	}
	s := &r.Stages[0]
	if s.Number != 0 || s.Concurrency != 64 || s.Achieved != 337.89752709353695 || *s.Requested != 2000 {
		t.Errorf("%+v", s)
	}
	if s.Latency[TimeToFirstToken]["mean"] != 0.0032392514629966626 || s.Latency[InterToken]["p99.9"] != 0.0006635583160946429 || s.Throughput[OutputRate] != 5405.338877736176 {
		t.Errorf("%v %v", s.Latency, s.Throughput)
	}
}

func TestDirectories(t *testing.T) {
	const good = `{"load_summary":{"achieved_rate":2,"requested_rate":null},"successes":{"latency":{"time_to_first_token":null,"request_latency":{"mean":1,"p99":null}},"throughput":{"output_tokens_per_sec":3},"goodput_metrics":{"request_goodput_rate":1.5}}}`
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	r, err := Read(fstest.MapFS{
		"run-stage_10_lifecycle_metrics.json":            file(good),
		"run-stage_2_lifecycle_metrics.json":             file(good),
		"run-stage_3_lifecycle_metrics.json":             file("{"),
		"run-stage_4_lifecycle_metrics.json":             file("{}"),
		"run-stage_2_session_lifecycle_metrics.json":     file("{}"),
		"run-adapter_red_stage_1_lifecycle_metrics.json": file(good),
		"run-summary_lifecycle_metrics.json":             file(good),
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Stages) != 2 || r.Stages[0].Number != 2 || r.Stages[1].Number != 10 {
		t.Errorf("%+v", r.Stages)
	}
	if len(r.Faults) != 2 || !strings.Contains(errors.Join(r.Faults...).Error(), "run-stage_3") {
		t.Errorf("%v", r.Faults)
	}
	s := &r.Stages[0]
	if s.Requested != nil || len(s.Latency) != 1 || len(s.Latency["request_latency"]) != 1 || *s.GoodRate != 1.5 || s.Goodput != nil {
		t.Errorf("%+v", s)
	}
	if _, err := Read(fstest.MapFS{"a.json": file("{}")}); !errors.Is(err, ErrNoStages) {
		t.Errorf("no reports: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"load_summary":{"achieved_rate":2,"concurrency":1},"successes":{"latency":{"a":{"mean":1}},"throughput":{"x":1}}}`))
	f.Add([]byte(`{"load_summary":[]}`))
	mutate.Fuzz(f, func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if (s == nil) == (err == nil) {
			t.Errorf("%v and %v", s, err)
		}
	})
}
