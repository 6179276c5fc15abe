package engine

import (
	"context"
	"io"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// stateful is a server that keeps state over sequences. Requests with the number of fail
// fail, counted from 1 in the order of arrival.
type stateful struct {
	*server
	fail int

	mu             sync.Mutex
	seen           int
	open           map[uint64]bool
	strange        int // requests of sequences that are not open, and starts of those that are
	starts, ending int
}

func (s *stateful) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	return statefulCall{s, p.Sequence, call{s.server}}, nil
}

type statefulCall struct {
	s  *stateful
	at prompt.Sequence
	call
}

func (c statefulCall) Do(ctx context.Context, rec *record.Exchange) {
	c.s.mu.Lock()
	c.s.seen++
	failed := c.s.seen == c.s.fail
	if c.at.Start {
		c.s.starts++
		if c.s.open[c.at.ID] {
			c.s.strange++
		}
		c.s.open[c.at.ID] = true
	}
	if !c.s.open[c.at.ID] {
		c.s.strange++
	}
	if c.at.End {
		c.s.ending++
		delete(c.s.open, c.at.ID)
	}
	c.s.mu.Unlock()
	c.call.Do(ctx, rec)
	if failed {
		rec.Failure = &record.Failure{Class: record.NoFirstByte}
	}
}

// row is a sequence of requests, each after the response to the one before.
type row struct {
	id         uint64
	at, length int
	last       prompt.Prompt
	lent       chan uint64 // where the id comes from and goes back to; nil: it is its own
}

// Await implements prompt.DeferredPrompt.
func (r *row) Await(ctx context.Context) error {
	select {
	case r.id = <-r.lent:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// Prompt implements prompt.DeferredPrompt.
func (r *row) Prompt() (prompt.Prompt, error) {
	p := r.request()
	p.Rest = r
	return p, nil
}

// End implements prompt.DeferredPrompt.
func (r *row) End(prompt.Response) { r.lent <- r.id }

func (r *row) request() prompt.Prompt {
	r.last = prompt.Prompt{Session: "s", Turn: r.length - 1, Tokens: -1, Sequence: prompt.Sequence{ID: r.id, End: true}}
	p := prompt.Prompt{Session: "s", Turn: r.at, Tokens: -1, Sequence: prompt.Sequence{ID: r.id, Start: r.at == 0, End: r.at == r.length-1, Last: &r.last}}
	r.at++
	return p
}

func (r *row) Next(a prompt.Response) (prompt.Prompt, time.Duration, error) {
	if a.Failed || r.at == r.length {
		return prompt.Prompt{}, 0, io.EOF
	}
	p := r.request()
	p.Rest = r
	return p, 0, nil
}

// rows yields sequences: one after the other, or so many in turn. Those with lent ids have one
// while they are under way.
type rows struct {
	live int
	lent chan uint64
	next uint64
	turn []*row
}

func (s *rows) begin() *row {
	s.next++
	return &row{id: s.next, length: 5}
}

func (s *rows) Prompt(context.Context, prompt.Position) (prompt.Prompt, error) {
	if s.lent != nil {
		r := &row{length: 5, lent: s.lent}
		return prompt.Prompt{Tokens: -1, Rest: r, Late: r}, nil
	}
	if s.live == 0 {
		r := s.begin()
		p := r.request()
		p.Rest = r
		return p, nil
	}
	if len(s.turn) < s.live {
		s.turn = append(s.turn, s.begin())
		return s.turn[len(s.turn)-1].request(), nil
	}
	r := s.turn[0]
	if r.at == r.length {
		r = s.begin()
	}
	s.turn = append(s.turn[1:], r)
	return r.request(), nil
}

// However a stage ends, no sequence stays open at the server, and what only closes one is
// counted apart.
func TestSequencesAreClosed(t *testing.T) {
	const latency = 100 * time.Millisecond
	for name, c := range map[string]struct {
		live, fail int
		lent       int // ids
		stage      load.Profile
		measured   int // requests; 0: not known
		closing    int
	}{
		"few ids":                {lent: 3, stage: load.Profile{InFlight: slots(3), MaxSlots: 3, Requests: 40}, measured: 40, closing: 3},
		"fewer than slots":       {lent: 2, stage: load.Profile{InFlight: slots(3), MaxSlots: 3, Duration: 720 * time.Millisecond}, measured: 16, closing: 2},
		"one id, one fails":      {lent: 1, fail: 3, stage: load.Profile{InFlight: slots(1), MaxSlots: 1, Requests: 12}, measured: 12, closing: 2},
		"closed loop, by time":   {stage: load.Profile{InFlight: slots(3), MaxSlots: 3, Duration: 720 * time.Millisecond}, measured: 24, closing: 3},
		"closed loop, by number": {stage: load.Profile{InFlight: slots(3), MaxSlots: 3, Requests: 7}, measured: 7, closing: 3},
		"ends that count":        {stage: load.Profile{InFlight: slots(3), MaxSlots: 3, Requests: 7, CountEnds: true}, measured: 10},
		"one fails":              {fail: 2, stage: load.Profile{InFlight: slots(1), MaxSlots: 1, Requests: 7}, measured: 7, closing: 1},
		"open loop, in turn":     {live: 3, stage: load.Profile{Arrivals: &every{gap: 10 * time.Millisecond}, InFlight: slots(0), Requests: 20}, measured: 20, closing: 3},
		"in turn in few slots":   {live: 3, stage: load.Profile{InFlight: slots(2), MaxSlots: 2, Requests: 20}, measured: 20, closing: 3},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(latency, 0)
				s := &stateful{server: b.server, fail: c.fail, open: map[uint64]bool{}}
				source := &rows{live: c.live}
				if c.lent > 0 {
					source.lent = make(chan uint64, c.lent)
					for id := range c.lent {
						source.lent <- uint64(id + 1)
					}
				}
				b.cfg.Source, b.cfg.Prepare, b.cfg.Decoder = source, s.Prepare, endpoint.Decoder{Decode: parrot}
				b.Engine = New(b.cfg)
				c.stage.Drain = time.Minute
				b.run(t, c.stage)
				if len(s.open) > 0 || s.strange > 0 || s.starts != s.ending {
					t.Errorf("%d begun, %d ended, %v left open, %d requests of none", s.starts, s.ending, s.open, s.strange)
				}
				n := map[record.Phase]int{}
				for _, rec := range b.keeper.recs {
					n[rec.Phase]++
					if rec.Phase == record.Closing && !rec.Ends {
						t.Error("what closes a sequence does not end it")
					}
				}
				if n[record.Measured] != c.measured || n[record.Closing] != c.closing {
					t.Errorf("%d measured and %d closing, want %d and %d", n[record.Measured], n[record.Closing], c.measured, c.closing)
				}
			})
		})
	}
}

