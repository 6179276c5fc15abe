package otlp

import (
	"context"
	"fmt"
)

// spanBatch is how many spans go in one export.
const spanBatch = 512

// Spans exports spans one batch after the other. It belongs to one goroutine.
type Spans struct {
	// File takes batches in a collector's place; nil means they are sent.
	File func(b *Batch) error

	ctx    context.Context
	client *Client
	batch  Batch
	tally  Tally
}

// NewSpans begins an export of spans by the sender that the batch names.
func NewSpans(ctx context.Context, s Settings, from Batch) *Spans {
	return &Spans{ctx: ctx, client: NewClient(s), batch: from}
}

// Add exports a span.
func (e *Spans) Add(s Span) {
	if e.batch.Spans = append(e.batch.Spans, s); len(e.batch.Spans) == spanBatch {
		e.flush()
	}
}

// Close exports what is left. It gives how many spans arrived; the error says why others
// did not.
func (e *Spans) Close() (sent int64, err error) {
	e.flush()
	e.client.Close()
	if e.tally.Err != nil {
		return e.tally.Sent, fmt.Errorf("%d spans were exported and %d were not: %w", e.tally.Sent, e.tally.Lost, e.tally.Err)
	}
	return e.tally.Sent, nil
}

func (e *Spans) flush() {
	if len(e.batch.Spans) == 0 {
		return
	}
	e.tally.Count(e.batch.Len(), func() (rejected int64, err error) {
		if e.File != nil {
			return 0, e.File(&e.batch)
		}
		return e.client.Export(e.ctx, &e.batch)
	})
	e.batch.Spans = e.batch.Spans[:0]
}

// Tally counts what arrived. The zero value is empty.
type Tally struct {
	Sent, Lost int64
	Err        error // the first there was
	broken     bool  // an export was given up
}

// Count counts an export of n things. After one that was given up no other is tried: a run
// may have a million spans, and each would wait in vain.
func (t *Tally) Count(n int64, export func() (rejected int64, err error)) {
	if t.broken {
		t.Lost += n
		return
	}
	rejected, err := export()
	if err != nil && rejected == 0 {
		rejected, t.broken = n, true
	}
	rejected = min(rejected, n)
	t.Sent, t.Lost = t.Sent+n-rejected, t.Lost+rejected
	if t.Err == nil {
		t.Err = err
	}
}
