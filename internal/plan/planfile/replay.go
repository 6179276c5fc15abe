package planfile

import (
	"fmt"
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

var replaySpec = sync.OnceValue(func() codec[plan.Replay] {
	return object(
		fieldOf("dir", text(), func(r *plan.Replay) *string { return &r.Dir }, "Directory of traces; or `files`, or `hub`."),
		fieldOf("files", list("list of paths", text()), func(r *plan.Replay) *[]string { return &r.Files }, "Files, or patterns of them."),
		fieldOf("hub", hubSpec(), func(r *plan.Replay) *plan.Hub { return &r.Hub }, "A data set of traces on the hub."),
		fieldOf("filter", text(), func(r *plan.Replay) *string { return &r.Filter }, "Expression that selects the sessions to play."),
		fieldOf("model", text(), func(r *plan.Replay) *string { return &r.Model }, "Model to use instead of the recorded ones."),
		fieldOf("models", headersSpec(), func(r *plan.Replay) *map[string]string { return &r.Models }, "Model to use for each recorded one."),
		fieldOf("max_tokens", count[int](mostLength), func(r *plan.Replay) *int { return &r.MaxTokens }, "Output length where neither length nor text was recorded; 0: 1000."),
		fieldOf("tool_max_tokens", count[int](mostLength), func(r *plan.Replay) *int { return &r.ToolMaxTokens }, "Minimum output length of turns that call tools, which is otherwise 4 times the recorded one; 0: as recorded."),
		fieldOf("random_id", boolean(), func(r *plan.Replay) *bool { return &r.RandomID }, "Put a random tag into each session's text, so that no cache knows it."),
		fieldOf("sessions", count[int](mostPrompts), func(r *plan.Replay) *int { return &r.Sessions }, "Repeat sessions to reach this number; 0: as many as there are."),
		fieldOf("once", boolean(), func(r *plan.Replay) *bool { return &r.Once }, "Play each session once: a stage has at most what earlier stages have left, and is left out where that is nothing. Left out: the sessions begin again."),
		fieldOf("max_wait", duration(), func(r *plan.Replay) *plan.Duration { return &r.MaxWait }, "Longest wait between a turn and the one before; 0: no limit."),
		fieldOf("predecessor_timeout", duration(), func(r *plan.Replay) *plan.Duration { return &r.PredecessorTimeout }, "How long after the start of the session a turn may still wait for earlier ones; 0: forever."),
		fieldOf("skip_errors", boolean(), func(r *plan.Replay) *bool { return &r.SkipErrors }, "Skip turns that were recorded as errors."),
		fieldOf("skip_invalid", boolean(), func(r *plan.Replay) *bool { return &r.SkipInvalid }, "Skip files that cannot be read. Left out: they are an error."),
		fieldOf("no_substitution", boolean(), func(r *plan.Replay) *bool { return &r.NoSubstitution }, "Send recorded answers instead of the live ones."),
		fieldOf("headers", headersSpec(), func(r *plan.Replay) *map[string]string { return &r.Headers }, "Headers to send: trace attribute to header name."),
		fieldOf("labels", headersSpec(), func(r *plan.Replay) *map[string]string { return &r.Labels }, "Labels of records: trace attribute to label."),
		fieldOf("bad_tool_calls", word(plan.ToolCallsNone, plan.ToolCallsRecorded), func(r *plan.Replay) *string { return &r.BadToolCalls },
			"What later turns see of a tool call that the model got wrong: the live call, or the recorded one. Left out: `none`."),
		fieldOf("tool_choice", word(plan.ToolChoiceForced, plan.ToolChoiceFree), func(r *plan.Replay) *string { return &r.ToolChoice },
			"Whether a turn that called a tool is forced to call it again. Left out: `force_recorded`."),
		fieldOf("idle_gap", duration(), func(r *plan.Replay) *plan.Duration { return &r.IdleGap }, "Block-hash traces: longest idle gap of a session; 0: no limit."),
		fieldOf("ignore_delays", boolean(), func(r *plan.Replay) *bool { return &r.IgnoreDelays }, "No waits at all."),
		fieldOf("think_time_only", boolean(), func(r *plan.Replay) *bool { return &r.ThinkTimeOnly }, "Block-hash traces: wait only for the recorded think times."),
		fieldOf("block_size", count[int](mostLength), func(r *plan.Replay) *int { return &r.BlockSize }, "Block-hash traces: tokens of a block where the trace does not say; 0: 64."),
		fieldOf("entries", count[int](mostPrompts), func(r *plan.Replay) *int { return &r.Entries }, "Sessions to read from the hub; 0: all."),
	)
})

func (c *checker) replay(p *plan.Plan) {
	for i := range p.Stages {
		if s := p.Data.Source; p.Stages[i].Arrival == plan.ArrivalSessions && s != plan.SourceFile && s != plan.SourceOtelTrace &&
			s != plan.SourceWekaTrace && s != plan.SourceAgents && s != plan.SourcePayload && s != plan.SourceSessions {
			c.lacks(fmt.Sprintf("stages[%d].arrival", i), "data.source", "source: "+s+" has no sessions that come to an end", "set source to file, with session_id in its lines")
		}
	}
	r := &p.Data.Replay
	const at = "data.replay."
	if s := p.Data.Source; s != plan.SourceOtelTrace && s != plan.SourceWekaTrace && s != plan.SourceAgents {
		if !replaySpec().zero(*r) {
			c.lacks("data.replay", "data.source", "cannot be combined with source: "+s, "set source to otel_trace, weka_trace or agents, or leave it out")
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
	if given != 1 && p.Data.Source != plan.SourceAgents {
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
	replaySpec().check(c, "data.replay", r)
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
	} {
		if f.given && source != f.source && !(source == plan.SourceAgents && slices.Contains([]string{"tool_max_tokens", "bad_tool_calls", "tool_choice"}, f.name)) {
			c.lacks("data.replay."+f.name, "data.source", "only for source: "+f.source, "leave it out")
		}
	}
}

var sessionLoadSpec = sync.OnceValue(func() codec[plan.SessionLoad] {
	return object(
		fieldOf("concurrent", count[int](mostInFlight), func(s *plan.SessionLoad) *int { return &s.Concurrent }, "Concurrent sessions; 0: no limit."),
		fieldOf("rate", amount(mostRate), func(s *plan.SessionLoad) *float64 { return &s.Rate }, "Sessions started per second; 0: as soon as there is room."),
		fieldOf("count", count[int64](mostRequests), func(s *plan.SessionLoad) *int64 { return &s.Count }, "Sessions of the stage; 0: what earlier stages have left of the data, or all of it."),
		fieldOf("timeout", duration(), func(s *plan.SessionLoad) *plan.Duration { return &s.Timeout }, "Time limit of the stage; 0: none."),
	)
})

func (c *checker) sessionLoad(path string, s *plan.Stage) {
	sessionLoadSpec().check(c, path+".sessions", &s.Sessions)
	c.without(path+".", path+".arrival", "cannot be combined with a load of sessions", "leave one of them out",
		part{"concurrency", s.Concurrency != 0}, part{"rate", s.Rate != 0}, part{"cv", s.CV != 0}, part{"ramp_to", s.RampTo != 0},
		part{"duration", s.Duration != 0}, part{"requests", s.Requests != 0}, part{"max_in_flight", s.MaxInFlight != 0})
}
