package compare

import (
	"github.com/inferometer/inferometer/internal/sample"
	"github.com/inferometer/inferometer/internal/stat/estimate"
)

// pairPrompts finds the prompts that both sides answered under the same load. Single runs are
// compared by them: over several runs, it is the runs that differ.
func (p *pair) pairPrompts() bool {
	if !p.same || len(p.runsA) != 1 || len(p.runsB) != 1 {
		return false
	}
	p.prompts = sample.Match(p.runsA[0], p.runsB[0])
	return p.prompts != nil
}

// between compares the requests of both sides: prompt by prompt where that is known, and else those
// of one side with those of the other.
func (p *pair) between(figures []figure) []*estimate.Difference {
	id := figures[0].metric
	list := make([]*estimate.Difference, len(figures))
	if p.prompts != nil && !p.censored(id) {
		for i, d := range p.prompts.Between(id, statsOf(figures), p.options.Confidence) {
			if d.Known {
				list[i] = &d
			}
		}
	}
	var others []figure
	var at []int
	for i, d := range list {
		if d == nil {
			others, at = append(others, figures[i]), append(at, i)
		}
	}
	if len(others) == 0 {
		return list
	}
	for i, d := range sample.Between(p.runsA, p.runsB, id, statsOf(others), p.options.Confidence) {
		list[at[i]] = &d
	}
	return list
}

// censored reports whether requests of a side did not end. Figures then count them, and pairs of
// requests that ended would not.
func (p *pair) censored(id string) bool {
	for _, l := range append(p.first.side.levels(p.a), p.other.side.levels(p.b)...) {
		if l.Metrics[id].Censored > 0 {
			return true
		}
	}
	return false
}

// within reports whether intervals are made of the requests of single runs.
func within(method string) bool { return method == ByRequests || method == ByPrompts }
