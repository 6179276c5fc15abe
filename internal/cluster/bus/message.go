package bus

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// RemoteError is a response that is an error: whoever was asked could not do it, or would not.
type RemoteError struct {
	Subject, Reason string
}

// Error is the reason as it was given.
func (d *RemoteError) Error() string { return d.Reason }

// Headers of messages.
const (
	askHeader      = "Ask"      // ID of a question, which its repetitions and its response have, too
	declinedHeader = "Declined" // of a response that is an error
)

// A question is repeated until it is answered: first soon, then about once a second.
const (
	firstRepeat = 200 * time.Millisecond
	lastRepeat  = time.Second
)

// answers hands responses to those who asked. The zero value is ready.
type answers struct {
	mu      sync.Mutex
	hears   bool // answers are listened to
	waiting map[string]chan *nats.Msg
}

// replyTo is where the responses to this process go.
func (l *Link) replyTo() string { return "inferometer.reply." + l.self }

func (l *Link) expect(id string) (<-chan *nats.Msg, error) {
	a := &l.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.hears {
		if _, err := l.conn.Subscribe(l.replyTo(), l.answered); err != nil {
			return nil, err
		}
		a.hears, a.waiting = true, map[string]chan *nats.Msg{}
	}
	answer := make(chan *nats.Msg, 1)
	a.waiting[id] = answer
	return answer, nil
}

// answered hands on a response, the first to each question.
func (l *Link) answered(m *nats.Msg) {
	a := &l.answers
	a.mu.Lock()
	defer a.mu.Unlock()
	id := m.Header.Get(askHeader)
	if answer, ok := a.waiting[id]; ok {
		answer <- m
		delete(a.waiting, id)
	}
}

func (l *Link) forget(id string) {
	l.answers.mu.Lock()
	defer l.answers.mu.Unlock()
	delete(l.answers.waiting, id)
}

// Request sends a question and waits for its response until the context is over, which therefore must end. It repeats the question
// meanwhile, as messages get lost where a connection is cut; whoever answers carries it out once.
func Request[A any](ctx context.Context, b *Bus, subject string, question any) (A, error) {
	var answer A
	data, err := json.Marshal(question)
	if err != nil {
		return answer, fmt.Errorf("ask %s: %w", subject, err)
	}
	m, err := b.ask(ctx, subject, data)
	if err != nil {
		return answer, fmt.Errorf("ask %s in run %s: %w", subject, b.run, err)
	}
	if _, no := m.Header[declinedHeader]; no {
		return answer, &RemoteError{Subject: subject, Reason: string(m.Data)}
	}
	if err := json.Unmarshal(m.Data, &answer); err != nil {
		return answer, fmt.Errorf("ask %s: read the response: %w", subject, err)
	}
	return answer, nil
}

// ask sends a question until there is a response.
func (b *Bus) ask(ctx context.Context, subject string, data []byte) (*nats.Msg, error) {
	id := rand.Text()
	answer, err := b.expect(id)
	if err != nil {
		return nil, err
	}
	defer b.forget(id)
	for wait := firstRepeat; ; wait = min(2*wait, lastRepeat) {
		if b.connected() && ctx.Err() == nil {
			m := &nats.Msg{Subject: b.subject("ask", subject), Reply: b.replyTo(), Header: nats.Header{askHeader: {id}}, Data: data}
			if err := b.conn.Publish(m); err != nil && !errors.Is(err, nats.ErrDisconnected) && !errors.Is(err, nats.ErrReconnectBufExceeded) {
				return nil, err
			}
		}
		select {
		case m := <-answer:
			return m, nil
		case <-ctx.Done():
			return nil, fmt.Errorf("no response: %w", context.Cause(ctx))
		case <-time.After(wait):
		}
	}
}

