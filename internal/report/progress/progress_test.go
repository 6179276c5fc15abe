package progress

import (
	"flag"
	"fmt"
	"math"
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
		Errors:     []ErrorCount{{"HTTP 503", 3}, {"reset", 2}, {"stall", 1}},
		Warnings:   []string{"the client was short of CPU in the last 10 s"},
		Judged:     true, Good: 640, Later: 45 * time.Second,
		Rates:       []float64{20, 44, 50, 51, 49, 50, 48, 30, 52, 50, 49, 51, 50, 50},
		FirstTokens: []float64{math.NaN(), 50, 51, 50, 52, 51, 120, 240, 90, 60, 52, 51, 50, 51},
		InFlights:   []float64{12, 30, 36, 38, 37, 36, 60, 110, 80, 50, 40, 38, 37, 38},
	}
}

func TestView(t *testing.T) {
	closed := Snapshot{Stage: 1, Stages: 1, Load: "32 in flight", Phase: WarmingUp, Elapsed: 1200 * time.Millisecond, InFlight: 32}
	drain := openLoop()
	drain.Phase, drain.Elapsed, drain.Total, drain.Limit = Draining, 130*time.Second, 0, 0
	noisy := openLoop()
	noisy.Name = "two\nlines \x1b[2J"
	noisy.Errors = append(noisy.Errors, ErrorCount{"tls", 1}, ErrorCount{"connect", 1}, ErrorCount{"resolve", 1})
	noisy.Warnings = append(noisy.Warnings, "second", "third", "fourth")
	wide := openLoop()
	wide.Name, wide.TTFT.P50 = "モデル-très-long-nom-de-modèle 🚀", 850*time.Microsecond
	last := openLoop()
	last.Stage, last.Later = 5, -1
	for i := range 4 {
		last.Earlier = append(last.Earlier, Past{
			Stage: i + 1, Load: fmt.Sprintf("%d/s poisson", 10*(i+1)), Failed: int64(i % 2), Rate: 10 * float64(i+1),
			TTFT: Latency{P50: time.Duration(50+i) * time.Millisecond, P99: 90 * time.Millisecond},
		})
	}
	last.Stages = 5
	for _, c := range []struct {
		file string
		s    Snapshot
		to   Screen
	}{
		{"open-100.txt", openLoop(), Screen{Width: 100}},
		{"open-80.txt", openLoop(), Screen{Width: 80}},
		{"open-60.txt", openLoop(), Screen{Width: 60}},
		{"open-30.txt", openLoop(), Screen{Width: 30}},
		{"open-20.txt", openLoop(), Screen{Width: 20}},
		{"open-flat.txt", openLoop(), Screen{Width: 80, Height: 4}},
		{"open-color.txt", openLoop(), Screen{Width: 100, Color: true}},
		{"open-ascii.txt", wide, Screen{Width: 80, ASCII: true}},
		{"wide-80.txt", wide, Screen{Width: 80}},
		{"closed-80.txt", closed, Screen{Width: 80}},
		{"drain-80.txt", drain, Screen{Width: 80}},
		{"noisy-80.txt", noisy, Screen{Width: 80}},
		{"last-80.txt", last, Screen{Width: 80, Height: 12}},
	} {
		t.Run(c.file, func(t *testing.T) {
			golden(t, c.file, View(c.s, c.to))
		})
	}
}

func TestViewNeverWiderThanAsked(t *testing.T) {
	s := openLoop()
	for width := 1; width <= 160; width++ {
		for _, to := range []Screen{{Width: width}, {Width: width, Color: true}, {Width: width, ASCII: true}} {
			for line := range strings.Lines(View(s, to)) {
				if w := screen.Width(strings.TrimSuffix(line, "\n")); w > width {
					t.Errorf("width %d: line of %d columns: %q", width, w, line)
				}
			}
		}
	}
}

func TestViewEndsWithALineFeed(t *testing.T) {
	got := View(Snapshot{}, Screen{Width: 80})
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
			"3,188 tokens/s | goodput 45.29/s (90.7 %) | errors HTTP 503: 3, reset: 2, stall: 1 | 16 s left (61 s in all)"},
		{closed, "32 in flight | warm-up 1.2 s of 5 s | 0 ok | 0 failed | 32 in flight | 812.5/s | 4 s left"},
		{Snapshot{Phase: Preparing, Load: "a\nb"}, "a b | preparing 0.0 s | 0 ok | 0 failed | 0 in flight | 0.00/s"},
	} {
		if diff := cmp.Diff(c.want, Line(c.s)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestSpark(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		values []float64
		n      int
		want   string
	}{
		{nil, 10, ""},
		{[]float64{0, 0}, 10, "▁▁"},
		{[]float64{0, 1, 2, 3, 4, 5, 6, 7}, 10, "▁▂▃▄▅▆▇█"},
		{[]float64{nan, 50, nan, 100}, 10, " ▅ █"},
		{[]float64{1, 3, 6, 8, nan, nan, 8, nan}, 4, "▃▇ █"},
		{[]float64{math.Inf(1), 4}, 4, " █"},
		{[]float64{1, 2, 3}, 0, ""},
	} {
		got := spark(c.values, c.n)
		if got != c.want {
			t.Errorf("spark(%v, %d) = %q, want %q", c.values, c.n, got, c.want)
		}
		if plain := ascii(got); len(plain) != screen.Width(got) {
			t.Errorf("%q is %q where there is ASCII only", got, plain)
		}
	}
}

func TestLeft(t *testing.T) {
	for want, s := range map[string]Snapshot{
		"":                       {Phase: Measuring, Elapsed: time.Second},
		"3 s left":               {Phase: Measuring, Elapsed: time.Second, Total: 4 * time.Second},
		"2 s left":               {Phase: WarmingUp, Done: 10, Limit: 30, RateGot: 10},
		"1 s left":               {Phase: Measuring, Elapsed: time.Second, Total: 4 * time.Second, Done: 1, Limit: 2, RateGot: 1},
		"0 s left":               {Phase: Measuring, Elapsed: 5 * time.Second, Total: 4 * time.Second},
		"5 s left (65 s in all)": {Phase: Measuring, Total: 5 * time.Second, Stage: 1, Stages: 2, Later: time.Minute},
		"6 s left":               {Phase: Measuring, Total: 6 * time.Second, Stage: 1, Stages: 2, Later: -1},
	} {
		if got := leftText(s); got != want {
			t.Errorf("%+v: %q, want %q", s, got, want)
		}
	}
	for _, s := range []Snapshot{{Phase: Draining, Total: time.Second}, {Phase: Measuring, Limit: 1 << 60, RateGot: 0.001}} {
		if got := leftText(s); got != "" {
			t.Errorf("%+v: %q", s, got)
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
