package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// session is a running recorded session in one slot. Its calls go as soon as those that
// they come after were answered and their waits are over, side by side where the record has
// them so. A call that fails takes those that come after it along; the others go on.
//
// The fields belong to the goroutine of the slot: calls have one of their own and tell
// how they ended through ended.
type session struct {
	st    *stage
	slot  int
	first preparedRequest // what the slot was given: its first call
	// adapter is what calls ask for that name no model of their own; empty: the run's.
	adapter string
	run     *prompt.Play

	state  []callState
	open   []int           // responses that each call still waits for
	next   [][]int         // the calls that come after each
	due    []time.Duration // end of the last response that each call comes after
	quoted []bool          // later calls send the response to it
	under  int             // calls in flight
	cold   int             // calls of the warm-up that have not ended
	ended  chan ending
	mark   record.SessionSummary
}

// callState says how far a call has come.
type callState uint8

const (
	callWaits callState = iota
	callUnder
	callDone
	callFailed // or never sent
)

type ending struct {
	call    int
	at      time.Duration
	cause   record.SessionCause // empty: it was answered
	message string
	sent    bool
}

func newSession(st *stage, slot int, j preparedRequest) *session {
	run := j.prompt.Play
	calls := run.Graph.Calls
	s := &session{
		st: st, slot: slot, first: j, run: run,
		state: make([]callState, len(calls)), open: make([]int, len(calls)), next: make([][]int, len(calls)),
		due: make([]time.Duration, len(calls)), quoted: make([]bool, len(calls)), ended: make(chan ending),
		mark: record.SessionSummary{
			Session: run.Name, Stage: st.load.Index, Begin: st.e.cfg.Now(), Calls: len(calls), Unsent: len(calls), Origin: run.Graph.Origin,
		},
	}
	if calls[0].Prompt.Model == "" {
		s.adapter = j.prompt.Model
	}
	for i := range calls {
		s.open[i] = len(calls[i].After)
		s.due[i] = j.admission.due
		for _, before := range calls[i].After {
			s.next[before] = append(s.next[before], i)
		}
		for _, seg := range calls[i].Segments {
			if seg.Kind == prompt.Output {
				s.quoted[seg.From] = true
			}
		}
		if calls[i].User {
			s.mark.User = append(s.mark.User, i)
			s.mark.UserIDs = append(s.mark.UserIDs, calls[i].ID)
		}
		if calls[i].Program {
			s.mark.Program++
		}
		if calls[i].Warmup {
			s.cold++
		}
	}
	return s
}

// play carries out the session and tells how it went.
func (s *session) play() {
	var over <-chan time.Time
	if s.run.Graph.Patience > 0 {
		t := time.NewTimer(s.run.Graph.Patience)
		defer t.Stop()
		over = t.C
	}
	if s.cold == 0 {
		s.st.laneWarmed(s.slot)
	}
	for i := range s.open {
		if s.open[i] == 0 {
			s.begin(i)
		}
	}
	for s.under > 0 {
		select {
		case e := <-s.ended:
			s.under--
			s.finishCall(e)
		case <-over:
			s.giveUp()
		}
	}
	s.mark.End = cmp.Or(s.mark.End, s.mark.Begin)
	for _, i := range s.run.Repaired() {
		s.mark.Repaired = append(s.mark.Repaired, s.run.Graph.Calls[i].ID)
	}
	if tell := s.st.e.cfg.Session; tell != nil {
		tell(s.mark)
	}
}

func (s *session) begin(i int) {
	s.state[i] = callUnder
	s.under++
	ready := s.due[i]
	// The slot was let through for one request, which is the first call of all.
	let := i == 0
	go func() { s.ended <- s.carry(i, ready, let) }()
}

// finishCall notes how a call ended and begins those that it held up.
func (s *session) finishCall(e ending) {
	if e.sent {
		s.mark.Unsent--
		s.mark.End = max(s.mark.End, e.at)
	}
	if e.cause != "" {
		s.fail(e.call, e.cause, e.message)
		if c := s.run.Graph.Calls; e.sent && c[e.call].Warmup && c[e.call].Thread == c[0].Thread && s.st.load.WarmupLanes > 0 {
			s.st.fail(fmt.Errorf("warming up session %q: %s", s.run.Name, e.message))
		}
		return
	}
	s.warmed(e.call)
	s.state[e.call] = callDone
	for _, i := range s.next[e.call] {
		s.open[i]--
		s.due[i] = max(s.due[i], e.at)
		if s.open[i] == 0 && s.state[i] == callWaits {
			s.begin(i)
		}
	}
}

