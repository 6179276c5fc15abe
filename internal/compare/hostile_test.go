package compare

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// fail makes every request one that failed.
func fail(rec *record.Record) {
	rec.Failure = &record.Failure{Class: record.HTTPStatus, Status: 500, Message: "out of order", At: rec.End}
	rec.Status, rec.Marks, rec.Events, rec.Text, rec.Out = 500, nil, nil, nil, record.Tokens{Local: -1}
}

func TestDoubts(t *testing.T) {
	for _, tt := range []struct {
		name   string
		a, b   made
		anyway bool
		want   []string // among the doubts
	}{
		{name: "alike", a: made{seed: 1}, b: made{seed: 2}},
		{name: "the same prompts", a: made{seed: 1}, b: made{seed: 1}, want: []string{"same prompts"}},
		{name: "longer answers", a: made{seed: 1}, b: made{seed: 2, tokens: 9}, want: []string{"Responses of a have 8 tokens on average and those of b 9"}},
		{name: "failures", a: made{seed: 1}, b: made{seed: 2, change: func(rec *record.Record) {
			if rec.Seq%4 == 0 {
				fail(rec)
			}
		}}, want: []string{"0 % of the requests of a failed and 25 % of those of b", "b is INVALID"}},
		{name: "no success", a: made{seed: 1}, b: made{seed: 2, change: fail}, want: []string{"b has no successful request", "b is INVALID"}},
		{name: "one request", a: made{seed: 1, requests: 1}, b: made{seed: 2, requests: 1}},
		{name: "other loads", a: made{seed: 1}, b: made{seed: 2, edit: func(p *plan.Plan) { p.Stages[0].Concurrency = 4 }}, want: []string{"The loads differ: 1 in flight on a, 4 in flight on b"}},
		{name: "closed and open", a: made{seed: 1}, b: made{seed: 2, edit: func(p *plan.Plan) { p.Stages[0] = plan.Stage{Rate: 4, Arrival: plan.ArrivalPoisson, Requests: 200} }}, want: []string{"The loads differ"}},
		{name: "other counts", a: made{seed: 1}, b: made{seed: 2, change: func(rec *record.Record) { rec.Out.Source = record.FromEvents }}, want: []string{"counted in different ways: server on a, events on b"}},
		{name: "unstreamed", a: made{seed: 1}, b: made{seed: 2, edit: func(p *plan.Plan) { p.Target.Streaming = false }}, anyway: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := compared(t, Options{Anyway: tt.anyway, All: tt.anyway}, tt.a.write(t, filepath.Join(dir, "a")), tt.b.write(t, filepath.Join(dir, "b")))
			var doubts []string
			for _, d := range c.Doubts {
				if !strings.Contains(d, "INCONCLUSIVE") { // nobody watched the client
					doubts = append(doubts, d)
				}
			}
			doubts = append(doubts, c.Loads[0].Tables[0].Doubts...)
			for _, want := range tt.want {
				if !slices.ContainsFunc(doubts, func(d string) bool { return strings.Contains(d, want) }) {
					t.Errorf("no %q in %q", want, doubts)
				}
			}
			if len(tt.want) == 0 && len(doubts) > 0 {
				t.Errorf("doubts: %q", doubts)
			}
			for _, r := range c.Loads[0].Tables[0].Rows {
				if (r.Verdict == NotKnown) == (r.Why == "") {
					t.Errorf("%s %s: %s, why %q", r.Metric, r.Stat, r.Verdict, r.Why)
				}
			}
		})
	}
}

// planned is a side with a plan and nothing measured.
func planned(name string, edit func(*plan.Plan)) Side {
	p := plan.Default()
	p.Target.Model, p.Stages = "org/m", []plan.Stage{{Concurrency: 1, Requests: 2}}
	edit(&p)
	return Side{Name: name, Runs: []Run{{Path: name, Plan: &p, Levels: make([]MeasuredLoad, len(p.Stages))}}}
}

