package console

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// capacity prints the highest load that meets the objectives, and the levels that show it: the
// curve from the lowest load to the highest.
func (p *printer) capacity(r *result.Result) {
	a := r.Capacity
	if a == nil {
		return
	}
	if len(a.Levels) == 0 { // the answer is the headline
		return
	}
	p.blank()
	p.line(p.style.Bold("Loads tried"))
	t := table{columns: []column{
		{title: strings.ToUpper(a.Unit[:1]) + a.Unit[1:], keep: mustKeep},
		{title: "Measured\ns", keep: 10},
		{title: "Requests", keep: 20},
		{title: "Answered\nper s", keep: 40},
	}}
	for i := range a.Goals {
		o := &a.Goals[i]
		t.columns = append(t.columns, column{title: o.Figure + "\n" + o.Unit, keep: 50})
	}
	t.columns = append(t.columns, column{title: "Meets all", left: true, keep: mustKeep})
	levels := slices.Clone(a.Levels)
	slices.SortStableFunc(levels, func(x, y result.CapacityLevel) int { return cmp.Compare(x.Load, y.Load) })
	for i := range levels {
		l := &levels[i]
		row := []string{number.Value(l.Load, ""), number.Value(l.Seconds, ""), number.Count(l.Requests), number.Value(l.Answered, "")}
		for k := range l.Seen {
			cell := ""
			if v := l.Seen[k].Value; v != nil {
				cell = number.Value(*v, "")
			}
			row = append(row, cell)
		}
		t.add(append(row, l.Says(a.Goals))...)
	}
	p.table(&t)
}

// saturation prints the steps of the search for the rates of a sweep.
func (p *printer) saturation(r *result.Result) {
	s := r.Saturation
	if s == nil || len(s.Steps) == 0 {
		return
	}
	t := table{columns: []column{
		{title: "Requests\nper s", keep: mustKeep},
		{title: "Kept\nup with", left: true, keep: mustKeep},
		{title: "Requests", keep: 10},
		{title: "Failed", keep: 5},
		{title: "Unsent", keep: 5},
		{title: "Backlog\nbefore", keep: 50},
		{title: "Backlog\nafter", keep: 50},
		{title: "Answered\nper s", keep: 20},
		{title: "Sent late\np99 ms", keep: 15},
	}}
	for i := range s.Steps {
		step := &s.Steps[i]
		kept := "no"
		if step.Kept {
			kept = "yes"
		}
		t.add(number.Value(step.Rate, ""), kept, number.Count(step.Requests), number.Count(step.Failed), number.Count(step.Unsent),
			number.Value(step.Before, ""), number.Value(step.After, ""), number.Value(step.Answered, ""), number.Value(step.Lag, ""))
	}
	p.blank()
	p.line(p.style.Bold("Search for saturation"))
	p.table(&t)
}

// mostWindows is how many of a stage's last windows are listed.
const mostWindows = 10

// windows prints the measurement windows of a stage, and what the last of them come to
// together.
func (p *printer) windows(s *result.Stage) {
	l := s.Level
	if l == nil || l.Merged == nil {
		return
	}
	t := table{columns: []column{
		{title: "Window", keep: mustKeep}, {title: "Length", keep: 5}, {title: "Requests", keep: mustKeep}, {title: "Failed", keep: 4},
		{title: "Requests/s", keep: mustKeep}, {title: "Latency", keep: mustKeep}, {title: "p99", keep: 6},
	}}
	for i := max(len(l.Windows)-mostWindows, 0); i < len(l.Windows); i++ {
		w := &l.Windows[i]
		failed, p99 := "", ""
		if w.Failed > 0 {
			failed = number.Count(w.Failed)
		}
		if v, ok := w.Latency.Percentile(99); ok {
			p99 = number.Duration(v)
		}
		t.add(strconv.Itoa(i+1), number.Duration(w.End-w.Begin), number.Count(w.Requests), failed, number.Value(w.Throughput, ""), number.Duration(w.Latency.Avg), p99)
	}
	p.blank()
	p.table(&t)
	m := l.Merged
	p.wrapped(indent, fmt.Sprintf("%s; the last of them together: %s in %s, %s/s, latency %s on average",
		ending(l.Ended), number.Plural(m.Requests, "request"), number.Duration(m.End-m.Begin), number.Value(m.Throughput, ""), number.Duration(m.Latency.Avg)))
}

func ending(reason record.StopReason) string {
	switch reason {
	case record.StopStable:
		return "Stable"
	case record.StopThroughput:
		return "Stable in throughput, not in latency"
	case record.StopThreshold:
		return "Over the latency threshold"
	case record.StopTrials:
		return "Not stable within the windows allowed"
	case record.StopEmpty:
		return "No request succeeded in the last window"
	case record.StopWhole:
		return "One window"
	}
	return "Ended early"
}
