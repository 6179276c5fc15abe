package capacity

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// Search looks for the capacity. All that it says follows from what it is and from the levels so
// far: whoever has those can make the answer again.
type Search struct {
	Objectives []Objective
	Whole      bool    // loads are integers: requests in flight
	Start      float64 // the first load
	Least      float64 // no load is below it
	Most       float64 // nor above this; 0: no bound
	Precision  float64 // half of the interval, as a share of the answer, at which the search ends
	Seconds    float64 // that the search may take
	Hold       float64 // seconds for which the answer is held before it is given; 0: it is not
	Sessions   bool    // the load is one of sessions, each of several requests
	Seed       uint64  // of the order of levels
}

// NextLevel is a level to run.
type NextLevel struct {
	Load    float64
	Seconds float64 // to measure
	Warmup  float64 // to send before that, in seconds
	Rest    float64 // to send nothing before that, in seconds
	Kind    string  // of the level
}

const (
	// shortest is how long a level is measured at least, in seconds.
	shortest = 5
	// refined is the same for one near the knee, steadily where a number of requests is in flight: no queue
	// builds up there that lasts longer than the level.
	refined, steadily = 30, 20
	// parts: while the knee is looked for, no level takes more than such a part of the time.
	parts = 15
	// roughly is how long such a level takes at most, in seconds: enough to see that the knee is
	// far.
	roughly = 20
	// settling is the share of a level before its measured part: a queue takes its time to settle.
	settling = 0.2
	// closely is how far from the likeliest capacity levels are among those that tell most of it.
	closely = 0.06
	// mostRepeats is how often a level is repeated because of this client, allRepeats that in a
	// search.
	mostRepeats, allRepeats = 2, 10
	// MostLevels bounds the search.
	MostLevels = 60
	// fewest is how many levels near the knee make an answer.
	fewest = 6
	// handful is how many requests a level has at least.
	handful = 10
	// sure is how many standard errors tell a level that meets an objective from one that does not.
	sure = 1.645
	// same is the ratio of two loads that are taken for one.
	same = 0.02
	// fewSamples is how many samples of an objective are few, whatever its percentile needs.
	fewSamples = 30
	// beyondChance is how many standard errors are beyond any chance.
	beyondChance = 2.6
	// noChance is the chance that is none: that all of a few samples are bad though few may be.
	noChance = 0.001
	// clearlyOver is by how many standard errors a level misses that the server did not keep up with.
	clearlyOver = 4
)

// Next is the next level; false: the search is over. spent is the time taken so far, in seconds.
func (s *Search) Next(levels []Trial, spent float64) (NextLevel, bool) {
	if len(levels) >= MostLevels {
		return NextLevel{}, false
	}
	if step, ok := s.again(levels); ok && spent+step.Warmup+step.Seconds <= s.Seconds {
		return step, true
	}
	st := s.story(levels)
	if st.down != nil {
		step, ok := s.recover(st)
		if !ok || spent+step.Rest+step.Warmup+step.Seconds > s.Seconds {
			return NextLevel{}, false
		}
		return step, true
	}
	if step, ok := s.probe(st, len(levels), spent); ok {
		return step, true
	}
	return s.hold(st, spent)
}

// again is the last level once more, where this client was in trouble then; false: it was not, the
// objectives were met all the same, or it has been tried often enough.
func (s *Search) again(levels []Trial) (NextLevel, bool) {
	l := element(levels, len(levels)-1)
	if l == nil || l.Trouble == "" || l.Meets() && !s.Whole {
		return NextLevel{}, false
	}
	total, row := 0, 0
	for i := range levels {
		row++
		if levels[i].Kind == Repeat {
			total++
		} else {
			row = 0
		}
	}
	if row >= mostRepeats || total >= allRepeats {
		return NextLevel{}, false
	}
	step := NextLevel{Load: l.Load, Seconds: max(l.Seconds, shortest), Kind: Repeat}
	step.Warmup = clip(settling*step.Seconds, 1, 15)
	return step, true
}

