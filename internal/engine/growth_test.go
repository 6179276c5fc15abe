package engine

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// streamer answers with so many responses, one every 10 ms.
type streamer struct {
	start     time.Time
	responses []int // of the first request, the second, and so on; the last stands for the rest
}

func (s *streamer) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	return streaming{s, s.responses[min(int(p.Seq), len(s.responses)-1)]}, nil
}

type streaming struct {
	s *streamer
	n int
}

func (c streaming) Do(ctx context.Context, rec *record.Exchange) {
	rec.Sent = time.Since(c.s.start)
	for range c.n {
		time.Sleep(10 * time.Millisecond)
		rec.Body = append(rec.Body, "data: x\n\n"...)
		rec.Watch(rec.Body)
	}
	rec.End = time.Since(c.s.start)
}

func growing(first, to, step, responses int) load.Profile {
	return load.Profile{InFlight: slots(first), MaxSlots: to, Requests: int64(to), Growth: load.Growth{Step: step, Responses: responses},
		Drain: time.Second}
}

func TestGrowth(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		stage     load.Profile
		responses []int
		prompts   int
		sent      []time.Duration
		reason    record.StopReason
	}{
		"a step after every fifth response": {growing(1, 7, 2, 5), []int{30}, -1,
			[]time.Duration{0, 50 * ms, 50 * ms, 100 * ms, 100 * ms, 150 * ms, 150 * ms}, "requests"},
		"the slowest of a step counts":  {growing(2, 4, 2, 2), []int{2, 9}, -1, []time.Duration{0, 0, 20 * ms, 20 * ms}, "requests"},
		"no growth at all":              {growing(3, 3, 1, 2), []int{4}, -1, []time.Duration{0, 0, 0}, "requests"},
		"the last response is enough":   {growing(1, 3, 1, 4), []int{4}, -1, []time.Duration{0, 40 * ms, 80 * ms}, "requests"},
		"an answer that is too short":   {growing(1, 4, 1, 5), []int{9, 4}, -1, []time.Duration{0, 50 * ms}, record.StopEarlyAnswer},
		"a last step that is too short": {growing(1, 2, 1, 5), []int{9, 4}, -1, []time.Duration{0, 50 * ms}, record.StopEarlyAnswer},
		"prompts that come to an end":   {growing(1, 5, 1, 5), []int{9}, 3, []time.Duration{0, 50 * ms, 100 * ms}, "data"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, k := &streamer{start: time.Now(), responses: c.responses}, &keeper{}
				e := New(Config{
					Now: func() time.Duration { return time.Since(s.start) }, Source: &source{c.prompts}, Prepare: s.Prepare, Sink: k,
					NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 2,
				})
				mark, err := e.Run(t.Context(), c.stage, nil)
				if err != nil {
					t.Fatal(err)
				}
				e.Close()
				var sent []time.Duration
				for _, rec := range k.recs {
					sent = append(sent, rec.Sent)
					if rec.Watch != nil || rec.Due != rec.Sent {
						t.Errorf("request %d is due at %v, sent at %v, and still watched: %v", rec.Seq, rec.Due, rec.Sent, rec.Watch != nil)
					}
				}
				slices.Sort(sent)
				if !slices.Equal(sent, c.sent) || mark.Reason != c.reason {
					t.Errorf("sent at %v, ended by %q; want %v, %q", sent, mark.Reason, c.sent, c.reason)
				}
				last := slices.MaxFunc(k.recs, func(a, b *record.Exchange) int { return int(a.End - b.End) }).End
				if c.reason == "requests" && mark.SendEnd != last {
					t.Errorf("the stage ended at %v, its last answer at %v", mark.SendEnd, last)
				}
			})
		})
	}
}

// A stop in the middle ends the growth, and what is under way has its drain time.
func TestGrowthIsStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, k := &streamer{start: time.Now(), responses: []int{30}}, &keeper{}
		e := New(Config{
			Now: func() time.Duration { return time.Since(s.start) }, Source: &source{-1}, Prepare: s.Prepare, Sink: k,
			NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 1,
		})
		stop := make(chan record.StopReason, 1)
		time.AfterFunc(75*time.Millisecond, func() { stop <- "interrupted" })
		mark, err := e.Run(t.Context(), growing(1, 9, 1, 5), stop)
		if err != nil || mark.Reason != "interrupted" || len(k.recs) != 2 || mark.DrainEnd != 350*time.Millisecond {
			t.Errorf("%d requests, %+v, %v", len(k.recs), mark, err)
		}
		e.Close()
	})
}
