package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
)

type preparedRequest struct {
	prompt    prompt.Prompt
	call      endpoint.Call
	admission admission
	closes    uint64 // in place of a prompt: the sequence to end
}

// feeder prepares requests before they are sent. Each of its queues has
// a goroutine of its own, which makes every n-th prompt of the stage: they share nothing.
type feeder struct {
	source  prompt.Source
	prepare func(p *prompt.Prompt) (endpoint.Call, error)

	load   *load.Profile
	anew   bool  // the source has begun anew with the stage
	first  int64 // number of the stage's first prompt
	most   int64 // prompts that it may take; -1: any number
	queues []*queue
	stop   context.CancelFunc
	wg     sync.WaitGroup

	mu    sync.Mutex
	spare []int64 // prompts that were taken and not sent, of a source that goes on; in order
	err   error

	conversations atomic.Int64 // conversations prepared or in flight
}

type queue struct {
	ready chan preparedRequest
	low   chan struct{} // half of what it has room for is gone
	spare []int64       // the numbers that it takes first
	share load.Shard    // of the prompts of the stage's share
	taken int64         // prompts of it, behind those
}

// took is called by whoever has taken a job. The feeder is woken for many at a time: to wake it
// for each would cost as much as making one.
func (q *queue) took() {
	if len(q.ready) > cap(q.ready)/2 {
		return
	}
	select {
	case q.low <- struct{}{}:
	default:
	}
}

// add waits until there is room for a job; false: ctx has ended first.
func (q *queue) add(ctx context.Context, j preparedRequest) bool {
	for {
		select {
		case q.ready <- j:
			return true
		default:
		}
		select {
		case <-q.low:
		case <-ctx.Done():
			return false
		}
	}
}

// next is the prompt of the stage's share that it takes next.
func (q *queue) next() int64 { return q.share.GlobalIndex(q.taken) }

var errSourceEnded = errors.New("no more prompts")

// ahead is how many prepared requests wait in all queues together, and fewest in each at
// least.
const (
	ahead  = 256
	fewest = 64
)

