package run

import (
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// stageQueue gives out the stages of a run: those of the plan, or the levels that its
// search comes to.
type stageQueue struct {
	plan     *plan.Plan
	search   *sweep.Search    // nil: the plan's stages as they stand
	capacity *search.Capacity // that finds the capacity; nil: nobody looks for it

	mu    sync.Mutex // of what others look at while the run goes on
	begun []plan.Stage
	over  bool
	made  []plan.Stage // in place of the plan's, of a sweep to saturation
	stage int          // the one under way; steps of a search are negative
}

func newQueue(p *plan.Plan) *stageQueue {
	q := &stageQueue{plan: p}
	if p.Levels.On() {
		q.search = sweep.NewSearch(p.Levels, p.Stages[0].Rate == 0)
	}
	return q
}

// most is how many stages there can be.
func (q *stageQueue) most() int {
	switch {
	case q.plan.Saturation.On():
		return q.plan.Saturation.Stages
	case q.plan.Capacity.On():
		return capacity.MostLevels
	case q.search == nil:
		return len(q.plan.Stages)
	}
	return sweep.MaxLevels(q.plan.Levels)
}

// next gives the next stage; false: there is none.
func (q *stageQueue) next() (i int, s plan.Stage, ok bool) {
	i = len(q.begun)
	if s, ok = q.choose(i); !ok {
		return i, s, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.begun, q.stage = append(q.begun, s), i
	return i, s, true
}

// choose is the stage with a number; false: there is none. It does without the lock, which only
// those need who look at the run meanwhile: a search says what it does, and who shows that may have
// to look first.
func (q *stageQueue) choose(i int) (plan.Stage, bool) {
	switch {
	case q.over || i >= q.most() || q.plan.Saturation.On() && i >= len(q.made):
		return plan.Stage{}, false
	case q.made != nil:
		return q.made[i], true
	case q.capacity != nil:
		return q.capacity.Next()
	case q.search == nil:
		return q.plan.Stages[i], true
	}
	level, ok := q.search.Next()
	if !ok {
		return plan.Stage{}, false
	}
	return q.plan.Stages[0].AtLevel(level), true
}

// addLevel says how the last stage went.
func (q *stageQueue) addLevel(l *sweep.Level) {
	if q.search != nil {
		q.search.Observe(l.Passed)
	}
	q.over = q.over || l.Ended == record.StopEmpty // a server that answers nothing is not asked for more
}

// stages are those that a look at the run knows of: all of the plan's, or the levels
// begun so far.
func (q *stageQueue) stages() []plan.Stage {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.made != nil:
		return q.made
	case q.search == nil && q.capacity == nil:
		return q.plan.Stages
	case len(q.begun) == 0:
		return []plan.Stage{q.plan.Stages[0]}
	}
	return slices.Clone(q.begun)
}

// asRun is the plan with the stages that were run.
func (q *stageQueue) asRun() *plan.Plan {
	p := *q.plan
	p.Stages = q.stages()
	return &p
}

// highest is the plan with the greatest load that its levels can come to, as far as
// that is known.
func highest(p *plan.Plan) *plan.Plan {
	if !p.Levels.On() {
		return p
	}
	level := max(p.Levels.Start, p.Levels.End)
	for _, v := range p.Levels.List {
		level = max(level, v)
	}
	q := *p
	q.Stages = []plan.Stage{p.Stages[0].AtLevel(level)}
	return &q
}

// setRates takes the rates of a sweep to saturation as the stages. None: there are no
// stages to run.
func (q *stageQueue) setRates(rates []float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made = sweep.StagesAt(q.plan.Stages[0], q.plan.Saturation, rates)
}

// searching lets a look at the run see a step of the search for the saturation.
func (q *stageQueue) searching(step int, s plan.Stage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made, q.stage = []plan.Stage{s}, step
}

// under is the stage under way.
func (q *stageQueue) under() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stage
}
