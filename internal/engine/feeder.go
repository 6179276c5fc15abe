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

	"inferometer/internal/endpoint"
	"inferometer/internal/prompt"
)

// job is a request ready to go.
type job struct {
	prompt prompt.Prompt
	call   endpoint.Call
	slate  slate
}

// feeder prepares requests ahead of the moment at which they are sent.
type feeder struct {
	source   prompt.Source
	endpoint endpoint.Endpoint

	mu    sync.Mutex
	next  int64           // number of the next prompt
	spare []prompt.Prompt // taken from the source and not sent, in order
	err   error

	talks atomic.Int64 // conversations prepared or under way

	stop  context.CancelFunc
	queue []chan job
	wg    sync.WaitGroup
}

var errSourceEnded = errors.New("the prompts have come to an end")

// ahead is how many prepared requests wait for each feeder's slots.
const ahead = 256

// start begins to prepare for a stage, with n goroutines and a channel each. A channel is
// closed when there will be no more prompts. It returns once each has something to
// give, so that the first wave does not wait.
func (f *feeder) start(stage, n int) []chan job {
	if s, ok := f.source.(prompt.Stager); ok {
		// Such a source makes each stage's prompts from the stage's number.
		s.SetStage(stage)
		f.spare = nil
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop, f.err = cancel, nil
	f.queue = make([]chan job, n)
	var primed sync.WaitGroup
	primed.Add(n)
	for i := range f.queue {
		f.queue[i] = make(chan job, ahead)
		f.wg.Add(1)
		go func() {
			defer f.wg.Done()
			defer close(f.queue[i])
			f.fill(ctx, f.queue[i], sync.OnceFunc(primed.Done))
		}()
	}
	primed.Wait()
	return f.queue
}

// halt stops preparing and keeps what was not sent for the next stage.
func (f *feeder) halt() error {
	f.stop()
	f.wg.Wait()
	for _, q := range f.queue {
		for j := range q {
			f.giveBack(j)
		}
	}
	f.queue = nil
	return f.err
}

func (f *feeder) fill(ctx context.Context, q chan<- job, primed func()) {
	defer primed()
	for {
		p, err := f.take(ctx)
		if err != nil {
			return
		}
		call, err := f.endpoint.Prepare(&p)
		if err != nil {
			f.fail(fmt.Errorf("preparing request %d: %w", p.Seq, err))
			return
		}
		if p.Rest != nil {
			f.talks.Add(1)
		}
		select {
		case q <- job{prompt: p, call: call}:
			primed()
		case <-ctx.Done():
			f.giveBack(job{prompt: p})
			return
		}
	}
}

// take gives the next prompt, those that were given back first.
func (f *feeder) take(ctx context.Context) (prompt.Prompt, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err != nil {
		return prompt.Prompt{}, f.err
	}
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
	if j.prompt.Rest != nil {
		f.talks.Add(-1)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	at, _ := slices.BinarySearchFunc(f.spare, j.prompt.Seq, func(p prompt.Prompt, seq int64) int {
		return cmp.Compare(p.Seq, seq)
	})
	f.spare = slices.Insert(f.spare, at, j.prompt)
}

func (f *feeder) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}
