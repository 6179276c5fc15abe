package compare

import (
	"slices"
	"strings"

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

// keysOf are the keys of a run's levels, by stage.
func (r *Run) keysOf() []loadKey {
	list, before := make([]loadKey, min(len(r.Plan.Stages), len(r.Levels))), map[loadKey]int{}
	for i := range list {
		bare := bareKey(&r.Plan.Stages[i])
		list[i] = bare
		list[i].nth = before[bare]
		before[bare]++
	}
	return list
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

// loads are the stages of a side's runs by their loads.
type loads []map[loadKey]int

// loads are those of a side, and each of them once, in order.
func (s *Side) loads() (of loads, all []loadKey) {
	known := map[loadKey]bool{}
	for i := range s.Runs {
		stages := map[loadKey]int{}
		for n, k := range s.Runs[i].keysOf() {
			stages[k] = n
			if !known[k] {
				known[k], all = true, append(all, k)
			}
		}
		of = append(of, stages)
	}
	return of, all
}

// stages are those of the runs with a load, -1 where a run has none; nil means no run has it.
func (of loads) stages(k loadKey) []int {
	list, has := make([]int, len(of)), false
	for i := range of {
		n, ok := of[i][k]
		if !ok {
			n = -1
		}
		list[i], has = n, has || ok
	}
	if !has {
		return nil
	}
	return list
}

// matched is a load and the stage of each run of each side that has it.
type matched struct {
	name   string
	stages [][]int // by side and run; nil means the side lacks it
	same   bool
}

// match finds the loads that the first side and at least one other have, in the order of the
// first, and the levels without a counterpart.
func match(sides []Side) (all []matched, alone []Unmatched) {
	used, of, keys := make([]map[loadKey]bool, len(sides)), make([]loads, len(sides)), make([][]loadKey, len(sides))
	for i := range used {
		used[i] = map[loadKey]bool{}
		of[i], keys[i] = sides[i].loads()
	}
	for _, k := range keys[0] {
		m := matched{same: true, stages: make([][]int, len(sides))}
		shared := false
		for i := range sides {
			if m.stages[i] = of[i].stages(k); m.stages[i] != nil {
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
		for _, k := range keys[i] {
			if !used[i][k] {
				alone = append(alone, Unmatched{Side: i, Load: sides[i].load(of[i].stages(k))})
			}
		}
	}
	return all, alone
}

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
	var loads []string
	for i := range sides {
		if l := sides[i].load(m.stages[i]); !slices.Contains(loads, l) {
			loads = append(loads, l)
		}
	}
	m.name = strings.Join(loads, " against ")
	return m
}
