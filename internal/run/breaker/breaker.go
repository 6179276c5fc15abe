// Package breaker ends a run whose requests go wrong in a way that its plan describes:
// expressions pick out requests, and too many of them in a row or in a span of time
// open a breaker.
package breaker

import (
	"fmt"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/lib/jmespath"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// Set are the breakers of a run. It may be used concurrently.
type Set struct {
	mu       sync.Mutex
	breakers []*breaker
	open     func(reason record.StopReason)
}

type breaker struct {
	name     string
	matches  []*jmespath.Expr
	rules    []*jmespath.Expr
	triggers []trigger
	open     bool
}

// New makes the breakers of a plan. open is called once for each that opens, with what
// to tell. All that is wrong with their expressions is told at once.
func New(list []plan.Breaker, open func(reason record.StopReason)) (*Set, error) {
	s := &Set{open: open}
	var faults plan.Faults
	parse := func(at string, list []string) (out []*jmespath.Expr) {
		for i, text := range list {
			e, err := jmespath.Parse(text)
			if err != nil {
				faults = append(faults, plan.Fault{Path: fmt.Sprintf("%s[%d]", at, i), Text: err.Error()})
			}
			out = append(out, e)
		}
		return out
	}
	for i, p := range list {
		b := &breaker{name: p.Name}
		b.matches = parse(fmt.Sprintf("breakers[%d].matches", i), p.Matches)
		b.rules = parse(fmt.Sprintf("breakers[%d].rules", i), p.Rules)
		for _, t := range p.Triggers {
			b.triggers = append(b.triggers, newTrigger(t))
		}
		s.breakers = append(s.breakers, b)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	return s, nil
}

// Add counts a decoded record. One that this program broke off says nothing about the server.
func (s *Set) Add(rec *record.Record) {
	if f := rec.Failure; f != nil && f.Class.EndedHere() {
		return
	}
	doc := document(rec)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.breakers {
		if b.open || !anyHolds(b.matches, doc) {
			continue
		}
		hit := len(b.rules) == 0 || anyHolds(b.rules, doc)
		for _, t := range b.triggers {
			if why := t.add(rec.End, hit); why != "" && !b.open {
				b.open = true
				s.open(record.StopBreaker(b.name, why))
			}
		}
	}
}

func anyHolds(list []*jmespath.Expr, doc any) bool {
	for _, e := range list {
		if e.Holds(doc) {
			return true
		}
	}
	return false
}

type trigger interface {
	// add takes a sample and says why the breaker opens; "": it does not.
	add(at time.Duration, hit bool) string
}

func newTrigger(t plan.Trigger) trigger {
	if t.Kind == plan.TriggerConsecutive {
		return &consecutive{most: int(t.Threshold)}
	}
	return &rate{Trigger: t}
}

// consecutive counts hits in a row.
type consecutive struct{ most, n int }

func (c *consecutive) add(_ time.Duration, hit bool) string {
	c.n++
	if !hit {
		c.n = 0
	}
	if c.n < c.most || c.n == 0 {
		return ""
	}
	return fmt.Sprintf("%d hits in a row", c.n)
}

// rate looks at the share of hits in the last part of the run.
type rate struct {
	plan.Trigger
	samples []sample
	hits    int
	latest  time.Duration
}

type sample struct {
	at  time.Duration
	hit bool
}

func (r *rate) add(at time.Duration, hit bool) string {
	r.samples = append(r.samples, sample{at, hit})
	if hit {
		r.hits++
	}
	// Records come in about the order they ended.
	r.latest = max(r.latest, at)
	old := 0
	for old < len(r.samples) && r.samples[old].at < r.latest-time.Duration(r.Window) {
		if r.samples[old].hit {
			r.hits--
		}
		old++
	}
	r.samples = r.samples[old:]
	n := len(r.samples)
	if n == 0 || n < r.MinSamples || float64(r.hits) < r.Threshold*float64(n) {
		return ""
	}
	return fmt.Sprintf("%d hits among the %d samples of the last %v", r.hits, n, time.Duration(r.Window))
}
