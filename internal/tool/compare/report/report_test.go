package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/report/screen"
)

var update = flag.Bool("update", false, "write the golden files")

// row is a row with a difference and an interval, given as shares of a.
func row(metric, name, stat, unit string, a, b, lo, hi, p, longer float64, verdict string) compare.Row {
	share := func(v float64) *float64 { return &v }
	d := b - a
	rel := d / a
	return compare.Row{Metric: metric, Name: name, Stat: stat, Unit: unit, A: &compare.SideStat{Value: a, Runs: 1},
		B: &compare.SideStat{Value: b, Runs: 1}, Verdict: verdict,
		Delta: &compare.Difference{Value: d, Relative: &rel,
			Interval: &compare.Interval{Lo: lo * a, Hi: hi * a, RelativeLo: share(lo), RelativeHi: share(hi)}, P: &p, Longer: &longer}}
}

// example is a comparison with all that a report has to show.
func example() *compare.Comparison {
	chance := row("time_to_first_token", "Time to first token", "p90", "ms", 60.1, 58.2, -0.05, -0.001, 0.04, 2.5, compare.Better)
	chance.Chance = true
	none := row("request_latency", "Request latency", "avg", "ms", 700.3, 702.1, -0.01, 0.015, 0.51, 1200, compare.NoneSeen)
	failed := compare.Row{Metric: "error_rate", Name: "Failed requests", Stat: "avg", Unit: "share", A: &compare.SideStat{Runs: 1}, B: &compare.SideStat{Value: 0.013, Runs: 1}, Verdict: compare.Worse,
		Delta: &compare.Difference{Value: 0.013, Interval: &compare.Interval{Lo: 0.002, Hi: 0.024}}}
	spread := row("request_throughput", "Requests/s", "avg", "requests/sec", 91.2, 95.7, 0.01, 0.08, 0.0001, 0.4, compare.Better)
	spread.A.Spread, spread.A.Runs = &compare.RunSpread{Min: 90, Max: 92, Std: 0.9}, 3
	client := row("inter_token_latency", "Inter-token latency", "p50", "ms", 12.02, 12.08, 0.003, 0.007, 0.001, 0.3, compare.NoneSeen)
	client.Client, client.Why = true, "the clients' own delays can have made it"
	return &compare.Comparison{
		Schema: compare.Schema, Version: "1.0", Confidence: 0.95, Size: 0.05,
		Sides: []compare.SideDoc{
			{Name: "main", Runs: []compare.RunDoc{{Path: "results/main", Subject: "org/m chat at http://h:8000", Verdict: "invalid"}}},
			{Name: "[patch](http://x) \x1b[31m", Runs: []compare.RunDoc{{Path: "other.json", Subject: "org/m chat", Verdict: compare.NotKnown, By: "AIPerf 0.13.0", Notes: []string{"Times to first token are from the scheduled send time."}}}},
		},
		Doubts: []string{"main is INVALID: The client was short of CPU."},
		Plans:  []compare.Clash{{Field: "target.model", Side: 1, First: "org/m", Other: "org/n"}, {Field: "data.input", Side: 1, First: "128", Other: "256", Matters: true}},
		Loads: []compare.Load{{
			Name: "8 in flight", Same: true,
			Sides: []compare.LoadSide{{Side: 0, Load: "8 in flight", Stages: []int{0}, OK: 640, Seconds: 7.1}, {Side: 1, Load: "8 in flight", Stages: []int{0, 1}, OK: 630, Failed: 10, Seconds: 7}},
			Tables: []compare.Table{{
				Side: 1, Method: compare.ByPrompts, Prompts: 630, Compared: 6, Found: 4, Firm: 3, Unknown: 1,
				Headline: "6 of 8 figures compared, 1 not known (measured on one side only): 4 differences found, 3 of them firm.",
				Doubts:   []string{"0 % of the requests of main failed and 1.3 % of those of patch: latencies are of the others alone."},
				Rows: []compare.Row{
					row("time_to_first_token", "Time to first token", "avg", "ms", 50.2, 55.3, 0.08, 0.12, 0.0001, 0.2, compare.Worse),
					chance, client, {Metric: "inter_token_latency", Name: "Inter-token latency", Stat: "p99", Unit: "ms", A: &compare.SideStat{Value: 12, Runs: 1}, Verdict: compare.NotKnown, Why: "not measured on the other side"},
					none, spread, failed,
					row("output_sequence_length", "Output sequence length", "avg", "tokens", 64, 70, 0.09, 0.1, 0.0001, 0.1, compare.Differs),
				},
				Longer: "A difference of 5 % would have been found in 4 of 6 figures (4 times out of 5).",
			}},
		}},
		Unmatched: []compare.Unmatched{{Side: 0, Load: "16 in flight"}},
	}
}

