package run

import (
	"slices"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// A session of block hashes, with a subagent beside it, makes prompts that have as many
// tokens as recorded, and of which a server's cache of prefixes knows what the recorded
// one knew: the blocks in common with earlier calls.
func TestBlockHashes(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Latency.PrefixCache, c.Latency.BlockSize = true, 16 })
	p := closedPlan(t, s.url, 1, 1)
	p.Target.Endpoint = plan.EndpointChat
	p.Data = plan.Data{Source: plan.SourceWekaTrace, Replay: plan.Replay{Dir: "testdata/weka", MaxWait: plan.Duration(time.Millisecond)}}
	p.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Concurrent: 1}}}
	res := mustRun(t, p)
	if c := res.Stages[0].Counts; c.OK != 6 {
		t.Fatalf("counts %+v", c)
	}
	var got [][4]int
	truth := s.truths(t)
	for _, rec := range readKept(t, p.Output.Dir).recs {
		tr := truth[rec.Seq]
		got = append(got, [4]int{rec.Turn, tr.Prompt, tr.Cached, rec.RequestedTokens})
		if rec.In.Local != tr.Prompt || rec.Session != "wekatrace0_agent" {
			t.Errorf("turn %d of %s: %d tokens counted, %d sent", rec.Turn, rec.Session, rec.In.Local, tr.Prompt)
		}
	}
	slices.SortFunc(got, func(a, b [4]int) int { return a[0] - b[0] })
	want := [][4]int{{0, 70, 0, 20}, {1, 128, 64, 30}, {2, 80, 32, 10}, {3, 112, 80, 3}, {4, 100, 64, 10}, {5, 109, 96, 10}}
	if !slices.Equal(got, want) {
		t.Errorf("turn, tokens, those in the cache, tokens asked for: %v, want %v", got, want)
	}
}
