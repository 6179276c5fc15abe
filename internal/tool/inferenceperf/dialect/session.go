package dialect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// Session is one conversation, or one recorded session, in one stage.
type Session struct {
	ID         string
	Stage      int
	Start, End time.Duration
	Events     int // requests, with those that a recorded session should have had
	Completed  int // that succeeded
	Cancelled  int // that were broken off or never went
	In, Out    int64
	Retries    int // attempts after the first of requests that no server answered
	Recovered  int // requests that one of them saved
	// Mark is how a recorded session was played; nil means it is a conversation.
	Mark *record.SessionSummary
	// Cached and Cacheable are prompt tokens of the requests whose responses say how many
	// came out of the server's cache; Told: there are such requests.
	Cached, Cacheable int64
	Told              bool
	First             time.Duration // moment of the first token for the user; None: there is none
	NoFirst           string        // why there is none, of a recorded session
	Error             *record.Failure

	firsts []firstToken
}

// firstToken is when the first token of a turn came.
type firstToken struct {
	turn     int
	at       time.Duration // None: it has none
	streamed bool          // and answered
}

// OK reports whether every request succeeded.
func (s *Session) OK() bool { return s.Completed == s.Events && s.Error == nil }

type sessionKey struct {
	stage int
	id    string
}

func (f *Fold) addSession(rec *record.Record, v *Values) {
	k := sessionKey{rec.Stage, rec.Session}
	s := f.sessions[k]
	if s == nil {
		s = &Session{ID: rec.Session, Stage: rec.Stage, Start: v.Start, End: v.End, First: None}
		f.sessions[k] = s
	}
	s.firsts = append(s.firsts, firstToken{rec.Turn, v.First, rec.Streamed && rec.Failure == nil})
	s.Start, s.End = min(s.Start, v.Start), max(s.End, v.End)
	s.Events++
	s.In += int64(v.In)
	s.Retries += v.Retries
	if v.Recovered {
		s.Recovered++
	}
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
			s.Error = new(*rec.Failure)
		}
	}
}

// AddSession takes down how a recorded session was played. Its requests may come before
// or after.
func (f *Fold) AddSession(m *record.SessionSummary) { f.marks[sessionKey{m.Stage, m.Session}] = m }

// finish works out what only shows once all requests of a session are known.
func (s *Session) finish(m *record.SessionSummary) {
	s.First = None
	if m == nil {
		for _, t := range s.firsts {
			s.offer(t.at)
		}
		return
	}
	s.Mark = m
	s.Start, s.End = min(m.Begin, s.Start), max(m.End, s.End)
	s.Cancelled += m.Unsent
	s.Events = m.Calls
	s.NoFirst = "no_user_facing"
	for _, t := range s.firsts {
		switch {
		case !slices.Contains(m.User, t.turn):
		case t.at != None:
			s.offer(t.at)
		case !t.streamed:
			s.NoFirst = "non_streaming"
		case s.NoFirst == "no_user_facing":
			s.NoFirst = "no_output_tokens"
		}
	}
	if s.First != None {
		s.NoFirst = ""
	}
}

// offer takes a time at which a token came, if it is the first.
func (s *Session) offer(at time.Duration) {
	if at != None && (s.First == None || at < s.First) {
		s.First = at
	}
}

// Fault is the kind of failure that a session is counted under, and what was said of it;
// empty: it did not fail.
func (s *Session) Fault() (label, message string) {
	switch {
	case s.Mark != nil && s.Mark.Cause != "":
		return string(s.Mark.Cause), s.Mark.Message
	case s.Error != nil:
		return Label(s.Error), s.Error.Message
	case !s.OK():
		return "unreported", "session failed with no error recorded"
	}
	return "", ""
}

