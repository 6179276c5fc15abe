// Package dialect holds the metrics of inference-perf over records.
//
// With T the time of sending, E that of the end, t₀ … tₖ the times of the tokens of
// a streamed response (all tokens of one event have its time) and n the response's tokens:
//
//	request_latency                   E − T
//	normalized_time_per_output_token  (E − T) ÷ n
//	time_to_first_token               t₀ − T
//	time_per_output_token             (tₖ − t₀) ÷ (n − 1)
//	inter_token_latency               tᵢ − tᵢ₋₁, of all requests together
//	schedule_delay                    T − the moment at which it was due
//	throughput                        of the successes, over the time from the first T to
//	                                  the last E of all requests
//
// Where the original goes wrong, so does this package only when it is asked to be
// faithful; docs/differences.md lists the places.
package dialect

import (
	"cmp"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// The names of the times that a good request keeps to.
const (
	TTFT           = "ttft"
	TPOT           = "tpot"
	ITL            = "itl"
	NTPOT          = "ntpot"
	RequestLatency = "request_latency"
)

// Options say how records are to be seen.
type Options struct {
	Percentiles []float64          // from 0 to 100
	Goodput     map[string]float64 // longest times in seconds by the names above; nil means no goodput
	Headers     map[string]float64 // those of them that requests carry in their headers
	Constraints map[string]float64 // those of the config, whatever headers say, or nil
	// ServerTokens: the server's count of a response's tokens goes before the run's tokenizer's.
	ServerTokens bool
	MaxMessages  int  // of failures, by label
	Tokenizer    bool // the model's own tokenizer is known
	Faithful     bool
	Anthropic    bool // responses are of the messages API, of which the original times no tokens
	UserSessions bool // sessions are those of users, which entries of single requests name
	// Media are the pictures, videos and sounds of a prompt, or nil.
	Media func(prompt uint64) []Medium
	Pool  *stat.Pool // of the samples
}

// Fold takes records and gives summaries of them. It belongs to one goroutine.
type Fold struct {
	opt      Options
	buckets  map[Scope]*bucket // of an adapter, or of none, in a stage: reports are about sets of them
	sessions map[sessionKey]*Session
	marks    map[sessionKey]*record.SessionSummary
	values   Values
}

// NewFold makes an empty fold.
func NewFold(o Options) *Fold {
	return &Fold{opt: o, buckets: map[Scope]*bucket{}, sessions: map[sessionKey]*Session{}, marks: map[sessionKey]*record.SessionSummary{}}
}

// Counts reports whether a record is one that reports are about: neither of a warm-up or
// a search for stages nor, in the original's ways, of a request that was broken off.
func (o *Options) Counts(rec *record.Record) bool {
	if rec.Phase != record.Measured || rec.Stage < 0 {
		return false
	}
	return !o.Faithful || !brokenOff(rec)
}

func brokenOff(rec *record.Record) bool {
	return rec.Failure != nil && rec.Failure.Class.EndedHere()
}

// Seen is a record as reports see it. The original takes a stream with status 200 for a
// success whatever is in it: an error, a finish reason that says so, or nothing that it knows.
func (o *Options) Seen(rec *record.Record) *record.Record {
	if !o.Faithful || rec.Failure == nil || !rec.Streamed || rec.Status != 200 {
		return rec
	}
	switch rec.Failure.Class {
	case record.StreamError, record.Aborted, record.BadBody:
	default:
		return rec
	}
	seen := *rec
	seen.Failure = nil
	return &seen
}

// Add takes a decoded record.
func (f *Fold) Add(rec *record.Record) {
	if !f.opt.Counts(rec) {
		return
	}
	rec = f.opt.Seen(rec)
	k := Scope{rec.Stage, rec.Model}
	b := f.buckets[k]
	if b == nil {
		b = newBucket(f.opt.Pool)
		f.buckets[k] = b
	}
	v := &f.values
	f.opt.Measure(rec, v)
	b.add(&f.opt, rec, v)
	if rec.Session != "" {
		f.addSession(rec, v)
	}
}

// Scope is what a summary is about.
type Scope struct {
	Stage   int    // -1: all stages
	Adapter string // empty: all requests, with an adapter and without
}

// All is the scope of everything.
func All() Scope { return Scope{Stage: -1} }

// Stages are those that have requests, in order.
func (f *Fold) Stages() []int {
	var out []int
	for k := range f.buckets {
		out = append(out, k.Stage)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Adapters are the scopes of each adapter, and of each in each stage.
func (f *Fold) Adapters() (whole, staged []Scope) {
	for k := range f.buckets {
		if k.Adapter != "" {
			whole = append(whole, Scope{Stage: -1, Adapter: k.Adapter})
			staged = append(staged, k)
		}
	}
	order := func(a, b Scope) int {
		return cmp.Or(cmp.Compare(a.Adapter, b.Adapter), cmp.Compare(a.Stage, b.Stage))
	}
	slices.SortFunc(whole, order)
	slices.SortFunc(staged, order)
	return slices.Compact(whole), staged
}

// in are the buckets of a scope, in an order of their own.
func (f *Fold) in(s Scope) []*bucket {
	byStage := func(a, b Scope) int { return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Adapter, b.Adapter)) }
	var out []*bucket
	for _, k := range slices.SortedFunc(maps.Keys(f.buckets), byStage) {
		if (s.Stage < 0 || k.Stage == s.Stage) && (s.Adapter == "" || k.Adapter == s.Adapter) {
			out = append(out, f.buckets[k])
		}
	}
	return out
}
