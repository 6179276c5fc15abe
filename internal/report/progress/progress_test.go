package progress

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/report/screen"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

func openLoop() Snapshot {
	return Snapshot{
		Stage: 2, Stages: 3, Name: "peak", Load: "50/s poisson, at most 500 in flight", Phase: Measuring,
		Elapsed: 14130 * time.Millisecond, Total: 30 * time.Second, Done: 706, Limit: 2000,
		Sent: 744, OK: 700, Failed: 6, InFlight: 38, RateWanted: 50, RateGot: 49.81,
		TTFT:       Latency{P50: 51234 * time.Microsecond, P99: 88 * time.Millisecond},
		ITL:        Latency{P50: 10120 * time.Microsecond, P99: 14200 * time.Microsecond},
		OutputRate: 3188.4,
		Errors:     []Error{{"http_status", 3}, {"reset", 2}, {"stall", 1}},
		Warnings:   []string{"the client was short of CPU in the last 10 s"},
	}
}

func TestView(t *testing.T) {
	closed := Snapshot{Stage: 1, Stages: 1, Load: "32 in flight", Phase: WarmingUp, Elapsed: 1200 * time.Millisecond, InFlight: 32}
	drain := openLoop()
	drain.Phase, drain.Elapsed, drain.Total, drain.Limit = Draining, 130*time.Second, 0, 0
	noisy := openLoop()
	noisy.Name = "two\nlines \x1b[2J"
	noisy.Errors = append(noisy.Errors, Error{"tls", 1}, Error{"connect", 1}, Error{"resolve", 1})
	noisy.Warnings = append(noisy.Warnings, "second", "third", "fourth")
	for _, c := range []struct {
		file  string
		s     Snapshot
		width int
		color bool
	}{
		{"open-100.txt", openLoop(), 100, false},
		{"open-60.txt", openLoop(), 60, false},
		{"open-30.txt", openLoop(), 30, false},
		{"open-color.txt", openLoop(), 100, true},
		{"closed-80.txt", closed, 80, false},
		{"drain-80.txt", drain, 80, false},
		{"noisy-80.txt", noisy, 80, false},
	} {
		t.Run(c.file, func(t *testing.T) {
			golden(t, c.file, View(c.s, c.width, c.color))
		})
	}
}

func TestViewNeverWiderThanAsked(t *testing.T) {
	s := openLoop()
	for width := 1; width <= 160; width++ {
		for _, color := range []bool{false, true} {
			for line := range strings.Lines(View(s, width, color)) {
				if w := screen.Width(strings.TrimSuffix(line, "\n")); w > width {
					t.Errorf("width %d: line of %d columns: %q", width, w, line)
				}
			}
		}
	}
}

func TestViewEndsWithALineFeed(t *testing.T) {
	got := View(Snapshot{}, 80, false)
	if !strings.HasSuffix(got, "\n") || strings.HasSuffix(got, "\n\n") {
		t.Errorf("got %q", got)
	}
}

func TestLine(t *testing.T) {
	closed := Snapshot{Stage: 1, Stages: 1, Load: "32 in flight", Phase: WarmingUp, Elapsed: 1200 * time.Millisecond, Total: 5 * time.Second, InFlight: 32, RateGot: 812.5}
	for _, c := range []struct {
		s    Snapshot
		want string
	}{
		{openLoop(), "stage 2/3 peak: 50/s poisson, at most 500 in flight | measuring 14.1 s of 30 s | 706 of 2,000 requests | " +
			"700 ok | 6 failed | 38 in flight | 49.81/s of 50/s wanted | TTFT p50 51.23 ms p99 88.00 ms | ITL p50 10.12 ms p99 14.20 ms | " +
			"3,188 tokens/s | errors http_status 3, reset 2, stall 1"},
		{closed, "32 in flight | warm-up 1.2 s of 5 s | 0 ok | 0 failed | 32 in flight | 812.5/s"},
		{Snapshot{Phase: Preparing, Load: "a\nb"}, "a b | preparing 0.0 s | 0 ok | 0 failed | 0 in flight | 0.00/s"},
	} {
		if diff := cmp.Diff(c.want, Line(c.s)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestShare(t *testing.T) {
	for _, c := range []struct {
		s    Snapshot
		want float64
		ok   bool
	}{
		{Snapshot{}, 0, false},
		{Snapshot{Elapsed: time.Second}, 0, false},
		{Snapshot{Elapsed: 3 * time.Second, Total: 4 * time.Second}, 0.75, true},
		{Snapshot{Done: 1, Limit: 2}, 0.5, true},
		{Snapshot{Elapsed: time.Second, Total: 4 * time.Second, Done: 1, Limit: 2}, 0.5, true},
		{Snapshot{Elapsed: 9 * time.Second, Total: 4 * time.Second}, 1, true},
		{Snapshot{Elapsed: -time.Second, Total: 4 * time.Second}, 0, true},
	} {
		if got, ok := c.s.share(); got != c.want || ok != c.ok {
			t.Errorf("share(%+v) = %v, %v, want %v, %v", c.s, got, ok, c.want, c.ok)
		}
	}
}
