package capacity

import "math"

const (
	// mostHolds is how many levels are kept for holding the answer.
	mostHolds = 12
	// holdShare is the part of a search's time that the answer is held for, at most.
	holdShare = 8
	// cautious is the chance with which the capacity is below the load that is held.
	cautious = 0.05
	// doubtful is the same for a load that was held, with what was seen then.
	doubtful = 0.2
	// coarsely is the ratio of two loads between which there is room for the capacity to be anywhere.
	coarsely = 1.5
	// stepDown is by how much less is tried after a hold that was not met.
	stepDown = 0.96
	// margin is what a server that does not recover is taken to hold, as a part of the lowest load
	// that broke it.
	margin = 0.77
	// tenMinutes is for how long a load is to be held, in seconds, of a server that breaks suddenly; surely
	// is the chance with which it is, hardly that with which it is at the upper end of the interval.
	tenMinutes = 600
	surely     = 0.993
	hardly     = 0.05
	likely     = 0.75
	// glimpse is a time in seconds that tells nothing of how long a load that is met holds.
	glimpse = 10
)

// holdFor is how long the answer is held, in seconds.
func (s *Search) holdFor() float64 { return min(s.Hold, s.Seconds/holdShare) }

// reserve is the time that is kept for holding the answer.
func (s *Search) reserve() float64 {
	if s.Hold == 0 {
		return 0
	}
	return 1.5*(1+settling)*s.holdFor() + 2*shortest // the first may not be the last
}

// hold is the level that holds the answer; false: it was held, there is none, or time is over.
func (s *Search) hold(st *story, spent float64) (NextLevel, bool) {
	load, ok := s.target(st)
	if s.Hold == 0 || st.held != nil || !ok {
		return NextLevel{}, false
	}
	if much, ok := s.overload(st, load); ok && s.Seconds-spent > s.reserve() {
		return NextLevel{Load: much, Kind: Overload, Seconds: shortest, Warmup: 1}, true
	}
	step := NextLevel{Load: load, Kind: Hold, Rest: st.cure()}
	left := (s.Seconds - spent - step.Rest) / (1 + settling)
	step.Seconds = min(s.holdFor(), left)
	step.Warmup = clip(settling*step.Seconds, min(1, step.Seconds), 15)
	return step, step.Seconds >= s.holdFor()/2
}

// overload is the load that comes right before a hold, too much for the server: one that allows
// bursts has saved up for one otherwise. False: it needs none, or does not recover by itself.
func (s *Search) overload(st *story, load float64) (float64, bool) {
	_, hi := bracket(st.counts)
	if s.Whole || hi == nil || st.relapse != nil || st.last.Kind == Overload || broken(&st.last) {
		return 0, false
	}
	much := max(2*load, hi.Load)
	return s.tidy(much), s.Most == 0 || much <= s.Most
}

// target is the load to hold; false: there is none that is met.
func (s *Search) target(st *story) (float64, bool) {
	lo, hi := bracket(st.counts)
	if lo == nil || s.flat(st.counts) != nil {
		return 0, false
	}
	load := lo.Load
	if hi != nil {
		e := s.estimate(st.counts)
		load = math.Sqrt(e.lo * e.value * math.Pow(e.belief.quantile(cautious)/e.value, widen(e.near)))
		for i := range st.counts { // what is met beyond all doubt is not given away
			if l := &st.counts[i]; s.clearlyMet(st.counts, l) && l.Load <= e.value {
				load = max(load, 0.95*l.Load)
			}
		}
		if hi.Load >= coarsely*lo.Load { // nothing was measured between: a level that was met says more than the interval
			load = max(load, lo.Load/math.Sqrt2)
		}
		if s.breaks(st) {
			load = min(load, s.lasting(st))
		}
	}
	for i := range st.failed {
		load = min(load, stepDown*st.failed[i].Load)
	}
	if s.Whole {
		load = math.Floor(load)
	}
	load = s.tidy(load)
	for i := range st.failed {
		if st.failed[i].Load <= load { // nothing lower is left
			return 0, false
		}
	}
	return load, load > 0
}