// probe is the next level that looks for the capacity; false: enough is known, or time is left only
// to hold it.
func (s *Search) probe(st *story, run int, spent float64) (NextLevel, bool) {
	levels, left := st.counts, s.Seconds-s.reserve()-spent
	if run >= MostLevels-mostHolds || st.held != nil || len(st.failed) > 0 || s.flat(levels) != nil {
		return NextLevel{}, false
	}
	load, known, ok := s.next(levels)
	if !ok {
		return NextLevel{}, false
	}
	step := NextLevel{Load: load, Rest: st.cure()}
	step.Seconds = s.length(levels, load, known, left-step.Rest)
	if known != nil && s.breaks(st) {
		step.Load = s.tidy(min(load, s.enduring(st, likely)))
		step.Seconds = max(step.Seconds, min(s.Hold, left/2))
	}
	step.Warmup = clip(settling*step.Seconds, min(1, step.Seconds), 15)
	if step.Rest+step.Seconds+step.Warmup > left && run > 0 {
		return NextLevel{}, false
	}
	if known != nil && (s.perSecond(levels, load)*step.Seconds < handful || step.Seconds < min(refined/2, s.Seconds/60)) {
		return NextLevel{}, false // what is left of the time shows nothing
	}
	return step, true
}

// next is the load of the next level; known is what is known of the capacity, nil: only where it is
// not.
func (s *Search) next(levels []Trial) (load float64, known *estimate, ok bool) {
	if len(levels) == 0 {
		return s.tidy(s.Start), nil, true
	}
	lo, hi := bracket(levels)
	switch {
	case lo == nil && hi == nil: // nothing was seen
		return levels[0].Load, nil, len(levels) < 3
	case hi == nil && s.Most > 0 && lo.Load >= s.Most:
		return lo.Load, nil, lo.Met != Yes && count(levels, lo.Load) < fewest
	case hi == nil:
		return s.tidy(2 * lo.Load), nil, true
	case !missed(levels) && (s.Most == 0 || hi.Load < s.Most): // a few requests by chance
		return s.tidy(2 * highest(levels)), nil, true
	case lo == nil && hi.open() && count(levels, hi.Load) < 3: // a few requests by chance
		return hi.Load, nil, true
	case lo == nil && hi.Load <= s.Least:
		return hi.Load, nil, hi.Met != No && count(levels, hi.Load) < fewest
	case lo == nil && hi.hopeless():
		return s.tidy(hi.Load / apart), nil, true
	case lo == nil:
		next := hi.Load / 2
		if hi.Over != "" && hi.Answered > 0 && !s.Whole {
			next = clip(0.8*hi.Answered, hi.Load/16, next)
		}
		return s.tidy(next), nil, true
	}
	a := s.estimate(levels)
	return s.refine(levels, a), a, !a.done
}

// missed reports whether one of the levels misses an objective beyond any chance: of a few requests
// at a low load some fail.
func missed(levels []Trial) bool {
	return slices.ContainsFunc(levels, func(l Trial) bool {
		return l.Over != "" || l.Met == No && (l.bad >= beyondChance || l.hopeless())
	})
}

func highest(levels []Trial) (load float64) {
	for i := range levels {
		load = max(load, levels[i].Load)
	}
	return load
}

// bracket is the highest level that meets the objectives, as far as it says by itself, and the
// lowest above it that does not, or nil. Below it only one that clearly does not
// counts: a few requests may miss by chance.
func bracket(levels []Trial) (lo, hi *Trial) {
	for i := range levels {
		if l := &levels[i]; l.met() && !l.blank && (lo == nil || l.Load > lo.Load) {
			lo = l
		}
	}
	for _, below := range []bool{false, true} {
		for i := range levels {
			l := &levels[i]
			if l.met() || l.blank && l.Met != No || lo != nil && (l.Load <= lo.Load) != below || below && l.Met != No {
				continue
			}
			if hi == nil || l.Load < hi.Load {
				hi = l
			}
		}
		if hi != nil {
			break
		}
	}
	return lo, hi
}

