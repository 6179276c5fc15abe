package executor

import (
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// Queue gives out the stages of a run: those of the plan, or the levels that its
// search comes to.
type Queue struct {
	plan     *plan.Plan
	search   *sweep.Search    // nil means the plan's stages as they stand
	capacity *search.Capacity // that finds the capacity; optional

	mu    sync.Mutex // of what others look at while the run goes on
	begun []plan.Stage
	over  bool
	made  []plan.Stage // in place of the plan's, of a sweep to saturation
	stage int          // the current one; steps of a search are negative
}

// NewQueue makes that of a plan; found looks for the capacity, or nil.
func NewQueue(p *plan.Plan, found *search.Capacity) *Queue {
	q := &Queue{plan: p, capacity: found}
	if p.Levels.On() {
		q.search = sweep.NewSearch(p.Levels, p.Stages[0].Rate == 0)
	}
	return q
}

// MostStages is how many stages a plan can come to.
func MostStages(p *plan.Plan) int {
	switch {
	case p.Saturation.On():
		return p.Saturation.Stages
	case p.Capacity.On():
		return capacity.MostLevels
	case !p.Levels.On():
		return len(p.Stages)
	}
	return sweep.MaxLevels(p.Levels)
}

// next gives the next stage; false: there is none.
func (q *Queue) next() (i int, s plan.Stage, ok bool) {
	i = len(q.begun)
	if s, ok = q.choose(i); !ok {
		return i, s, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.begun, q.stage = append(q.begun, s), i
	return i, s, true
}

// choose is the stage with a number; false: there is none. It does without the lock, which those
// need who look at the run meanwhile, as do those who show what a search says.
func (q *Queue) choose(i int) (plan.Stage, bool) {
	switch {
	case q.over || i >= MostStages(q.plan) || q.plan.Saturation.On() && i >= len(q.made):
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
func (q *Queue) addLevel(l *sweep.Level) {
	if q.search != nil {
		q.search.Observe(l.Passed)
	}
	q.over = q.over || l.Ended == record.StopEmpty // a server that answers nothing is not asked for more
}

// Stages are those that a look at the run knows of: all of the plan's, or the levels
// begun so far.
func (q *Queue) Stages() []plan.Stage {
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

// Coming are the levels of a list that have not begun; nil where there is no list.
func (q *Queue) Coming() (list []plan.Stage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.search == nil || len(q.plan.Levels.List) == 0 {
		return nil
	}
	for _, level := range q.plan.Levels.List[min(max(len(q.begun), 1), len(q.plan.Levels.List)):] {
		list = append(list, q.plan.Stages[0].AtLevel(level))
	}
	return list
}

// PlanAsRun is the plan with the stages that were run.
func (q *Queue) PlanAsRun() *plan.Plan {
	p := *q.plan
	p.Stages = q.Stages()
	return &p
}

// setRates takes the rates of a sweep to saturation as the stages, or none.
func (q *Queue) setRates(rates []float64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made = sweep.StagesAt(q.plan.Stages[0], q.plan.Saturation, rates)
}

// searching lets a look at the run see a step of the search for the saturation.
func (q *Queue) searching(step int, s plan.Stage) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.made, q.stage = []plan.Stage{s}, step
}

// Current is the current stage.
func (q *Queue) Current() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stage
}
