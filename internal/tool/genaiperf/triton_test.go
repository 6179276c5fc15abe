package genaiperf

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/testkit/triton"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// The command lines of the seeds that speak to Triton, on a real one. Its models have
// names of their own.
func TestSeedsOnTriton(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a server")
	}
	server := triton.Start(t, "vllm_model", "ensemble")
	env := world(hub(t), t.Output())
	for _, args := range seeds(t) {
		line := strings.Join(args, " ")
		model := "ensemble"
		switch {
		case !strings.Contains(line, "--service-kind triton"):
			continue
		case strings.Contains(line, "vllm"):
			model = "vllm_model"
		}
		a := parse(t, &mockServer{grpc: server.GRPC}, t.TempDir(), append(args, "-m", model)...)
		a.Plan.Stages[0].Duration = plan.Duration(3 * time.Second) // an answer takes most of one
		out := profile(t, a, env)
		if out.Summary.Failed != 0 || out.Summary.Requests == 0 {
			t.Errorf("%s: %d of %d failed: %v", line, out.Summary.Failed, out.Summary.Requests, out.Summary.Failures)
		}
		if in := avg(t, out.Summary, dialect.InputSequenceLength); in != 200 {
			t.Errorf("%s: %v input tokens", line, in)
		}
		checkExport(t, a, out)
	}
}