// searches is a comparison of three searches for the capacity, under other loads.
func searches() *compare.Comparison {
	v := func(v float64) *float64 { return &v }
	side := func(name string) compare.SideDoc {
		return compare.SideDoc{Name: name, Runs: []compare.RunDoc{{Path: "results/" + name, Subject: "org/m chat", Verdict: "valid"}}}
	}
	many := side("many")
	many.Runs = append(many.Runs, many.Runs[0])
	unit := "requests/s"
	return &compare.Comparison{
		Schema: compare.Schema, Confidence: 0.95, Size: 0.05, Trusted: true, Sides: []compare.SideDoc{side("main"), side("patch"), side("*new*"), many},
		Capacity: &compare.Capacities{
			Sides: []compare.CapacitySide{
				{Side: 0, Unit: unit, Outcome: "found", Value: v(38.2), Lo: v(36.9), Hi: v(39.5), Runs: 1, Sentence: "38.2 requests/s, 95 % between 36.9 and 39.5; at 44 ttft.p99 misses by 30 ms."},
				{Side: 1, Unit: unit, Outcome: "found", Value: v(33.1), Lo: v(32.2), Hi: v(34), Runs: 1, Sentence: "33.1 requests/s, 95 % between 32.2 and 34."},
				{Side: 2, Unit: unit, Outcome: "met at every load", Lo: v(50), Runs: 1, Sentence: "At least 50 requests/s: all objectives are met at the highest load that was tried."},
				{Side: 3, Unit: unit, Outcome: "found", Value: v(38), Lo: v(35), Hi: v(41), Runs: 2, Sentence: "37 requests/s."},
			},
			Rows: []compare.CapacityRow{
				{Side: 1, Verdict: compare.Worse,
					Delta: &compare.Difference{Value: -5.1, Relative: v(-0.134),
						Interval: &compare.Interval{Lo: -6.5, Hi: -3.7, RelativeLo: v(-0.169), RelativeHi: v(-0.096)}}},
				{Side: 2, Verdict: compare.Better, Why: "by how much is not known: the other side met the objectives at every load that was tried"},
				{Side: 3, Verdict: compare.NoneSeen,
					Delta: &compare.Difference{Value: -0.2, Relative: v(-0.005),
						Interval: &compare.Interval{Lo: -4, Hi: 3, RelativeLo: v(-0.1), RelativeHi: v(0.08)}}},
			},
		},
	}
}

// loads is a comparison of sides under different loads.
func loads() *compare.Comparison {
	c := example()
	c.Loads[0].Same, c.Loads[0].Tables[0].Method = false, compare.ByRequests
	c.Doubts = append([]string{"The loads differ: 8 in flight on main, 16 in flight on patch."}, c.Doubts...)
	return c
}

func TestGolden(t *testing.T) {
	for name, write := range map[string]func(*bytes.Buffer) error{
		"console.txt":  func(b *bytes.Buffer) error { return Console(b, example(), Options{Width: 130}) },
		"narrow.txt":   func(b *bytes.Buffer) error { return Console(b, example(), Options{Width: 72, ASCII: true}) },
		"colour.txt":   func(b *bytes.Buffer) error { return Console(b, example(), Options{Width: 100, Color: true}) },
		"capacity.txt": func(b *bytes.Buffer) error { return Console(b, searches(), Options{Width: 100}) },
		"capacity.md":  func(b *bytes.Buffer) error { return Markdown(b, searches()) },
		"loads.txt":    func(b *bytes.Buffer) error { return Console(b, loads(), Options{Width: 100}) },
		"loads.md":     func(b *bytes.Buffer) error { return Markdown(b, loads()) },
		"summary.md":   func(b *bytes.Buffer) error { return Markdown(b, example()) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Lines fit the screen, down to what nothing fits.
func TestLinesFit(t *testing.T) {
	for _, width := range []int{60, 72, 80, 100, 130, 160} {
		var b bytes.Buffer
		if err := Console(&b, example(), Options{Width: width}); err != nil {
			t.Fatal(err)
		}
		for l := range strings.SplitSeq(b.String(), "\n") {
			if screen.Width(l) > width {
				t.Errorf("%d columns at a width of %d: %s", screen.Width(l), width, l)
			}
		}
	}
	var b bytes.Buffer
	if err := Console(&b, example(), Options{Width: 100, ASCII: true}); err != nil {
		t.Fatal(err)
	}
	for _, r := range b.String() {
		if r > 126 {
			t.Errorf("%q is not ASCII", r)
		}
	}
}
