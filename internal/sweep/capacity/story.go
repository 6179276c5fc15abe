package capacity

import (
	"fmt"
	"math"
	"slices"
)

// story is what the levels come to in the order they were run: a server may stay down
// after an overload, or change, and what was seen then or before says nothing of its capacity.
type story struct {
	counts []Trial // that tell of the server as it is
	unused map[int]string

	down  *Trial  // an overload after which the server has not been well yet, or nil
	well  float64 // the load at which it is to be seen to be well
	tried []Trial // since then
	doubt bool    // down itself is at a load that was met before

	checked  bool // the server was seen to be well again after an overload
	relapse  *Relapse
	absent   bool    // it does not answer at all while it is down
	back     float64 // seconds after which it was back
	lost     bool    // it never came back
	last     Trial   // the last one of all
	changed  string  // how the server did; empty: it did not
	changes  int
	contrary *contrary // levels of the server as it is that contradict each other
	brief    []Trial   // that were met for a while, at loads at which the server broke

	held   *Trial  // the answer
	failed []Trial // holds that were not met, since the server last changed
}

// Relapse is what was found of a server that an overload brings down for longer than it lasts.
type Relapse struct {
	Load     float64 `json:"load"`               // that brought it down
	Stays    float64 `json:"stays"`              // the lowest load at which it stayed down
	Recovers float64 `json:"recovers,omitempty"` // the load at which it recovered; 0: at none that was tried
	Rest     float64 `json:"rest,omitempty"`     // seconds without a request after which it recovered
	Lost     bool    `json:"lost,omitempty"`     // it did not recover at all
}

// contrary are two levels of which the higher load met the objectives and the lower did not.
type contrary struct{ met, missed Trial }

const (
	// contradiction is how many standard errors two levels are apart that cannot both be so;
	// contradictionAt is that for the same load.
	contradiction   = 3.3
	contradictionAt = 4
	// higher is how far the load of one that is met is above that of one that is missed, for that.
	higher = 1.08
)

// contradict reports whether a load was met as high as one that was missed, or higher, beyond
// chance.
func contradict(met, missed *Trial) bool {
	if missed.Met != No || met.Met == No || met.blank || met.bad > -0.5 {
		return false
	}
	z := (missed.bad - met.bad) / math.Sqrt2
	return met.Load >= higher*missed.Load && z >= contradiction || met.Load >= missed.Load && z >= contradictionAt
}

func (s *Search) story(levels []Trial) *story {
	st := &story{unused: map[int]string{}}
	kind := ""
	for i := range levels {
		l := levels[i]
		if l.Kind != Repeat {
			kind = l.Kind
		}
		l.Kind = kind
		if i+1 < len(levels) && levels[i+1].Kind == Repeat {
			st.unused[l.Stage] = "this client was in trouble"
			continue
		}
		switch {
		case kind == Overload:
			st.unused[l.Stage] = "it was meant to be too much"
		case st.down != nil && kind == Recovery:
			s.recovered(st, l)
		default:
			s.seen(st, l)
		}
		st.last = l
	}
	return st
}

// seen takes in a level that is not one of a recovery.
func (s *Search) seen(st *story, l Trial) {
	if s.brief(st, l) || !s.doubted(st, l) {
		return
	}
	st.counts = append(st.counts, l)
	if l.Kind == Hold {
		if s.stood(&l) && s.believed(st.counts, l.Load) {
			st.held = &st.counts[len(st.counts)-1]
		} else {
			st.failed = append(st.failed, l)
		}
	}
	if broken(&l) && !st.checked && st.relapse == nil {
		s.fell(st, l, false)
	}
}

// fell waits for the server to be well again after a level; doubt: the level itself may only tell
// that it is not. False: there is no load that it was well at.
func (s *Search) fell(st *story, l Trial, doubt bool) bool {
	if st.well = s.good(st, l.Load); st.well == 0 {
		return false
	}
	st.down, st.tried, st.doubt = &l, nil, doubt
	return true
}