// clearlyMet reports whether a level meets the objectives that limit the capacity beyond all doubt.
func (s *Search) clearlyMet(levels []Trial, l *Trial) bool {
	for _, j := range s.limiting(levels) {
		if seen := element(l.Seen, j); seen == nil || seen.bad > -clearlyOver {
			return false
		}
	}
	return l.Over == "" && !l.blank
}

// stood reports whether a load was held: the objectives were met, no backlog grew, and the second
// half does not clearly miss them.
func (s *Search) stood(l *Trial) bool {
	if !l.met() || l.blank {
		return false
	}
	late := *l
	late.Seen = nil
	for j := range l.Seen {
		b := l.Seen[j].Batches
		late.Seen = append(late.Seen, Observation{Batches: b[len(b)/2:]})
	}
	s.Judge(&late)
	return late.Met != No || late.bad < 2
}

// believed reports whether a load that was held is still likely to be met, as its level shows.
func (s *Search) believed(levels []Trial, load float64) bool {
	lo, hi := bracket(levels)
	return lo == nil || hi == nil || load <= s.after(levels).belief.quantile(doubtful)
}

// bounds are the lowest load at which a server broke, and the second lowest: where it breaks suddenly,
// the lowest may have been bad luck. They are infinite where there are none.
func (st *story) bounds() (first, second float64) {
	first, second = math.Inf(1), math.Inf(1)
	for i := range st.counts {
		l := &st.counts[i]
		switch {
		case !broken(l) && !(l.Met == No && endedBadly(l)):
		case l.Load < first:
			first, second = l.Load, first
		default:
			second = min(second, l.Load)
		}
	}
	return first, second
}

// lasting is the load that a server that breaks suddenly is taken to hold. One that does not recover
// by itself has a margin besides: chance finds when it breaks, and nobody is there.
func (s *Search) lasting(st *story) float64 {
	load := s.enduring(st, surely)
	if st.relapse != nil && !st.absent {
		first, _ := st.bounds()
		load = min(load, margin*first)
	}
	return load
}

// enduring is the load that a server that breaks suddenly holds with a chance: how soon it breaks is
// taken to rise with a power of the load.
func (s *Search) enduring(st *story, chance float64) float64 {
	type exposure struct {
		load, seconds float64
		broke         bool
	}
	var all []exposure
	lo, hi := math.Inf(1), math.Inf(-1)
	add := func(l *Trial) {
		if l.Seconds < glimpse && !broken(l) {
			return
		}
		x := math.Log(l.Load)
		all = append(all, exposure{x, max(l.Seconds, 1), broken(l) || s.sudden(st, l)})
		lo, hi = min(lo, x), max(hi, x)
	}
	for i := range st.counts {
		add(&st.counts[i])
	}
	for i := range st.brief {
		add(&st.brief[i])
	}
	var powers, rates, logs []float64
	for k := range 12 {
		power := 8 * math.Pow(5, float64(k)/11)
		for r := range 60 {
			rate := math.Exp(-12 + 14*float64(r)/59) // of breaks in a second at the highest load
			sum := 0.0
			for _, e := range all {
				h := rate * math.Exp(power*(e.load-hi))
				sum -= h * e.seconds
				if e.broke {
					sum += math.Log(h)
				}
			}
			powers, rates, logs = append(powers, power), append(rates, rate), append(logs, sum)
		}
	}
	best := logMean(logs)
	g := newGrid(lo-1, hi, 200)
	for k := len(g) - 1; k >= 0; k-- {
		p, n := 0.0, 0.0
		for i := range logs {
			w := math.Exp(logs[i] - best)
			p, n = p+w*math.Exp(-tenMinutes*rates[i]*math.Exp(powers[i]*(g[k]-hi))), n+w
		}
		if p >= chance*n {
			return math.Exp(g[k])
		}
	}
	return math.Exp(g[0])
}