// warmed notes that a call has ended, or never goes.
func (s *session) warmed(i int) {
	if !s.run.Graph.Calls[i].Warmup {
		return
	}
	if s.cold--; s.cold == 0 {
		s.st.laneWarmed(s.slot)
	}
}

// fail ends a call and all that come after it. The first cause of a session stands: the
// others follow from it.
func (s *session) fail(i int, cause record.SessionCause, message string) {
	s.state[i] = callFailed
	s.warmed(i)
	if s.mark.Cause == "" {
		s.mark.Cause, s.mark.Message = cause, message
	}
	for _, k := range s.next[i] {
		if s.state[k] == callWaits {
			s.fail(k, record.PredecessorFailed, "predecessor failed")
		}
	}
}

// giveUp fails the calls that have waited for responses too long.
func (s *session) giveUp() {
	for i := range s.state {
		if s.state[i] == callWaits {
			s.fail(i, record.WaitFailed, "predecessor wait failed: TimeoutError")
		}
	}
}

// carry waits for a call's time and carries it out. What it comes after was over when it was ready.
func (s *session) carry(i int, ready time.Duration, let bool) ending {
	st, of := s.st, &s.run.Graph.Calls[i]
	halted := ending{call: i, cause: record.SessionHalted, message: "the stage ended before the session did"}
	begun := s.first.admission.due
	if !of.Warmup {
		if !st.awaitWarm() {
			return halted
		}
		begun = max(begun, st.warmedAt())
	}
	due := max(ready+of.Wait, begun+of.NotBefore)
	p, call, err := s.prepare(i, let)
	if faulty := new(prompt.FaultyRecord); errors.As(err, &faulty) {
		return ending{call: i, cause: record.RecordMalformed, message: err.Error()}
	}
	if err != nil {
		st.fail(fmt.Errorf("preparing call %d of session %q: %w", i+1, s.run.Name, err))
		return halted
	}
	if !st.await(due) {
		return halted
	}
	now, admission := st.e.cfg.Now(), s.first.admission
	admission.due, admission.arrived = due, admission.arrived && let
	if !let || !of.Warmup && st.load.WarmupLanes > 0 && admission.phase == record.Warmup {
		var ok bool
		admission.held = 0
		if admission.phase, ok = st.admit(now); !ok {
			return halted
		}
		st.stopAtLimit()
	}
	rec := st.do(s.slot, preparedRequest{prompt: p, call: call, admission: admission}, now)
	if rec == nil {
		return halted
	}
	return s.finish(i, rec)
}

// prepare makes the request of a call. That of the first was made ahead of its time.
func (s *session) prepare(i int, let bool) (prompt.Prompt, endpoint.Call, error) {
	if let {
		return s.first.prompt, s.first.call, nil
	}
	p, err := s.run.Prompt(i)
	if err != nil {
		return p, nil, err
	}
	p.Seq = prompt.TurnSeq(s.first.prompt.Seq, i)
	if p.Model == "" {
		p.Model = s.adapter
	}
	call, err := s.st.e.cfg.Prepare(&p)
	return p, call, err
}

// firstCall is the first call of a session, which is known before the session begins.
func firstCall(p prompt.Prompt) (prompt.Prompt, error) {
	first, err := p.Play.Prompt(0)
	first.Seq, first.Play = p.Seq, p.Play
	if first.Model == "" {
		first.Model = p.Model
	}
	return first, err
}

// finish decodes a response, hands it to the session and the record on.
func (s *session) finish(i int, rec *record.Exchange) ending {
	st := s.st
	st.e.cfg.Decoder.Decode(rec)
	rec.Decoded = true
	e := ending{call: i, at: rec.End, sent: true}
	if f := rec.Failure; f != nil && !f.Left() {
		e.cause, e.message = record.RequestFailed, string(f.Class)+": "+f.Message
	} else {
		answer := prompt.Response{Text: visible(rec)}
		if reply := st.e.cfg.Decoder.Reply; reply != nil && rec.Failure == nil && !s.run.Graph.Recorded && s.quoted[i] && moreThanText(rec) {
			answer = reply(&rec.Record)
		}
		s.run.Answer(i, answer)
	}
	st.e.cfg.Sink.Put(rec)
	return e
}

// moreThanText reports whether a response has to be read again to know all that it says.
func moreThanText(rec *record.Exchange) bool {
	return rec.Finish == "tool_calls" || slices.ContainsFunc(rec.Events, func(e record.Event) bool {
		return e.Label == record.ToolCall || e.Label == record.Reasoning || e.Label == record.Whole
	})
}