// brief reports whether a level is one of a server that breaks suddenly, at a load at which it did:
// that it is met for a while says nothing of how long it holds. Where the server breaks suddenly at a
// load that was met before, that was such a level.
func (s *Search) brief(st *story, l Trial) bool {
	const why = "the server broke at this load, or at a lower one"
	if l.met() {
		for i := range st.counts {
			if b := &st.counts[i]; b.Load <= l.Load && s.sudden(st, b) {
				st.brief, st.unused[l.Stage] = append(st.brief, l), why
				st.contrary = &contrary{met: l, missed: *b}
				return true
			}
		}
		return false
	}
	if !s.sudden(st, &l) {
		return false
	}
	for i := len(st.counts) - 1; i >= 0; i-- {
		if m := st.counts[i]; m.met() && !m.blank && m.Load >= l.Load {
			st.contrary, st.brief = &contrary{met: m, missed: l}, append(st.brief, m)
			st.drop(i, why)
		}
	}
	return false
}

// doubted holds a level against those before it. False: it is not known whether it counts.
func (s *Search) doubted(st *story, l Trial) bool {
	tested := false
	for i := len(st.counts) - 1; i >= 0; i-- {
		m := st.counts[i]
		better, worse := contradict(&l, &m), contradict(&m, &l)
		if !better && !worse {
			continue
		}
		if worse && broke(st.counts[i+1:]) && !s.beganWell(&l) && s.fell(st, l, true) {
			return false
		}
		if !tested {
			if n := s.changed(append(slices.Clone(st.counts), l)); n > 0 {
				s.change(st, n, better, m, l)
				return true
			}
			tested = true
		}
		if better && 2*m.Seconds <= l.Seconds+st.metSince(i) {
			st.drop(i, "it was met for longer at this load, or at a higher one")
		}
		if worse && plainly(&m, &l) {
			st.contrary, st.brief = &contrary{met: m, missed: l}, append(st.brief, m)
			st.drop(i, "it was met for a while only")
		}
	}
	return true
}

// metSince is for how many seconds the load of a level, or more, was met after it.
func (st *story) metSince(i int) (seconds float64) {
	for k := i + 1; k < len(st.counts); k++ {
		if l := &st.counts[k]; l.Load >= st.counts[i].Load && l.Meets() {
			seconds += l.Seconds
		}
	}
	return seconds
}

// plainly reports whether two levels contradict each other so much that the server is not one whose
// answers take the longer the more is sent.
func plainly(met, missed *Trial) bool {
	return met.Load >= 1.15*missed.Load && met.bad < -0.9 && missed.bad >= clearlyOver && missed.Over != ""
}

// broken reports whether a level was so much that a server may not recover from it at once.
func broken(l *Trial) bool {
	if l.Over != "" {
		return true
	}
	for j := range l.Seen {
		b := l.Seen[j].Batches
		if t := (&Observation{Batches: b[len(b)/2:]}).Total(); l.Seen[j].Met == No && t.Bad > mostBad*t.N {
			return true
		}
	}
	return false
}

func broke(levels []Trial) bool {
	return slices.ContainsFunc(levels, func(l Trial) bool { return broken(&l) })
}

const (
	// early is the share of a level that tells how it began.
	early = 0.1
	// fallen is the share of what it did before that a server answers that has collapsed.
	fallen = 0.6
	// about is how many times as high as one that is met a load is at most that is not plainly too much.
	about = 1.3
)

// beganWell reports whether the objectives were met when a level began.
func (s *Search) beganWell(l *Trial) bool {
	if l.Seconds == 0 {
		return false
	}
	for j := range l.Seen {
		o, b := &s.Objectives[j], l.Seen[j].Batches
		if o.Allowed == 0 {
			return false
		}
		if t := (&Observation{Batches: b[:int(early*float64(len(b)))]}).Total(); t.N == 0 || t.Bad > max(2*o.Allowed, 0.1)*t.N {
			return false
		}
	}
	return true
}

