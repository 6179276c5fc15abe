package bus

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The records of a worker go through a stream of its own, which its Outbox makes. It has one writer, which says of every
// message which sequence number it must get, so the stream is the frames in order, whole, and each once: there is nothing to compare and
// no time after which a repetition is not noticed. What the reader has on disk it purges, so the first sequence number
// says how far it is. The worker's file is the copy that lasts, so the stream is kept in memory.
const (
	partSize = 256 << 10 // of a frame in one message
	window   = 8 << 20   // bytes of a worker that NATS holds at most
	maxFrame = window / 2
)

// Headers of messages, and keys of a stream's metadata.
const (
	frameHeader = "Frame" // its number, from 1
	partHeader  = "Part"  // from 1, with the number of parts: 1/3
	endHeader   = "End"   // the number of frames, in the last message

	ownerKey = "owner" // what tells an Outbox from another of the same name
	lostKey  = "lost"  // set when the coordinator gave a worker up
)

// ErrLost means that the coordinator gave a worker up, and takes no more of it.
var ErrLost = errors.New("the coordinator counts this worker as lost")

// ErrTaken means that a worker of that name is in the run already.
var ErrTaken = errors.New("another worker has this name")

// stream is the name of a worker's stream; no run and worker give that of others.
func (b *Bus) stream(worker string) string {
	return "inferometer+" + word(b.run) + "+" + word(worker)
}

// config is how a worker's stream is set up, from a sequence number on.
func (b *Bus) config(worker, owner string, first uint64) jetstream.StreamConfig {
	return jetstream.StreamConfig{
		Name: b.stream(worker), Subjects: []string{b.subject("records", worker)},
		Description: "records of an Inferometer worker on their way to the coordinator",
		Storage:     jetstream.MemoryStorage, Retention: jetstream.LimitsPolicy,
		// Nothing may leave the stream but by a purge.
		Discard: jetstream.DiscardNew, MaxBytes: window + window/4,
		FirstSeq: first, Metadata: map[string]string{ownerKey: owner},
	}
}

func (b *Bus) state(ctx context.Context, worker string) (*jetstream.StreamInfo, error) {
	ctx, cancel := b.call(ctx)
	defer cancel()
	s, err := b.js.Stream(ctx, b.stream(worker))
	if err != nil {
		return nil, err
	}
	return s.CachedInfo(), nil
}

func purged(i *jetstream.StreamInfo) uint64 { return max(i.State.FirstSeq, 1) - 1 }

// remove deletes a stream, where there is one. It tries again after a cut, until the context is over.
func (b *Bus) remove(ctx context.Context, stream string) error {
	for {
		call, cancel := b.call(ctx)
		err := b.js.DeleteStream(call, stream)
		cancel()
		var refused *jetstream.APIError
		switch {
		case err == nil, errors.Is(err, jetstream.ErrStreamNotFound):
			return nil
		case errors.As(err, &refused) && refused.Code < 500, b.isClosed(), ctx.Err() != nil:
			return fmt.Errorf("delete NATS stream %s: %w", stream, err)
		}
		pause(ctx, again)
	}
}

// RemoveRecords deletes what NATS still holds of the records of this run. The coordinator calls it at the end.
func (b *Bus) RemoveRecords(ctx context.Context) error {
	call, cancel := b.call(ctx)
	defer cancel()
	names := b.js.StreamNames(call, jetstream.WithStreamListSubject("inferometer."+word(b.run)+".records.*"))
	var all error
	for name := range names.Name() {
		if strings.HasPrefix(name, b.stream("")) {
			all = errors.Join(all, b.remove(ctx, name))
		}
	}
	if err := names.Err(); err != nil {
		all = errors.Join(all, fmt.Errorf("list the NATS streams of run %s: %w", b.run, err))
	}
	return all
}

// part is a message of a worker's stream: a part of a frame, or the end mark.
type part struct {
	sequence uint64
	frame    uint64 // its number, from 1
	at, of   int    // from 1
	end      bool
	frames   uint64 // of the end mark: how many there were
	data     []byte
}

func (p part) header() nats.Header {
	if p.end {
		return nats.Header{endHeader: {strconv.FormatUint(p.frames, 10)}}
	}
	return nats.Header{frameHeader: {strconv.FormatUint(p.frame, 10)}, partHeader: {fmt.Sprintf("%d/%d", p.at, p.of)}}
}

// readPart is the reverse of header. Of a message that is none of ours it makes a frame without a number.
func readPart(m jetstream.Msg) (part, error) {
	meta, err := m.Metadata()
	if err != nil {
		return part{}, err
	}
	p, h := part{sequence: meta.Sequence.Stream, data: m.Data()}, m.Headers()
	if p.frames, err = strconv.ParseUint(h.Get(endHeader), 10, 64); err == nil {
		p.end = true
		return p, nil
	}
	if n, err := fmt.Sscanf(h.Get(frameHeader)+" "+h.Get(partHeader), "%d %d/%d", &p.frame, &p.at, &p.of); err != nil || n != 3 {
		p.frame = 0
	}
	return p, nil
}
