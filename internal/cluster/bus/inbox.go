package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Frame is what a worker added to its Outbox.
type Frame struct {
	Number uint64 // from 1
	Data   []byte // the receiver's own
}

// Inbox receives the frames of one worker: all of them, in order, each once.
type Inbox struct {
	bus    *Bus
	worker string
	stream jetstream.Stream
	stop   context.CancelFunc
	work   sync.WaitGroup
	parts  chan part
	wake   chan struct{} // there is something to purge
	gone   chan struct{} // closed when the worker was given up

	at     uint64 // sequence number of the last part that was read
	frames uint64 // that Next gave
	half   []byte // of a frame, the parts that are there
	over   bool   // the end mark was read

	mu     sync.Mutex
	ends   []uint64 // sequence numbers of the last parts of frames that are not acknowledged
	acked  uint64   // frames
	end    uint64   // sequence number of the end mark; 0: it was not read
	target uint64   // sequence number to purge up to
	until  uint64   // of a worker that was given up: its last sequence number
}

const (
	ahead     = 2 << 20     // bytes that are fetched before Next asks for them
	heartbeat = time.Second // of a consumer with nothing to give
	settled   = time.Second // between two purges, at most
	paced     = look / 10   // and at least: the worker looks less often
)

// Inbox opens the stream that a worker's Outbox made.
func (b *Bus) Inbox(ctx context.Context, worker string) (*Inbox, error) {
	limited, cancel := b.call(ctx)
	defer cancel()
	stream, err := b.js.Stream(limited, b.stream(worker))
	if err != nil {
		return nil, fmt.Errorf("receive records of worker %s in run %s: %w", worker, b.run, err)
	}
	in := &Inbox{bus: b, worker: worker, stream: stream, parts: make(chan part), wake: make(chan struct{}, 1), gone: make(chan struct{})}
	ctx, in.stop = context.WithCancel(context.WithoutCancel(ctx))
	in.work.Go(func() { in.read(ctx) })
	in.work.Go(func() { in.purgeAcknowledged(ctx) })
	return in, nil
}

// read hands parts to Next until the end mark. It begins again where it was after every cut, since a consumer takes what it sent for
// delivered.
func (in *Inbox) read(ctx context.Context) {
	defer close(in.parts)
	var said string
	for next := uint64(1); ; {
		session, cancel := in.bus.whileConnected(ctx)
		end, err := in.follow(session, &next)
		cancel()
		if end || ctx.Err() != nil || in.bus.isClosed() {
			return
		}
		in.bus.complain(&said, "receive records of worker "+in.worker, err)
		pause(ctx, again)
	}
}

