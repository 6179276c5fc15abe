package bus

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/inferometer/inferometer/internal/lib/cond"
)

// Outbox sends the frames of a worker to the coordinator. It reads them from the worker's own file when it sends them, and once more
// where it must send them again: memory holds one batch, however far behind the coordinator is.
type Outbox struct {
	bus    *Bus
	worker string
	owner  string
	file   io.ReaderAt
	part   int
	stop   context.CancelFunc
	ended  chan struct{} // closed when nothing is sent any more

	sent   uint64 // highest sequence number that was ever published
	said   string // the last complaint
	purged uint64 // sequence number up to which the coordinator has everything; written under the lock

	state  cond.Cond // guards the following
	spans  []span    // frames that are not acknowledged
	added  uint64    // frames
	acked  uint64    // of them, acknowledged
	last   uint64    // sequence number of the last part
	bytes  uint64    // of all frames
	freed  uint64    // of them, acknowledged
	marked bool      // the last part is the end mark
	err    error
}

// span is where a frame is in the file, and what it is in the stream.
type span struct {
	offset      int64
	length      int
	first, last uint64 // sequence numbers of its parts
	bytes       uint64 // of all frames up to this one, with what NATS adds
}

const (
	batch    = 16                     // messages in flight
	overhead = 512                    // bytes that a message takes beside its data
	look     = 250 * time.Millisecond // between two looks at how far the coordinator is

	// In a cluster of servers, the one that has the stream may be gone, and not come back.
	offline     = 5 * time.Second
	codeOffline = 10118
)

// Outbox makes the stream of a worker, and begins to send. The name must be the worker's alone within the run.
func (b *Bus) Outbox(ctx context.Context, worker string, file io.ReaderAt) (*Outbox, error) {
	o := &Outbox{
		bus: b, worker: worker, owner: rand.Text(), file: file, part: min(partSize, b.maxPayload-1024),
		ended: make(chan struct{}),
	}
	if o.part <= 0 {
		return nil, fmt.Errorf("send records: NATS takes messages of %d bytes only: raise its max_payload to 1MB", b.maxPayload)
	}
	err := o.create(ctx, 0)
	var refused *jetstream.APIError
	if err != nil && !errors.Is(err, ErrTaken) && !errors.As(err, &refused) { // the response was lost, perhaps
		_, err = o.findPosition(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("send records of worker %s in run %s: %w", worker, b.run, err)
	}
	ctx, o.stop = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(o.ended)
		if err := o.send(ctx); ctx.Err() == nil {
			o.state.Update(func() { o.err = err })
		}
	}()
	return o, nil
}

func (o *Outbox) create(ctx context.Context, first uint64) error {
	ctx, cancel := o.bus.call(ctx)
	defer cancel()
	_, err := o.bus.js.CreateStream(ctx, o.bus.config(o.worker, o.owner, first))
	if errors.Is(err, jetstream.ErrStreamNameAlreadyInUse) {
		return ErrTaken
	}
	return err
}

// Add sends the frame that is at this place of the file, which it must stay at until it is acknowledged. The first one is number 1. Add
// does not wait. A frame of more than 4 MiB ends sending, with an error.
func (o *Outbox) Add(offset int64, length int) (frame uint64) {
	o.state.Update(func() {
		if length > maxFrame {
			o.err = fmt.Errorf("frame %d of worker %s has %d bytes, more than %d", o.added+1, o.worker, length, maxFrame)
			o.stop()
		}
		parts := max(1, (length+o.part-1)/o.part)
		o.bytes += uint64(length + parts*overhead)
		o.spans = append(o.spans, span{offset: offset, length: length, first: o.last + 1, last: o.last + uint64(parts), bytes: o.bytes})
		o.last += uint64(parts)
		o.added++
		frame = o.added
	})
	return frame
}

// Done is closed when nothing is sent any more: after Close, or because of an error.
func (o *Outbox) Done() <-chan struct{} { return o.ended }

// Err is why sending ended without Close or Abandon: ErrLost, or a file that cannot be read.
func (o *Outbox) Err() error {
	o.state.Lock()
	defer o.state.Unlock()
	return o.err
}

