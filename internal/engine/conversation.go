package engine

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// converse hands a finished turn over and waits for the next one's time. The
// conversation keeps its slot while its user thinks. false: it has ended, or the
// stage was halted first.
func (st *stage) converse(c prompt.Conversation, rec *record.Exchange) (j preparedRequest, ready time.Duration, more bool) {
	// What others wait for is decoded first and here, not when the collector comes to it.
	st.e.cfg.Decoder.Decode(rec)
	rec.Decoded = true
	answer := st.heard(rec)
	session, turn, end, last, number := rec.Session, rec.Turn, rec.End, rec.Phase, prompt.TurnSeq(rec.Seq, 1)
	st.e.cfg.Sink.Put(rec)
	p, think, err := c.Next(answer)
	if err != nil {
		if !errors.Is(err, io.EOF) {
			st.fail(fmt.Errorf("making turn %d of conversation %q: %w", turn+2, session, err))
		}
		return j, 0, false
	}
	p.Seq = number
	call, err := st.e.cfg.Prepare(&p)
	if err != nil {
		st.fail(fmt.Errorf("preparing turn %d of conversation %q: %w", turn+2, session, err))
		return j, 0, false
	}
	due := end + think
	if !st.await(due) {
		return j, 0, false
	}
	now := st.e.cfg.Now()
	phase, ok := st.admitTurn(now, &p, last)
	if !ok {
		return j, 0, false
	}
	st.stopAtLimit()
	due = max(due, st.notBefore(phase))
	return preparedRequest{prompt: p, call: call, admission: admission{due: due, phase: phase}}, max(now, due), true
}

// takeTurn carries out a turn that has to wait: for a response in a conversation that others
// share, or for something that its sequence cannot begin without. It keeps its slot while it
// waits. What follows the turn is carried out with it, before the next may go.
func (st *stage) takeTurn(i int, j preparedRequest) {
	late, seq := j.prompt.Late, j.prompt.Seq
	begun := st.e.cfg.Now()
	if late.Await(st.turns) != nil {
		st.lost.Add(1)
		st.endWarmup(j.admission.phase)
		return
	}
	waited := st.e.cfg.Now() - begun
	p, err := late.Prompt()
	if err == nil {
		p.Seq = seq
		j.admission.due, j.admission.held = j.admission.due+p.Think, j.admission.held+max(waited-p.Think, 0)
		if p.Model == "" {
			p.Model = j.prompt.Model
		}
		j.prompt = p
		j.call, err = st.e.cfg.Prepare(&p)
	}
	if err != nil {
		late.End(prompt.Response{Failed: true})
		st.fail(fmt.Errorf("making turn %d of conversation %q: %w", p.Turn+1, p.Session, err))
		return
	}
	if j.prompt.Rest != nil {
		st.carryAll(i, j, st.e.cfg.Now())
		late.End(prompt.Response{})
		return
	}
	rec := st.do(i, j, st.e.cfg.Now())
	if rec == nil {
		late.End(prompt.Response{Failed: true})
		return
	}
	st.e.cfg.Decoder.Decode(rec)
	rec.Decoded = true
	answer := st.heard(rec)
	st.e.cfg.Sink.Put(rec)
	late.End(answer)
}

// sourceExhausted ends the stage because there are no more prompts, as soon as no conversation is
// in flight that may still send. Where the stage has taken all that it needs, the last
// of them ends it.
func (st *stage) sourceExhausted() {
	if !st.e.feed.ended() {
		return
	}
	st.empty.Store(true)
	if st.e.feed.conversations.Load() == 0 {
		st.halt(record.StopData)
	}
}

func (st *stage) endConversation() {
	if st.e.feed.conversations.Add(-1) == 0 && st.empty.Load() {
		st.halt(record.StopData)
	}
}

// fail ends the stage: requests cannot be made.
func (st *stage) fail(err error) {
	st.e.feed.fail(err)
	st.empty.Store(true)
	st.halt(record.StopData)
}

// await waits for a moment; false: the stage was halted first.
func (st *stage) await(at time.Duration) bool {
	wait := at - st.e.cfg.Now()
	if wait <= 0 {
		return true
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-st.stop:
		return false
	}
}

// heard is what a conversation goes on from. An unstreamed response is one event, whose text is all that
// the model wrote: what it said is read apart from what it thought and from other choices.
func (st *stage) heard(rec *record.Exchange) prompt.Response {
	// Who went away read what had come, and goes on from there.
	answer := prompt.Response{Text: visible(rec), Failed: rec.Failure != nil && !rec.Failure.Left()}
	reply := st.e.cfg.Decoder.Reply
	if rec.Failure != nil || reply == nil || len(rec.Events) != 1 || rec.Events[0].Label != record.Whole {
		return answer
	}
	if said := reply(&rec.Record); said.Text != "" || said.Reasoning != "" || len(said.ToolCalls) > 0 {
		answer.Text = said.Text
	}
	return answer
}

// visible is the part of a response that a user would read.
func visible(rec *record.Exchange) string {
	var text strings.Builder
	at := 0
	for _, e := range rec.Events {
		if e.Label == record.Content || e.Label == record.Whole || e.Label == record.Refusal {
			text.Write(rec.Text[at : at+e.Text])
		}
		at += e.Text
	}
	return text.String()
}
