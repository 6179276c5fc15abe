package sweep

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Saturation is what a search for the saturation has found.
type Saturation struct {
	Kind  string    `json:"kind"`
	Rate  float64   `json:"rate"`   // the highest rate that the server kept up with; 0: none was found
	Above float64   `json:"above"`  // the lowest rate above it that it did not keep up with; 0: it kept up with all
	Why   string    `json:"reason"` // in words
	Steps []Step    `json:"steps"`  // the evidence
	Rates []float64 `json:"rates"`  // of the stages
}

// SaturationSearch searches for the rate that a server can keep up with. The first step is a burst,
// which shows how fast a backlog is worked off; each step after it is a steady rate and
// shows whether the backlog grows. What is between the highest rate kept up with and the
// lowest one that was not is halved until little is left.
type SaturationSearch struct {
	plan  plan.Saturation
	steps []Step
	lo    float64       // kept up with; 0: none yet
	hi    float64       // not kept up with; 0: none yet
	bound float64       // the most that came back under overload; 0: there was none yet
	next  float64       // rate of the next step
	fast  time.Duration // a fast response
	over  bool
	// What the steps showed that lo and hi come from.
	loWhy, hiWhy string
}

const (
	// burst is how long the first step sends.
	burst = 5 * time.Second
	// mostSteps bounds the search.
	mostSteps = 10
	// closeEnough is the ratio of what was not kept up with to what was at which the search
	// ends.
	closeEnough = 1.1
	// answers is how many times a fast response a step lasts at least: a backlog stands
	// still only after the first responses have come.
	answers = 6
	// wanted is how long a step should last, where it does not take more than longer
	// times the requests that the plan has for it; shortest is how short it may be.
	wanted   = 2 * time.Second
	longer   = 4
	shortest = 200 * time.Millisecond
	// faster is by how much the rate is raised while all is kept up with.
	faster = 4
)

// NewHunt starts a search.
func NewHunt(p plan.Saturation) *SaturationSearch {
	return &SaturationSearch{plan: p, next: float64(p.Requests) / burst.Seconds()}
}

// Next is the next step of the search: its rate and duration; false: the search is over.
func (h *SaturationSearch) Next() (rate float64, duration time.Duration, ok bool) {
	if h.over || len(h.steps) >= mostSteps {
		return 0, 0, false
	}
	rate = tidy(h.next)
	if len(h.steps) == 0 {
		return rate, min(burst, time.Duration(h.plan.Timeout)), true
	}
	d := time.Duration(float64(h.plan.Requests) / rate * float64(time.Second))
	d = max(min(max(d, wanted), longer*d), answers*h.fast, shortest)
	return rate, min(d, time.Duration(h.plan.Timeout)), true
}

// tidy rounds a rate to the four digits that a reader can tell apart.
func tidy(rate float64) float64 {
	v, err := strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 4, 64), 64)
	if err != nil {
		return rate
	}
	return v
}

// Observe says how the step that Next gave went.
func (h *SaturationSearch) Observe(s Step) {
	h.steps = append(h.steps, s)
	if s.OK == 0 {
		h.over = true
		return
	}
	if fast := time.Duration(s.Latency * float64(time.Millisecond)); h.fast == 0 || fast < h.fast {
		h.fast = fast
	}
	if rate := min(s.Rate, floor(s.Answered)); (s.Kept || s.short) && rate > h.lo {
		h.lo, h.loWhy = rate, s.Why
		if s.short {
			h.loWhy = fmt.Sprintf("so many were answered when %.4g were asked for", s.Rate)
		}
	}
	if !s.Kept && (h.hi == 0 || s.Rate < h.hi) {
		h.hi, h.hiWhy = s.Rate, s.Why
	}
	h.aim(s)
}

// floor is tidy, and never more than the rate: what is claimed was answered.
func floor(rate float64) float64 {
	v := tidy(rate)
	if v > rate {
		v = tidy(v - math.Pow(10, math.Floor(math.Log10(v))-3))
	}
	return v
}

// aim chooses the next rate.
func (h *SaturationSearch) aim(s Step) {
	switch {
	case s.short:
		h.bound = s.Answered
	case !s.Kept && h.bound == 0:
		h.bound = s.Upper
	}
	switch {
	case h.hi == 0: // all was kept up with so far
		h.next = faster * h.lo
	case h.lo > 0 && h.hi/h.lo <= closeEnough:
		h.over = true
	case h.lo > 0 && h.bound/h.lo <= closeEnough:
		h.over = true // under overload the server has shown that there is no more
	case !s.Kept && s.Answered > 1.02*h.lo && s.Answered < 0.98*h.hi:
		h.next = s.Answered // what it does under overload is about what it can do
	case h.lo == 0:
		h.next = 0.8 * h.hi
	default:
		h.next = min((h.lo+h.hi)/2, 1.25*h.lo)
	}
}

// Found is what the search has found so far.
func (h *SaturationSearch) Found() *Saturation {
	f := &Saturation{Kind: h.plan.Kind, Rate: h.lo, Above: h.hi, Steps: h.steps, Rates: []float64{}}
	if f.Steps == nil {
		f.Steps = []Step{}
	}
	switch {
	case len(h.steps) == 0:
		f.Why = "The search was ended before its first step."
	case h.lo == 0:
		f.Why = fmt.Sprintf("No rate was found that the server keeps up with: at %.4g requests/s, %s.", h.steps[len(h.steps)-1].Rate, h.steps[len(h.steps)-1].Why)
	case h.hi == 0:
		f.Why = fmt.Sprintf("The server keeps up with %.4g requests/s, the highest rate that was tried: %s.", h.lo, h.loWhy)
	default:
		f.Why = fmt.Sprintf("The server keeps up with %.4g requests/s: %s. It does not keep up with %.4g: %s.", h.lo, h.loWhy, h.hi, h.hiWhy)
	}
	if h.done() {
		f.Rates = Rates(h.plan, h.lo)
	}
	return f
}

// done reports whether the search came to its end and found something.
func (h *SaturationSearch) done() bool {
	_, _, more := h.Next()
	return !more && h.lo > 0
}

// Rates lays out the rates of stages up to a saturation: evenly from 1, or dense near
// the saturation. Below 1 request/s they begin with a part of it.
func Rates(p plan.Saturation, most float64) []float64 {
	least := 1.0
	if most <= 1 {
		least = most / float64(p.Stages)
	}
	var out []float64
	for k := range p.Stages {
		part := 1.0
		if p.Stages > 1 {
			part = float64(k) / float64(p.Stages-1)
		}
		rate := least + (most-least)*part
		if p.Kind == plan.SweepGeometric {
			rate = least + most - most*math.Pow(least/most, part)
		}
		out = append(out, round(rate))
	}
	return out
}

// round keeps two decimals, and four digits of what is small.
func round(rate float64) float64 {
	if rate < 1 {
		return tidy(rate)
	}
	return math.Round(rate*100) / 100
}

// StagesAt are stages of a plan at rates. They have so many requests as fall due in their
// time, all of which are sent: at its end turns may still wait for the responses before them.
func StagesAt(s plan.Stage, p plan.Saturation, rates []float64) []plan.Stage {
	var out []plan.Stage
	for _, rate := range rates {
		s.Rate, s.Requests = rate, max(1, int64(rate*time.Duration(p.Duration).Seconds()+1e-9))
		out = append(out, s)
	}
	return out
}