// Sessions are all sessions, in the order they began, once all requests are
// known. Those that the end of their stage cut short are none in the original's ways.
func (f *Fold) Sessions() []*Session {
	out := make([]*Session, 0, len(f.sessions))
	for k, s := range f.sessions {
		m := f.marks[k]
		if m != nil && f.opt.Faithful && m.Cause == record.SessionHalted {
			continue
		}
		if s.Mark == nil {
			s.finish(m)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b *Session) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(a.Start, b.Start), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// SessionSummary is what sessions come to.
type SessionSummary struct {
	Sessions, OK, Failed              int64
	Events, Completed, Cancelled      int64
	Retried, Retries, Recovered       int64 // sessions with requests that went again, how often, and how many were answered
	PerSecond                         float64
	Failures                          []Failure
	Duration, NumEvents, NumCancelled *Dist
	In, Out, Cached, Cacheable        *Dist
	Told                              int64    // sessions that say what came out of the cache
	HitPercent                        *float64 // nil means none says
	HitEach                           *Dist
	First                             *Dist // until the first token of a session for its user
	NoFirst                           map[string]int64
	// Of recorded sessions: those with responses that gave way to the recorded ones, how many
	// such responses there are, and a word on each session.
	Repaired, Repairs int64
	RepairMessages    []Message
	Users, Programs   *Dist // calls that answer a user, and those that answer a program
}

// SummarizeSessions works out what sessions come to.
func (f *Fold) SummarizeSessions(list []*Session) (*SessionSummary, error) {
	s := &SessionSummary{Sessions: int64(len(list))}
	faults := failures{}
	var start, end time.Duration
	var cached, cacheable int64
	for i, x := range list {
		if i == 0 {
			start, end = x.Start, x.End
		}
		start, end = min(start, x.Start), max(end, x.End)
		s.Events += int64(x.Events)
		s.Completed += int64(x.Completed)
		s.Cancelled += int64(x.Cancelled)
		s.Retries += int64(x.Retries)
		s.Recovered += int64(x.Recovered)
		if x.Retries > 0 {
			s.Retried++
		}
		if x.OK() {
			s.OK++
		} else {
			s.Failed++
			label, message := x.Fault()
			faults.put(label, message, []string{x.ID}, f.opt.MaxMessages)
		}
		s.notes(x, f.opt.MaxMessages)
		if x.Told {
			s.Told++
			cached, cacheable = cached+x.Cached, cacheable+x.Cacheable
		}
	}
	s.Failures = faults.sorted()
	if span := (end - start).Seconds(); span > 0 {
		s.PerSecond = float64(len(list)) / span
	}
	if cacheable > 0 {
		s.HitPercent = new(100 * float64(cached) / float64(cacheable))
	}
	return s, f.sessionDistributions(s, list)
}

// notes takes what a recorded session says beside its figures.
func (s *SessionSummary) notes(x *Session, most int) {
	if x.NoFirst != "" {
		if s.NoFirst == nil {
			s.NoFirst = map[string]int64{}
		}
		s.NoFirst[x.NoFirst]++
	}
	if x.Mark == nil || len(x.Mark.Repaired) == 0 {
		return
	}
	s.Repaired++
	s.Repairs += int64(len(x.Mark.Repaired))
	if len(s.RepairMessages) < most {
		text := fmt.Sprintf("substitutions=%d event_ids=['%s']", len(x.Mark.Repaired), strings.Join(x.Mark.Repaired, "', '"))
		s.RepairMessages = append(s.RepairMessages, Message{Text: text, Sessions: []string{x.ID}})
	}
}

func (f *Fold) sessionDistributions(s *SessionSummary, list []*Session) error {
	always := func(*Session) bool { return true }
	told := func(x *Session) bool { return x.Told }
	marked := func(x *Session) bool { return x.Mark != nil }
	for _, d := range []struct {
		to    **Dist
		scale float64
		has   func(*Session) bool
		value func(*Session) int64
	}{
		{&s.Duration, 1e9, always, func(x *Session) int64 { return int64(x.End - x.Start) }},
		{&s.NumEvents, 1, always, func(x *Session) int64 { return int64(x.Events) }},
		{&s.NumCancelled, 1, always, func(x *Session) int64 { return int64(x.Cancelled) }},
		{&s.In, 1, always, func(x *Session) int64 { return x.In }},
		{&s.Out, 1, always, func(x *Session) int64 { return x.Out }},
		{&s.First, 1e9, func(x *Session) bool { return x.First != None }, func(x *Session) int64 { return int64(x.First - x.Start) }},
		{&s.Users, 1, marked, func(x *Session) int64 { return int64(len(x.Mark.User)) }},
		{&s.Programs, 1, marked, func(x *Session) int64 { return int64(x.Mark.Program) }},
		{&s.Cached, 1, told, func(x *Session) int64 { return x.Cached }},
		{&s.Cacheable, 1, told, func(x *Session) int64 { return x.Cacheable }},
		{&s.HitEach, aspects, func(x *Session) bool { return x.Told && x.Cacheable > 0 },
			func(x *Session) int64 { return toInteger(100*float64(x.Cached)/float64(x.Cacheable), aspects) }},
	} {
		column := f.opt.Pool.Column()
		for _, x := range list {
			if d.has(x) {
				column.Append(d.value(x), stat.First)
			}
		}
		dist, err := distribution([]*stat.Column{column}, f.opt.Percentiles, d.scale)
		if err != nil {
			return err
		}
		*d.to = dist
		column.Close()
	}
	return nil
}
