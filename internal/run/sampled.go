package run

import (
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// How much of what a plan asks for a check makes: the first request shows what is wrong with
// the others, and a check costs what the plan's text costs, not what its numbers would.
const (
	sampleCount  = 16   // of prompts, sessions, turns, calls, texts
	sampleTokens = 1000 // of a text
	samplePixels = 64   // of a side of an image
	sampleFrames = 4
)

// What sources refuse by their numbers alone stays as it is, so that a check says so.
const (
	mostPool   = 1_000_000
	mostTurns  = 1_000_000
	mostShared = 1 << 26
)

// sampled is the plan with no more of anything than a check needs.
func sampled(p *plan.Plan) *plan.Plan {
	c := *p
	d := &c.Data
	d.Input, d.Output = atMost(d.Input, sampleTokens), atMost(d.Output, sampleTokens)
	d.Passages.Count = min(d.Passages.Count, sampleCount)
	switch {
	case !d.Pool:
		d.Batch = min(d.Batch, sampleCount)
	case d.Batch <= d.Prompts && d.Prompts <= mostPool: // a pool has no fewer prompts than a request
		d.Batch, d.Prompts = min(d.Batch, sampleCount), min(d.Prompts, sampleCount)
	}
	d.Prefixes.Count, d.Prefixes.Length = min(d.Prefixes.Count, sampleCount), atMost(d.Prefixes.Length, sampleTokens)
	if n := &d.Sessions; n.Count <= mostTurns && (n.Turns.Dist != plan.DistFixed || float64(n.Count)*n.Turns.Mean <= mostTurns) {
		n.Count, n.Turns = min(n.Count, sampleCount), atMost(n.Turns, sampleCount)
	}
	d.SystemPrompt = min(d.SystemPrompt, sampleTokens)
	s := &d.SharedPrefix
	if s.Groups == 0 || s.Prompts <= mostShared/max(s.Groups, 1) {
		s.Groups, s.Prompts = min(s.Groups, sampleCount), min(s.Prompts, sampleCount)
	}
	s.Prefix, s.Question = atMost(s.Prefix, sampleTokens), atMost(s.Question, sampleTokens)
	v := &d.Conversations
	v.Count, v.SharedPrompt = min(v.Count, sampleCount), min(v.SharedPrompt, sampleTokens)
	v.DynamicPrompt, v.Input = atMost(v.DynamicPrompt, sampleTokens), atMost(v.Input, sampleTokens)
	v.Turns = atMost(v.Turns, sampleCount)
	d.Replay.Sessions = min(d.Replay.Sessions, sampleCount)
	sampleAgents(&d.Agents)
	sampleMedia(&d.Media)
	return &c
}

func sampleAgents(a *plan.Agents) {
	for _, l := range []*plan.Length{&a.Turns, &a.Loop, &a.Catalog, &a.Calls, &a.Children} {
		*l = atMost(*l, sampleCount)
	}
	for _, l := range []*plan.Length{&a.Input, &a.Output, &a.CompactTo} {
		*l = atMost(*l, sampleTokens)
	}
	a.Head, a.Depth, a.Events = min(a.Head, sampleTokens), min(a.Depth, 2), min(a.Events, sampleCount)
}

func sampleMedia(m *plan.Media) {
	for _, l := range []*plan.Length{&m.Image.Count, &m.Video.Count, &m.Audio.Count} {
		*l = atMost(*l, sampleCount)
	}
	m.Image.Width, m.Image.Height = atMost(m.Image.Width, samplePixels), atMost(m.Image.Height, samplePixels)
	m.Image.Sizes = slices.Clone(m.Image.Sizes)
	for i := range m.Image.Sizes {
		s := &m.Image.Sizes[i]
		s.Width, s.Height = min(s.Width, samplePixels), min(s.Height, samplePixels)
	}
	m.Video.Clips = slices.Clone(m.Video.Clips)
	for i := range m.Video.Clips {
		c := &m.Video.Clips[i]
		c.Width, c.Height, c.Frames = min(c.Width, samplePixels), min(c.Height, samplePixels), min(c.Frames, sampleFrames)
	}
	m.Audio.Clips = slices.Clone(m.Audio.Clips)
	for i := range m.Audio.Clips {
		c := &m.Audio.Clips[i]
		c.Length, c.Stddev = min(c.Length, plan.Duration(time.Second)), min(c.Stddev, plan.Duration(time.Second))
	}
}

// atMost is a length that is drawn from up to n; the zero Length stays what it is.
func atMost(l plan.Length, n int) plan.Length {
	if l == (plan.Length{}) {
		return l
	}
	if l.Max > n || l.Max == 0 && l.Dist != plan.DistFixed {
		l.Max = n
	}
	l.Mean, l.Stddev, l.Min = min(l.Mean, float64(n)), min(l.Stddev, float64(n)), min(l.Min, n)
	return l
}
