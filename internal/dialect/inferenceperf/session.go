package inferenceperf

import (
	"cmp"
	"slices"
	"time"

	"inferometer/internal/record"
	"inferometer/internal/stat"
)

// Session is one conversation in one stage.
type Session struct {
	ID         string
	Stage      int
	Start, End time.Duration
	Events     int // requests
	Completed  int // that succeeded
	Cancelled  int // that were broken off
	In, Out    int64
	// Cached and Cacheable are prompt tokens of the requests whose answers say how many
	// came out of the server's cache; Told: there are such requests.
	Cached, Cacheable int64
	Told              bool
	First             time.Duration // until the first token of all, from Start; None: there is none
	Error             *record.Failure
}

// OK reports whether every request succeeded.
func (s *Session) OK() bool { return s.Completed == s.Events && s.Error == nil }

type sessionKey struct {
	stage int
	id    string
}

// addSession adds a request to its session.
func (f *Fold) addSession(rec *record.Record, v *Values) {
	k := sessionKey{rec.Stage, rec.Session}
	s := f.sessions[k]
	if s == nil {
		s = &Session{ID: rec.Session, Stage: rec.Stage, Start: v.Start, End: v.End, First: None}
		f.sessions[k] = s
	}
	if v.TTFT != None {
		first := v.Start + v.TTFT
		if s.First == None || first < s.First {
			s.First = first
		}
	}
	s.Start, s.End = min(s.Start, v.Start), max(s.End, v.End)
	s.Events++
	s.In += int64(v.In)
	switch {
	case rec.Failure == nil:
		s.Completed++
		s.Out += int64(v.Out)
		if rec.Cached >= 0 && v.ServerIn {
			s.Told = true
			s.Cached += int64(min(rec.Cached, v.In))
			s.Cacheable += int64(v.In)
		}
	case brokenOff(rec):
		s.Cancelled++
		fallthrough
	default:
		if s.Error == nil {
			e := *rec.Failure
			s.Error = &e
		}
	}
}

// Sessions are all sessions, in the order in which they began.
func (f *Fold) Sessions() []*Session {
	out := make([]*Session, 0, len(f.sessions))
	for _, s := range f.sessions {
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// SessionSummary is what sessions come to.
type SessionSummary struct {
	Percentiles                       []float64
	Sessions, OK, Failed              int64
	Events, Completed, Cancelled      int64
	PerSecond                         float64
	Failures                          []Failure
	Duration, NumEvents, NumCancelled *Dist
	In, Out, Cached, Cacheable        *Dist
	Told                              int64    // sessions that say what came out of the cache
	HitPercent                        *float64 // nil: none says
	HitEach                           *Dist
	First                             *Dist // until the first token of a session
}

// SummarizeSessions works out what sessions come to.
func (f *Fold) SummarizeSessions(list []*Session) (*SessionSummary, error) {
	s := &SessionSummary{Percentiles: f.opt.Percentiles, Sessions: int64(len(list))}
	faults := failures{}
	var start, end time.Duration
	var cached, cacheable int64
	var cols sessionColumns
	cols.open(f.opt.Pool)
	for i, x := range list {
		if i == 0 {
			start, end = x.Start, x.End
		}
		start, end = min(start, x.Start), max(end, x.End)
		s.Events += int64(x.Events)
		s.Completed += int64(x.Completed)
		s.Cancelled += int64(x.Cancelled)
		if x.OK() {
			s.OK++
		} else {
			s.Failed++
			faults.add(&record.Record{Session: x.ID, Failure: x.Error}, f.opt.MaxMessages)
		}
		if x.Told {
			s.Told++
			cached, cacheable = cached+x.Cached, cacheable+x.Cacheable
		}
		cols.add(x)
	}
	s.Failures = faults.sorted()
	if span := (end - start).Seconds(); span > 0 {
		s.PerSecond = float64(len(list)) / span
	}
	if cacheable > 0 {
		p := 100 * float64(cached) / float64(cacheable)
		s.HitPercent = &p
	}
	return s, cols.summarize(s)
}

// sessionColumns hold the samples of sessions.
type sessionColumns struct {
	duration, events, cancelled, in, out, cached, cacheable, hit, first *stat.Column
}

func (c *sessionColumns) open(p *stat.Pool) {
	for _, col := range []**stat.Column{&c.duration, &c.events, &c.cancelled, &c.in, &c.out, &c.cached, &c.cacheable, &c.hit, &c.first} {
		*col = p.Column()
	}
}

func (c *sessionColumns) add(x *Session) {
	put := func(col *stat.Column, v int64) { col.Append(v, stat.First) }
	put(c.duration, int64(x.End-x.Start))
	put(c.events, int64(x.Events))
	put(c.cancelled, int64(x.Cancelled))
	put(c.in, x.In)
	put(c.out, x.Out)
	if x.First != None {
		put(c.first, int64(x.First-x.Start))
	}
	if x.Told {
		put(c.cached, x.Cached)
		put(c.cacheable, x.Cacheable)
		if x.Cacheable > 0 {
			put(c.hit, whole(100*float64(x.Cached)/float64(x.Cacheable), aspects))
		}
	}
}

func (c *sessionColumns) summarize(s *SessionSummary) error {
	for _, d := range []struct {
		to    **Dist
		from  *stat.Column
		scale float64
	}{
		{&s.Duration, c.duration, 1e9}, {&s.NumEvents, c.events, 1}, {&s.NumCancelled, c.cancelled, 1},
		{&s.In, c.in, 1}, {&s.Out, c.out, 1}, {&s.Cached, c.cached, 1}, {&s.Cacheable, c.cacheable, 1},
		{&s.HitEach, c.hit, aspects}, {&s.First, c.first, 1e9},
	} {
		dist, err := distribution([]*stat.Column{d.from}, s.Percentiles, d.scale)
		if err != nil {
			return err
		}
		*d.to = dist
		d.from.Close()
	}
	return nil
}
