package gate_test

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestParse(t *testing.T) {
	for _, c := range []struct {
		text, figure string
		op           gate.Op
		bound        float64
		unit         string
		at           gate.At
		ci, relative bool
	}{
		{text: "ttft.p99 > 200ms", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms"},
		{text: "  TTFT.P99>0.2 s ", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms"},
		{text: "time-to-first-token.median <= 150us", figure: "ttft.p50", op: gate.AtMost, bound: 0.15, unit: "ms"},
		{text: "e2e.mean ≥ 2min", figure: "latency.avg", op: gate.AtLeast, bound: 120_000, unit: "ms"},
		{text: "itl.p99.9 > 1e2 ms", figure: "itl.p99.9", op: gate.More, bound: 100, unit: "ms"},
		{text: "ttft_p99 > 200ms", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms"},
		{text: "ttft p99.9 > 200ms", figure: "ttft.p99.9", op: gate.More, bound: 200, unit: "ms"},
		{text: "TTFT-P99 > 200ms", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms"},
		{text: "p99 ttft > 200ms", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms"},
		{text: "P99.TTFT > 200ms", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms"},
		{text: "p99(ttft) > 200ms", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms"},
		{text: "mean_time_to_first_token > 200ms", figure: "ttft.avg", op: gate.More, bound: 200, unit: "ms"},
		{text: "time to first token p90 > 200ms", figure: "ttft.p90", op: gate.More, bound: 200, unit: "ms"},
		{text: "request_latency_median > 200ms", figure: "latency.p50", op: gate.More, bound: 200, unit: "ms"},
		{text: "ci(ttft_p99) > 5%", figure: "ttft.p99", op: gate.More, bound: 0.05, unit: "share", ci: true},
		{text: "req/s < 40 req/s", figure: "rps", op: gate.Less, bound: 40, unit: "requests/sec"},
		{text: "tok/s < 1000 tok/s", figure: "tps", op: gate.Less, bound: 1000, unit: "tokens/sec"},
		{text: "output_tok/s<1000", figure: "tps", op: gate.Less, bound: 1000, unit: "tokens/sec"},
		{text: "output tokens/s < 1000", figure: "tps", op: gate.Less, bound: 1000, unit: "tokens/sec"},
		{text: "error rate <5%", figure: "errors", op: gate.Less, bound: 0.05, unit: "share"},
		{text: "errors < 100%", figure: "errors", op: gate.Less, bound: 1, unit: "share"},
		{text: "goodput < 1", figure: "goodput", op: gate.Less, bound: 1, unit: "share"},
		{text: "capacity < 20", figure: "capacity", op: gate.Less, bound: 20, unit: "load"},
		{text: "Capacity < 20 requests/s", figure: "capacity", op: gate.Less, bound: 20, unit: "load"},
		{text: "capacity < 20 in flight", figure: "capacity", op: gate.Less, bound: 20, unit: "load"},
		{text: "goodput < 95%", figure: "goodput", op: gate.Less, bound: 0.95, unit: "share"},
		{text: "goodput<.95", figure: "goodput", op: gate.Less, bound: 0.95, unit: "share"},
		{text: "errors > 0", figure: "errors", op: gate.More, unit: "share"},
		{text: "rps < 40/s", figure: "rps", op: gate.Less, bound: 40, unit: "requests/sec"},
		{text: "tps.avg < 1000 tokens/s", figure: "tps", op: gate.Less, bound: 1000, unit: "tokens/sec"},
		{text: "osl.p50 < 100", figure: "osl.p50", op: gate.Less, bound: 100, unit: "tokens"},
		{text: "output_cost > $2.10", figure: "output_cost", op: gate.More, bound: 2.1, unit: "$/Mtok"},
		{text: "total_cost > 2.1 $/Mtok", figure: "total_cost", op: gate.More, bound: 2.1, unit: "$/Mtok"},
		{text: "total_cost > 2$", figure: "total_cost", op: gate.More, bound: 2, unit: "$/Mtok"},
		{text: "total_gpu_energy > 3kJ", figure: "total_gpu_energy", op: gate.More, bound: 3000, unit: "J"},
		{text: "energy_per_output_token > 0.5 J/token", figure: "energy_per_output_token", op: gate.More, bound: 0.5, unit: "J/token"},
		{text: "total_token_throughput_per_gpu < 100 tokens/s", figure: "total_token_throughput_per_gpu", op: gate.Less, bound: 100, unit: "tokens/sec/GPU"},
		{text: "at rate 40: ttft.p99 > 200ms", figure: "ttft.p99", op: gate.More, bound: 200, unit: "ms", at: gate.At{Rate: 40}},
		{text: "at rate 40.5/s:rps<40", figure: "rps", op: gate.Less, bound: 40, unit: "requests/sec", at: gate.At{Rate: 40.5}},
		{text: "AT concurrency 8 : rps < 40", figure: "rps", op: gate.Less, bound: 40, unit: "requests/sec", at: gate.At{Concurrency: 8}},
		{text: "at stage warm peak: rps < 40", figure: "rps", op: gate.Less, bound: 40, unit: "requests/sec", at: gate.At{Stage: "warm peak"}},
		{text: `at stage "a: b" : rps < 40`, figure: "rps", op: gate.Less, bound: 40, unit: "requests/sec", at: gate.At{Stage: "a: b"}},
		{text: "ci(ttft.p99) > 5%", figure: "ttft.p99", op: gate.More, bound: 0.05, unit: "share", ci: true},
		{text: "CI ( rps ) < 0.05", figure: "rps", op: gate.Less, bound: 0.05, unit: "share", ci: true},
		{text: "ttft.p99 > +5%", figure: "ttft.p99", op: gate.More, bound: 0.05, unit: "share", relative: true},
		{text: "rps < -3 %", figure: "rps", op: gate.Less, bound: -0.03, unit: "share", relative: true},
		{text: "ttft.p99 > +20ms", figure: "ttft.p99", op: gate.More, bound: 20, unit: "ms", relative: true},
		{text: "goodput < -2pp", figure: "goodput", op: gate.Less, bound: -0.02, unit: "share", relative: true},
		{text: "goodput < -0.02", figure: "goodput", op: gate.Less, bound: -0.02, unit: "share", relative: true},
	} {
		g, err := gate.Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if g.Figure() != c.figure || g.Op != c.op || !near(g.Bound, c.bound) || g.Unit != c.unit || g.At != c.at || g.Interval != c.ci ||
			g.Relative() != c.relative {
			t.Errorf("%s: %s %s %v %s at %v, ci %v, relative %v", c.text, g.Figure(), g.Op, g.Bound, g.Unit, g.At, g.Interval, g.Relative())
		}
		if g.Text != strings.TrimSpace(c.text) {
			t.Errorf("%q became %q", c.text, g.Text)
		}
	}
}

func near(a, b float64) bool { return a-b < 1e-9 && b-a < 1e-9 }

// TestParseFaults: each says what is wrong and what to do.
func TestParseFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "is empty (write it as 'ttft.p99 > 200ms'",
		"ttft.p99":                    "has no right-hand side",
		"ttft.p99 > ":                 "lacks a side",
		"> 200ms":                     "lacks a side",
		"tftt.p99 > 200ms":            `"tftt" is not a metric (did you mean ttft?)`,
		"banana > 1":                  `"banana" is not a metric (one of ttfb, ttft, `,
		"ttft > 200ms":                "ttft needs a statistic (such as ttft.p99 or ttft.avg)",
		"ttft.p98 > 200ms":            `"p98" is not measured (measured are p1, p5, p10, p25, p50, p75, p90, p95, p99, p99.9)`,
		"ttft.p97.5 > 200ms":          `"p97.5" is not measured (measured are p1, `,
		"ttft p97.5 > 200ms":          `"p97.5" is not measured`,
		"ttft_p999 > 200ms":           `"p999" is not measured (did you mean p99.9?)`,
		"tftt_p99 > 200ms":            `"tftt" is not a metric (did you mean ttft?)`,
		"errors > 1":                  "1 is all of them (did you mean 1%? write 100% for all)",
		"errors < 1":                  "1 is all of them (did you mean 1%?",
		"goodput > 1":                 "1 is all of them (did you mean 1%?",
		"errors > +1":                 "1 is all of them (write +1% of the first side's share, or +1pp for a percentage point)",
		"errors > 100%":               "no share is more than all of them",
		"capacity.p99 < 20":           `capacity is one number and has no "p99"`,
		"capacity < 20ms":             `"ms" is not a unit of load`,
		"ci(capacity) > 5%":           "there is no confidence interval of capacity",
		"throughput < 20":             `"throughput" is not a metric (`,
		"ttft. > 200ms":               "ttft needs a statistic",
		"ttft.nonsense > 200ms":       `"nonsense" is not a statistic (one of avg, min`,
		"goodput.p99 < 1":             `goodput is one number and has no "p99" (leave .p99 out)`,
		"ttft.p99 > 200":              "200 has no unit (such as 200ms)",
		"ttft.p99 > 200 parsec":       `"parsec" is not a unit of ms (one of min, ms, s, us, µs)`,
		"capacity < 5%":               `"5%" of what? (give a value in requests/s or in flight, or a sign (+5%) to compare two runs)`,
		"ttft.p99 > 5%":               `"5%" of what? (give a value in ms, or a sign (+5%) to compare two runs)`,
		"goodput < 95":                "95 is more than 1, which is all of them (write 95% for per cent)",
		"ttft.p99 == 200ms":           `"==": measured figures are never quite equal (use >, >=, < or <=)`,
		"ttft.p99 = 200ms":            "never quite equal",
		"ttft.p99 >> 200ms":           `">>" is not a comparison`,
		"1ms < ttft.p99 < 200ms":      "compares more than once (give one for each)",
		"200ms < ttft.p99":            `"200ms" is not a metric; write METRIC OP VALUE`,
		"ttft.p99 > 200ms and rps<1":  "compares more than once",
		"ttft.p99 > 1,000ms":          "write thousands without commas",
		"ttft.p99 > nan":              `"nan" is not a value`,
		"ttft.p99 > inf":              "is not a value",
		"ttft.p99 > 1e999ms":          "is not a value",
		"ttft.p99 > 0x10ms":           `"x10ms" is not a unit`,
		"at rate 40 ttft.p99 > 1ms":   "missing ':' after the level",
		"at rate: ttft.p99 > 1ms":     "missing ':' after the level",
		"at rate -1: ttft.p99 > 1ms":  `"-1" is not a rate`,
		"at rate NaN: ttft.p99 > 1ms": `"NaN" is not a rate`,
		"at concurrency 1.5: rps > 1": `"1.5" is not a concurrency`,
		"at stage : rps > 1":          "the level has no value",
		"at moon 3: rps > 1":          `"moon" is not a kind of level (one of rate, concurrency, stage)`,
		`at stage "x" rps > 1`:        "missing ':' after the level",
		"ci(ttft.p99 > 5%":            "has no closing bracket",
		"ci(ttft.max) > 5%":           "there is no confidence interval of max",
		"ci(concurrency) > 5%":        "there is no confidence interval of concurrency",
		"ci(ttft.p99) > +5%":          "an interval has no direction",
		"ci(ttft.p99) > 5ms":          `"ms" is not a unit of share (one of %)`,
		"rps\n< 1":                    "control characters",
		"rps > $3":                    `"$" is not a unit of requests/sec`,
		strings.Repeat("x", 501):      "has 501 characters, more than 500",
	} {
		g, err := gate.Parse(text)
		if err == nil || g != nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzParse: nothing that is typed makes it panic, and what it reads it reads again.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"ttft.p99 > 200ms", "at rate 40: goodput < 95%", `at stage "a": ci(rps) <= .5`, "rps < -3%", "x > $1", "p99 ttft > 1s", "ttft_p99.9 < 1s", "p99(tok/s)>1", "capacity < 20 in flight", "errors > +1pp"} {
		f.Add([]byte(text))
	}
	mutate.Fuzz(f, func(t *testing.T, text []byte) {
		g, err := gate.Parse(string(text))
		if err != nil {
			if g != nil || err.Error() == "" {
				t.Fatalf("%q: %v with %v", text, err, g)
			}
			return
		}
		again, err := gate.Parse(g.Text)
		if err != nil || again.At != g.At || again.Figure() != g.Figure() || again.Op != g.Op || again.Bound != g.Bound || again.Unit != g.Unit {
			t.Fatalf("%q was read as %+v and again as %+v: %v", text, g, again, err)
		}
	})
}
