package planfile

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

func (c *checker) replay(p *plan.Plan) {
	for i := range p.Stages {
		if s := p.Data.Source; p.Stages[i].Arrival == plan.ArrivalSessions && s != plan.SourceFile && s != plan.SourceOtelTrace &&
			s != plan.SourceWekaTrace && s != plan.SourceAgents && s != plan.SourcePayload && s != plan.SourceSessions && s != plan.SourceTrace {
			c.lacks(fmt.Sprintf("stages[%d].arrival", i), "data.source", "source: "+s+" has no sessions that come to an end", "set source to file, with session_id in its lines")
		}
	}
	r := &p.Data.Replay
	const at = "data.replay."
	if s := p.Data.Source; s != plan.SourceOtelTrace && s != plan.SourceWekaTrace && s != plan.SourceAgents && s != plan.SourceTrace {
		if !unset(r) {
			c.lacks("data.replay", "data.source", "cannot be combined with source: "+s, "set source to trace, otel_trace, weka_trace or agents, or leave it out")
		}
		return
	}
	c.replayKind(p.Data.Source, r)
	given := 0
	for _, g := range []bool{r.Dir != "", len(r.Files) > 0, r.Hub != plan.Hub{}} {
		if g {
			given++
		}
	}
	if given > 0 && p.Data.Source == plan.SourceTrace {
		c.add("data.replay", "cannot say where the trace is, which data.file does with source: trace", "leave dir, files and hub out")
	}
	if given != 1 && p.Data.Source != plan.SourceAgents && p.Data.Source != plan.SourceTrace {
		c.add("data.replay", fmt.Sprintf("needs one of dir, files and hub, has %d", given), "")
	}
	for _, attribute := range sortedKeys(r.Headers) {
		if name := r.Headers[attribute]; !isHeaderName(name) {
			c.add(document.Join(at+"headers", attribute), truncate.Quote(name)+" is not a header name", "")
		}
	}
	if r.Model != "" && len(r.Models) > 0 {
		c.add(at+"models", "cannot be combined with model, which stands for all", "give one of them")
	}
	if r.NoSubstitution && (r.RandomID || r.Sessions > 0) {
		c.add(at+"no_substitution", "cannot be combined with random_id and sessions, whose texts are no longer as recorded", "leave one of them out")
	}
}

// replayKind checks what only one kind of traces has.
func (c *checker) replayKind(source string, r *plan.Replay) {
	for _, f := range []struct {
		name, source string
		given        bool
	}{
		{"tool_max_tokens", plan.SourceOtelTrace, r.ToolMaxTokens != 0},
		{"skip_errors", plan.SourceOtelTrace, r.SkipErrors},
		{"no_substitution", plan.SourceOtelTrace, r.NoSubstitution},
		{"headers", plan.SourceOtelTrace, len(r.Headers) > 0},
		{"labels", plan.SourceOtelTrace, len(r.Labels) > 0},
		{"bad_tool_calls", plan.SourceOtelTrace, r.BadToolCalls != ""},
		{"tool_choice", plan.SourceOtelTrace, r.ToolChoice != ""},
		{"idle_gap", plan.SourceWekaTrace, r.IdleGap != 0},
		{"think_time_only", plan.SourceWekaTrace, r.ThinkTimeOnly},
		{"block_size", plan.SourceWekaTrace, r.BlockSize != 0},
		{"max_context", plan.SourceWekaTrace, r.MaxContext != 0},
	} {
		if f.given && source != f.source && source != plan.SourceTrace && !(source == plan.SourceAgents && slices.Contains([]string{"tool_max_tokens", "bad_tool_calls", "tool_choice"}, f.name)) {
			c.lacks("data.replay."+f.name, "data.source", "only for source: "+f.source, "leave it out")
		}
	}
}

func (c *checker) sessionLoad(path string, s *plan.Stage) {
	c.without(path+".", path+".arrival", "cannot be combined with a load of sessions", "leave one of them out",
		part{"concurrency", s.Concurrency != 0}, part{"rate", s.Rate != 0}, part{"cv", s.CV != 0}, part{"ramp_to", s.RampTo != 0},
		part{"duration", s.Duration != 0}, part{"requests", s.Requests != 0}, part{"max_in_flight", s.MaxInFlight != 0})
}