// Meets reports whether a level is more likely to meet the objectives than not, and did not end early.
func (l *Trial) Meets() bool { return l.met() && !l.blank }

// met reports whether a level is more likely to meet the objectives than not.
func (l *Trial) met() bool { return !l.missed && l.Over == "" }

// open reports whether a level leaves it open whether it meets the objectives.
func (l *Trial) open() bool { return l.Met == Close || l.Met == Few }

// refine is a load near the likeliest capacity, on the side of it of which less is known.
func (s *Search) refine(levels []Trial, a *estimate) float64 {
	spread := math.Log(a.hi/a.lo) / 4 // about a standard deviation
	var below, above float64
	for i := range levels {
		if d := math.Log(levels[i].Load / a.value); math.Abs(d) < max(2*spread, closely) {
			if d < 0 {
				below += levels[i].Seconds
			} else {
				above += levels[i].Seconds
			}
		}
	}
	rng := rand.New(rand.NewPCG(s.Seed, uint64(len(levels))))
	side := 1.0
	if below < above || below == above && rng.IntN(2) == 0 {
		side = -1
	}
	// Anywhere on that side: between levels that are clear the curve may be steep anywhere.
	load := s.tidy(a.belief.quantile(0.5 + side*(0.1+0.3*rng.Float64())))
	if s.Whole {
		return load
	}
	for i := range levels {
		if math.Abs(math.Log(levels[i].Load/load)) < same/2 {
			return levels[i].Load
		}
	}
	return load
}

// length is how long a level is to be measured.
func (s *Search) length(levels []Trial, load float64, known *estimate, left float64) float64 {
	need := 50.0
	for i := range s.Objectives {
		need = max(need, float64(s.Objectives[i].Least))
	}
	perSecond := s.perSecond(levels, load)
	seconds := 2 * float64(shortest)
	if perSecond > 0 {
		seconds = need / perSecond
	}
	if known == nil {
		// A few requests there must be, however slowly they come.
		few := min(handful/max(perSecond, 1e-9), s.Seconds/5)
		if perSecond == 0 { // nothing was answered yet: longer from level to level
			few = min(2*shortest*math.Pow(3, float64(len(levels))), s.Seconds/5)
		}
		if slices.ContainsFunc(levels, func(l Trial) bool { return l.Load > load && l.hopeless() && !l.Grew }) {
			// It is not a matter of a few.
			return clip(0.4*handful/max(perSecond, 1e-9), shortest, max(s.Seconds/5, shortest))
		}
		return clip(seconds/3, max(shortest, few), max(clip(s.Seconds/parts, min(1, s.Seconds/5), roughly), few))
	}
	// Twice what a percentile needs, and more while the interval is wider than it should be, though not
	// as much as it is wider: levels that are far from the capacity tell less of it than later ones, and
	// how far levels differ is known the sooner the more there are. What is left of the time is for several.
	wide := clip(math.Log(known.hi/known.lo)/(2*s.Precision), 1, 2)
	left = max(left, 0) / (1 + settling)
	// Where neighbours are alike, a sample says less: those of the objective that is missed first.
	first := slices.MinFunc(known.belief.curves, func(a, b *curve) int { return cmp.Compare(a.knee, b.knee) })
	alike := max(1, math.Sqrt(first.clumping/2))
	least := float64(refined)
	if s.Whole {
		least = steadily
	}
	return clip(2*wide*min(alike, 4)*seconds, least, max(left/3, min(shortest, left)))
}

// perSecond is how many requests there will be in a second at a load.
func (s *Search) perSecond(levels []Trial, load float64) float64 {
	if s.Whole {
		return answered(levels, load)
	}
	return load
}

