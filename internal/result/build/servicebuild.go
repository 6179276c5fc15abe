package build

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe/servermetrics"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// Pages are what the servers' metrics said during a run.
type Pages struct {
	prefer, model string
	stages        []*servermetrics.PageLog
	Figures       []record.Figures // what a Prometheus server said
}

// NewPages begins to take down what the pages say in a plan's run.
func NewPages(p *plan.Plan) *Pages {
	prefer := p.Probes.Prometheus.Server
	if prefer == "" && p.Target.Protocol == plan.ProtocolTriton {
		prefer = servermetrics.Triton
	}
	return &Pages{prefer: prefer, model: p.Target.Model}
}

// AddProbe takes a look at the servers into the facts, pages of metrics boiled down.
func (f *Inputs) AddProbe(p *plan.Plan, look record.Probe) {
	if p.Cost.On() {
		f.gpus().observe(&look)
	}
	if len(look.Pages) > 0 {
		f.pages(p).add(&look)
		look.Pages = nil
	}
	if len(look.Targets) > 0 {
		f.Probes = append(f.Probes, look)
	}
}

// AddFigures takes in what a Prometheus server said.
func (f *Inputs) AddFigures(p *plan.Plan, said record.Figures) {
	pages := f.pages(p)
	pages.Figures = append(pages.Figures, said)
}

// pages are the facts' own, begun where there are none.
func (f *Inputs) pages(p *plan.Plan) *Pages {
	if f.Pages == nil {
		f.Pages = NewPages(p)
	}
	return f.Pages
}

func (g *Pages) add(look *record.Probe) {
	if look.Stage < 0 {
		return
	}
	for len(g.stages) <= look.Stage {
		g.stages = append(g.stages, nil)
	}
	if g.stages[look.Stage] == nil {
		g.stages[look.Stage] = servermetrics.NewLog(g.prefer, g.model)
	}
	g.stages[look.Stage].Add(look.Edge != record.ProbeDuring, look.At, look.Pages)
}

// services are what the metrics say of a stage, or of the whole run; optional.
func (g *Pages) services(p *plan.Plan, stage int) []result.ServerMetrics {
	if g == nil {
		return nil
	}
	var out []result.ServerMetrics
	var log *servermetrics.PageLog
	switch {
	case stage == record.WholeRun:
		log = servermetrics.Join(g.stages)
	case stage < len(g.stages):
		log = g.stages[stage]
	}
	if log != nil && log.Looks() > 0 {
		out = append(out, scraped(p, log, stage))
	}
	for _, f := range g.Figures {
		if f.Stage == stage {
			out = append(out, result.ServerMetrics{
				Source: f.Source, Window: result.Span{Begin: f.Begin.Seconds(), End: f.End.Seconds()}, Figures: f.Figures, Faults: f.Faults,
			})
		}
	}
	return out
}

func scraped(p *plan.Plan, log *servermetrics.PageLog, stage int) result.ServerMetrics {
	var names []string
	for _, u := range p.Pages() {
		names = append(names, plan.SafeURL(u))
	}
	begin, end := log.Window()
	s := result.ServerMetrics{
		Source: result.SourceScrape, Window: result.Span{Begin: begin.Seconds(), End: end.Seconds()}, Figures: log.Figures(),
		Faults: log.Faults(names),
	}
	for _, part := range log.Parts() {
		name := fmt.Sprintf("page %d", part.Page+1)
		switch {
		case part.Role != "":
			name = ""
		case part.Page < len(names):
			name = names[part.Page]
		}
		s.Parts = append(s.Parts, result.ServicePart{Page: name, GPU: part.GPU, Role: part.Role, Figures: part.Figures})
	}
	if stage == record.WholeRun {
		return s // the stages have the series
	}
	for _, series := range log.Series() {
		out := result.ServiceSeries{Name: series.Name, Unit: series.Unit, Role: series.Role}
		for i, v := range series.Values {
			out.Points = append(out.Points, [2]float64{series.At[i].Seconds(), v})
		}
		s.Series = append(s.Series, out)
	}
	return s
}

// services tells of what was not available.
func (j *judge) services(i int, all []result.ServerMetrics) {
	for _, s := range all {
		for _, f := range s.Faults {
			j.addNote(i, "The servers' metrics are not complete. %s", f)
		}
	}
}