func TestPlansAreCompared(t *testing.T) {
	for field, tt := range map[string]struct {
		edit    func(*plan.Plan)
		matters bool
		shown   string
	}{
		"target.streaming":          {func(p *plan.Plan) { p.Target.Streaming = false }, true, "false"},
		"target.model":              {func(p *plan.Plan) { p.Target.Model = "org/n" }, false, "org/n"},
		"target.endpoint":           {func(p *plan.Plan) { p.Target.Endpoint = plan.EndpointCompletions }, false, "completions"},
		"data.input":                {func(p *plan.Plan) { p.Data.Input.Mean = 256 }, true, "256"},
		"data.output":               {func(p *plan.Plan) { p.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: 64} }, true, "64"},
		"data.file":                 {func(p *plan.Plan) { p.Data.Source, p.Data.File = plan.SourceFile, "x.jsonl" }, true, "x.jsonl"},
		"target.body.temperature":   {func(p *plan.Plan) { p.Target.Body = map[string]any{"temperature": 0.5} }, true, "0.5"},
		"target.timeouts.request":   {func(p *plan.Plan) { p.Target.Timeouts.Request = plan.Duration(time.Second) }, false, "1s"},
		"tokenizer.name":            {func(p *plan.Plan) { p.Tokenizer.Name = plan.TokenizerWords }, false, "words"},
		"stages[0].warmup.requests": {func(p *plan.Plan) { p.Stages[0].Warmup.Requests = 1 }, false, "1"},
		"stages[0].max_in_flight":   {func(p *plan.Plan) { p.Stages[0].MaxInFlight = 9 }, true, "9"},
		"target.headers.X-Route": {func(p *plan.Plan) {
			p.Target.Headers = map[string]string{"X-Route": "b", "Authorization": "Bearer abcdefgh"}
		}, false, "b"},
	} {
		sides := []Side{planned("a", func(*plan.Plan) {}), planned("b", tt.edit)}
		_, err := Make(sides, Options{})
		var refused *RefusedError
		if errors.As(err, &refused) != tt.matters || err != nil && refused == nil {
			t.Errorf("%s: refused: %v", field, err)
		}
		c, err := Make(sides, Options{Anyway: true})
		if err != nil {
			t.Fatal(err)
		}
		i := slices.IndexFunc(c.Plans, func(d Clash) bool { return d.Field == field })
		if i < 0 || c.Plans[i].Matters != tt.matters || c.Plans[i].Other != tt.shown {
			t.Errorf("%s: %+v", field, c.Plans)
		}
		for _, d := range c.Plans {
			if strings.Contains(d.Other, "abcdefgh") {
				t.Errorf("a secret is shown: %+v", d)
			}
		}
	}
	// Where the server is, and the seed, are for each side to choose.
	sides := []Side{planned("a", func(*plan.Plan) {}), planned("b", func(p *plan.Plan) {
		p.Seed, p.Name, p.Target.URLs, p.Output.Dir = 7, "b", []string{"http://b:1"}, "b"
	})}
	if c, err := Make(sides, Options{}); err != nil || len(c.Plans) > 0 {
		t.Errorf("%v, %+v", err, c)
	}
}