// follow hands parts to Next from a sequence number on, and reports whether they ended with the end mark.
func (in *Inbox) follow(ctx context.Context, next *uint64) (end bool, err error) {
	call, cancel := in.bus.call(ctx)
	defer cancel()
	consumer, err := in.stream.CreateConsumer(call, jetstream.ConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: *next,
		AckPolicy: jetstream.AckNonePolicy, MemoryStorage: true, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return false, err
	}
	messages, err := consumer.Messages(jetstream.PullMaxBytes(ahead), jetstream.PullHeartbeat(heartbeat))
	if err != nil {
		return false, err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()
	for {
		m, err := messages.Next()
		if err != nil {
			return false, cmp.Or(context.Cause(ctx), err)
		}
		p, err := readPart(m)
		if err != nil {
			return false, err
		}
		select {
		case in.parts <- p:
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		if *next = p.sequence + 1; p.end {
			return true, nil
		}
	}
}

// Next gives the next frame, to one goroutine at a time. After the worker's last one it returns io.EOF; after the last that came
// of a worker that was given up, io.ErrUnexpectedEOF.
func (in *Inbox) Next(ctx context.Context) (Frame, error) {
	for !in.over {
		p, err := in.next(ctx)
		switch {
		case err != nil:
			return Frame{}, err
		case p.sequence <= in.at:
			continue
		case p.sequence != in.at+1, !p.end && p.frame != in.frames+1:
			return Frame{}, fmt.Errorf("records of worker %s: frame %d follows on frame %d: somebody else changed NATS stream %s",
				in.worker, p.frame, in.frames, in.bus.stream(in.worker))
		}
		in.at = p.sequence
		if p.end {
			in.over = true
			if p.frames != in.frames {
				return Frame{}, fmt.Errorf("records of worker %s: it sent %d frames, of which %d came", in.worker, p.frames, in.frames)
			}
			in.update(func() { in.end = p.sequence })
			break
		}
		if len(in.half)+len(p.data) > maxFrame+partSize {
			return Frame{}, fmt.Errorf("records of worker %s: frame %d has more than %d bytes", in.worker, p.frame, maxFrame)
		}
		if p.at < p.of {
			in.half = append(in.half, p.data...)
			continue
		}
		f := Frame{Number: p.frame, Data: p.data}
		if p.of > 1 {
			f.Data, in.half = append(in.half, p.data...), nil
		}
		in.frames++
		in.update(func() { in.ends = append(in.ends, p.sequence) })
		return f, nil
	}
	return Frame{}, io.EOF
}

// next is the next part. What a worker has sent after it was given up is none, though it may have come.
func (in *Inbox) next(ctx context.Context) (part, error) {
	gone := in.gone
	for {
		select {
		case <-gone:
			in.mu.Lock()
			until := in.until
			in.mu.Unlock()
			if in.at >= until {
				return part{}, io.ErrUnexpectedEOF
			}
			gone = nil // the rest is on its way
		default:
		}
		select {
		case p, ok := <-in.parts:
			if !ok {
				return part{}, fmt.Errorf("records of worker %s: %w", in.worker, nats.ErrConnectionClosed)
			}
			return p, nil
		case <-ctx.Done():
			return part{}, context.Cause(ctx)
		case <-gone:
		}
	}
}

// Acknowledge says that so many frames, from the first, are on disk. It does not wait; the worker hears of it soon.
func (in *Inbox) Acknowledge(frames uint64) {
	in.update(func() {
		if n := min(int(frames-min(frames, in.acked)), len(in.ends)); n > 0 {
			in.target = in.ends[n-1]
			in.ends = slices.Delete(in.ends, 0, n)
			in.acked += uint64(n)
		}
	})
}

// update changes what the lock guards. The end mark is acknowledged with the last frame.
func (in *Inbox) update(f func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	before := in.target
	f()
	if in.end != 0 && len(in.ends) == 0 {
		in.target = in.end
	}
	if in.target != before {
		select {
		case in.wake <- struct{}{}:
		default:
		}
	}
}

// purgeAcknowledged purges what is acknowledged. It does so again now and then, also after the end mark, as the
// stream may be a new one: then the worker learns by it what need not be sent again.
func (in *Inbox) purgeAcknowledged(ctx context.Context) {
	t := time.NewTicker(settled)
	defer t.Stop()
	var said string
	for {
		in.purge(ctx, &said)
		pause(ctx, paced)
		select {
		case <-ctx.Done():
			return
		case <-in.wake:
		case <-t.C:
		}
	}
}

// purge takes out of the stream what is acknowledged.
func (in *Inbox) purge(ctx context.Context, said *string) {
	in.mu.Lock()
	target := in.target
	in.mu.Unlock()
	if target == 0 {
		return
	}
	ctx, cancel := in.bus.call(ctx)
	defer cancel()
	err := in.stream.Purge(ctx, jetstream.WithPurgeSequence(target+1))
	in.bus.complain(said, "acknowledge records of worker "+in.worker, err)
}

// Lost gives the worker up: Next gives what has come of it until now (call it with a deadline: NATS may have lost
// some), and what it sends later is dropped. Its Outbox ends with ErrLost, if it is still there.
func (in *Inbox) Lost(ctx context.Context) error {
	i, err := in.bus.state(ctx, in.worker)
	if err == nil {
		i.Config.Metadata[lostKey] = "true"
		ctx, cancel := in.bus.call(ctx)
		defer cancel()
		var s jetstream.Stream
		if s, err = in.bus.js.UpdateStream(ctx, i.Config); err == nil {
			i = s.CachedInfo()
		}
	}
	if err != nil && !errors.Is(err, jetstream.ErrStreamNotFound) {
		return fmt.Errorf("give up worker %s: %w", in.worker, err)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	select {
	case <-in.gone:
	default:
		if i != nil {
			in.until = i.State.LastSeq
		}
		close(in.gone)
	}
	return nil
}

// Close stops receiving, after it has told the worker of what is acknowledged.
func (in *Inbox) Close(ctx context.Context) {
	in.stop()
	in.work.Wait()
	in.purge(ctx, new(string))
}
