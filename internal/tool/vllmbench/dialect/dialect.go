// Package dialect holds the metrics of vllm bench serve over records.
//
// With T the time of sending, t₀ … tₖ the times of the chunks that have choices, whatever these hold, and n
// the tokens of the response:
//
//	ttft               t₀ − T
//	itl                tᵢ − tᵢ₋₁, of all requests together
//	e2el               tₖ − T
//	tpot               (tₖ − t₀) ÷ (n − 1), of responses of more than one token
//	client_queue_time  T − the moment at which the request was due
//
// Requests that failed count nowhere but in their number. Where the original takes a response for good that
// says of itself that it is not, so does this package only when it is asked to be faithful.
package dialect

import (
	"math"
	"net/http"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// Request is one request as the original keeps it. Times are in seconds.
type Request struct {
	Start   float64 // on the run's clock
	TTFT    float64
	ITL     []float64
	Latency float64
	Queue   float64
	In, Out int
	Text    string
	Error   string // empty: it went well
}

// Options say how records are to be seen.
type Options struct {
	Begin    time.Duration // of the stage
	Waiting  bool          // all requests were due when it began, and waited for a slot
	Text     bool          // what responses say is kept
	Faithful bool
	// Old: prompts have the length of this side's tokenizer, and the last chunk ends a request whatever it is, as before 0.30.
	Old bool
}

// Read makes a request of a record.
func Read(rec *record.Record, o Options) Request {
	r := Request{Start: rec.Sent.Seconds(), In: max(rec.In.N, 0)}
	due := rec.Scheduled()
	if o.Waiting {
		due = o.Begin
	}
	if o.Old && rec.In.Local >= 0 {
		r.In = rec.In.Local
	}
	r.Queue = max(rec.Sent-due, 0).Seconds()
	last := rec.Sent
	handed, text := rec.Handed(nil), []byte(nil)
	off, chunks := 0, 0
	chunk := func(at time.Duration) {
		if chunks++; chunks == 1 {
			r.TTFT = (at - rec.Sent).Seconds()
		} else {
			r.ITL = append(r.ITL, (at - last).Seconds())
		}
		last = at
	}
	for i := range rec.Events {
		e := &rec.Events[i]
		end := min(off+e.Text, len(rec.Text))
		if o.Text && e.Label == record.Content {
			text = append(text, rec.Text[off:end]...)
		}
		off = end
		switch {
		case e.Mark >= len(handed):
		case chosen(e.Label):
			chunk(handed[e.Mark])
		case o.Old && e.Label == record.Usage && chunks > 0:
			last = handed[e.Mark]
		}
	}
	if t := rec.Tail; t != nil && t.Events > 0 {
		chunk(t.Last)
	}
	if r.Error = failed(rec, chunks, o.Faithful); r.Error != "" {
		return Request{Start: r.Start, In: r.In, Queue: r.Queue, Error: r.Error}
	}
	r.Latency, r.Out, r.Text = (last - rec.Sent).Seconds(), max(rec.Out.N, 0), string(text)
	return r
}

// chosen reports whether chunks of a label have choices.
func chosen(l record.EventKind) bool {
	return l.IsToken() || l == record.Role || l == record.Empty || l == record.Finish
}

// failed says how a request failed; empty: it did not.
func failed(rec *record.Record, chunks int, faithful bool) string {
	f := rec.Failure
	if faithful && chunks > 0 && f != nil && rec.Status == http.StatusOK {
		switch f.Class {
		case record.StreamError, record.Aborted, record.BadBody: // the original does not look at that
			f = nil
		}
	}
	switch {
	case f != nil && f.Class == record.HTTPStatus && http.StatusText(f.Status) != "":
		return http.StatusText(f.Status)
	case f != nil && f.Message == "":
		return f.Exception()
	case f != nil:
		return f.Exception() + ": " + f.Message
	case chunks == 0:
		return "the response had no chunk with choices"
	}
	return ""
}

// Summary are the figures of a run. Times are in seconds.
type Summary struct {
	Requests         []Request
	Duration         float64
	Completed        int
	Failed           int
	Input, Output    int
	Good             int // that met all objectives
	PeakTokens       float64
	PeakConcurrent   int
	TTFT, TPOT, ITL  []float64 // sorted
	Latency, Queue   []float64
	LatencyWithQueue []float64
}

// Summarize works out the figures of requests. Objectives are the longest times in ms by the names ttft, tpot
// and e2el.
func Summarize(all []Request, duration float64, objectives map[string]float64) *Summary {
	s := &Summary{Requests: all, Duration: duration}
	for i := range all {
		r := &all[i]
		if r.Error != "" {
			s.Failed++
			continue
		}
		s.Completed++
		s.Input += r.In
		s.Output += r.Out
		tpot := 0.0
		if r.Out > 1 {
			tpot = (r.Latency - r.TTFT) / float64(r.Out-1)
			s.TPOT = append(s.TPOT, tpot)
		}
		s.TTFT, s.ITL, s.Latency = append(s.TTFT, r.TTFT), append(s.ITL, r.ITL...), append(s.Latency, r.Latency)
		s.Queue, s.LatencyWithQueue = append(s.Queue, r.Queue), append(s.LatencyWithQueue, r.Latency+r.Queue)
		good := len(objectives) > 0
		for name, value := range map[string]float64{"ttft": r.TTFT, "tpot": tpot, "e2el": r.Latency} {
			if limit, ok := objectives[name]; ok && value > limit/1000 {
				good = false
			}
		}
		if good {
			s.Good++
		}
	}
	s.peaks()
	for _, list := range [][]float64{s.TTFT, s.TPOT, s.ITL, s.Latency, s.Queue, s.LatencyWithQueue} {
		slices.Sort(list)
	}
	return s
}

// peaks counts chunks and requests by whole seconds from the first start.
func (s *Summary) peaks() {
	first := math.Inf(1)
	for i := range s.Requests {
		if r := &s.Requests[i]; r.Error == "" {
			first = min(first, r.Start)
		}
	}
	tokens, busy := map[int]int{}, map[int]int{}
	for i := range s.Requests {
		r := &s.Requests[i]
		if r.Error != "" {
			continue
		}
		at := r.Start + r.TTFT
		tokens[int(at-first)]++
		for _, gap := range r.ITL {
			at += gap
			tokens[int(at-first)]++
		}
		for second := int(r.Start - first); second <= int(r.Start+r.Latency-first); second++ {
			busy[second]++
		}
	}
	for _, n := range tokens {
		s.PeakTokens = max(s.PeakTokens, float64(n))
	}
	for _, n := range busy {
		s.PeakConcurrent = max(s.PeakConcurrent, n)
	}
}

// Rate is so many in a second of the run.
func (s *Summary) Rate(n int) float64 {
	if !(s.Duration > 0) {
		return 0
	}
	return float64(n) / s.Duration
}

// Mean of sorted values and their standard deviation; 0 of none.
func Mean(values []float64) (mean, deviation float64) {
	if len(values) == 0 {
		return 0, 0
	}
	for _, v := range values {
		mean += v
	}
	mean /= float64(len(values))
	for _, v := range values {
		deviation += (v - mean) * (v - mean)
	}
	return mean, math.Sqrt(deviation / float64(len(values)))
}

// Percentile of sorted values; 0 of none.
func Percentile(values []float64, p float64) float64 {
	if len(values) == 0 {
		return 0
	}
	return stat.Linear.QuantileOf(values, p/100)
}
