package sweep

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// RequestTimes is what a search for the saturation must know of a request.
type RequestTimes struct {
	Due, Sent, End time.Duration
	Failed         bool
}

// PassageOf reads a record.
func PassageOf(rec *record.Record) RequestTimes {
	return RequestTimes{Due: rec.Due, Sent: rec.Sent, End: rec.End, Failed: rec.Failure != nil && !rec.Failure.Left()}
}

// StepLog takes down the requests of a search. It may be used concurrently.
type StepLog struct {
	mu   sync.Mutex
	list map[int][]RequestTimes
}

// Add takes down a record of a step of the search. Those of stages are left out.
func (p *StepLog) Add(rec *record.Record) {
	if rec.Stage >= 0 {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.list == nil {
		p.list = map[int][]RequestTimes{}
	}
	p.list[rec.Stage] = append(p.list[rec.Stage], PassageOf(rec))
}

// Requests are the requests of a step, which has the number of its stage.
func (p *StepLog) Requests(stage int) []RequestTimes {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.list[stage]
}

// Step is one step of the search for the saturation: a rate, what came of it, and
// whether the server kept up. Times are in seconds, spans of requests in milliseconds.
type Step struct {
	Rate      float64 `json:"rate"`     // requests per second asked for
	Begin     float64 `json:"begin_s"`  // of the run
	Sending   float64 `json:"send_s"`   // how long requests were sent
	Drained   float64 `json:"drain_s"`  // how long after that the last one ended
	Requests  int64   `json:"requests"` // that fell due
	OK        int64   `json:"ok"`
	Failed    int64   `json:"failed"`
	Unsent    int64   `json:"unsent"`
	Before    float64 `json:"backlog_before"` // requests due and not ended, on average over the third quarter of the sending
	After     float64 `json:"backlog_after"`  // the same over the last quarter
	Tolerated float64 `json:"backlog_grown_tolerated"`
	Answered  float64 `json:"responses_per_s"` // requests that ended well, while there was a backlog
	Upper     float64 `json:"responses_per_s_upper,omitempty"`
	Latency   float64 `json:"latency_p10_ms"`
	Lag       float64 `json:"lag_p99_ms"` // by this client's own doing or the cap on requests in flight
	Kept      bool    `json:"kept"`
	Why       string  `json:"reason"` // in words

	short bool // the backlog tells nothing, and fewer were answered than asked for
}

// The bounds of keeping up.
const (
	// growth is the share of the arrivals by which the backlog may grow.
	growth = 0.02
	// failing is the share of requests that may fail.
	failing = 0.01
	// lateness is how late this client may be, or this share of a fast response.
	lateness      = 100 * time.Millisecond
	latenessShare = 0.5
	// shortfall is the share of a rate that must have been answered: few requests leave no backlog.
	shortfall = 0.97
)

// JudgeStep says how a step went. What was not sent is part of the backlog.
func JudgeStep(rate float64, mark record.StageSummary, list []RequestTimes, percentile float64) Step {
	list = slices.SortedFunc(slices.Values(list), func(a, b RequestTimes) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.End, b.End))
	})
	s := Step{
		Rate: rate, Begin: mark.Begin.Seconds(), Sending: (mark.SendEnd - mark.Begin).Seconds(),
		Drained: (mark.DrainEnd - mark.SendEnd).Seconds(), Unsent: mark.Unsent, Requests: int64(len(list)) + mark.Unsent,
	}
	var late, took []time.Duration
	for _, p := range list {
		if p.Failed {
			s.Failed++
			continue
		}
		s.OK++
		late = append(late, p.Sent-p.Due)
		took = append(took, p.End-p.Sent)
	}
	if s.OK == 0 {
		s.Why = fmt.Sprintf("none of %d requests was answered", s.Requests)
		return s
	}
	lag, fast := quantileOf(late, 0.99), quantileOf(took, 0.1)
	s.Lag, s.Latency = milliseconds(lag), milliseconds(fast)
	s.drain(list, mark, percentile)
	s.backlog(list, mark, took[0])
	s.judge(lag, fast)
	return s
}