// Close says that these were all frames, and waits until the coordinator has them on disk. Then it deletes the stream.
// Where the context ends first, the stream is left as it is, for the coordinator to read.
func (o *Outbox) Close(ctx context.Context) error {
	o.state.Update(func() {
		if !o.marked {
			o.marked = true
			o.last++
		}
	})
	err := o.wait(ctx, func() bool { return o.purged >= o.last })
	o.end()
	if err != nil {
		o.state.Lock()
		defer o.state.Unlock()
		return fmt.Errorf("send records of worker %s in run %s: the coordinator has %d frames of %d: %w", o.worker, o.bus.run, o.acked, o.added, err)
	}
	if err := o.bus.remove(ctx, o.bus.stream(o.worker)); err != nil {
		o.bus.log(err.Error()) // it is empty, and the coordinator will try, too
	}
	return nil
}

// Abandon ends sending and deletes the stream: there is no coordinator left to read it.
func (o *Outbox) Abandon(ctx context.Context) error {
	o.end()
	return o.bus.remove(ctx, o.bus.stream(o.worker))
}

func (o *Outbox) end() {
	o.stop()
	<-o.ended
}

// wait is over when a condition holds, which it looks at under the lock, or when sending has ended.
func (o *Outbox) wait(ctx context.Context, ready func() bool) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-o.ended:
			cancel(errors.New("sending was ended"))
		case <-ctx.Done():
		}
	}()
	ok := false
	err := o.state.Wait(ctx, func() bool {
		ok = ready()
		return ok || o.err != nil
	})
	if ok {
		return nil
	}
	return cmp.Or(o.Err(), err)
}

// send sends batch after batch, and looks at the stream now and then. Between two batches nothing is on its way, so after
// anything that went wrong the stream itself says where to go on.
func (o *Outbox) send(ctx context.Context) error {
	buffers := make([][]byte, batch)
	looked := time.Now()
	for next := uint64(1); ; {
		pieces, more := o.pieces(next)
		switch {
		case len(pieces) > 0 && time.Since(looked) < look:
			sent, err := o.publish(ctx, pieces, buffers)
			if err == nil {
				next = sent + 1
				continue
			}
			if errors.Is(err, errFile) {
				return err
			}
			o.bus.complain(&o.said, "send records of worker "+o.worker, err)
			pause(ctx, again)
		case len(pieces) == 0:
			if o.changes(ctx, next, looked, more) {
				continue
			}
		}
		var err error
		if next, err = o.findPosition(ctx); err != nil {
			return err
		}
		looked = time.Now()
	}
}

// changes waits for more frames, and reports whether there may be some; otherwise it is time for a look at the stream. Who adds
// frames all the time does not put that off.
func (o *Outbox) changes(ctx context.Context, next uint64, looked time.Time, more <-chan struct{}) bool {
	o.state.Lock()
	waiting, full, marked := o.purged < o.last, next <= o.last, o.marked
	o.state.Unlock()
	var over <-chan time.Time
	switch {
	case marked, full: // somebody waits for the end, or frames for room
		over = time.After(time.Until(looked.Add(look / 5)))
	case waiting:
		over = time.After(time.Until(looked.Add(look)))
	}
	select {
	case <-more:
		return true
	case <-over:
	case <-ctx.Done():
	}
	return false
}

type piece struct {
	part
	offset int64
	length int
}

// pieces are the parts from a sequence number on, as many as a batch takes and NATS has room for, and what tells that
// there may be more.
func (o *Outbox) pieces(next uint64) ([]piece, <-chan struct{}) {
	o.state.Lock()
	defer o.state.Unlock()
	var list []piece
	i, _ := slices.BinarySearchFunc(o.spans, next, func(s span, next uint64) int { return cmp.Compare(s.last, next) })
	for ; i < len(o.spans) && o.spans[i].bytes-o.freed <= window; i++ {
		s := o.spans[i]
		for n := max(next, s.first); n <= s.last; n++ {
			if len(list) == batch {
				return list, o.state.Next()
			}
			at := int(n - s.first)
			list = append(list, piece{
				part:   part{sequence: n, frame: o.acked + uint64(i) + 1, at: at + 1, of: int(s.last-s.first) + 1},
				offset: s.offset + int64(at*o.part), length: min(o.part, s.length-at*o.part),
			})
		}
	}
	if o.marked && i == len(o.spans) && len(list) < batch && next <= o.last && o.purged < o.last {
		list = append(list, piece{part: part{sequence: o.last, end: true, frames: o.added}})
	}
	return list, o.state.Next()
}

