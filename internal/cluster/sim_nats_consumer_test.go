package cluster

import (
	"context"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// handle is a stream as a client has it.
type handle struct {
	jetstream.Stream
	c    *natsClient
	name string
	info *jetstream.StreamInfo
}

// CachedInfo implements jetstream.Stream.
func (h *handle) CachedInfo() *jetstream.StreamInfo { return h.info }

// Purge implements jetstream.Stream.
func (h *handle) Purge(ctx context.Context, opts ...jetstream.StreamPurgeOpt) error {
	var r jetstream.StreamPurgeRequest
	for _, o := range opts {
		if err := o(&r); err != nil {
			return err
		}
	}
	return h.c.call(ctx, "purge", func() error {
		s, ok := h.c.net.streams[h.name]
		if !ok {
			return jetstream.ErrStreamNotFound
		}
		for s.first < r.Sequence {
			if s.first++; len(s.kept) > 0 {
				s.kept = s.kept[1:]
			}
		}
		s.change()
		return nil
	})
}

// CreateConsumer implements jetstream.Stream.
func (h *handle) CreateConsumer(ctx context.Context, cfg jetstream.ConsumerConfig) (jetstream.Consumer, error) {
	r := &reader{c: h.c, next: cfg.OptStartSeq, stopped: make(chan struct{})}
	return &consumer{reader: r}, h.c.call(ctx, "consume", func() error {
		s, ok := h.c.net.streams[h.name]
		if !ok {
			return jetstream.ErrStreamNotFound
		}
		r.stream = s
		return nil
	})
}

// consumer gives the reader of a stream.
type consumer struct {
	jetstream.Consumer
	reader *reader
}

// Messages implements jetstream.Consumer.
func (c *consumer) Messages(...jetstream.PullMessagesOpt) (jetstream.MessagesContext, error) {
	return c.reader, nil
}

// reader reads a stream in order.
type reader struct {
	c       *natsClient
	stream  *stream
	next    uint64
	once    sync.Once
	stopped chan struct{}
}

// Stop implements jetstream.MessagesContext.
func (r *reader) Stop() { r.once.Do(func() { close(r.stopped) }) }

// Drain implements jetstream.MessagesContext.
func (r *reader) Drain() { r.Stop() }

// Next implements jetstream.MessagesContext.
func (r *reader) Next(...jetstream.NextOpt) (jetstream.Msg, error) {
	deadline := time.After(forever)
	var silent bool
	for {
		r.c.gate.wait()
		m, changed, heard := r.read()
		if m != nil {
			return m, nil
		}
		if heard {
			silent = false
		} else if !silent {
			silent, deadline = true, time.After(silence)
		}
		select {
		case <-changed:
		case <-deadline:
			if silent {
				return nil, jetstream.ErrNoHeartbeat
			}
		case <-time.After(silence / 4):
		case <-r.stopped:
			return nil, jetstream.ErrMsgIteratorClosed
		}
	}
}

// read gives the next message, if it is there, and otherwise what is closed when there may be one. heard: the server answers.
func (r *reader) read() (m jetstream.Msg, changed <-chan struct{}, heard bool) {
	if !r.c.reaches() || r.c.net.gate.frozen() {
		return nil, nil, false
	}
	n := r.c.net
	n.mu.Lock()
	defer n.mu.Unlock()
	s := r.stream
	if s.gone || n.streams[s.config.Name] != s {
		return nil, nil, false
	}
	if r.next = max(r.next, s.first); r.next > s.last() {
		return nil, s.changed, true
	}
	got := s.kept[r.next-s.first]
	r.next++
	return &received{sequence: r.next - 1, message: got}, nil, true
}

// received is a message that a consumer has read.
type received struct {
	jetstream.Msg
	sequence uint64
	message  stored
}

// Metadata implements jetstream.Msg.
func (m *received) Metadata() (*jetstream.MsgMetadata, error) {
	return &jetstream.MsgMetadata{Sequence: jetstream.SequencePair{Stream: m.sequence}}, nil
}

// Data implements jetstream.Msg.
func (m *received) Data() []byte { return m.message.data }

// Headers implements jetstream.Msg.
func (m *received) Headers() nats.Header { return m.message.header }
