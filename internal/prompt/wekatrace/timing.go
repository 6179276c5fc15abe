package wekatrace

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// moment is a call on its session's clock, in milliseconds, and its place in its conversation.
type moment struct {
	*request
	stream, turn int
	begin, end   int64
}

// idle is a stretch of a recording in which no call began, longer than it may be.
type idle struct{ begin, end, before, excess float64 }

// idleCut shortens the idle stretches of a recording.
type idleCut struct {
	cap  float64
	idle []idle
}

// newIdleCut looks at when calls began, in order; a cap of 0 shortens nothing.
func newIdleCut(begins []float64, most float64) idleCut {
	w := idleCut{cap: most}
	if most <= 0 {
		return w
	}
	shift := 0.0
	for i := 1; i < len(begins); i++ {
		if excess := begins[i] - begins[i-1] - most; excess > 0 {
			w.idle = append(w.idle, idle{begins[i-1], begins[i], shift, excess})
			shift += excess
		}
	}
	return w
}

func (w idleCut) shortened(t float64) float64 {
	i, _ := slices.BinarySearchFunc(w.idle, t, func(g idle, t float64) int {
		if g.end <= t {
			return -1
		}
		return 1
	})
	if i < len(w.idle) && t > w.idle[i].begin {
		return min(t, w.idle[i].begin+w.cap) - w.idle[i].before
	}
	if i == 0 {
		return t
	}
	return t - w.idle[i-1].before - w.idle[i-1].excess
}

// schedule puts a session's calls in the order of their beginning, idle stretches shortened, from
// 0.
func schedule(streams [][]timed, most plan.Duration) []moment {
	var begins []float64
	for _, s := range streams {
		for _, c := range s {
			begins = append(begins, c.at)
		}
	}
	slices.Sort(begins)
	if len(begins) == 0 {
		return nil
	}
	w := newIdleCut(begins, time.Duration(most).Seconds())
	var out []moment
	for i, s := range streams {
		for k, c := range s {
			begin := millis(w.shortened(c.at) - begins[0])
			out = append(out, moment{c.request, i, k, begin, begin + millis(c.API)})
		}
	}
	slices.SortStableFunc(out, func(a, b moment) int { return cmp.Compare(a.begin, b.begin) })
	return out
}

func millis(seconds float64) int64 {
	return int64(math.Floor(min(max(seconds, 0), 2*mostSeconds)*1000 + 1e-6))
}

// edges says for each call which ones it comes after, and how long it began after the last
// of their responses: the call before it in its own conversation, and of every other
// conversation the last that was answered when it began. What follows from another edge
// is left out. A call that comes after none begins as long after the session as recorded.
func edges(calls []moment, streams int) (after [][]int, waits []time.Duration) {
	last := make([][]int, streams) // calls of each conversation up to here
	seen := make([][]int, len(calls))
	for i, c := range calls {
		seen[i] = slices.Repeat([]int{-1}, streams) // the last of each conversation that is behind i
		var before []int
		end := int64(0)
		for s, list := range last {
			j := len(list) - 1
			for s != c.stream && j >= 0 && calls[list[j]].end > c.begin {
				j--
			}
			if j >= 0 {
				before = append(before, list[j])
				end = max(end, calls[list[j]].end)
			}
		}
		reduced := slices.DeleteFunc(slices.Clone(before), func(a int) bool {
			return slices.ContainsFunc(before, func(b int) bool { return a != b && seen[b][calls[a].stream] >= calls[a].turn })
		})
		slices.Sort(reduced)
		for _, a := range before {
			for s := range seen[i] {
				seen[i][s] = max(seen[i][s], seen[a][s])
			}
		}
		seen[i][c.stream] = c.turn
		last[c.stream] = append(last[c.stream], i)
		after = append(after, reduced)
		waits = append(waits, time.Duration(max(c.begin-end, 0))*time.Millisecond)
	}
	return after, waits
}
