package gate

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// levels is a result of two closed levels and an open one.
func levels() *result.Result {
	stage := func(i int, name, load string, concurrency int, rate, p99 float64) result.Stage {
		return result.Stage{
			Index: i, Name: name, Load: load, Concurrency: concurrency, Rate: rate, Counts: result.Counts{Sent: 2000, OK: 1990},
			Metrics: map[string]result.Stat{
				"time_to_first_token": {
					Unit: "ms", Count: 1990, Avg: p99 / 2, Distribution: &result.Distribution{P50: p99 / 2, P99: p99, P999: p99 * 2}, LowSamples: []string{"p99.9"},
					Intervals: map[string]result.ConfidenceInterval{"p99": {Lo: p99 * 0.9, Hi: p99 * 1.1}},
				},
				"error_rate":     {Unit: "share", Avg: 0.005},
				"slo_attainment": {Unit: "share", Avg: 0.97},
			},
		}
	}
	return &result.Result{Stages: []result.Stage{
		stage(0, "stage 1", "8 in flight", 8, 0, 100), stage(1, "peak", "16 in flight", 16, 0, 300), stage(2, "stage 3", "40/s poisson", 0, 40, 200),
	}}
}

func TestJudge(t *testing.T) {
	for text, want := range map[string]string{ // each stage: ! where it holds, ? where it is not known, its number and what is to be said
		"ttft.p99 > 200ms":                        "1 !2 3 200 ms lies within its 95 % interval, 180 ms to 220 ms: the next run may end otherwise",
		"ttft.p99 >= 200ms":                       "1 !2 !3 200 ms lies within its 95 % interval, 180 ms to 220 ms: the next run may end otherwise",
		"at concurrency 16: ttft.p99 > 200ms":     "!2",
		"at rate 40: ttft.p99 < 0.2s":             "3 200 ms lies within its 95 % interval, 180 ms to 220 ms: the next run may end otherwise",
		"at stage PEAK: ttft.avg > 149ms":         "!2",
		"at stage 3: ttft.avg > 1s":               "3",
		"at stage stage 1: ttft.avg > 1s":         "1",
		"at rate 41: ttft.p99 > 1ms":              "?0 no stage was at rate 41",
		"goodput < 0.98":                          "!1 !2 !3",
		"errors > 0.5%":                           "1 2 3",
		"at stage 1: itl.p99 > 1ms":               "?1 itl was not measured",
		"at stage 1: ci(ttft.p99) > 9.9%":         "!1",
		"at stage 1: ci(ttft.p99) > 10.1%":        "1",
		"at stage 1: ci(ttft.p50) > 10%":          "?1 too few requests for a confidence interval",
		"at stage 1: ci(errors) > 10%":            "?1 too few requests",
		"at stage 1: ttft.p99.9 > 1s":             "1 p99.9 of 1,990 samples only: 6,636 are enough",
		"at stage 1: request_count < 1 requests ": "?1 request_count was not measured",
	} {
		g, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, o := range g.Judge(levels()) {
			mark := map[[2]bool]string{{true, true}: "!", {true, false}: "", {false, false}: "?"}[[2]bool{o.Known, o.Holds}]
			got = append(got, mark+string(rune('1'+o.Stage)))
			if o.Why != "" {
				got = append(got, o.Why)
			}
		}
		if line := strings.Join(got, " "); !strings.HasPrefix(line, want) || !strings.Contains(want, "?") && !strings.Contains(want, "only") && line != want {
			t.Errorf("%s: %s, want %s", text, line, want)
		}
	}
}

// TestFailIf: what holds is missed, and so is what nobody knows.
func TestFailIf(t *testing.T) {
	var gates []*Gate
	for _, text := range []string{"at stage 2: ttft.p99 > 200ms", "at stage 1: ttft.p99 > 200ms", "at stage 1: itl.avg > 1ms"} {
		g, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		gates = append(gates, g)
	}
	res := levels()
	res.Gates = JudgeAll(gates, res)
	if !res.Missed() || len(res.Gates) != 3 || !res.Gates[0].Failed || res.Gates[1].Failed || !res.Gates[2].Failed || !res.Gates[2].Absent {
		t.Errorf("%+v", res.Gates)
	}
	res.Gates = res.Gates[1:2]
	if res.Missed() {
		t.Error("a gate that is met counts as missed")
	}
	empty := &result.Result{Stages: []result.Stage{{Name: "stage 1", Metrics: map[string]result.Stat{"error_rate": {}}}}}
	if o := gates[2].Judge(empty)[0]; o.Known || o.Why != "no request was sent" {
		t.Errorf("a stage without requests: %+v", o)
	}
}