// sudden reports whether the server collapsed at a load about which others are met: it is known to
// stay down then, and the level began well; or it answered fewer in the end than at a load that was met.
func (s *Search) sudden(st *story, l *Trial) bool {
	switch {
	case !broken(l) && !endedBadly(l):
		return false
	case st.relapse != nil:
		return s.beganWell(l) && (!st.absent || l.Failed > 0)
	}
	pace, top := 0.0, 0.0
	for _, m := range [][]Trial{st.counts, st.brief} {
		for i := range m {
			if m[i].met() && m[i].Load < 1.5*l.Load {
				pace, top = max(pace, m[i].Answered), max(top, m[i].Load)
			}
		}
	}
	end := l.Pace[len(l.Pace)/2:]
	half, wave := l.Seconds/2, l.Load
	if !s.Whole {
		pace, wave = min(pace, l.Load), 0
	}
	if l.Load > about*top || pace*half < handful {
		return false // it is plainly too much, or there are too few answers to tell
	}
	sum := 0.0
	for _, p := range end {
		sum += p
	}
	// What is in flight together may be answered together, and the level ends right before that.
	return len(end) > 0 && sum/float64(len(end))*half < fallen*pace*half-wave
}

// endedBadly reports whether most samples of the end of a level miss an objective.
func endedBadly(l *Trial) bool {
	for j := range l.Seen {
		b := l.Seen[j].Batches
		if t := (&Observation{Batches: b[len(b)-len(b)/10:]}).Total(); t.N > 0 && t.Bad > mostBad*t.N {
			return true
		}
	}
	return false
}

// breaks reports whether the server breaks suddenly: how long it holds a load is then chance.
func (s *Search) breaks(st *story) bool {
	n := 0
	for i := range st.counts {
		if s.sudden(st, &st.counts[i]) {
			n++
		}
	}
	return st.contrary != nil || n >= 2
}

// hopeless reports whether at least half of the samples of an objective miss it.
func (l *Trial) hopeless() bool {
	for j := range l.Seen {
		if seen := &l.Seen[j]; seen.Met == No && seen.Share >= mostBad {
			return true
		}
	}
	return false
}

// good is the highest load that was met and is so far below another that chance does not make it miss,
// or else the highest below it; 0: there is none.
func (s *Search) good(st *story, below float64) (load float64) {
	for _, part := range []float64{0.4, 0.9} {
		for i := range st.counts {
			if l := &st.counts[i]; l.met() && !l.blank && l.Load <= part*below && l.Load > load {
				load = l.Load
			}
		}
		if load > 0 {
			break
		}
	}
	return load
}

// drop takes a level out of those that count.
func (st *story) drop(i int, why string) {
	st.unused[st.counts[i].Stage] = why
	st.counts = append(st.counts[:i:i], st.counts[i+1:]...)
}

// change forgets the first levels, which were seen before the server changed.
func (s *Search) change(st *story, n int, better bool, was, is Trial) {
	how := fmt.Sprintf("%s met the objectives at first, and later %s missed them", short(was.Load), short(is.Load))
	if better {
		how = fmt.Sprintf("%s missed the objectives at first, and later %s met them", short(was.Load), short(is.Load))
	}
	s.forget(st, n, how)
}

// forget leaves the first levels out, because the server changed after them.
func (s *Search) forget(st *story, n int, how string) {
	st.changed = how
	for i := range min(n, len(st.counts)) {
		st.unused[st.counts[i].Stage] = "the server changed after it"
	}
	st.counts = slices.Clone(st.counts[min(n, len(st.counts)):])
	st.failed, st.held, st.contrary, st.brief = nil, nil, nil, nil
	st.changes++
}

// rests are those after which a server that stays down is tried, in seconds.
func rests() []float64 { return []float64{5, 10, 20, 40} }

