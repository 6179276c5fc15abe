package servermetrics

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// PageLog is what pages of metrics said during a stage. The first and the last look are whole;
// those between have only gauges and counters, to save memory.
type PageLog struct {
	prefer, model string
	pages         []*pageLog
	at            []time.Duration // of the looks
	edges         []bool          // whether they were at the edge of the stage
}

type pageLog struct {
	page
	first, last *record.Page
	values      []map[cell]float64 // by look; nil means it could not be read
	faults      []string
	anew        string
}

// NewLog begins a log. prefer is whose names count where a page has those of several
// servers, model is the one under test where a server has several; both may be empty.
func NewLog(prefer, model string) *PageLog { return &PageLog{prefer: prefer, model: model} }

// Add takes a look at all pages into the log. edge: it was before the first request or after the
// last.
func (l *PageLog) Add(edge bool, at time.Duration, pages []record.Page) {
	for len(l.pages) < len(pages) {
		l.pages = append(l.pages, &pageLog{values: make([]map[cell]float64, len(l.at))})
	}
	l.at, l.edges = append(l.at, at), append(l.edges, edge)
	for i, p := range l.pages {
		if i < len(pages) {
			p.add(&pages[i], l.prefer, l.model, edge)
		} else {
			p.values = append(p.values, nil)
		}
	}
}

func (p *pageLog) add(look *record.Page, prefer, model string, edge bool) {
	if look.Error != "" {
		p.values = append(p.values, nil)
		if !slices.Contains(p.faults, look.Error) {
			p.faults = append(p.faults, look.Error)
		}
		return
	}
	if p.first == nil || p.metrics == nil {
		p.page = read(look.Samples, prefer, model)
	}
	if p.first == nil {
		p.first = look
	}
	if edge {
		p.last = look
	}
	now := p.page.values(look.Samples)
	if before := p.lastValues(); before != nil && p.anew == "" {
		p.anew = p.restarted(before, now)
	}
	p.values = append(p.values, now)
}

func (p *pageLog) lastValues() map[cell]float64 {
	for _, v := range slices.Backward(p.values) {
		if v != nil {
			return v
		}
	}
	return nil
}

// restarted names a counter that went back; empty: none did.
func (p *pageLog) restarted(before, now map[cell]float64) string {
	for i := range p.metrics {
		m := &p.metrics[i]
		if m.Kind != record.FigureCounter {
			continue
		}
		for c, v := range now {
			if b, was := before[c]; c.own == m.Own && was && v < b {
				return fmt.Sprintf("%s went from %v back to %v", m.Own, b, v)
			}
		}
	}
	return ""
}

// Join puts the logs of the stages of a run together. A nil log is none.
func Join(stages []*PageLog) *PageLog {
	whole := new(PageLog)
	for _, l := range stages {
		if l == nil {
			continue
		}
		for len(whole.pages) < len(l.pages) {
			whole.pages = append(whole.pages, &pageLog{values: make([]map[cell]float64, len(whole.at))})
		}
		for i, p := range whole.pages {
			if i >= len(l.pages) {
				p.values = append(p.values, make([]map[cell]float64, len(l.at))...)
				continue
			}
			p.join(l.pages[i])
		}
		whole.at, whole.edges = append(whole.at, l.at...), append(whole.edges, l.edges...)
	}
	return whole
}

func (p *pageLog) join(next *pageLog) {
	if before, now := p.lastValues(), next.firstValues(); before != nil && now != nil && p.anew == "" {
		p.anew = next.restarted(before, now)
	}
	if p.first == nil {
		p.first, p.page = next.first, next.page
	}
	if next.last != nil {
		p.last = next.last
	}
	p.values = append(p.values, next.values...)
	if p.anew == "" {
		p.anew = next.anew
	}
	for _, f := range next.faults {
		if !slices.Contains(p.faults, f) {
			p.faults = append(p.faults, f)
		}
	}
}

func (p *pageLog) firstValues() map[cell]float64 {
	for _, v := range p.values {
		if v != nil {
			return v
		}
	}
	return nil
}

// Looks is how many looks there were.
func (l *PageLog) Looks() int { return len(l.at) }

// Window is from the first look to the last.
func (l *PageLog) Window() (begin, end time.Duration) {
	if len(l.at) == 0 {
		return 0, 0
	}
	return l.at[0], l.at[len(l.at)-1]
}

// Faults say what was not available, in the order of the pages, by the names given.
func (l *PageLog) Faults(names []string) []string {
	var out []string
	for i, p := range l.pages {
		name := fmt.Sprintf("page %d", i+1)
		if i < len(names) {
			name = names[i]
		}
		failed := 0
		for _, v := range p.values {
			if v == nil {
				failed++
			}
		}
		for _, f := range p.faults {
			out = append(out, fmt.Sprintf("%s: %s (%d of %d reads failed)", name, f, failed, len(p.values)))
		}
		if p.anew != "" {
			out = append(out, fmt.Sprintf("%s: the server restarted: %s; its histograms cover only the time since", name, p.anew))
		}
		if p.first != nil && len(p.lastValues()) == 0 && len(p.faults) == 0 && len(p.first.Samples) == 0 {
			out = append(out, name+": the page has no metric of a known server or GPU exporter")
		}
	}
	return out
}

// roles are those of the workers that a log tells of, in order; none: they share no work.
func (l *PageLog) roles() []string {
	var found []string
	for _, role := range []string{Prefill, Decode} {
		if slices.ContainsFunc(l.pages, func(p *pageLog) bool {
			for c := range p.lastValues() {
				if c.role == role {
					return true
				}
			}
			return false
		}) {
			found = append(found, role)
		}
	}
	return found
}

// gpus are those that a page has told of, in order.
func (p *pageLog) gpus() []string {
	set := map[string]bool{}
	for _, v := range p.values {
		for c := range v {
			if c.gpu != "" {
				set[c.gpu] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}