// judge decides whether the step was kept up with.
func (s *Step) judge(lag, fast time.Duration) {
	grown := s.After - s.Before
	switch {
	case lag > max(lateness, time.Duration(latenessShare*float64(fast))):
		s.Why = fmt.Sprintf("requests were sent %v late at p99: this client or its cap on requests in flight is the limit", lag.Round(time.Millisecond))
	case grown > s.Tolerated:
		s.Why = fmt.Sprintf("the backlog grew from %.1f to %.1f requests, by more than %.1f", s.Before, s.After, s.Tolerated)
	case float64(s.Failed) > failing*float64(s.Requests):
		s.Why = fmt.Sprintf("%d of %d requests failed", s.Failed, s.Requests)
	case float64(s.Unsent) > failing*float64(s.Requests):
		s.Why = fmt.Sprintf("%d of %d requests could not be sent in time", s.Unsent, s.Requests)
	case s.Answered < shortfall*s.Rate:
		s.short = true
		s.Why = fmt.Sprintf("only %.4g requests/s were answered", floor(s.Answered))
	default:
		s.Kept = true
		s.Why = fmt.Sprintf("the backlog stood at %.1f and then %.1f requests", s.Before, s.After)
	}
}

// looks is how often the backlog is looked at in a quarter of a step.
const looks = 50

// backlog works out how many requests were due and not ended in the third and in the
// last quarter of the sending. One that stands still is as large as the rate times the
// time of a response, and goes up and down by the square root of that.
func (s *Step) backlog(list []RequestTimes, mark record.StageSummary, fastest time.Duration) {
	span := mark.SendEnd - mark.Begin
	ends := make([]time.Duration, 0, len(list))
	for _, p := range list {
		ends = append(ends, p.End)
	}
	slices.Sort(ends)
	open := func(t time.Duration) float64 {
		due, _ := slices.BinarySearchFunc(list, t, func(p RequestTimes, t time.Duration) int { return cmp.Compare(p.Due, t) })
		ended, _ := slices.BinarySearch(ends, t)
		return float64(due - ended)
	}
	quarter := func(from float64) float64 {
		sum := 0.0
		for i := range looks {
			sum += open(mark.Begin + time.Duration((from+0.25*(float64(i)+0.5)/looks)*float64(span)))
		}
		return sum / looks
	}
	s.Before, s.After = quarter(0.5), quarter(0.75)
	s.Tolerated = growth*float64(s.Requests)/4 + 2*math.Sqrt(s.Rate*fastest.Seconds()+1)
}

// bin is the shortest time over which answers are counted.
const bin = 500 * time.Millisecond

// drain works out how fast responses came while there was a backlog: from the first
// answer to the last, in bins. upper is a percentile of the bins.
func (s *Step) drain(list []RequestTimes, mark record.StageSummary, percentile float64) {
	var ends []time.Duration
	for _, p := range list {
		if !p.Failed {
			ends = append(ends, p.End)
		}
	}
	slices.Sort(ends)
	first, last := ends[0], ends[len(ends)-1]
	if len(ends) < 3 || last-first < time.Millisecond {
		s.Answered = float64(len(ends)) / max((mark.DrainEnd-mark.Begin).Seconds(), 1e-3)
		s.Upper = s.Answered
		return
	}
	s.Answered = float64(len(ends)-1) / (last - first).Seconds()
	width := max(bin, (last-first)/40)
	var rates []float64
	for from := first; from+width <= last; from += width {
		lo, _ := slices.BinarySearch(ends, from)
		hi, _ := slices.BinarySearch(ends, from+width)
		rates = append(rates, float64(hi-lo)/width.Seconds())
	}
	s.Upper = s.Answered
	if len(rates) > 0 {
		slices.Sort(rates)
		s.Upper = max(s.Answered, rates[int(math.Round(percentile/100*float64(len(rates)-1)))])
	}
}

// quantileOf is a quantile of spans; 0 where there are none.
func quantileOf(list []time.Duration, q float64) time.Duration {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[int(math.Round(q*float64(len(list)-1)))]
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