// start begins to prepare for a stage, in n queues or fewer. Queue k of n takes the prompts k, k+n,
// k+2n and so on of the stage's share, or all of every n-th lane, as many as it can send, so that a
// stage of so many requests sends the first ones of the source and each of them once. A queue is
// closed when there will be no more prompts. It returns once each has something to give, so that the
// first wave does not wait.
func (f *feeder) start(stage *load.Profile, n int) []*queue {
	f.load, f.most = stage, stage.MostPrompts()
	if stage.Share.Of > 0 {
		f.first = stage.First
	}
	s, ok := f.source.(prompt.StageStarter)
	if f.anew = ok && s.SetStage(stage.Index); f.anew {
		f.spare = nil // what is left of the last stage is not of this one
	}
	lanes := prompt.LanesOf(f.source)
	if lanes > 0 {
		n = min(n, stage.Share.Split(0, 1, lanes).Dealt)
	}
	if !f.anew {
		n = 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop, f.err = cancel, nil
	f.queues = make([]*queue, n)
	var primed sync.WaitGroup
	primed.Add(n)
	for i := range f.queues {
		q := &queue{ready: make(chan preparedRequest, max(ahead/n, fewest)), low: make(chan struct{}, 1), share: stage.Share.Split(i, n, lanes)}
		if f.queues[i] = q; i == 0 {
			q.spare, f.spare = f.spare, nil
		}
		// Queues that waited for the same context would wait for one another.
		ctx, cancel := context.WithCancel(ctx)
		f.wg.Go(func() {
			defer cancel()
			defer close(q.ready)
			f.fill(ctx, q, sync.OnceFunc(primed.Done))
		})
	}
	primed.Wait()
	return f.queues
}

// halt ends what start began. What was not sent is there again for the next stage, where the
// source goes on.
func (f *feeder) halt() error {
	f.stop()
	f.wg.Wait()
	var taken int64
	for _, q := range f.queues {
		for j := range q.ready {
			f.unread(j)
		}
		f.spare = append(f.spare, q.spare...)
		taken = max(taken, q.next())
	}
	switch {
	case taken == 0:
	case !f.anew || f.most < 0:
		f.first += f.load.Share.GlobalIndex(taken-1) + 1
	case f.load.Share.Of > 1:
		f.first += f.load.Prompts
	default:
		f.first += f.most
	}
	slices.Sort(f.spare)
	return f.err
}

// turn is the queue that has a prompt of the share.
func (f *feeder) turn(i int64) int { return f.queues[0].share.Owner(i) }

func (f *feeder) fill(ctx context.Context, q *queue, primed func()) {
	defer primed()
	for taken := int64(0); ; taken++ {
		number, ok := f.nextIndex(q, taken)
		if !ok {
			return
		}
		j, err := f.make(ctx, number)
		if err != nil {
			if ctx.Err() != nil {
				f.keep(number)
			} else {
				f.fail(err)
			}
			return
		}
		if f.counts(&j.prompt) {
			f.conversations.Add(1)
		}
		if !q.add(ctx, j) {
			f.unread(j)
			return
		}
		primed()
	}
}

// nextIndex is the number of the next prompt of a queue that has had so many; false: the stage needs
// no more.
func (f *feeder) nextIndex(q *queue, had int64) (int64, bool) {
	// Where there are spare prompts, there is one queue.
	i := q.next()
	if f.most >= 0 && (i >= f.most || len(f.queues) == 1 && had >= f.most) {
		if f.load.Sessions > 0 { // the stage ends with the last of them
			f.fail(errSourceEnded)
		}
		return 0, false
	}
	if len(q.spare) > 0 {
		number := q.spare[0]
		q.spare = q.spare[1:]
		return number, true
	}
	q.taken++
	return f.first + f.load.Share.GlobalIndex(i), true
}

func (f *feeder) make(ctx context.Context, number int64) (preparedRequest, error) {
	place := prompt.Position{I: uint64(number)}
	if f.anew {
		place = prompt.Position{Stage: uint64(f.load.Index), I: uint64(number - f.first)}
	}
	p, err := f.source.Prompt(ctx, place)
	p.Seq = number
	if errors.Is(err, io.EOF) {
		return preparedRequest{prompt: p}, errSourceEnded
	}
	if err != nil {
		return preparedRequest{prompt: p}, fmt.Errorf("making prompt %d: %w", number, err)
	}
	if p.Play != nil {
		p, err = firstCall(p)
	}
	var call endpoint.Call
	if p.Late == nil && err == nil {
		call, err = f.prepare(&p)
	}
	if err != nil {
		err = fmt.Errorf("preparing request %d: %w", number, err)
	}
	return preparedRequest{prompt: p, call: call}, err
}

// goesOn reports whether more requests may follow a prompt.
func goesOn(p *prompt.Prompt) bool { return p.Rest != nil || p.Play != nil }

// counts reports whether a prompt is a conversation that the stage does not end before.
func (f *feeder) counts(p *prompt.Prompt) bool { return goesOn(p) || f.load.Sessions > 0 }

// unread takes a request back that is not sent.
func (f *feeder) unread(j preparedRequest) {
	if f.counts(&j.prompt) {
		f.conversations.Add(-1)
	}
	if late := j.prompt.Late; late != nil {
		over, cancel := context.WithCancel(context.Background())
		cancel()
		_ = late.Await(over) // none behind it waits for it
	}
	f.keep(j.prompt.Seq)
}

// keep keeps a prompt for the next stage, where the source goes on.
func (f *feeder) keep(number int64) {
	if f.anew {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.spare = append(f.spare, number)
}

// ended reports whether the source has no more prompts, or requests cannot be made of
// them.
func (f *feeder) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

// fail ends the preparing. A source that has come to an end has done so for one queue; the
// others find out by themselves.
func (f *feeder) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil || errors.Is(f.err, errSourceEnded) {
		f.err = err
	}
	if !errors.Is(err, errSourceEnded) {
		f.stop()
	}
}