// recover is the next level after an overload: at first a load that was met, then lower ones,
// then that load again after longer and longer rests. False: the server does not come back.
func (s *Search) recover(st *story) (NextLevel, bool) {
	step := NextLevel{Load: st.well, Kind: Recovery}
	last := element(st.tried, len(st.tried)-1)
	lows := s.lows(st.well)
	if first := element(st.tried, 0); first != nil && 2*first.Failed > first.Requests {
		lows = nil // a server that is not there does not care how much is sent
	}
	n := 0 // of lower loads and rests that were tried
	for i := range st.tried {
		l, before := &st.tried[i], element(st.tried, i-1)
		if l.Load < st.well || before != nil && !(before.Load < st.well && before.Met != No) {
			n++
		}
	}
	if r := st.relapse; r != nil && r.Rest > 0 && len(st.tried) < len(rests()) { // it is known what helps
		lows, n, last = nil, len(st.tried), element(st.tried, 0)
		if last == nil {
			last = st.down
		}
	}
	switch {
	case last == nil:
	case last.Load < st.well && last.Met != No: // it may be well now
	case n < len(lows):
		step.Load = lows[n]
	case n-len(lows) < len(rests()):
		step.Rest = max(rests()[n-len(lows)], 1.2*st.rest())
	default:
		return NextLevel{}, false
	}
	perSecond := s.perSecond(st.counts, step.Load)
	step.Seconds = clip(handful/max(perSecond, 1e-9), min(shortest, s.Seconds/parts), min(roughly, s.Seconds/parts))
	step.Warmup = min(1, step.Seconds)
	return step, true
}

// lows are loads below one, at which a server may recover.
func (s *Search) lows(load float64) (list []float64) {
	for _, part := range []float64{2, 4} {
		if l := s.tidy(load / part); l < load && (len(list) == 0 || l < list[len(list)-1]) {
			list = append(list, l)
		}
	}
	return list
}

// recovered takes in a level after an overload.
func (s *Search) recovered(st *story, l Trial) {
	well := l.Met != No
	first := len(st.tried) == 0
	st.tried = append(st.tried, l)
	if l.Load < st.well || !well {
		st.unused[l.Stage] = "the server had not recovered"
		_, more := s.recover(st)
		st.absent = st.absent || 2*l.Failed > l.Requests
		if st.relapse == nil {
			st.relapse = &Relapse{Load: st.down.Load, Stays: l.Load}
		}
		if !well {
			st.relapse.Stays = min(st.relapse.Stays, l.Load)
		}
		st.lost = !more
		st.relapse.Lost = !more
		return
	}
	down := *st.down
	st.down, st.checked = nil, true
	if first {
		if warmed := s.warmed(st, &l); warmed != "" {
			s.forget(st, len(st.counts), warmed)
			st.counts = append(st.counts, l)
			return
		}
		if st.doubt { // it was not down: the level tells of its capacity
			s.contradicted(st, down)
		}
		st.counts = append(st.counts, l)
		return
	}
	if st.doubt {
		st.unused[down.Stage] = "the server had not recovered"
	}
	st.back = 0
	for i := range st.tried {
		st.back += st.tried[i].Rest + st.tried[i].Seconds
	}
	before := st.tried[len(st.tried)-2]
	if before.Load < st.well && before.Met != No {
		st.relapse.Recovers = before.Load
	} else {
		st.relapse.Rest = max(st.relapse.Rest, l.Rest)
	}
	st.counts = append(st.counts, l)
}

// contradicted takes in a level that was missed though a higher load was met, of a server that was
// well before and after.
func (s *Search) contradicted(st *story, l Trial) {
	for i := len(st.counts) - 1; i >= 0; i-- {
		if m := st.counts[i]; contradict(&m, &l) && plainly(&m, &l) {
			st.contrary, st.brief = &contrary{met: m, missed: l}, append(st.brief, m)
			st.drop(i, "it was met for a while only")
		}
	}
	st.counts = append(st.counts, l)
	if l.Kind == Hold {
		st.failed = append(st.failed, l)
	}
}

// cure is how long nothing is sent before the next level, for the server to recover from the last.
func (st *story) cure() float64 {
	switch r := st.relapse; {
	case r == nil || !broken(&st.last) && !endedBadly(&st.last):
		return 0
	case st.absent:
		return max(st.back, rests()[1])
	case r.Rest > 0:
		return 1.2 * r.Rest
	default:
		return rests()[1]
	}
}

// rest is how long the server is known to need; 0: it is not known.
func (st *story) rest() float64 {
	if st.relapse == nil {
		return 0
	}
	return st.relapse.Rest
}
