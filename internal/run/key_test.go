package run

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// What a session sends does not depend on whether there is a key: its calls go on from
// the responses, tool calls and all.
func TestKeyChangesNothingThatIsSent(t *testing.T) {
	t.Parallel()
	// What the server makes up, some of it by the order in which calls side by side come.
	made := regexp.MustCompile(`call_chatcmpl-[^"]+|("role":"assistant","content":|\\"text\\":\\)"[^"]*"`)
	sent := func(key string) map[string]int {
		s := serve(t, func(c *config.Server) {
			c.TruthBody, c.Truth, c.APIKey = true, filepath.Join(t.TempDir(), "unused"), key
		})
		p := closedPlan(t, s.url, 1, 1)
		if key != "" {
			p.Target.Headers = map[string]string{"Authorization": "Bearer " + key}
		}
		p.Data = plan.Data{Source: plan.SourceOtelTrace, Replay: plan.Replay{Dir: "../../examples/data/otel-agents", MaxWait: plan.Duration(time.Millisecond)}}
		p.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Concurrent: 1}}}
		if c := mustRun(t, p).Stages[0].Counts; c.OK == 0 || c.Failed > 0 {
			t.Fatalf("counts %+v", c)
		}
		bodies := map[string]int{}
		for _, tr := range s.truths(t) {
			bodies[made.ReplaceAllString(string(tr.Body), "${1}made up")]++
		}
		return bodies
	}
	plain := sent("")
	if diff := cmp.Diff(plain, sent("sk-a-key-of-some-length")); diff != "" {
		t.Errorf("what is sent with a key (-without +with):\n%s", diff)
	}
	if !slices.ContainsFunc(slices.Collect(maps.Keys(plain)), func(b string) bool {
		return strings.Contains(b, `"role":"assistant"`) && strings.Contains(b, `"tool_calls"`)
	}) {
		t.Errorf("no call sends a tool call that was answered: the test shows nothing: %v", plain)
	}
}
