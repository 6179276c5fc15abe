package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/prompt"
)

// job is a request ready to go.
type job struct {
	prompt    prompt.Prompt
	call      endpoint.Call
	admission admission
}

// feeder prepares requests ahead of the moment at which they are sent.
type feeder struct {
	source  prompt.Source
	prepare func(p *prompt.Prompt) (endpoint.Call, error)

	mu    sync.Mutex
	next  int64             // number of the next prompt
	spare []prompt.Prompt   // taken from the source and not sent, in order
	dealt [][]prompt.Prompt // those of each queue that others took for it
	turn  int               // the queue that the next prompt is for
	left  int64             // prompts that the stage may still take
	final bool              // the stage ends with the last of those
	err   error

	conversations atomic.Int64 // conversations prepared or under way

	stop  context.CancelFunc
	queue []chan job
	wg    sync.WaitGroup
}

var errSourceEnded = errors.New("the prompts have come to an end")

// ahead is how many prepared requests wait for each feeder's slots.
const ahead = 256

// start begins to prepare for a stage, with n goroutines and a channel each. Prompts are
// dealt out in turn, most of them at most, so that a stage of that many requests sends
// the first ones of the source and each of them once. A channel is closed when there will
// be no more prompts. It returns once each has something to give, so that the first
// wave does not wait.
func (f *feeder) start(stage, n int, most int64) []chan job {
	if s, ok := f.source.(prompt.Stager); ok && s.SetStage(stage) {
		f.spare = nil // what is left of the last stage is not of this one
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop, f.err = cancel, nil
	f.queue = make([]chan job, n)
	f.dealt, f.turn, f.left = make([][]prompt.Prompt, n), 0, most
	var primed sync.WaitGroup
	primed.Add(n)
	for i := range f.queue {
		f.queue[i] = make(chan job, ahead)
		f.wg.Add(1)
		go func() {
			defer f.wg.Done()
			defer close(f.queue[i])
			f.fill(ctx, i, sync.OnceFunc(primed.Done))
		}()
	}
	primed.Wait()
	return f.queue
}

// halt stops preparing and keeps what was not sent for the next stage.
func (f *feeder) halt() error {
	f.stop()
	f.wg.Wait()
	for i, q := range f.queue {
		for j := range q {
			f.giveBack(j)
		}
		for _, p := range f.dealt[i] {
			f.putBack(p)
		}
	}
	f.queue = nil
	return f.err
}

func (f *feeder) fill(ctx context.Context, i int, primed func()) {
	defer primed()
	for {
		p, err := f.take(ctx, i)
		if err != nil {
			return
		}
		if p.Play != nil {
			p, err = firstCall(p)
		}
		var call endpoint.Call
		if p.Late == nil && err == nil {
			call, err = f.prepare(&p)
		}
		if err != nil {
			f.fail(fmt.Errorf("preparing request %d: %w", p.Seq, err))
			return
		}
		if goesOn(&p) {
			f.conversations.Add(1)
		}
		select {
		case f.queue[i] <- job{prompt: p, call: call}:
			primed()
		case <-ctx.Done():
			f.giveBack(job{prompt: p})
			return
		}
	}
}

// goesOn reports whether more requests may follow a prompt.
func goesOn(p *prompt.Prompt) bool { return p.Rest != nil || p.Play != nil }

// errEnough: the stage needs no more prompts.
var errEnough = errors.New("the stage needs no more prompts")

// take gives the next prompt of a queue.
func (f *feeder) take(ctx context.Context, queue int) (prompt.Prompt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for len(f.dealt[queue]) == 0 {
		p, err := f.draw(ctx)
		if err != nil {
			return p, err
		}
		f.dealt[f.turn] = append(f.dealt[f.turn], p)
		f.turn = (f.turn + 1) % len(f.dealt)
	}
	p := f.dealt[queue][0]
	f.dealt[queue] = f.dealt[queue][1:]
	return p, nil
}

// draw gives the next prompt of all, those that were given back first.
func (f *feeder) draw(ctx context.Context) (prompt.Prompt, error) {
	switch {
	case f.err != nil:
		return prompt.Prompt{}, f.err
	case f.left == 0 && f.final:
		f.err = errSourceEnded
		return prompt.Prompt{}, f.err
	case f.left == 0:
		return prompt.Prompt{}, errEnough
	}
	f.left--
	if len(f.spare) > 0 {
		p := f.spare[0]
		f.spare = f.spare[1:]
		return p, nil
	}
	p, err := f.source.Next(ctx)
	if err != nil {
		f.err = fmt.Errorf("making prompt %d: %w", f.next, err)
		if errors.Is(err, io.EOF) {
			f.err = errSourceEnded
		}
		return p, f.err
	}
	p.Seq = f.next
	f.next++
	return p, nil
}

// number numbers a prompt that did not come from the source.
func (f *feeder) number(p *prompt.Prompt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	p.Seq = f.next
	f.next++
}

func (f *feeder) giveBack(j job) {
	if goesOn(&j.prompt) {
		f.conversations.Add(-1)
	}
	f.putBack(j.prompt)
}

// putBack keeps a prompt for the next stage.
func (f *feeder) putBack(p prompt.Prompt) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, _ := slices.BinarySearchFunc(f.spare, p.Seq, func(p prompt.Prompt, seq int64) int {
		return cmp.Compare(p.Seq, seq)
	})
	f.spare = slices.Insert(f.spare, at, p)
}

// ended reports whether the source has no more prompts, or requests cannot be made of
// them.
func (f *feeder) ended() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err != nil
}

func (f *feeder) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}
