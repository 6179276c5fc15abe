//go:build linux

package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
)

func TestStampJoin(t *testing.T) {
	truth := map[int64]truthfile.Request{
		7: {Events: []truthfile.Event{{At: 1000}, {At: 2000}, {At: 2100}}},
		8: {Events: []truthfile.Event{{At: 1000}}},
	}
	j := stampJoin{truth: truth}
	j.add(&record.Record{Seq: 7,
		Marks:  []record.Read{{Kernel: 1005, User: 1050}, {Kernel: record.Never, User: 2120}},
		Events: []record.Event{{Mark: 0}, {Mark: 1, Merged: true}, {Mark: 1}}})
	j.add(&record.Record{Seq: 8, Failure: &record.Failure{Class: record.CutOff}}) // has no say
	want := []stampError{{kernel: 5, user: 50}, {kernel: 120, user: 120, coalesced: true}, {kernel: 20, user: 20}}
	if diff := cmp.Diff(want, j.errors, cmp.AllowUnexported(stampError{})); diff != "" {
		t.Errorf("stamp errors (-want +got):\n%s", diff)
	}
	if j.requests != 1 || j.unmatched != 0 {
		t.Errorf("%d requests, %d unmatched; want 1, 0", j.requests, j.unmatched)
	}
	j.add(&record.Record{Seq: 8, Events: []record.Event{{}, {}}, Marks: []record.Read{{}}}) // an event too many
	j.add(&record.Record{Seq: 9})                                                           // not in the log
	if j.unmatched != 2 {
		t.Errorf("%d unmatched, want 2", j.unmatched)
	}
}

func TestStampRunErrors(t *testing.T) {
	r := stampRun{events: []stampError{{kernel: 3, user: 30}, {kernel: -1, user: 10}, {kernel: 900, user: 950, coalesced: true},
		{kernel: 5, user: 50}}}
	if got := r.errors(true, false, 1); got != 5 {
		t.Errorf("largest kernel error without coalesced events = %d, want 5", got)
	}
	if got := r.errors(false, true, 1); got != 950 {
		t.Errorf("largest user-space error = %d, want 950", got)
	}
	if r.coalescedShare() != 0.25 || r.early() != 1 {
		t.Errorf("share %v, early %d; want 0.25, 1", r.coalescedShare(), r.early())
	}
}

func TestSequence(t *testing.T) {
	for _, tt := range []struct {
		id   string
		want int64
		ok   bool
	}{{"run-a1-42", 42, true}, {"42", 42, true}, {"chatcmpl-x", 0, false}, {"", 0, false}} {
		if got, ok := sequence(tt.id); got != tt.want || ok != tt.ok {
			t.Errorf("sequence(%q) = %d, %v", tt.id, got, ok)
		}
	}
}

func TestServerTTFTAndHeld(t *testing.T) {
	at := func(s float64) int64 { return int64(s * 1e9) }
	truth := []truthfile.Request{
		{Read: at(1), End: at(9), Events: []truthfile.Event{{At: at(1.5)}, {At: at(2), Tokens: 1}}},
		{Read: at(4), End: at(5), Events: []truthfile.Event{{At: at(4.25), Tokens: 1}}},
		{Read: at(20), End: at(21), Events: []truthfile.Event{{At: at(20.5), Tokens: 1}}},
	}
	got := serverTTFT(truth, time.Unix(0, 0), time.Unix(8, 0))
	if diff := cmp.Diff([]time.Duration{time.Second, 250 * time.Millisecond}, got); diff != "" {
		t.Errorf("server's time to first token (-want +got):\n%s", diff)
	}
	// The middle half of 0 to 8 s is 2 to 6 s: one request throughout, one for a second.
	if held := heldBy(truth, time.Unix(0, 0), time.Unix(8, 0)); held != 1.25 {
		t.Errorf("held %v, want 1.25", held)
	}
}

func TestPeerTTFT(t *testing.T) {
	tests := []struct {
		name, file, text string
		read             func(string, *host.Process) (ttft, error)
	}{
		{"genai-perf", "a/profile_export_genai_perf.json", `{"time_to_first_token":{"unit":"ms","p50":58.5,"p99":97}}`, exportedTTFT("profile_export_genai_perf.json")},
		{"aiperf", "profile_export_aiperf.json", `{"time_to_first_token":{"unit":"ms","p50":58.5,"p99":97}}`, exportedTTFT("profile_export_aiperf.json")},
		{"inference-perf", "out/summary_lifecycle_metrics.json", `{"successes":{"latency":{"time_to_first_token":{"median":0.0585,"p99":0.097}}}}`, inferencePerfTTFT},
		{"guidellm", "out.json", `{"benchmarks":[{"metrics":{"time_to_first_token_ms":{"successful":{"percentiles":{"p50":58.5,"p99":97}}}}}]}`, guidellmTTFT},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			if _, err := tt.read(dir, nil); err == nil {
				t.Error("a run without results was accepted")
			}
			path := filepath.Join(dir, tt.file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			got, err := tt.read(dir, nil)
			if err != nil || got != (ttft{58.5, 97}) {
				t.Errorf("got %+v, %v; want 58.5, 97", got, err)
			}
		})
	}
}
