package dialect

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/promtext"
)

// Counters are what a server's page of metrics says of speculative decoding and of diffusion.
type Counters struct {
	Drafts, Drafted, Accepted   int
	ByPosition                  map[int]int
	Steps, Positions, Committed int
	Speculative, Diffusion      bool // it says something
}

// ReadCounters reads a page.
func ReadCounters(page []byte) Counters {
	c, read := Counters{ByPosition: map[int]int{}}, promtext.NewReader()
	for line := range strings.Lines(string(page)) {
		if line = strings.TrimSpace(line); !strings.HasPrefix(line, "vllm:") {
			continue
		}
		s, err := read.Sample(line)
		if err != nil || !strings.HasSuffix(s.Name, "_total") {
			continue
		}
		n := int(s.Value)
		switch name := s.Name; {
		case strings.HasPrefix(name, "vllm:spec_decode"):
			c.Speculative = true
			switch {
			case strings.Contains(name, "num_drafts"):
				c.Drafts += n
			case strings.Contains(name, "num_draft_tokens"):
				c.Drafted += n
			case strings.Contains(name, "num_accepted_tokens_per_pos"):
				if at, err := strconv.Atoi(read.Label(s.Labels, "position")); err == nil {
					c.ByPosition[at] += n
				}
			case strings.Contains(name, "num_accepted_tokens"):
				c.Accepted += n
			}
		case strings.HasPrefix(name, "vllm:diffusion"):
			c.Diffusion = true
			switch {
			case strings.Contains(name, "num_denoising_steps"):
				c.Steps += n
			case strings.Contains(name, "num_canvas_positions"):
				c.Positions += n
			case strings.Contains(name, "num_committed_tokens"):
				c.Committed += n
			}
		}
	}
	return c
}

// Speculation is what a run's speculative decoding came to.
type Speculation struct {
	Rate, Length              float64 // accepted per cent, and tokens a step
	Drafts, Drafted, Accepted int
	ByPosition                []float64 // accepted, of the drafts
}

// Speculated is what lies between two pages; nil: nothing does.
func Speculated(before, after Counters) *Speculation {
	s := &Speculation{
		Drafts: after.Drafts - before.Drafts, Drafted: after.Drafted - before.Drafted, Accepted: after.Accepted - before.Accepted,
	}
	if !before.Speculative || !after.Speculative || s.Drafted <= 0 {
		return nil
	}
	s.Rate = float64(s.Accepted) / float64(s.Drafted) * 100
	if s.Drafts > 0 {
		s.Length = 1 + float64(s.Accepted)/float64(s.Drafts)
		positions := maps.Clone(before.ByPosition)
		maps.Copy(positions, after.ByPosition)
		for _, at := range slices.Sorted(maps.Keys(positions)) {
			gained := 0
			if n, ok := after.ByPosition[at]; ok {
				gained = n - before.ByPosition[at]
			}
			s.ByPosition = append(s.ByPosition, float64(gained)/float64(s.Drafts))
		}
	}
	return s
}

// Diffused is what a run's diffusion decoding came to.
type Diffused struct {
	Throughput, StepsPerCanvas, CommittedPerStep float64
	Committed, Steps, Positions                  int
}

// Denoised is what lies between two pages; nil: nothing does.
func Denoised(before, after Counters, seconds float64) *Diffused {
	steps, positions, committed := after.Steps-before.Steps, after.Positions-before.Positions, after.Committed-before.Committed
	if !before.Diffusion || !after.Diffusion || steps <= 0 || committed <= 0 {
		return nil
	}
	canvases := float64(committed) * float64(steps) / float64(positions)
	denoising := float64(steps) - canvases
	return &Diffused{
		Throughput: float64(committed) / seconds, StepsPerCanvas: denoising / canvases, CommittedPerStep: float64(committed) / denoising,
		Committed: committed, Steps: int(denoising), Positions: positions,
	}
}
