package probe

import (
	"context"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// Page is a page of metrics that a server or an exporter publishes.
type Page interface {
	// Read reads it; whole: with histogram buckets. An unavailable page says why.
	Read(ctx context.Context, whole bool) record.Page
	Close() error
}

// RangeQuerier is a server that gathers the metrics of others and can be asked afterwards.
type RangeQuerier interface {
	// Ask asks what the metrics say of some stretches of time.
	Ask(ctx context.Context, of []TimeRange) []record.Figures
	Close() error
}

// TimeRange is a stretch of time: a stage, or all of them.
type TimeRange struct {
	Stage      int
	Begin, End time.Duration
	// Next is when the next one begins: what lies between belongs to neither; 0: nothing does.
	Next time.Duration
}
