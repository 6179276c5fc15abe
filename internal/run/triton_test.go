package run

import (
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/testkit/triton"
)

// tritonPlan is a plan of so many requests to a model of a real Triton.
func tritonPlan(t *testing.T, s *triton.Server, model string, concurrency int, requests int64) *plan.Plan {
	t.Helper()
	p := closedPlan(t, "grpc://"+s.GRPC, concurrency, requests)
	p.Target.Protocol, p.Target.Transport, p.Target.Endpoint, p.Target.Model = plan.ProtocolTriton, plan.TransportGRPC, plan.EndpointStream,
		model
	p.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: 4}
	return p
}

// total is what a server counts of a model, read by other means than the probe's.
type total struct {
	Inferences uint64 `json:"inference_count"`
	Executions uint64 `json:"execution_count"`
	Stats      map[string]struct{ Count, NS uint64 }
}

// totals asks the server for all that it has counted.
func totals(t *testing.T, s *triton.Server) map[string]total {
	t.Helper()
	resp, err := http.Get("http://" + s.HTTP + "/v2/models/stats")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Models []struct {
			Name string `json:"name"`
			total
			Stats map[string]struct{ Count, NS uint64 } `json:"inference_stats"`
		} `json:"model_stats"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	all := map[string]total{}
	for _, m := range doc.Models {
		m.total.Stats = m.Stats
		all[m.Name] = m.total
	}
	return all
}

// said is the same of what a result says.
func said(models []result.ServerModel) map[string]total {
	all := map[string]total{}
	for _, m := range models {
		one := total{m.Inferences, m.Executions, map[string]struct{ Count, NS uint64 }{}}
		for name, t := range map[string]result.ServerTime{
			"success": m.Success, "fail": m.Failed, "queue": m.Queue, "compute_input": m.ComputeInput, "compute_infer": m.ComputeInfer,
			"compute_output": m.ComputeOutput, "cache_hit": m.CacheHit, "cache_miss": m.CacheMiss,
		} {
			one.Stats[name] = struct{ Count, NS uint64 }{t.Count, t.NS}
		}
		all[m.Name] = one
		maps.Copy(all, said(m.Composing))
	}
	return all
}

func TestRealTriton(t *testing.T) {
	t.Parallel()
	s := triton.Start(t, "ensemble", "vllm_model")
	// Nothing has been asked of this server yet, so that its totals are the run's.
	t.Run("totals", func(t *testing.T) { tritonTotals(t, s) })
	t.Run("every stage", func(t *testing.T) { tritonStages(t, s) })
	t.Run("failures in mid-stream", func(t *testing.T) { tritonFailures(t, s) })
	t.Run("begun anew", func(t *testing.T) { tritonAnew(t, s) })
}

// tritonTotals: the statistics of a run from idle to drained are the server's own,
// and requests take no longer inside the server than outside.
func tritonTotals(t *testing.T, s *triton.Server) {
	p := tritonPlan(t, s, "ensemble", 8, 200)
	p.Stages[0].Warmup.Requests = 30
	p.Probes.Metrics = "http://" + s.Metrics + "/metrics"
	live := mustRun(t, p)
	stage := live.Stages[0]
	if stage.Counts.OK != 200 || stage.Server == nil {
		t.Fatalf("counts %+v, server %+v, notes %q", stage.Counts, stage.Server, live.Notes)
	}
	all := totals(t, s)
	delete(all, "vllm_model")
	if diff := cmp.Diff(all, said(stage.Server.Models)); diff != "" {
		t.Errorf("-server +result:\n%s", diff)
	}
	whole := stage.Server.Models[0]
	warm := uint64(stage.Counts.Warmup)
	if n := 200 + warm; warm < 30 || whole.Success.Count != n || whole.Composing[2].Success.Count != 4*n {
		t.Errorf("%d warm-up requests, %+v", warm, whole)
	}
	if r := *stage.Server.Requests; r != (result.ServerRequests{Sent: int64(200 + warm), OK: int64(200 + warm)}) {
		t.Errorf("requests %+v", r)
	}
	i := slices.IndexFunc(live.Verdict.Checks, func(c result.Check) bool { return c.Name == "server_latency" })
	if i < 0 || !live.Verdict.Checks[i].OK {
		t.Errorf("client and server do not fit: %+v", live.Verdict)
	}
	var outside time.Duration
	for _, rec := range readKept(t, p.Output.Dir).recs {
		outside += rec.End - rec.Sent
	}
	if inside := beforeLeaving(&whole); inside > outside || inside <= 0 {
		t.Errorf("requests took %v inside the server and %v outside, in all", inside, outside)
	}
	found := false
	for _, m := range stage.Server.Metrics {
		if m.Name == "nv_inference_request_success" && strings.Contains(m.Labels, `"ensemble"`) {
			found = m.Increase != nil && *m.Increase == float64(200+warm)
		}
	}
	if !found {
		t.Errorf("metrics %+v", stage.Server.Metrics)
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, live), asJSON(t, again)); diff != "" {
		t.Errorf("-run +report:\n%s", diff)
	}
}

// beforeLeaving is how long requests were in the server before their responses could
// leave. Triton counts on until it has sent them: the whole can be more than what a
// client sees.
func beforeLeaving(m *result.ServerModel) time.Duration {
	return time.Duration(m.Success.NS - m.ComputeOutput.NS)
}

// tritonStages: under any load, requests take no longer inside the server than outside,
// and each stage has its own share of the totals.
func tritonStages(t *testing.T, s *triton.Server) {
	p := tritonPlan(t, s, "ensemble", 1, 40)
	p.Stages = append(p.Stages, plan.Stage{Concurrency: 4, Requests: 80}, plan.Stage{Concurrency: 32, Requests: 160},
		plan.Stage{Rate: 100, Arrival: plan.ArrivalPoisson, Requests: 60})
	res := mustRun(t, p)
	var outside [4]time.Duration
	for _, rec := range readKept(t, p.Output.Dir).recs {
		outside[rec.Stage] += rec.End - rec.Sent
	}
	for i, want := range []uint64{40, 80, 160, 60} {
		server := res.Stages[i].Server
		if server == nil || len(server.Models) != 1 || server.Models[0].Success.Count != want {
			t.Fatalf("stage %d: %+v", i+1, server)
		}
		if inside := beforeLeaving(&server.Models[0]); inside > outside[i] {
			t.Errorf("stage %d: requests took %v inside the server and %v outside, in all", i+1, inside, outside[i])
		}
	}
	for _, c := range res.Verdict.Checks {
		if strings.HasPrefix(c.Name, "server_") && !c.OK {
			t.Errorf("%+v", c)
		}
	}
}

// tritonFailures: what failed in mid-stream is told apart from what the server counts
// as a success.
func tritonFailures(t *testing.T, s *triton.Server) {
	// Prompts of 13 words fail in the ensemble's second step.
	file := filepath.Join(t.TempDir(), "prompts.txt")
	lines := []string{"one two three", strings.Repeat("word ", 13), "four five", "six", "seven eight"}
	if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	p := tritonPlan(t, s, "ensemble", 3, 50)
	p.Data.Source, p.Data.File, p.Data.Input = plan.SourceFile, file, plan.Length{}
	stage := mustRun(t, p).Stages[0]
	if stage.Counts.OK != 40 || stage.Counts.Failed != 10 || stage.Server == nil || len(stage.Server.Models) != 1 {
		t.Fatalf("counts %+v, server %+v", stage.Counts, stage.Server)
	}
	whole := stage.Server.Models[0]
	if fails := whole.Failed.Count; whole.Success.Count != 40 || fails < 10 || fails > 20 ||
		*stage.Server.Requests != (result.ServerRequests{Sent: 50, OK: 40, Failed: 10}) {
		t.Errorf("%+v, %+v", whole, stage.Server.Requests)
	}
	if llm := whole.Composing[1]; llm.Success.Count != 50 || llm.Failed.Count != 0 {
		t.Errorf("the step that failed: %+v", llm)
	}

	p = tritonPlan(t, s, "vllm_model", 3, 50)
	p.Target.Body = map[string]any{"fail_after": 2}
	res := mustRun(t, p)
	stage = res.Stages[0]
	if stage.Counts.Failed != 50 || *stage.Server.Requests != (result.ServerRequests{Sent: 50, Failed: 50, FailedAsSuccess: 50}) {
		t.Errorf("counts %+v, %+v", stage.Counts, stage.Server.Requests)
	}
	if !slices.ContainsFunc(res.Notes, func(n string) bool { return strings.Contains(n, "counts 50 requests as successes that failed here") }) {
		t.Errorf("notes %q", res.Notes)
	}
}

// tritonAnew: a model that is loaded anew in the middle is noticed.
func tritonAnew(t *testing.T, s *triton.Server) {
	p := tritonPlan(t, s, "vllm_model", 0, 0)
	// An open loop: a closed one would keep the server busy with refusals.
	p.Stages[0] = plan.Stage{Rate: 50, Arrival: plan.ArrivalConstant, Duration: plan.Duration(2 * time.Minute)}
	p.Probes.Interval = plan.Duration(50 * time.Millisecond)
	stop := make(chan struct{})
	o := options(io.Discard)
	o.Stop = stop
	o.OnReady = func(progress func() Progress) {
		go func() {
			defer close(stop)
			until(func() bool { return progress().Sent > 50 })
			s.Unload(t, "vllm_model")
			s.Load(t, "vllm_model")
			sent := progress().Sent
			until(func() bool { return progress().Sent > sent+10 })
		}()
	}
	res, err := Run(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(res.Verdict.Reasons, func(r string) bool { return strings.Contains(r, "restarted during the stage") }) {
		t.Errorf("verdict %+v", res.Verdict)
	}
	server := res.Stages[0].Server
	if server == nil || server.Restarted == "" || server.Models != nil {
		t.Errorf("server %+v", server)
	}
	n := 0
	if _, err := rundir.Records(p).Walk(func(l record.Line) error {
		if l.Probe != nil {
			n++
		}
		return nil
	}); err != nil || n < 3 {
		t.Errorf("%d probes in the records, %v", n, err)
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(asJSON(t, res), asJSON(t, again)); diff != "" {
		t.Errorf("-run +report:\n%s", diff)
	}
}
