package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/prompt"
)

// A stage of so many requests sends the source's first prompts, each once, however
// many prepare them and however unevenly the slots take them.
func TestAStageSendsTheFirstPromptsOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(time.Millisecond, -1)
		b.cfg.Feeders = 3
		b.Engine = New(b.cfg)
		for stage, want := range []int64{700, 1000} {
			b.keeper.recs = nil
			s := load.Profile{Index: stage, InFlight: slots(200), MaxSlots: 200, WarmupRequests: 50, Requests: want - 50, Drain: time.Second}
			mark, err := b.Run(t.Context(), s, nil)
			if err != nil || mark.Reason != "requests" {
				t.Fatal(mark.Reason, err)
			}
			var seqs []int64
			for _, r := range b.keeper.recs {
				seqs = append(seqs, r.Seq)
			}
			slices.Sort(seqs)
			first := int64(700 * stage)
			if int64(len(seqs)) != want || seqs[0] != first || seqs[want-1] != first+want-1 || len(slices.Compact(seqs)) != int(want) {
				t.Errorf("stage %d sent %d prompts, from %d to %d", stage, len(seqs), seqs[0], seqs[len(seqs)-1])
			}
		}
		b.Close()
	})
}

// A timer that ends a stage may be late: it does not end the preparing for the next one.
func TestAStageThatEndsLateLeavesTheNextOneAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(0, -1)
		s := load.Profile{InFlight: slots(1), MaxSlots: 1}
		late := newStage(b.Engine, s, t.Context(), b.feed.start(&s, 1))
		if err := b.feed.halt(); err != nil {
			t.Fatal(err)
		}
		q := b.feed.start(&s, 1)[0]
		synctest.Wait() // until it has prepared all that it has room for
		late.halt("duration")
		synctest.Wait()
		for i := range 3 * ahead {
			if _, ok := <-q.ready; !ok {
				t.Fatalf("the next stage was given %d requests, and no more", i)
			}
			q.took()
		}
		if err := b.feed.halt(); err != nil {
			t.Error(err)
		}
	})
}

// However many prepare a load and whatever its shape, the same requests go, under the same
// numbers.
func TestTheSameRequestsOnAnyNumberOfCores(t *testing.T) {
	type sent struct {
		seq  int64
		hash uint64
		out  int
	}
	for name, s := range map[string]load.Profile{
		"closed loop": {InFlight: slots(130), MaxSlots: 130, WarmupRequests: 30, Requests: 250, Drain: time.Second},
		"open loop":   {Arrivals: load.Poisson(load.ConstantRate(500), 7), InFlight: slots(0), Requests: 250, Drain: time.Second},
		"capped":      {Arrivals: load.Poisson(load.ConstantRate(500), 7), InFlight: slots(50), MaxSlots: 50, Requests: 250, Drain: time.Second},
		"sessions":    {InFlight: slots(64), MaxSlots: 64, Sessions: 170, Drain: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var first []sent
			for _, c := range []struct{ feeders, workers int }{{1, 1}, {2, 1}, {7, 1}, {1, 4}, {3, 3}} {
				synctest.Test(t, func(t *testing.T) {
					var all []sent
					for w := range c.workers {
						b := newBench(time.Millisecond, -1)
						b.cfg.Feeders, b.cfg.Source = c.feeders, placed{}
						b.Engine = New(b.cfg)
						for stage := range 2 {
							s.Index, s.First = stage, b.Next()
							if s.Arrivals != nil {
								s.Arrivals = load.Poisson(load.ConstantRate(500), 7)
							}
							if _, err := b.Run(t.Context(), s.Part(load.Shard{Index: w, Of: c.workers}), nil); err != nil {
								t.Fatal(err)
							}
						}
						b.Close()
						for _, r := range b.keeper.recs {
							all = append(all, sent{r.Seq, r.Prompt, r.RequestedTokens})
						}
					}
					slices.SortFunc(all, func(a, b sent) int { return cmp.Compare(a.seq, b.seq) })
					if first == nil {
						first = all
					}
					if !slices.Equal(all, first) || len(all) < 340 {
						t.Errorf("%d workers of %d feeders: %d requests, and not those of one", c.workers, c.feeders, len(all))
					}
				})
			}
		})
	}
}

// placed says where each prompt stands.
type placed struct{ prompt.RestartPerStage }

func (placed) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	return prompt.Prompt{Text: "hello", Tokens: 1, Hash: prompt.Mix(at.Number()), Output: int(at.I % 11)}, nil
}

// failing has some prompts and then an error.
type failing struct{ most uint64 }

func (f *failing) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	if at.I >= f.most {
		return prompt.Prompt{}, errors.New("no idea")
	}
	return prompt.Prompt{Text: "hello", Tokens: 1}, nil
}

// A prompt that cannot be made ends the run when its turn comes, and not before.
func TestPromptThatCannotBeMade(t *testing.T) {
	for name, tt := range map[string]struct {
		prompts uint64
		fails   bool
	}{"needed": {20, true}, "not needed": {200, false}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := newBench(100*time.Millisecond, 0)
				b.cfg.Source = &failing{tt.prompts}
				b.Engine = New(b.cfg)
				mark, err := b.Run(t.Context(), load.Profile{InFlight: slots(2), MaxSlots: 2, Duration: 5 * time.Second, Drain: time.Second}, nil)
				b.Close()
				if (err != nil) != tt.fails || mark.Early() != tt.fails {
					t.Errorf("error %v after %d requests, ended by %q", err, len(b.keeper.recs), mark.Reason)
				}
			})
		})
	}
}

// What a stage has taken ahead and not sent is the next one's, where the source goes on from
// stage to stage, also through one that is made of it.
func TestWhatAStageLeavesIsTheNextOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(100*time.Millisecond, 0)
		b.cfg.Source = prompt.Wrapper{Source: &source{50}}
		b.Engine = New(b.cfg)
		for stage, want := range []int{20, 30} {
			b.keeper.recs = nil
			mark, err := b.Run(t.Context(),
				load.Profile{Index: stage, InFlight: slots(2), MaxSlots: 2, Duration: time.Duration(1+stage*9) * time.Second, Drain: time.Second}, nil)
			if err != nil || len(b.keeper.recs) != want {
				t.Errorf("stage %d sent %d prompts and ended by %q, %v; want %d", stage, len(b.keeper.recs), mark.Reason, err, want)
			}
		}
		b.Close()
	})
}
