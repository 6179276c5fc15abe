// Package timeline makes time series of a run's records: how much had been sent, answered and
// counted by when, and how latencies spread in each step. What it holds is bounded by the
// number of steps, and not by that of requests.
package timeline

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
)

// mostSteps bounds how many steps a run has: they are longer than a second in one of more
// than an hour.
const mostSteps = 3600

// The latencies that there are series of, by the names of their metrics.
const (
	TTFT = iota
	ITL
	Latency
	latencies
)

// Metrics are the names of the latencies, by number.
func Metrics() [latencies]string {
	return [latencies]string{"time_to_first_token", "inter_token_latency", "request_latency"}
}

// Step is what happened in a step of a stage or, in Stage.Steps, by its end.
type Step struct {
	At     time.Duration              // its end, on the run's clock
	Sent   [2]int64                   // requests, by phase
	OK     [2]int64                   // those that went well and have ended
	Failed [2]Classes                 // the others, those whose users went away among them
	In     int64                      // tokens of prompts, of measured requests that went well
	Out    int64                      // those of responses
	Spread [latencies]NativeHistogram // in the step alone, of measured requests that went well
}

// Classes counts failures by class.
type Classes map[record.Class]int64

// All is the sum of all classes.
func (c Classes) All() (n int64) {
	for _, k := range c {
		n += k
	}
	return n
}

// InFlight is how many requests were sent and had not ended.
func (s *Step) InFlight() int64 {
	return s.Sent[0] + s.Sent[1] - s.OK[0] - s.OK[1] - s.Failed[0].All() - s.Failed[1].All()
}

// StageTimeline is the course of one stage.
type StageTimeline struct {
	Index      int
	Begin, End time.Duration
	Steps      []Step // at Begin, with nothing in it, and then at each step's end; counts from the stage's begin on
}

// Timeline gathers a run's records. It belongs to one goroutine.
type Timeline struct {
	step   time.Duration
	reader *metric.Reader
	defs   [latencies]metric.Def
	stages map[int]*stageSteps
}

// stageSteps is what is known of a stage while its records come.
type stageSteps struct {
	begin, end time.Duration
	marked     bool
	steps      map[int]*Step
}

// New begins the timeline of a run of about this length, whose requests are seen as a fold of
// the same options does.
func New(duration time.Duration, o metric.Options) *Timeline {
	t := &Timeline{step: time.Second, reader: metric.NewReader(o), stages: map[int]*stageSteps{}}
	for t.step*mostSteps < duration {
		t.step *= 2
	}
	for i, id := range Metrics() {
		t.defs[i], _ = metric.ByID(id)
	}
	return t
}

// Mark tells when a stage began and ended.
func (t *Timeline) Mark(m *record.StageSummary) {
	if m.Stage < 0 || m.Worker != 0 {
		return
	}
	s := t.stage(m.Stage)
	s.begin, s.end, s.marked = m.Begin, max(m.DrainEnd, s.end), true
}

// Add takes a request into account.
func (t *Timeline) Add(rec *record.Record) {
	if rec.Stage < 0 || rec.Phase == record.Closing || rec.Sent < 0 {
		return
	}
	s, phase := t.stage(rec.Stage), rec.Phase
	end := rec.End
	if rec.Failure != nil {
		end = max(end, rec.Failure.At)
	}
	end = max(end, rec.Sent)
	if !s.marked && (len(s.steps) == 0 || rec.Sent < s.begin) {
		s.begin = rec.Sent
	}
	s.end = max(s.end, end)
	t.stepAt(s, rec.Sent).Sent[phase]++
	step := t.stepAt(s, end)
	if rec.Failure != nil {
		if step.Failed[phase] == nil {
			step.Failed[phase] = Classes{}
		}
		step.Failed[phase][rec.Failure.Class]++
		return
	}
	step.OK[phase]++
	if phase != record.Measured {
		return
	}
	r := t.reader.Read(rec)
	step.Out += int64(max(r.Tokens, 0))
	if rec.In.Source != record.Uncounted {
		step.In += int64(rec.In.N)
	}
	for i := range t.defs {
		t.defs[i].Each(r, func(v int64) { step.Spread[i].Add(float64(v) / float64(time.Second)) })
	}
}

func (t *Timeline) stage(i int) *stageSteps {
	if t.stages[i] == nil {
		t.stages[i] = &stageSteps{steps: map[int]*Step{}}
	}
	return t.stages[i]
}

// place is the number of the step that a time is in. What a broken record puts far behind
// the end of the run is in the last.
func (t *Timeline) place(moment time.Duration) int {
	return int(min(max(moment, 0)/t.step, mostSteps))
}

func (t *Timeline) stepAt(s *stageSteps, moment time.Duration) *Step {
	i := t.place(moment)
	if s.steps[i] == nil {
		s.steps[i] = new(Step)
	}
	return s.steps[i]
}

// Stages are the stages that have requests, in order, each with a step for every time from
// its begin to its end.
func (t *Timeline) Stages() []StageTimeline {
	var list []StageTimeline
	for _, index := range slices.SortedFunc(maps.Keys(t.stages), cmp.Compare) {
		s := t.stages[index]
		if len(s.steps) == 0 {
			continue
		}
		places := slices.Sorted(maps.Keys(s.steps))
		s.begin = min(s.begin, time.Duration(places[0]+1)*t.step-1)
		out := StageTimeline{Index: index, Begin: s.begin, End: s.end, Steps: []Step{{At: s.begin}}}
		first, last := min(t.place(s.begin), places[0]), max(t.place(s.end), places[len(places)-1])
		for i := first; i <= last; i++ {
			next := out.Steps[len(out.Steps)-1].then(s.steps[i])
			next.At = max(min(time.Duration(i+1)*t.step, s.end), out.Steps[len(out.Steps)-1].At+time.Millisecond)
			out.Steps = append(out.Steps, next)
		}
		list = append(list, out)
	}
	return list
}

// then is the state after a step; nil means nothing happened in it.
func (s *Step) then(more *Step) Step {
	next := *s
	next.Spread = [latencies]NativeHistogram{}
	if more == nil {
		return next
	}
	next.In, next.Out, next.Spread = next.In+more.In, next.Out+more.Out, more.Spread
	for phase := range next.Sent {
		next.Sent[phase] += more.Sent[phase]
		next.OK[phase] += more.OK[phase]
		if len(more.Failed[phase]) > 0 {
			sum := Classes{}
			for _, part := range []Classes{s.Failed[phase], more.Failed[phase]} {
				for class, n := range part {
					sum[class] += n
				}
			}
			next.Failed[phase] = sum
		}
	}
	return next
}
