package engine

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// replayed has a recorded session for each place.
type replayed []*prompt.Graph

func (r replayed) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	if at.I >= uint64(len(r)) {
		return prompt.Prompt{}, io.EOF
	}
	name := string(rune('a' + at.I))
	return prompt.Prompt{Session: name, Play: &prompt.Play{Graph: r[at.I], Name: name}}, nil
}

// Sessions that are under way are warmed up with calls of their own; what follows counts from when all are warm, and
// sessions that come later are played from their beginning. A session whose warm-up fails ends the run.
func TestWarmLanes(t *testing.T) {
	call := func(turn int, c prompt.GraphCall) prompt.GraphCall {
		c.Prompt.Messages = []prompt.Message{{Role: "user", Content: "x"}}
		return c
	}
	under := func(later time.Duration) *prompt.Graph { // a warm-up of 1 call, then one so long after it, then another
		return &prompt.Graph{Calls: []prompt.GraphCall{
			call(0, prompt.GraphCall{Warmup: true}), call(1, prompt.GraphCall{After: []int{0}, NotBefore: later}),
			call(2, prompt.GraphCall{After: []int{1}, Wait: 5 * ms}),
		}}
	}
	whole := &prompt.Graph{Calls: []prompt.GraphCall{call(0, prompt.GraphCall{}), call(1, prompt.GraphCall{After: []int{0}, Wait: 30 * ms})}}
	type moment struct {
		Sent time.Duration
		Warm bool
	}
	for name, tc := range map[string]struct {
		fail map[int]bool
		want map[string]moment
	}{
		"all": {map[int]bool{}, map[string]moment{
			"a0": {0, true}, "b0": {0, true}, "a1": {100*ms + 40*ms, false}, "b1": {100*ms + 70*ms, false},
			"a2": {155 * ms, false}, "b2": {185 * ms, false}, "c0": {165 * ms, false}, "c1": {295 * ms, false},
		}},
		"the warm-up fails": {map[int]bool{0: true}, map[string]moment{"a0": {0, true}, "b0": {0, true}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				a := &agents{start: time.Now(), latency: []time.Duration{100 * ms, 10 * ms, 10 * ms}, fail: tc.fail, said: map[int]string{}}
				keep := &sessionKeeper{}
				e := New(Config{
					Now: func() time.Duration { return time.Since(a.start) }, Source: replayed{under(40 * ms), under(70 * ms), whole}, Prepare: a.Prepare,
					Decoder: endpoint.Decoder{Decode: a.Decode, Reply: a.Reply}, Sink: keep, Session: keep.Session,
					NewSleeper: load.NewTimerSleeper, Live: NewLive(1), Feeders: 1,
				})
				defer e.Close()
				s := load.Profile{InFlight: slots(2), MaxSlots: 2, WarmupLanes: 2, Duration: time.Hour, Drain: time.Second}
				mark, err := e.Run(t.Context(), s, nil)
				if failed := len(tc.fail) > 0; failed != (err != nil) || failed && !strings.Contains(err.Error(), `warming up session "`) {
					t.Fatal(err)
				}
				got := map[string]moment{}
				for _, r := range keep.recs {
					got[r.Session+string(rune('0'+r.Turn))] = moment{r.Sent, r.Phase == record.Warmup}
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Error(diff)
				}
				if err == nil && mark.WarmupEnd != 100*ms {
					t.Errorf("the measured part begins at %v", mark.WarmupEnd)
				}
			})
		})
	}
}
