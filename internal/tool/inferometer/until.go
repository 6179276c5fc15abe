package inferometer

import (
	"fmt"
	"io"
	"slices"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/stat/estimate"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// stopCondition is what runs go on for. A nil goal is never met: they end by their number.
type stopCondition struct {
	gate *gate.Gate
	last *repeat.Until
}

// newGoal reads what a command line wants; nil means nothing.
func newGoal(r *args.Repeat, p *plan.Plan) (*stopCondition, error) {
	if r.Until == "" {
		return nil, nil
	}
	fault := func(text, hint string) error { return plan.Faults{{Where: "--until", Text: text, Hint: hint}} }
	g, err := gate.Parse(r.Until)
	if err == nil {
		err = g.Check(p)
	}
	switch {
	case err != nil:
		return nil, fault(err.Error(), "")
	case !g.Interval:
		return nil, fault(g.Text+" is not about an interval: to stop when a figure looks good would bias it", "such as ci("+g.Figure()+") < 5%")
	case g.Op == gate.More || g.Op == gate.AtLeast:
		return nil, fault(g.Text+" asks for a wide interval", "such as ci("+g.Figure()+") < 5%")
	}
	return &stopCondition{gate: g}, nil
}

// met reports whether the runs so far are enough.
func (g *stopCondition) met(d *repeat.Document, runs []repeat.Run) bool {
	if g == nil {
		return false
	}
	g.last = &repeat.Until{Expression: g.gate.Text, Levels: []repeat.Value{}}
	for _, o := range g.gate.Judge(d.Mean(runs)) {
		l := repeat.Value{Stage: o.Stage, Where: o.Where, Bound: o.Bound, Met: o.Known && o.Holds, Why: o.Why}
		if o.Known {
			l.Value = &o.Value
		}
		g.last.Levels = append(g.last.Levels, l)
	}
	enough := len(runs) >= args.LeastRepeats
	g.last.Met = enough && !slices.ContainsFunc(g.last.Levels, func(l repeat.Value) bool { return !l.Met })
	return g.last.Met
}

func (g *stopCondition) print(log io.Writer) {
	if g == nil {
		return
	}
	for _, l := range g.last.Levels {
		if l.Value != nil {
			fmt.Fprintf(log, "%s: now %s, %s\n", g.last.Expression, number.Share(*l.Value), l.Where)
		}
	}
}

func (g *stopCondition) found() *repeat.Until {
	if g == nil {
		return nil
	}
	return g.last
}

// within are the intervals of a run's figures by its own requests.
func within(dir string) (map[int]map[repeat.Key]estimate.Interval, error) {
	sides, err := compare.Open([]string{dir}, compare.OpenOptions{Samples: compare.Metrics(false)})
	if err != nil {
		return nil, err
	}
	intervals, err := sides[0].Runs[0].Intervals(estimate.Confidence)
	if err != nil {
		return nil, err
	}
	all := map[int]map[repeat.Key]estimate.Interval{}
	for stage, figures := range intervals {
		all[stage] = map[repeat.Key]estimate.Interval{}
		for f, at := range figures {
			all[stage][repeat.Key{Metric: f.Metric, Stat: f.Stat}] = at
		}
	}
	return all, nil
}
