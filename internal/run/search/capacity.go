// Package search looks for the load that a server can take: it says which level a run goes to next, and
// makes what a search has found again from records alone. It sends nothing itself.
package search

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/run/abort"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Capacity looks for the highest load that meets the objectives of a plan: it says which stage comes
// next, and ends one as soon as it is clearly too much.
type Capacity struct {
	plan    *plan.Plan
	search  *capacity.Search
	tallies *objectiveTracker
	now     func() time.Duration
	sending Sending
	log     io.Writer

	levels  []capacity.Trial
	begun   time.Duration
	typical time.Duration // of responses at a level that meets the objectives; 0: there was none yet
}

// Sending is how the sending of requests goes.
type Sending interface {
	Sent() int64     // requests so far
	InFlight() int64 // of them
	Times(stage int) record.StageTimes
}

// lowest is how far below its start a search for a rate goes.
const lowest = 64

// NewCapacity begins a search; log is told of each level.
func NewCapacity(p *plan.Plan, now func() time.Duration, sending Sending, log io.Writer) (*Capacity, error) {
	objectives, err := objectivesOf(p)
	if err != nil {
		return nil, err
	}
	return &Capacity{
		plan: p, search: searchOf(p, objectives), tallies: newTallies(p, objectives), now: now, sending: sending, log: log,
	}, nil
}

// Add implements collect.Consumer.
func (a *Capacity) Add(rec *record.Record) { a.tallies.Add(rec) }

func searchOf(p *plan.Plan, objectives []objective) *capacity.Search {
	s := &capacity.Search{
		Whole: p.Stages[0].Rate == 0, Start: p.Stages[0].Level(), Most: p.Capacity.Max, Precision: p.Capacity.Precision,
		Seconds: time.Duration(p.Capacity.MaxTime).Seconds(), Hold: time.Duration(p.Capacity.Hold).Seconds(), Seed: p.Seed,
	}
	s.Least = s.Start / lowest
	if s.Whole {
		s.Least = 1
	}
	for i := range objectives {
		s.Objectives = append(s.Objectives, objectives[i].Objective)
	}
	return s
}

// Next is the stage of the next level; false: the search is over.
func (a *Capacity) Next() (plan.Stage, bool) {
	if len(a.levels) == 0 {
		a.begun = a.now()
		fmt.Fprintf(a.log, "Searching for the capacity by %s, for %s at most.\n", a.by(), time.Duration(a.plan.Capacity.MaxTime))
	}
	step, ok := a.search.Next(a.levels, (a.now() - a.begun).Seconds())
	if !ok {
		return plan.Stage{}, false
	}
	s := a.plan.Stages[0].AtLevel(step.Load)
	s.Duration = plan.Duration(step.Seconds * float64(time.Second))
	if s.Warmup == (plan.Warmup{}) {
		s.Warmup.Duration = plan.Duration(step.Warmup * float64(time.Second))
	}
	if s.Gap == 0 {
		s.Gap = plan.Duration(time.Second)
	}
	s.Gap = max(s.Gap, plan.Duration(step.Rest*float64(time.Second)))
	if s.Name = step.Kind; step.Kind == "" && !slices.Contains(kinds(), a.plan.Stages[0].Name) {
		s.Name = a.plan.Stages[0].Name
	}
	a.announce(&step)
	return s, true
}

// announce says what a level is run for, where that is not to find the capacity.
func (a *Capacity) announce(step *capacity.NextLevel) {
	load := fmt.Sprintf("%.4g %s", step.Load, a.unit())
	switch step.Kind {
	case capacity.Hold:
		fmt.Fprintf(a.log, "Holding %s for %.3gs.\n", load, step.Seconds)
	case capacity.Overload:
		fmt.Fprintf(a.log, "Before the load is held: an overload of %s.\n", load)
	case capacity.Recovery:
		fmt.Fprintf(a.log, "After an overload: measuring %s again.\n", load)
	case capacity.Repeat:
		fmt.Fprintf(a.log, "Repeating %s: %s.\n", load, a.levels[len(a.levels)-1].Trouble)
	}
}

// kinds are what levels are run for besides finding the capacity. Their stages have those names.
func kinds() []string {
	return []string{capacity.Recovery, capacity.Hold, capacity.Overload, capacity.Repeat}
}

// LevelKind is what the stage of a level is run for.
func LevelKind(s plan.Stage) string {
	if slices.Contains(kinds(), s.Name) {
		return s.Name
	}
	return ""
}

func (a *Capacity) by() string {
	if a.search.Whole {
		return capacity.Concurrency
	}
	return capacity.Rate
}

// Drain is how long a level's requests may take after its end: too long a queue is not waited for.
func (a *Capacity) Drain() plan.Duration {
	if a.typical == 0 {
		return a.plan.Drain
	}
	return min(a.plan.Drain, plan.Duration(max(5*time.Second, 4*a.typical)))
}