var errFile = errors.New("the worker's file")

// publish sends pieces and waits until the stream has them all. It gives the last one's sequence number.
func (o *Outbox) publish(ctx context.Context, pieces []piece, buffers [][]byte) (last uint64, err error) {
	if !o.bus.connected() {
		return 0, nats.ErrDisconnected
	}
	stored := make([]jetstream.PubAckFuture, 0, len(pieces))
	for i, p := range pieces {
		if len(buffers[i]) < p.length {
			buffers[i] = make([]byte, p.length)
		}
		p.data = buffers[i][:p.length]
		if n, failed := o.file.ReadAt(p.data, p.offset); n < p.length {
			err = fmt.Errorf("read frame %d at byte %d of %w: %w", p.frame, p.offset, errFile, failed)
			break
		}
		m := &nats.Msg{Subject: o.bus.subject("records", o.worker), Header: p.header(), Data: p.data}
		m.Header.Set(jetstream.ExpectedLastSeqHeader, strconv.FormatUint(p.sequence-1, 10))
		o.sent = max(o.sent, p.sequence)
		f, failed := o.bus.js.PublishMsgAsync(m, jetstream.WithRetryAttempts(0))
		if failed != nil {
			err = failed
			break
		}
		last = p.sequence
		stored = append(stored, f)
	}
	for _, f := range stored {
		select {
		case <-f.Ok():
		case failed := <-f.Err():
			err = cmp.Or(err, failed)
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return last, err
}

// findPosition asks the stream how far it is, and how far the coordinator is; it makes the stream again where NATS has lost it. It
// tries for as long as it takes, and gives the sequence number to go on with.
func (o *Outbox) findPosition(ctx context.Context) (next uint64, err error) {
	for start := time.Now(); ; {
		if o.bus.connected() {
			i, err := o.bus.state(ctx, o.worker)
			var refused *jetstream.APIError
			switch {
			case err == nil && i.Config.Metadata[ownerKey] != o.owner:
				return 0, ErrTaken
			case err == nil && i.Config.Metadata[lostKey] != "":
				return 0, ErrLost
			case err == nil && i.State.LastSeq > o.sent:
				return 0, fmt.Errorf("NATS stream %s has more than this worker sent: somebody else writes to it, or purged it", i.Config.Name)
			case err == nil && i.State.LastSeq >= o.purged:
				o.acknowledge(purged(i))
				return i.State.LastSeq + 1, nil
			case err == nil: // it lost its contents
				err = o.bus.remove(ctx, i.Config.Name)
			case time.Since(start) > offline && errors.As(err, &refused) && refused.ErrorCode == codeOffline:
				err = o.bus.remove(ctx, o.bus.stream(o.worker))
			case errors.Is(err, jetstream.ErrStreamNotFound):
				if err = o.create(ctx, o.purged+1); err == nil {
					return o.purged + 1, nil
				}
			}
			if errors.Is(err, ErrTaken) || errors.Is(err, nats.ErrConnectionClosed) {
				return 0, err
			}
			o.bus.complain(&o.said, "send records of worker "+o.worker, err)
		}
		if o.bus.isClosed() {
			return 0, nats.ErrConnectionClosed
		}
		if pause(ctx, again); ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
}

// acknowledge notes up to which sequence number the coordinator has everything.
func (o *Outbox) acknowledge(purged uint64) {
	if purged == o.purged {
		return
	}
	o.state.Update(func() {
		o.purged = purged
		n := 0
		for n < len(o.spans) && o.spans[n].last <= purged {
			o.freed = o.spans[n].bytes
			n++
		}
		o.acked += uint64(n)
		o.spans = slices.Delete(o.spans, 0, n)
	})
}
