package search

import (
	"fmt"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/stat"
)

// trouble says what was wrong with this client during the level that has just ended; empty: nothing
// that would make its figures wrong. Such a level is repeated.
func (t *objectiveTracker) trouble(p *plan.Plan, i int) string {
	typical := t.middle(i)
	t.mu.Lock()
	defer t.mu.Unlock()
	of := t.levels[i]
	if of == nil || len(of.requests) == 0 {
		return ""
	}
	n := len(of.requests)
	gap := (of.requests[n-1].due - of.requests[0].due) / time.Duration(n)
	p90, p99 := build.LagBudgets(p, typical, gap)
	for _, c := range []struct {
		q      float64
		budget time.Duration
	}{{0.9, p90}, {0.99, p99}} {
		if c.q > 0.9 && int64(n) < stat.MinSamples(c.q) {
			continue
		}
		if v, ok := of.late.Quantile(c.q); ok && time.Duration(v) > c.budget {
			return fmt.Sprintf("this client was slow, and requests went out late by %s (p%.0f)", number.Span(time.Duration(v)), 100*c.q)
		}
	}
	return ""
}

func failureOf(f *record.Failure) string {
	switch f.Class {
	case record.HTTPStatus:
		return "HTTP " + strconv.Itoa(f.Status)
	case record.ConnectFailed:
		return "no connection"
	case record.Dropped, record.Reset:
		return "connection closed"
	}
	return string(f.Class)
}
