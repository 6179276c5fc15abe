package cluster

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

const (
	publishFor = 5 * time.Second // after which a publish without a response has failed
	silence    = 2 * time.Second // after which a consumer that hears nothing fails
)

// JetStream is that of a client. What package bus does not use is not there.
func (c *natsClient) JetStream() jetstream.JetStream { return &js{c: c} }

type js struct {
	jetstream.JetStream
	c *natsClient
}

// stream is one in the server's memory.
type stream struct {
	config  jetstream.StreamConfig
	first   uint64 // sequence number of the first message
	kept    []stored
	changed chan struct{} // closed with the next change
	gone    bool
}

type stored struct {
	header nats.Header
	data   []byte
}

func (s *stream) last() uint64 { return s.first + uint64(len(s.kept)) - 1 }

func (s *stream) change() {
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stream) info() *jetstream.StreamInfo {
	config := s.config
	config.Metadata = maps.Clone(config.Metadata)
	return &jetstream.StreamInfo{Config: config, State: jetstream.StreamState{FirstSeq: s.first, LastSeq: s.last(), Msgs: uint64(len(s.kept))}}
}

// call has the server carry out a call, of which question and answer can be lost.
func (c *natsClient) call(ctx context.Context, what string, carryOut func() error) error {
	lost := func() error {
		<-ctx.Done()
		return ctx.Err()
	}
	there, back := c.net.fate(c.name, what), c.net.fate("to "+c.name, what)
	c.gate.wait()
	if there.lost || !c.reaches() || !sleep(ctx, there.delay) {
		return lost()
	}
	c.net.gate.wait()
	if !c.reaches() {
		return lost()
	}
	c.net.mu.Lock()
	err := carryOut()
	c.net.mu.Unlock()
	if back.lost || !sleep(ctx, back.delay) || !c.Thawed() || !c.reaches() {
		return lost()
	}
	return err
}

func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// CreateStream implements jetstream.JetStream.
func (j *js) CreateStream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	h := &handle{c: j.c, name: cfg.Name}
	return h, j.c.call(ctx, "create", func() error {
		if old, taken := j.c.net.streams[cfg.Name]; taken && old.config.Metadata["owner"] != cfg.Metadata["owner"] {
			return jetstream.ErrStreamNameAlreadyInUse
		} else if !taken {
			j.c.net.streams[cfg.Name] = &stream{config: cfg, first: max(cfg.FirstSeq, 1), changed: make(chan struct{})}
		}
		h.info = j.c.net.streams[cfg.Name].info()
		return nil
	})
}

// Stream implements jetstream.JetStream.
func (j *js) Stream(ctx context.Context, name string) (jetstream.Stream, error) {
	h := &handle{c: j.c, name: name}
	return h, j.c.call(ctx, "stream", func() error {
		s, ok := j.c.net.streams[name]
		if !ok {
			return jetstream.ErrStreamNotFound
		}
		h.info = s.info()
		return nil
	})
}

// UpdateStream implements jetstream.JetStream.
func (j *js) UpdateStream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	h := &handle{c: j.c, name: cfg.Name}
	return h, j.c.call(ctx, "update", func() error {
		s, ok := j.c.net.streams[cfg.Name]
		if !ok {
			return jetstream.ErrStreamNotFound
		}
		s.config = cfg
		h.info = s.info()
		return nil
	})
}

// DeleteStream implements jetstream.JetStream.
func (j *js) DeleteStream(ctx context.Context, name string) error {
	return j.c.call(ctx, "delete", func() error {
		s, ok := j.c.net.streams[name]
		if !ok {
			return jetstream.ErrStreamNotFound
		}
		s.gone = true
		s.change()
		delete(j.c.net.streams, name)
		return nil
	})
}

// StreamNames implements jetstream.JetStream. It names all, whatever subject is asked for.
func (j *js) StreamNames(ctx context.Context, _ ...jetstream.StreamListOpt) jetstream.StreamNameLister {
	l := &names{list: make(chan string, 1000)}
	l.err = j.c.call(ctx, "names", func() error {
		for name := range j.c.net.streams {
			l.list <- name
		}
		return nil
	})
	close(l.list)
	return l
}

type names struct {
	list chan string
	err  error
}

func (l *names) Name() <-chan string { return l.list }
func (l *names) Err() error          { return l.err }

// PublishMsgAsync implements jetstream.JetStream.
func (j *js) PublishMsgAsync(m *nats.Msg, _ ...jetstream.PublishOpt) (jetstream.PubAckFuture, error) {
	j.c.gate.wait()
	f := &future{ok: make(chan *jetstream.PubAck, 1), err: make(chan error, 1)}
	time.AfterFunc(publishFor, func() { f.fail(jetstream.ErrAsyncPublishTimeout) })
	there, back := j.c.net.fate(j.c.name, m.Subject), j.c.net.fate("to "+j.c.name, m.Subject)
	if there.lost || !j.c.reaches() {
		return f, nil
	}
	kept := stored{header: maps.Clone(m.Header), data: slices.Clone(m.Data)}
	expected, _ := strconv.ParseUint(m.Header.Get(jetstream.ExpectedLastSeqHeader), 10, 64)
	j.c.mu.Lock()
	at := time.Now().Add(there.delay)
	if at.Before(j.c.arrival) {
		at = j.c.arrival
	}
	at = at.Add(1) // in order
	j.c.arrival = at
	j.c.mu.Unlock()
	time.AfterFunc(time.Until(at), func() {
		j.c.net.gate.wait()
		if !j.c.reaches() {
			return
		}
		err := j.c.net.append(m.Subject, expected, kept)
		if back.lost {
			return
		}
		time.AfterFunc(back.delay, func() {
			if j.c.Thawed() && j.c.reaches() {
				f.fail(err)
			}
		})
	})
	return f, nil
}

// append stores a message, if it is the one that comes next.
func (n *natsNet) append(subject string, after uint64, m stored) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, s := range n.streams {
		if !slices.Contains(s.config.Subjects, subject) {
			continue
		}
		if s.last() != after {
			return &jetstream.APIError{Code: 400, ErrorCode: 10071, Description: "wrong last sequence: " + strconv.FormatUint(s.last(), 10)}
		}
		s.kept = append(s.kept, m)
		s.change()
		return nil
	}
	return jetstream.ErrNoStreamResponse
}

// future is the response to a publish.
type future struct {
	once sync.Once
	ok   chan *jetstream.PubAck
	err  chan error
}

// fail gives the response; nil: it was stored.
func (f *future) fail(err error) {
	f.once.Do(func() {
		if err == nil {
			f.ok <- &jetstream.PubAck{}
		} else {
			f.err <- err
		}
	})
}

func (f *future) Ok() <-chan *jetstream.PubAck { return f.ok }
func (f *future) Err() <-chan error            { return f.err }
func (f *future) Msg() *nats.Msg               { return nil }
