package http1

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/record"
)

// LongHead is the error of headers that are longer than limits.header.
func LongHead(most int) error {
	return TooLarge(fmt.Errorf("the response's headers are longer than %d bytes: raise limits.header", most))
}

// Hold keeps a record whose body has grown from holding more than it may. It follows Mark.
func Hold(rec *record.Exchange) error {
	if !rec.Over(len(rec.Body)) {
		return nil
	}
	if err := rec.Keeper.Keep(rec); err != nil {
		return TooLarge(err)
	}
	return nil
}

// hold is the same for a response whose body the reader has.
func (r *response) hold(rec *record.Exchange) error {
	if !rec.Over(len(r.body)) {
		return nil
	}
	rec.Body, rec.Status, rec.ContentType = r.body, r.status, r.contentType
	err := Hold(rec)
	r.body = rec.Body
	return err
}
