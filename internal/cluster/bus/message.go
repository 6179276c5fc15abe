package bus

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go"
)

// Declined is an answer that is an error: whoever was asked could not do it, or would not.
type Declined struct {
	Subject, Reason string
}

// Error is the reason as it was given.
func (d *Declined) Error() string { return d.Reason }

// declined is the header of an answer that is an error.
const declined = "Declined"

// Ask sends a question and waits for its answer until the context is over, which therefore must have a deadline. While
// nobody listens to the subject it tries again. A question that was heard is not sent a second time: where the
// connection breaks before the answer comes, the deadline passes.
func Ask[A any](ctx context.Context, b *Bus, subject string, question any) (A, error) {
	var answer A
	data, err := json.Marshal(question)
	if err != nil {
		return answer, fmt.Errorf("ask %s: %w", subject, err)
	}
	for {
		m, err := b.nats.RequestWithContext(ctx, b.subject("ask", subject), data)
		switch {
		case errors.Is(err, nats.ErrNoResponders):
			if pause(ctx, again); ctx.Err() != nil {
				return answer, fmt.Errorf("ask %s: nobody in run %s answers: %w", subject, b.run, context.Cause(ctx))
			}
			continue
		case err != nil:
			return answer, fmt.Errorf("ask %s in run %s: %w", subject, b.run, err)
		}
		if _, no := m.Header[declined]; no {
			return answer, &Declined{Subject: subject, Reason: string(m.Data)}
		}
		if err := json.Unmarshal(m.Data, &answer); err != nil {
			return answer, fmt.Errorf("ask %s: read the answer: %w", subject, err)
		}
		return answer, nil
	}
}

// Answer answers questions, each in a goroutine of its own, until stop is called. An error of the function is what Ask
// returns, as a Declined. When Answer returns, questions find it.
func Answer[Q, A any](b *Bus, subject string, answer func(Q) (A, error)) (stop func(), err error) {
	s, err := b.nats.Subscribe(b.subject("ask", subject), func(m *nats.Msg) {
		go func() {
			err := m.RespondMsg(respond(m.Data, answer))
			if errors.Is(err, nats.ErrMaxPayload) {
				err = m.RespondMsg(decline(fmt.Errorf("the answer is too large for NATS: raise its max_payload of %d bytes", b.nats.MaxPayload())))
			}
			if err != nil {
				b.log(fmt.Sprintf("answer %s: %v", subject, err))
			}
		}()
	})
	return b.listening(s, err, subject)
}

// respond makes the answer to a question.
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
	return &nats.Msg{Header: nats.Header{declined: {"true"}}, Data: []byte(err.Error())}
}

// Tell sends something to all that hear the subject at this moment. While the connection is cut it is kept and sent afterwards.
func Tell(b *Bus, subject string, what any) error {
	data, err := json.Marshal(what)
	if err == nil {
		err = b.nats.Publish(b.subject("tell", subject), data)
	}
	if err != nil {
		return fmt.Errorf("tell %s: %w", subject, err)
	}
	return nil
}

// Hear calls a function for everything that is told on a subject, one after another and, from each sender, in order, until stop is
// called. When Hear returns, what is told is heard.
func Hear[T any](b *Bus, subject string, heard func(T)) (stop func(), err error) {
	s, err := b.nats.Subscribe(b.subject("tell", subject), func(m *nats.Msg) {
		var what T
		if err := json.Unmarshal(m.Data, &what); err != nil {
			b.log(fmt.Sprintf("hear %s: %v", subject, err))
			return
		}
		heard(what)
	})
	return b.listening(s, err, subject)
}

// listening waits until the server knows of a subscription.
func (b *Bus) listening(s *nats.Subscription, err error, subject string) (stop func(), _ error) {
	if err == nil {
		err = b.nats.FlushTimeout(apiLimit)
	}
	if err != nil {
		return nil, fmt.Errorf("listen to %s: %w", subject, err)
	}
	return func() {
		if err := s.Unsubscribe(); err != nil && !errors.Is(err, nats.ErrConnectionClosed) {
			b.log(fmt.Sprintf("stop listening to %s: %v", subject, err))
		}
	}, nil
}