// AddLevel takes in how a level went, of which all records are there. Its mark is the last one.
func (a *Capacity) AddLevel(i int, s plan.Stage, marks []record.StageSummary) {
	mark := &marks[len(marks)-1]
	typical := a.tallies.typical(i)
	trouble := a.tallies.trouble(a.plan, i)
	l := a.level(i, s, marks, mark)
	l.Trouble = trouble
	a.levels = append(a.levels, l)
	if l.Met != capacity.No && typical > a.typical {
		a.typical = typical
	}
	fmt.Fprintf(a.log, "Level %d: %s\n", i+1, a.lineOf(&l))
}

func (a *Capacity) level(i int, s plan.Stage, marks []record.StageSummary, mark *record.StageSummary) capacity.Trial {
	l := a.tallies.level(i, s.Level(), s.Rate > 0, mark)
	l.Kind = LevelKind(s)
	if before := record.FindStage(marks, i-1); before != nil {
		l.Rest = max(mark.Begin-before.SendEnd, 0).Seconds()
	}
	a.search.Sessions = a.search.Sessions || a.tallies.sessions && !a.search.Whole
	a.search.Judge(&l)
	return l
}

func (a *Capacity) unit() string {
	switch {
	case a.search.Whole:
		return "in flight"
	case a.search.Sessions:
		return "sessions/s"
	}
	return "requests/s"
}

// lineOf says in a line what a level showed.
func (a *Capacity) lineOf(l *capacity.Trial) string {
	s, unit := a.search, a.unit()
	var parts []string
	for j := range s.Objectives {
		if seen := &l.Seen[j]; seen.Value != nil {
			parts = append(parts, fmt.Sprintf("%s %s", s.Objectives[j].Figure, capacity.Amount(*seen.Value, s.Objectives[j].Unit)))
		}
	}
	verdict := map[string]string{capacity.Yes: "meets the objectives", capacity.No: "misses"}[l.Met]
	if verdict == "" {
		verdict = l.Met
	}
	if l.Over != "" {
		verdict += ", " + l.Over
	}
	return fmt.Sprintf("%.4g %s for %.3gs: %s (%s)", l.Load, unit, l.Seconds, strings.Join(parts, ", "), verdict)
}

const (
	// lookEvery is how often a level is looked at while it goes on.
	lookEvery = 250 * time.Millisecond
	// early is the share of a level after which it may be ended.
	early = 0.25
	// clearly is how many times as many samples as are allowed must be bad for that.
	clearly = 8
	// enough is how many samples are looked at, at least.
	enough = 50
)

// Watch ends a level that is clearly too much, until over ends.
func (a *Capacity) Watch(over context.Context, i int, s plan.Stage, stop abort.Stopper) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	sent := a.sending.Sent()
	for {
		select {
		case <-over.Done():
			return
		case <-tick.C:
			if a.overloaded(i, s, sent) {
				stop.Stop(record.StopOver)
				return
			}
		}
	}
}

// overloaded reports whether the current level is clearly too much: too many samples are bad for
// the rest to make up, or less than half was answered. sent is how many requests went before it.
func (a *Capacity) overloaded(i int, s plan.Stage, sent int64) bool {
	now := a.now()
	times := a.sending.Times(i)
	if waited := now - times.Begin; s.Rate > 0 && a.typical > 0 && waited > max(2*time.Second, 5*a.typical) {
		if came := a.sending.Sent() - sent; came > enough && 2*a.sending.InFlight() > came {
			return true
		}
	}
	if from := times.WarmupEnd; from > now || now-from < max(time.Duration(early*float64(s.Duration)), time.Second) {
		return false
	}
	shares, samples := a.tallies.bad(i)
	for j := range shares {
		if o := &a.search.Objectives[j]; o.Allowed > 0 && samples[j] >= enough && shares[j] >= math.Min(clearly*o.Allowed, (1+o.Allowed)/2) {
			return true
		}
	}
	return false
}

// Found is what the result is made of.
func (a *Capacity) Found() *build.Capacity {
	c := &build.Capacity{Search: a.search, Levels: a.levels}
	for _, o := range a.tallies.objectives {
		c.Figures = append(c.Figures, build.Statistic{Metric: o.id, Stat: o.stat})
	}
	return c
}

// ReplayCapacity makes a search's levels again from its stages and requests, and keeps none.
func ReplayCapacity(p *plan.Plan, stages []plan.Stage, marks []record.StageSummary, records record.File) (*build.Capacity, error) {
	a, err := NewCapacity(p, nil, nil, nil)
	if err != nil {
		return nil, err
	}
	a.tallies.mark = func(stage int) *record.StageSummary { return record.FindStage(marks, stage) }
	if err := records.Requests(func(rec *record.Record) error { a.tallies.Add(rec); return nil }); err != nil {
		return nil, err
	}
	for i, s := range stages {
		mark := record.FindStage(marks, i)
		if mark == nil || mark.Early() {
			break
		}
		a.levels = append(a.levels, a.level(i, s, marks, mark))
	}
	return a.Found(), nil
}
