package run

import (
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// TestGates: a run judges the gates of its plan and of the command line, and a report the same
// ones again, and more.
func TestGates(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 2, 8)
	p.FailIf = []string{"request_count < 8", "latency.avg > 1min"}
	o := options(io.Discard)
	var told *result.Result
	o.Gating = GateOptions{Conditions: plan.Conditions{FailIf: []string{"at concurrency 2: request_count >= 8"}}, Judged: func(res *result.Result) { told = res }}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	asJSON(t, res)
	if words := gateWords(res); words != "held held MISSED" || told != res || !res.Missed() {
		t.Errorf("gates %s: %+v", words, res.Gates)
	}
	saved, err := saved.Read(p.Output.Dir, saved.Options{})
	if err != nil || gateWords(saved.Result) != "held held MISSED" {
		t.Fatalf("reported again: %v, %+v", err, saved.Result.Gates)
	}
	if err := saved.Judge(plan.Conditions{FailIf: []string{"errors > 0", "at stage 1: cached_prompt_tokens.max > 1"}}); err != nil || gateWords(saved.Result) != "held held MISSED held MISSED" {
		t.Errorf("with more gates: %v, %+v", err, saved.Result.Gates)
	}
	if err := saved.Judge(plan.Conditions{FailIf: []string{"at rate 4: rps < 1"}}); err == nil || !strings.Contains(err.Error(), "--fail-if: there is no level with rate 4") {
		t.Errorf("a level that is not there: %v", err)
	}
	// A plan that was edited into nonsense is not taken for one that is met.
	saved.Plan.FailIf = []string{"nonsense"}
	if err := saved.Judge(plan.Conditions{}); err != nil || gateWords(saved.Result) != "MISSED" {
		t.Errorf("nonsense: %v, %+v", err, saved.Result.Gates)
	}
}

func gateWords(res *result.Result) string {
	var words []string
	for i := range res.Gates {
		words = append(words, res.Gates[i].Word())
	}
	return strings.Join(words, " ")
}

// TestGateFaults: nothing is sent where a gate cannot be judged, and one of several runs leaves
// levels that it does not have to the others.
func TestGateFaults(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 1, 2)
	p.FailIf = []string{"ttft.p99 > 200"}
	o := options(io.Discard)
	o.Gating.FailIf = []string{"goodput < 1", "at concurrency 4: rps < 1"}
	_, err := Run(t.Context(), p, o)
	var early *PrepareError
	var faults plan.Faults
	if !errors.As(err, &early) || !errors.As(err, &faults) || len(faults) != 3 || faults[0].Path != "fail_if[0]" || faults[1].Where != "--fail-if" {
		t.Fatalf("%v", err)
	}
	p = closedPlan(t, s.url, 1, 2)
	o.Gating = GateOptions{Conditions: plan.Conditions{FailIf: []string{"at concurrency 4: request_count < 1", "at concurrency 1: request_count < 1"}}, Some: true}
	res, err := Run(t.Context(), p, o)
	if err != nil || len(res.Gates) != 1 || len(p.FailIf) != 1 || res.Missed() {
		t.Errorf("one of several: %v, %v", err, p.FailIf)
	}
	if n := len(s.truths(t)); n != 2 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestGateIntervals: the records say how wide the interval of a figure is.
func TestGateIntervals(t *testing.T) {
	dir := t.TempDir()
	p := plan.Default()
	p.Output.Dir, p.Target.URLs, p.Target.Model = dir, []string{"http://localhost:8000"}, "m"
	p.Stages = []plan.Stage{{Rate: 10, Arrival: plan.ArrivalConstant, Requests: 1600}}
	p.Goodput = []plan.SLO{{Metric: "request_latency", Max: plan.Duration(100 * time.Millisecond)}}
	p.FailIf = []string{"ci(latency.avg) > 50%", "ci(latency.p50) > 0.001%", "ci(rps) > 50%", "ci(goodput) > 90%", "ci(errors) > 1%", "ci(tps) > 50%", "ci(total_tps) > 50%", "ci(input_tps) > 50%", "ci(good_rps) > 90%"}
	draw := rand.New(rand.NewPCG(1, 2))
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	err := saved.Create(&p, record.Header{Start: time.Unix(1_800_000_000, 0)}, func(add func(*record.Record) error) error {
		for i := range 1600 {
			sent := time.Duration(i) * 100 * time.Millisecond
			end := sent + time.Duration((1+0.2*draw.NormFloat64())*1e8)
			if err := add(&record.Record{
				Seq: int64(i), Due: sent, Ready: sent, Sent: sent, Written: sent, End: end, Status: 200, Cached: -1,
				Marks: []record.Read{{Kernel: end, User: end}}, Events: []record.Event{{Label: record.Whole, Tokens: 3}},
				In: record.Tokens{N: 7, Source: record.FromServer, Local: 7}, Out: record.Tokens{N: 3, Source: record.FromServer, Local: -1},
			}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	saved, err := saved.Read(dir, saved.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if words := gateWords(saved.Result); words != "held MISSED held held MISSED held held held held" {
		t.Errorf("%s: %+v", words, saved.Result.Gates)
	}
	if why := saved.Result.Gates[4].Why; why != "errors is 0: an interval is no share of it" {
		t.Errorf("errors: %s", why)
	}
	// 20 % of deviation over √1600 requests, at 95 %: about 1 % to either side.
	if v := saved.Result.Gates[0].Value; math.Abs(v-0.01) > 0.0075 {
		t.Errorf("the interval of the mean is ±%.3f of it", v)
	}
	asJSON(t, saved.Result)
}