// Handle answers questions, each in a goroutine of its own, until stop is called. An error of the function is what Ask
// returns, as a Declined. When Answer returns, questions find it. A question that is repeated is not carried out again:
// it gets the response to the first, unless that is large or was long ago.
func Handle[Q, A any](b *Bus, subject string, answer func(Q) (A, error)) (stop func(), err error) {
	once := &asked{}
	return b.listen("ask", subject, func(m *nats.Msg) {
		go func() {
			id := m.Header.Get(askHeader)
			if id == "" {
				return // not one of our requests
			}
			if reply, first := once.begin(id); !first {
				if reply != nil {
					b.reply(m, subject, reply)
				}
				return
			}
			reply := respond(m.Data, answer)
			once.end(id, reply)
			b.reply(m, subject, reply)
		}()
	})
}

func (b *Bus) reply(question *nats.Msg, subject string, answer *nats.Msg) {
	if len(answer.Data)+1024 > b.maxPayload {
		answer = decline(fmt.Errorf("the response is too large for NATS: raise its max_payload of %d bytes", b.maxPayload))
	}
	m := &nats.Msg{Subject: question.Reply, Header: nats.Header{askHeader: {question.Header.Get(askHeader)}}, Data: answer.Data}
	for key, values := range answer.Header {
		m.Header[key] = values
	}
	if m.Subject == "" || !b.connected() {
		return // it is asked again
	}
	if err := b.conn.Publish(m); err != nil {
		b.log(fmt.Sprintf("answer %s: %v", subject, err))
	}
}

// asked remembers questions, so that each is carried out once. The zero value is ready.
type asked struct {
	mu    sync.Mutex
	calls map[string]*nats.Msg // by ID; nil means it is being carried out
	order []string             // of those that were carried out
}

const (
	asksKept  = 4096     // questions that are remembered
	replyKept = 64 << 10 // bytes of a response that is; a larger one is made again
)

// begin notes a question, and reports whether it is the first of its ID. Of others it gives the response; nil means there is none yet.
func (a *asked) begin(id string) (*nats.Msg, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	reply, known := a.calls[id]
	if known {
		return reply, false
	}
	if a.calls == nil {
		a.calls = map[string]*nats.Msg{}
	}
	a.calls[id] = nil
	return nil, true
}

func (a *asked) end(id string, reply *nats.Msg) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(reply.Data) > replyKept {
		delete(a.calls, id)
		return
	}
	a.calls[id] = reply
	if a.order = append(a.order, id); len(a.order) > asksKept {
		delete(a.calls, a.order[0])
		a.order = a.order[1:]
	}
}

func respond[Q, A any](data []byte, answer func(Q) (A, error)) *nats.Msg {
	var question Q
	err := json.Unmarshal(data, &question)
	if err == nil {
		var a A
		if a, err = answer(question); err == nil {
			if data, err = json.Marshal(a); err == nil {
				return &nats.Msg{Data: data}
			}
		}
	}
	return decline(err)
}

func decline(err error) *nats.Msg {
	return &nats.Msg{Header: nats.Header{declinedHeader: {"true"}}, Data: []byte(err.Error())}
}

// Publish sends a message to the current subscribers. While disconnected there are none.
func Publish(b *Bus, subject string, what any) error {
	data, err := json.Marshal(what)
	if err == nil && b.connected() {
		err = b.conn.Publish(&nats.Msg{Subject: b.subject("tell", subject), Data: data})
	}
	if err != nil {
		return fmt.Errorf("tell %s: %w", subject, err)
	}
	return nil
}

// Subscribe calls a function for everything that is told on a subject, one after another and, from each sender, in order, until stop is
// called. When Hear returns, what is told is heard.
func Subscribe[T any](b *Bus, subject string, heard func(T)) (stop func(), err error) {
	return b.listen("tell", subject, func(m *nats.Msg) {
		var what T
		if err := json.Unmarshal(m.Data, &what); err != nil {
			b.log(fmt.Sprintf("hear %s: %v", subject, err))
			return
		}
		heard(what)
	})
}

// listen calls a function for every message on a subject until stop is called.
func (b *Bus) listen(kind, subject string, f nats.MsgHandler) (stop func(), err error) {
	unsubscribe, err := b.conn.Subscribe(b.subject(kind, subject), f)
	if err != nil {
		return nil, fmt.Errorf("listen to %s: %w", subject, err)
	}
	return func() {
		if err := unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			b.log(fmt.Sprintf("stop listening to %s: %v", subject, err))
		}
	}, nil
}
