package compare

import (
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// loadKey is what levels are matched by: the kind of load and how much of it. What else
// belongs to it, such as how arrivals are spread, is a difference between plans.
type loadKey struct {
	kind  string
	value float64
	to    float64 // of a ramp or of growth
	rate  float64 // of sessions
	nth   int     // which of the run's levels with this load
}

// keyOf is the key of a stage among those of its run.
func keyOf(stages []plan.Stage, i int) loadKey {
	k := bareKey(&stages[i])
	for n := range i {
		if bareKey(&stages[n]) == k {
			k.nth++
		}
	}
	return k
}

func bareKey(s *plan.Stage) loadKey {
	k := loadKey{to: s.RampTo}
	switch {
	case s.Concurrency > 0:
		k.kind, k.value = "concurrency", float64(s.Concurrency)
		if s.Growth.On() {
			k.to = float64(s.Growth.To)
		}
	case s.Arrival == plan.ArrivalTrace:
		k.kind = plan.ArrivalTrace
	case s.Arrival == plan.ArrivalSessions:
		k.kind, k.value, k.rate = plan.ArrivalSessions, float64(s.Sessions.Concurrent), s.Sessions.Rate
	default:
		k.kind, k.value = "rate", s.PerSecond()
	}
	return k
}

// stageOf is the stage of a run with a load; -1: it has none.
func (r *Run) stageOf(k loadKey) int {
	for i := range r.Plan.Stages {
		if i < len(r.Levels) && keyOf(r.Plan.Stages, i) == k {
			return i
		}
	}
	return -1
}

// matched is a load and the stage of each run of each side that has it.
type matched struct {
	name   string
	stages [][]int // by side and run; nil: the side lacks it
	same   bool
}

// match finds the loads that the first side and at least one other have, in the order of the
// first, and the levels that nobody shares.
func match(sides []Side) (all []matched, alone []Unmatched) {
	used := make([]map[loadKey]bool, len(sides))
	for i := range used {
		used[i] = map[loadKey]bool{}
	}
	for _, k := range sides[0].keys() {
		m := matched{same: true, stages: make([][]int, len(sides))}
		shared := false
		for i := range sides {
			if m.stages[i] = sides[i].stagesOf(k); m.stages[i] != nil {
				used[i][k] = true
				shared = shared || i > 0
			}
		}
		if !shared {
			used[0][k] = false
			continue
		}
		m.name = sides[0].load(m.stages[0])
		all = append(all, m)
	}
	if len(all) == 0 && onlyLevels(sides) {
		return []matched{single(sides)}, nil
	}
	for i := range sides {
		for _, k := range sides[i].keys() {
			if !used[i][k] {
				alone = append(alone, Unmatched{Side: i, Load: sides[i].load(sides[i].stagesOf(k))})
			}
		}
	}
	return all, alone
}

// keys are the loads of a side's runs, each once.
func (s *Side) keys() []loadKey {
	var list []loadKey
	for i := range s.Runs {
		r := &s.Runs[i]
		for n := range min(len(r.Plan.Stages), len(r.Levels)) {
			if k := keyOf(r.Plan.Stages, n); !slices.Contains(list, k) {
				list = append(list, k)
			}
		}
	}
	return list
}

// stagesOf are the stages of a side's runs with a load; nil: no run has it.
func (s *Side) stagesOf(k loadKey) []int {
	var list []int
	has := false
	for i := range s.Runs {
		n := s.Runs[i].stageOf(k)
		has = has || n >= 0
		list = append(list, n)
	}
	if !has {
		return nil
	}
	return list
}

// load is a load in words.
func (s *Side) load(stages []int) string {
	for i, n := range stages {
		if n >= 0 {
			return result.Load(&s.Runs[i].Plan.Stages[n])
		}
	}
	return ""
}

// onlyLevels reports whether every run of every side has one level.
func onlyLevels(sides []Side) bool {
	for i := range sides {
		for r := range sides[i].Runs {
			if len(sides[i].Runs[r].Levels) != 1 || len(sides[i].Runs[r].Plan.Stages) == 0 {
				return false
			}
		}
	}
	return true
}

// single matches the only levels of all sides, whatever their loads are.
func single(sides []Side) matched {
	var m matched
	for i := range sides {
		m.stages = append(m.stages, make([]int, len(sides[i].Runs)))
	}
	m.name = sides[0].load(m.stages[0])
	return m
}
