// Package capacity searches for the highest load that meets objectives. It has no clock and
// sends nothing: given what was seen at the levels so far, it says which level to run next and
// for how long, when to stop, and the answer with an interval.
//
// An objective on a percentile is one on a share: ttft.p99 < 200ms is met where at most 1 % of
// the samples are above 200 ms. How that share rises with the load is a curve that every level
// tells something about; where the curve crosses what is allowed is the capacity.
package capacity

import "math"

// Objective is what a level must meet.
type Objective struct {
	Text   string  `json:"objective"` // as it was written
	Figure string  `json:"figure"`    // ttft.p99
	Bound  float64 `json:"bound"`
	Unit   string  `json:"unit"`
	// Allowed is the share of samples that may be on the bound's wrong side; 0: the mean is
	// compared.
	Allowed float64 `json:"allowed,omitempty"`
	Above   bool    `json:"above,omitempty"` // the figure must be above the bound, not below
	Least   int64   `json:"-"`               // samples without which the figure says little
}

// Batch is what a part of a level's time showed of an objective: samples in the order of their due
// times.
type Batch struct {
	N   float64 // samples
	Bad float64 // those on the wrong side of the bound
	Sum float64 // of the samples, in the objective's unit
}

// Add takes in the samples of another.
func (b *Batch) Add(other Batch) {
	b.N, b.Bad, b.Sum = b.N+other.N, b.Bad+other.Bad, b.Sum+other.Sum
}

// Observation is what a level showed of an objective.
type Observation struct {
	Batches []Batch  `json:"-"`
	Value   *float64 `json:"value,omitempty"` // the figure; nil means the level does not have it
	Lo      *float64 `json:"lo,omitempty"`    // between what it lies with 95 % confidence
	Hi      *float64 `json:"hi,omitempty"`
	Share   float64  `json:"share,omitempty"` // of samples on the wrong side of the bound
	Met     string   `json:"met"`             // Yes, No, Close or Few

	bad float64 // by how many standard errors it is missed; negative: met
}

// What a level says of an objective.
const (
	Yes   = "yes"
	No    = "no"
	Close = "too close to call"
	Few   = "too few requests"
)

// What a level is run for, where that is not to find the capacity.
const (
	// Recovery is a load that was met before, after one that was too much.
	Recovery = "recovery"
	// Hold is the answer, held for a while before it is given.
	Hold = "hold"
	// Overload is more than the server keeps up with, right before a hold: it uses up reserves for
	// bursts.
	Overload = "overload"
	// Repeat is the level before it once more: this client was in trouble then, and it does not count.
	Repeat = "repeat"
)

// Trial is what was seen at one load.
type Trial struct {
	Stage    int           `json:"stage"`
	Kind     string        `json:"kind,omitempty"` // Recovery, Hold, Overload or Repeat; empty: it looks for the capacity
	Load     float64       `json:"load"`
	Seconds  float64       `json:"seconds"` // measured
	Requests int64         `json:"requests"`
	Answered float64       `json:"responses_per_s"`
	Rest     float64       `json:"rest,omitempty"` // seconds without a request before it
	Over     string        `json:"over,omitempty"` // why it is more than the server keeps up with; empty: it is not
	Cut      bool          `json:"cut,omitempty"`  // it was ended as soon as that was clear
	Grew     bool          `json:"grew,omitempty"` // the backlog of unanswered requests grew
	Failed   int64         `json:"failed,omitempty"`
	Failure  string        `json:"failure,omitempty"` // how most of those failed
	Unused   string        `json:"unused,omitempty"`  // why it says nothing of the capacity; empty: it does
	Seen     []Observation `json:"objectives"`        // in the order of the objectives
	Met      string        `json:"met"`               // of all objectives together

	// Trouble is what was wrong with this client and may have caused what was seen; the level is
	// run again.
	Trouble string `json:"-"`
	// Pace are answers per second, by parts of the level.
	Pace []float64 `json:"-"`

	missed bool    // an objective is more likely missed than met
	blank  bool    // nothing was seen of one of them
	bad    float64 // by how many standard errors the worst of them is missed; negative: met
}

// Total is all batches as one.
func (s *Observation) Total() (t Batch) {
	for _, b := range s.Batches {
		t.Add(b)
	}
	return t
}

// dispersion is how far the shares of parts of a level are apart, as χ² of so many degrees of
// freedom: neighbours in time are not independent, and a sample says less than one of its own.
type dispersion struct{ chi2, df float64 }

// scales is how many lengths of parts there are: single batches, pairs of them, and fives. What
// lasts longer than a batch shows in the longer ones.
const scales = 3

func (s *Observation) dispersion() (out [scales]dispersion) {
	t := s.Total()
	p := t.Bad / t.N
	if !(p > 0 && p < 1) {
		return out
	}
	for k, length := range [scales]int{1, 2, 5} {
		for i := 0; i+length <= len(s.Batches); i += length {
			part := (&Observation{Batches: s.Batches[i : i+length]}).Total()
			if part.N > 0 {
				d := part.Bad - part.N*p
				out[k].chi2, out[k].df = out[k].chi2+d*d/(part.N*p*(1-p)), out[k].df+1
			}
		}
		out[k].df = max(out[k].df-1, 0)
	}
	return out
}

// clumped is how many samples tell as much as one of its own would.
func clumped(alike [scales]dispersion) float64 {
	f := 1.0
	for _, d := range alike {
		f = max(f, (d.chi2+clumping*clumpingWeight)/(d.df+clumpingWeight))
	}
	return f
}

// Mean is the mean of the samples and its standard error, by batches.
func (s *Observation) Mean() (mean, se float64, ok bool) {
	t := s.Total()
	mean = t.Sum / t.N
	var squares, n float64
	for _, b := range s.Batches {
		if b.N > 0 {
			d := (b.Sum/b.N - mean) * b.N * float64(len(s.Batches)) / t.N
			squares, n = squares+d*d, n+1
		}
	}
	if n < 2 {
		return mean, math.Inf(1), false
	}
	// A few batches do not know their own variance well.
	return mean, math.Sqrt(squares/(n-1)/n) * (1 + 1.5/n), true
}

// margin is by what share of the bound the mean is on its right side.
func (o *Objective) margin(mean float64) float64 {
	m := (o.Bound - mean) / math.Max(math.Abs(o.Bound), 1e-12)
	if o.Above {
		return -m
	}
	return m
}

// DesignEffect is how many samples tell as much as one of its own would.
func (s *Observation) DesignEffect() float64 { return clumped(s.dispersion()) }