// answered is how many requests per second are answered at a load, going by the levels so far.
func answered(levels []Trial, load float64) float64 {
	best, rate := math.Inf(1), 0.0
	for i := range levels {
		if d := math.Abs(math.Log(levels[i].Load / load)); d < best && levels[i].Answered > 0 {
			best, rate = d, levels[i].Answered
		}
	}
	return rate
}

// tidy rounds a load to what a reader can tell apart, within the bounds.
func (s *Search) tidy(load float64) float64 {
	if s.Whole {
		load = max(math.Round(load), 1)
	} else if v, err := strconv.ParseFloat(strconv.FormatFloat(load, 'g', 4, 64), 64); err == nil {
		load = v
	}
	load = max(load, s.Least)
	if s.Most > 0 {
		load = min(load, s.Most)
	}
	return load
}

func count(levels []Trial, load float64) (n int) {
	for i := range levels {
		if levels[i].Load == load {
			n++
		}
	}
	return n
}

// Judge says what a level shows of each objective, for the level alone.
func (s *Search) Judge(l *Trial) {
	l.Met, l.missed, l.blank, l.bad = Yes, false, false, math.Inf(-1)
	for j := range s.Objectives {
		o, seen := &s.Objectives[j], element(l.Seen, j)
		if seen == nil || seen.Total().N == 0 {
			l.Met, l.blank, l.bad = worse(l.Met, Few), true, max(l.bad, 0)
			continue
		}
		t := seen.Total()
		seen.Share = t.Bad / t.N
		bad := t.Bad > o.Allowed*t.N
		if o.Allowed == 0 {
			bad = o.margin(t.Sum/t.N) < 0
		}
		f := 1.0
		if o.Allowed > 0 {
			f = clumped(seen.dispersion())
		}
		e := o.evidenceOf(&Trial{Load: 1}, seen)
		z := math.Sqrt(o.deviance()(&e, 0, f))
		switch {
		case t.Bad == 0 && o.Allowed > 0 && t.N >= float64(o.Least)/4:
			seen.Met = Yes
		case t.Bad == t.N && o.Allowed > 0 && math.Pow(o.Allowed, t.N) < noChance:
			seen.Met = No
		case z < sure && t.N < max(float64(o.Least), fewSamples):
			seen.Met = Few
		case z < sure:
			seen.Met = Close
		case bad:
			seen.Met = No
		default:
			seen.Met = Yes
		}
		if !bad {
			z = -z
		}
		seen.bad = z
		l.missed, l.bad = l.missed || bad, max(l.bad, z)
		l.Met = worse(l.Met, seen.Met)
	}
	if l.Over != "" {
		l.Met, l.bad = No, max(l.bad, clearlyOver)
	}
}

// worse is the less favourable of two words.
func worse(a, b string) string {
	for _, word := range []string{No, Few, Close} {
		if a == word || b == word {
			return word
		}
	}
	return Yes
}

// span is where the capacity can be, in logarithms of the load.
func (s *Search) span(levels []Trial) (lo, hi float64) {
	low, high := bracket(levels)
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, l := range []*Trial{low, high, under(levels)} {
		if l != nil {
			lo, hi = min(lo, math.Log(l.Load)), max(hi, math.Log(l.Load))
		}
	}
	const beyond = 0.5
	return lo - beyond, hi + beyond
}

// under is the highest level that is met below the lowest that is clearly missed, or that one where
// there is none; nil means none is missed.
func under(levels []Trial) (met *Trial) {
	var missed *Trial
	for i := range levels {
		if l := &levels[i]; l.Met == No && (missed == nil || l.Load < missed.Load) {
			missed = l
		}
	}
	for i := range levels {
		if l := &levels[i]; missed != nil && l.met() && !l.blank && l.Load < missed.Load && (met == nil || l.Load > met.Load) {
			met = l
		}
	}
	if met == nil {
		return missed
	}
	return met
}
