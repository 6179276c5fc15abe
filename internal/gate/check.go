package gate

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// streamed are the metrics that only a stream has.
func streamed() []string {
	return []string{
		"time_to_first_event", "time_to_first_token", "time_to_first_output_token", "time_to_second_token", "time_to_first_token_from_due",
		"inter_token_latency", "inter_event_latency", "time_per_output_token", "longest_gap", "stall_share", "tokens_per_event",
		"output_token_throughput_per_user",
	}
}

// generated are the metrics that only an endpoint that generates text has.
func generated() []string {
	return []string{"output_sequence_length", "output_token_throughput", "total_token_throughput", "normalized_time_per_output_token"}
}

// Check finds what a run of the plan cannot tell: a metric or a level that it does not have.
func (g *Gate) Check(p *plan.Plan) error {
	if g.signed {
		return faultf("use it with inferometer compare, or leave the sign out", "%s compares two runs, and this is one", quote(g.Text))
	}
	if err := g.Measured(p); err != nil {
		return err
	}
	return g.Level(p)
}

// Level finds whether the plan has no stage at the gate's level. Levels of searches are not known
// yet.
func (g *Gate) Level(p *plan.Plan) error { return g.At.check(p) }

// Measured finds whether a run of the plan does not measure the metric.
func (g *Gate) Measured(p *plan.Plan) error {
	t := &p.Target
	switch id := g.Metric.ID; {
	case id == Capacity:
		return g.checkCapacity(p)
	case !t.Generates() && (slices.Contains(streamed(), id) || slices.Contains(generated(), id)):
		return faultf("latency and rps are measured", "%s is not measured: the endpoint %s generates no text", g.Metric.Short, t.Endpoint)
	case slices.Contains(streamed(), id) && !t.Streaming:
		return faultf("request a stream, or use latency", "%s is not measured: responses are not streamed", g.Metric.Short)
	case (id == "slo_attainment" || id == "request_goodput") && len(p.Goodput) == 0:
		return faultf("add them, such as --goodput ttft:200ms,itl:30ms", "%s is not measured: there are no objectives that a request must meet", g.Metric.Short)
	}
	if text, hint := lacksCost(g.Metric.ID, p); text != "" {
		return faultf(hint, "%s is not measured: %s", g.Metric.Short, text)
	}
	return nil
}

// check finds whether no stage of a plan can be at the level.
func (a At) check(p *plan.Plan) error {
	if a.All() || p.Saturation.On() || p.Capacity.On() {
		return nil
	}
	if l := p.Levels; l.On() && a.Stage == "" && len(p.Stages) == 1 {
		return a.checkLevels(&p.Stages[0], l)
	}
	var have []string
	for i := range p.Stages {
		s := &p.Stages[i]
		name := s.Name
		if name == "" {
			name = strconv.Itoa(i + 1)
		}
		if a.is(i, name, s.Concurrency, s.PerSecond()) {
			return nil
		}
		switch {
		case a.Stage != "":
			have = append(have, name)
		case a.Rate > 0 && s.PerSecond() > 0:
			have = append(have, plain(s.PerSecond()))
		case a.Concurrency > 0 && s.Concurrency > 0:
			have = append(have, strconv.Itoa(s.Concurrency))
		}
	}
	if n, err := strconv.Atoi(a.Stage); err == nil && p.Levels.On() && n > 0 {
		return nil // levels become stages
	}
	return a.lacking(have)
}

// checkLevels is check for the levels of a plan's only stage.
func (a At) checkLevels(s *plan.Stage, l plan.Levels) error {
	level := a.Rate
	if a.Concurrency > 0 {
		level = float64(a.Concurrency)
	}
	if (a.Rate > 0) != (s.PerSecond() > 0) {
		return a.lacking(nil)
	}
	if len(l.List) > 0 {
		if slices.ContainsFunc(l.List, func(v float64) bool { return same(v, level) }) {
			return nil
		}
		var have []string
		for _, v := range l.List {
			have = append(have, plain(v))
		}
		return a.lacking(have)
	}
	within := level >= l.Start && (l.End == 0 || level <= l.End)
	if l.Search == plan.SearchBinary && within {
		return nil
	}
	step := l.Step
	if step == 0 {
		step = 1
	}
	if i := int64(math.Round((level - l.Start) / step)); within && same(l.Value(i), level) {
		return nil
	}
	return faultf("the levels are "+plain(l.Start)+" to "+plain(l.End)+" in steps of "+plain(step), "there is no level with %s", a)
}

func (a At) lacking(have []string) error {
	if len(have) > 20 {
		have = append(have[:20], "…")
	}
	if len(have) == 0 {
		return faultf("leave the level out to mean every one", "there is no level with %s", a)
	}
	return faultf("there is "+strings.Join(have, ", "), "there is no level with %s", a)
}

// Is reports whether stage i of a plan is at the level.
func (a At) Is(p *plan.Plan, i int) bool {
	s := &p.Stages[i]
	return a.is(i, s.Name, s.Concurrency, s.PerSecond())
}

func (a At) is(i int, name string, concurrency int, rate float64) bool {
	switch {
	case a.Rate > 0:
		return same(rate, a.Rate)
	case a.Concurrency > 0:
		return concurrency == a.Concurrency
	case a.Stage != "":
		return strings.EqualFold(name, a.Stage) || a.Stage == strconv.Itoa(i+1)
	}
	return true
}

// same reports whether two rates are one, written with other digits.
func same(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b) }