// TestCheck: what a run of the plan cannot tell is a fault before it.
func TestCheck(t *testing.T) {
	stages := func(p *plan.Plan) {
		p.Stages = []plan.Stage{{Concurrency: 8}, {Name: "peak", Rate: 40}, {Concurrency: 16}}
	}
	whole := func(p *plan.Plan) { p.Target.Streaming = false }
	embeddings := func(p *plan.Plan) { p.Target.Endpoint, p.Target.Streaming = plan.EndpointEmbeddings, false }
	list := func(p *plan.Plan) { p.Levels.List = []float64{1, 2, 4} }
	steps := func(p *plan.Plan) { p.Levels = plan.Levels{Start: 1, End: 9, Step: 2} }
	search := func(p *plan.Plan) { p.Levels = plan.Levels{Start: 1, End: 64, Step: 1, Search: plan.SearchBinary} }
	for _, c := range []struct {
		text string
		make func(*plan.Plan)
		want string // empty: it can be told
	}{
		{"ttft.p99 > 1ms", stages, ""},
		{"ttft.p99 > 1ms", whole, "ttft is not measured: responses are not streamed (request a stream, or use latency)"},
		{"latency.p99 > 1ms", whole, ""},
		{"tps < 1", whole, ""},
		{"itl.p99 > 1ms", embeddings, "itl is not measured: the endpoint embeddings generates no text"},
		{"tps < 1", embeddings, "generates no text"},
		{"rps < 1", embeddings, ""},
		{"goodput < 1", stages, "goodput is not measured: there are no objectives"},
		{"goodput < 1", func(p *plan.Plan) { p.Goodput = []plan.SLO{{Metric: "time_to_first_token", Max: 1}} }, ""},
		{"output_cost > $2", stages, "output_cost is not measured: the price of a GPU hour is not given (add --gpus 8 --gpu-hour-price 2.10)"},
		{"energy_per_output_token > 2J", stages, "energy_per_output_token is not measured: the power of the GPUs is neither read nor given"},
		{"output_cost > $2", func(p *plan.Plan) { p.Cost = plan.Cost{GPUs: 1, Price: 2} }, ""},
		{"watts > 700W", func(p *plan.Plan) { p.Cost = plan.Cost{GPUs: 1, Watts: 700} }, ""},
		{"ttft.p99 > +5%", stages, "compares two runs, and this is one (use it with inferometer compare"},
		{"at concurrency 8: rps < 1", stages, ""},
		{"at concurrency 9: rps < 1", stages, "there is no level with concurrency 9 (there is 8, 16)"},
		{"at rate 40: rps < 1", stages, ""},
		{"at rate 8: rps < 1", stages, "there is no level with rate 8 (there is 40)"},
		{"at stage peak: rps < 1", stages, ""},
		{"at stage 3: rps < 1", stages, ""},
		{"at stage 4: rps < 1", stages, "there is no level with stage 4 (there is 1, peak, 3)"},
		{"at concurrency 4: rps < 1", list, ""},
		{"at concurrency 3: rps < 1", list, "(there is 1, 2, 4)"},
		{"at rate 4: rps < 1", list, "there is no level with rate 4"},
		{"at stage 3: rps < 1", list, ""},
		{"at concurrency 7: rps < 1", steps, ""},
		{"at concurrency 8: rps < 1", steps, "(the levels are 1 to 9 in steps of 2)"},
		{"at concurrency 11: rps < 1", steps, "there is no level"},
		{"at concurrency 33: rps < 1", search, ""},
		{"at concurrency 65: rps < 1", search, "there is no level"},
		{"at rate 65: rps < 1", func(p *plan.Plan) { p.Saturation = plan.DefaultSaturation() }, ""},
	} {
		p := plan.Default()
		c.make(&p)
		g, err := Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		switch err := g.Check(&p); {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.text, err, c.want)
		}
	}
}

// TestNames: each metric goes by one name at most.
func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, m := range Metrics() {
		for _, name := range append([]string{m.ID, m.Short}, m.Also...) {
			if of := seen[name]; of != "" && of != m.ID {
				t.Errorf("%s is %s and %s", name, of, m.ID)
			}
			seen[name] = m.ID
		}
	}
	for _, m := range Metrics() {
		if m.Lower && m.Higher {
			t.Errorf("of %s both less and more are better", m.ID)
		}
	}
	for id := range short() {
		if _, ok := Named(id); !ok {
			t.Errorf("there is no metric %s", id)
		}
	}
	for _, id := range slices.Concat(higher(), neither(), streamed(), generated(), estimated()) {
		if _, ok := Named(id); !ok {
			t.Errorf("there is no metric %s", id)
		}
	}
}
