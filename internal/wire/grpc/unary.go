package grpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/h2"
	"github.com/inferometer/inferometer/internal/wire/http1"
)

// Unary sends a message, takes the response and fills in rec from Sent to End. The
// body is the response with its prefix, uncompressed.
func (c *Client) Unary(ctx context.Context, method string, m Message, rec *record.Exchange) {
	rec.Failure = nil
	err := c.unary(ctx, c.work, method, m, rec, c.options.Largest)
	if err != nil {
		c.fail(ctx, rec, err)
		return
	}
	http1.Finish(rec, c.clock.Now())
}

// unary carries out a call whose response has a limit.
func (c *Client) unary(ctx context.Context, by *h2.Client, method string, m Message, rec *record.Exchange, largest limitio.Limit) error {
	answer := c.answers.Get().(*h2.Response)
	defer c.answers.Put(answer)
	if err := by.Post(ctx, c.head(method).fields, m.wire, rec, answer); err != nil {
		return err
	}
	if rec.Status != 200 || !isGRPC(rec.ContentType) {
		return notGRPCAnswer(rec.Status, rec.ContentType, rec.Body)
	}
	said := answer.Trailer
	if len(said) == 0 {
		said = answer.Head // no message, and so no trailers of their own
	}
	if err := outcome(said); err != nil {
		return err
	}
	return c.single(rec, value(answer.Head, "grpc-encoding"), largest)
}

// single makes sure that a response is one message, and undoes its compression.
func (c *Client) single(rec *record.Exchange, encoding string, largest limitio.Limit) error {
	s := splitter{most: c.options.MaxMessage, largest: largest, encoding: encoding}
	message, rest, err := s.next(rec.Body)
	switch {
	case err != nil:
		return err
	case message == nil && len(rec.Body) == 0:
		return http1.Truncated(errors.New("the server reported OK without a message"))
	case message == nil:
		return http1.Truncated(fmt.Errorf("the response ends inside a message, after %d bytes", len(rec.Body)))
	case len(rest) > 0:
		return http1.BadFraming(errors.New("the server sent more than one message"))
	}
	if rec.Body[0] == 0 {
		return nil
	}
	// It is there only once the last byte of it is.
	for i := range rec.Marks {
		if m := &rec.Marks[i]; m.Off == len(rec.Body) {
			m.Off = len(message)
		} else {
			m.Off = 0
		}
	}
	rec.Body = append(rec.Body[:0], message...)
	return nil
}

func (c *Client) fail(ctx context.Context, rec *record.Exchange, err error) {
	http1.Fail(ctx, rec, err, c.clock.Now())
	f := rec.Failure
	if f.Class.EndedHere() {
		return
	}
	var status *StatusError
	var other *notGRPC
	switch {
	case errors.As(err, &status):
		f.Class, f.Status = record.GRPCStatus, status.Code
	case errors.As(err, &other) && (other.status < 200 || other.status > 299):
		f.Class, f.Status = record.HTTPStatus, other.status
	case errors.As(err, &other):
		f.Class, f.Status = record.BadBody, other.status
	default:
		return
	}
	if n := len(rec.Marks); n > 0 {
		rec.End = rec.Marks[n-1].Time()
	}
}