// crowded is a server with a place for one sequence: the start of another waits until that has ended.
type crowded struct {
	*server
	place chan struct{}
}

func (s *crowded) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	return crowdedCall{s, p.Sequence, call{s.server}}, nil
}

type crowdedCall struct {
	s  *crowded
	at prompt.Sequence
	call
}

func (c crowdedCall) Do(ctx context.Context, rec *record.Exchange) {
	if c.at.Start {
		c.s.place <- struct{}{}
	}
	c.call.Do(ctx, rec)
	if c.at.End {
		<-c.s.place
	}
}

// waiting is a request that waits for its turn in a sequence that is known.
type waiting struct{ prompt prompt.Prompt }

// Await implements prompt.DeferredPrompt.
func (waiting) Await(context.Context) error { return nil }

// Prompt implements prompt.DeferredPrompt.
func (w waiting) Prompt() (prompt.Prompt, error) { return w.prompt, nil }

// End implements prompt.DeferredPrompt.
func (waiting) End(prompt.Response) {}

// waitingRows are rows whose requests wait for their turn.
type waitingRows struct{ rows }

func (s *waitingRows) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	p, err := s.rows.Prompt(ctx, at)
	p.Late = waiting{p}
	return p, err
}

// A sequence is ended as soon as its last request is answered: others may wait for its place.
func TestSequencesThatWaitForOthers(t *testing.T) {
	for name, source := range map[string]prompt.Source{"at once": &rows{live: 2}, "in turn": &waitingRows{rows{live: 2}}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(10*time.Millisecond, 0)
				s := &crowded{b.server, make(chan struct{}, 1)}
				b.cfg.Source, b.cfg.Prepare, b.cfg.Decoder = source, s.Prepare, endpoint.Decoder{Decode: parrot}
				b.Engine = New(b.cfg)
				b.run(t, load.Profile{Arrivals: &every{gap: 100 * time.Millisecond}, InFlight: slots(0), Requests: 2, Drain: time.Minute})
				if n := len(b.keeper.recs); n != 4 || len(s.place) > 0 {
					t.Fatalf("%d requests, %d sequences open", n, len(s.place))
				}
				for _, rec := range b.keeper.recs {
					if rec.End > time.Second {
						t.Errorf("a request ended at %v", rec.End)
					}
				}
			})
		})
	}
}

// The sequences of a warm-up end with it, or those that the server holds back would never be answered.
func TestSequencesOfWarmup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(10*time.Millisecond, 0)
		s := &crowded{b.server, make(chan struct{}, 1)}
		b.cfg.Source, b.cfg.Prepare, b.cfg.Decoder = &rows{}, s.Prepare, endpoint.Decoder{Decode: parrot}
		b.Engine = New(b.cfg)
		b.run(t, load.Profile{InFlight: slots(2), MaxSlots: 2, WarmupRequests: 2, WarmupDrains: true, Requests: 10, Drain: time.Minute})
		n := map[record.Phase]int{}
		for _, rec := range b.keeper.recs {
			n[rec.Phase]++
			if rec.End > time.Second {
				t.Errorf("a request of phase %v ended at %v", rec.Phase, rec.End)
			}
		}
		if n[record.Warmup] != 2 || n[record.Measured] != 10 || len(s.place) > 0 {
			t.Errorf("%v, %d sequences open", n, len(s.place))
		}
	})
}

// Where what is in flight is aborted, there is no time to end anything.
func TestAbortedSequencesAreLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Hour, 0)
		s := &stateful{server: b.server, open: map[uint64]bool{}}
		b.cfg.Source, b.cfg.Prepare, b.cfg.Decoder = &rows{}, s.Prepare, endpoint.Decoder{Decode: parrot}
		b.Engine = New(b.cfg)
		b.run(t, load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: time.Second, Drain: time.Second})
		if len(b.keeper.recs) != 2 {
			t.Errorf("%d requests, want the 2 that were cut off", len(b.keeper.recs))
		}
	})
}