func TestLoadsAreMatched(t *testing.T) {
	levels := func(stages ...plan.Stage) func(*plan.Plan) {
		return func(p *plan.Plan) { p.Stages = stages }
	}
	closed := func(n int) plan.Stage { return plan.Stage{Concurrency: n} }
	a := planned("a", levels(closed(1), closed(4), plan.Stage{Rate: 4}, closed(1)))
	for _, tt := range []struct {
		b    Side
		want []string
	}{
		{planned("b", levels(plan.Stage{Rate: 4}, closed(1), closed(8))), []string{"1 in flight", "4/s", "a 4 in flight", "a 1 in flight", "b 8 in flight"}},
		{planned("b", levels(closed(16))), []string{"a 1 in flight", "a 4 in flight", "a 4/s", "a 1 in flight", "b 16 in flight"}},
		{planned("b", levels(closed(1), closed(1))), []string{"1 in flight", "1 in flight", "a 4 in flight", "a 4/s"}},
	} {
		c, err := Make([]Side{a, tt.b}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, l := range c.Loads {
			if got = append(got, l.Name); len(l.Tables) != 1 || len(l.Sides) != 2 {
				t.Errorf("%+v", l)
			}
		}
		for _, u := range c.Unmatched {
			got = append(got, c.Sides[u.Side].Name+" "+u.Load)
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	// Rates at which nothing but the arrivals differ are not compared unasked.
	_, err := Make([]Side{planned("a", levels(plan.Stage{Rate: 5})), planned("b", levels(plan.Stage{Rate: 5, Arrival: plan.ArrivalPoisson}))}, Options{})
	if err == nil || !strings.Contains(err.Error(), "1 field") {
		t.Errorf("refused: %v", err)
	}
}

func TestSeveralRuns(t *testing.T) {
	dir := t.TempDir()
	for i, slower := range []float64{1, 1.01, 0.99} {
		n := string(rune('1' + i))
		made{requests: 20, seed: uint64(i), slower: slower}.write(t, filepath.Join(dir, "ab", "a", n))
		made{requests: 20, seed: uint64(10 + i), slower: slower * 1.05}.write(t, filepath.Join(dir, "ab", "b", n))
		made{requests: 20, seed: uint64(20 + i), slower: slower * 1.05}.write(t, filepath.Join(dir, "other", n))
	}
	for _, tt := range []struct {
		arguments []string
		method    string
		runs      int
	}{
		{[]string{filepath.Join(dir, "ab")}, ByPairs, 3},
		{[]string{filepath.Join(dir, "ab", "a"), filepath.Join(dir, "ab", "b")}, ByPairs, 3},
		{[]string{filepath.Join(dir, "ab", "a"), filepath.Join(dir, "other")}, ByRuns, 3},
		{[]string{"x=" + filepath.Join(dir, "ab", "a", "1") + "," + filepath.Join(dir, "ab", "a", "2"), "y=" + filepath.Join(dir, "other")}, ByRuns, 2},
		{[]string{filepath.Join(dir, "ab", "a", "1"), filepath.Join(dir, "other")}, ByRequests, 1},
	} {
		c := compared(t, Options{}, tt.arguments...)
		table := &c.Loads[0].Tables[0]
		r := only(t, c, "time_to_first_token", "avg")
		if table.Method != tt.method || r.A.Runs != tt.runs || (r.A.Spread == nil) != (tt.runs == 1) {
			t.Errorf("%v: %s, %+v", tt.arguments, table.Method, r.A)
		}
		if rel := *r.Delta.Relative; math.Abs(rel-0.05) > 0.03 {
			t.Errorf("%v: %v", tt.arguments, rel)
		}
		if tt.method == ByPairs && (r.Verdict != Worse || len(c.Sides) != 2) {
			t.Errorf("%v: %s %+v", tt.arguments, r.Verdict, r.Delta.Interval)
		}
		if one := tt.runs == 1; one != slices.ContainsFunc(table.Doubts, func(d string) bool { return strings.Contains(d, "single run") }) {
			t.Errorf("%v: %q", tt.arguments, table.Doubts)
		}
	}
}

// Each further side is compared with the first, and not with one another.
func TestThreeSides(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i, name := range []string{"a", "b", "c"} {
		names = append(names, made{requests: 20, seed: uint64(i + 1)}.write(t, filepath.Join(dir, name)))
	}
	c := compared(t, Options{}, names...)
	if len(c.Loads) != 1 || len(c.Loads[0].Tables) != 2 || c.Loads[0].Tables[0].Side != 1 || c.Loads[0].Tables[1].Side != 2 {
		t.Errorf("%+v", c.Loads)
	}
}

func TestSameDirectoryTwice(t *testing.T) {
	a := made{requests: 20, seed: 1}.write(t, filepath.Join(t.TempDir(), "a"))
	c := compared(t, Options{All: true}, a, a+"/")
	if c.Loads[0].Tables[0].Found != 0 || c.Sides[0].Name == c.Sides[1].Name || !slices.ContainsFunc(c.Doubts, func(d string) bool { return strings.Contains(d, "are the same run") }) {
		t.Errorf("%+v %+v", c.Sides, c.Doubts)
	}
}

// What a killed run has left is compared, and the run is named.
func TestKilledRun(t *testing.T) {
	dir := t.TempDir()
	a := made{seed: 1}.write(t, filepath.Join(dir, "a"))
	b := made{seed: 2}.write(t, filepath.Join(dir, "b"))
	name := filepath.Join(b, rundir.RecordsFile)
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data[:len(data)*9/10], 0o644); err != nil {
		t.Fatal(err)
	}
	sides, err := Open([]string{a, b}, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Make(sides, Options{})
	if err != nil || c.Trusted || !slices.ContainsFunc(c.Doubts, func(d string) bool { return strings.Contains(d, "b is incomplete") }) {
		t.Errorf("%v: %+v", err, c)
	}
}

func TestBadArguments(t *testing.T) {
	dir := t.TempDir()
	a := made{requests: 2, seed: 1}.write(t, filepath.Join(dir, "a"))
	for _, tt := range []struct {
		arguments []string
		want      string
	}{
		{[]string{a, filepath.Join(dir, "none")}, "none is not an output directory"},
		{[]string{a, "x="}, "names no path"},
		{[]string{a, ",,"}, "names no path"},
		{[]string{a}, "need at least two runs to compare"},
		{[]string{a, a + "," + filepath.Join(dir, "none")}, "none is not an output directory"},
		{[]string{a, dir + "/a/" + rundir.PlanFile}, "not an output directory"},
	} {
		sides, err := Open(tt.arguments, OpenOptions{})
		if err == nil {
			_, err = Make(sides, Options{})
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%q: %v, want %q", tt.arguments, err, tt.want)
		}
	}
}

// Figures that another tool has worked out have no intervals, and those in another unit no
// difference.
func TestFiguresAlone(t *testing.T) {
	dir := t.TempDir()
	a := made{requests: 20, seed: 1}.write(t, filepath.Join(dir, "a"))
	other := filepath.Join(dir, "other.json")
	if err := os.WriteFile(other, []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	foreign := func(string) (*Foreign, error) {
		p := plan.Default()
		p.Stages = []plan.Stage{{Concurrency: 1}}
		return &Foreign{By: "Other 1.0", Notes: []string{"TTFT is from connect"}, Plan: &p, Levels: []MeasuredLoad{{OK: 5, Metrics: map[string]Stats{
			"time_to_first_token": {Unit: "ms", Values: map[string]float64{"avg": 105}},
			"request_latency":     {Unit: "s", Values: map[string]float64{"avg": 0.2}},
		}}}}, nil
	}
	sides, err := Open([]string{a, other}, OpenOptions{Foreign: foreign})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Make(sides, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r := only(t, c, "time_to_first_token", "avg"); r.Verdict != NotKnown || r.Delta == nil || r.Delta.Interval != nil {
		t.Errorf("%+v", r)
	}
	if r := only(t, c, "request_latency", "avg"); r.Verdict != NotKnown || r.Delta != nil || !strings.Contains(r.Why, "in ms on one side and in s") {
		t.Errorf("%+v", r)
	}
	if c.Loads[0].Tables[0].Method != ByNothing || c.Sides[1].Runs[0].By != "Other 1.0" {
		t.Errorf("%+v", c.Sides[1])
	}
}

func TestHolm(t *testing.T) {
	p := func(v float64) Row { return Row{Verdict: Worse, Delta: &Difference{P: &v}} }
	table := &Table{Rows: []Row{p(0.01), p(0.04), p(0.03), {Verdict: NotKnown}}}
	table.correct(0.05)
	// By R: p.adjust(c(0.01, 0.04, 0.03), "holm").
	for i, want := range []float64{0.03, 0.06, 0.06} {
		if r := &table.Rows[i]; math.Abs(*r.Delta.PHolm-want) > 1e-12 || r.Chance != (want > 0.05) {
			t.Errorf("row %d: %v", i, *r.Delta.PHolm)
		}
	}
	if table.Compared != 3 || table.Found != 3 || table.Firm != 1 {
		t.Errorf("%+v", table)
	}
}
