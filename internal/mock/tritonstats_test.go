package mock

import (
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/repository"
)

// statistics returns all models' statistics by name.
func (f *grpcFixture) statistics() map[string]kserve.ModelStatistics {
	f.t.Helper()
	all := make(map[string]kserve.ModelStatistics)
	for _, m := range unary[kserve.ModelStatisticsResponse](f, kserve.ModelStatisticsMethod, kserve.ModelName{}).ModelStats {
		all[m.Name] = m
	}
	return all
}

// TestStatisticsAddUp runs an ensemble and compares its statistics with those of the
// models behind it, with the truth, and with what the clients sent.
func TestStatisticsAddUp(t *testing.T) {
	f := startGRPC(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.ITL, c.Latency.MaxSeqs = time.Millisecond, 200*time.Microsecond, 2
		c.Triton.Models = map[string]repository.Convention{"ensemble": repository.ConventionTRTLLM}
	})
	const streams, each, tokens = 3, 5, 4
	var wg sync.WaitGroup
	for range streams {
		wg.Go(func() {
			var all []*kservetest.Request
			for i := range each {
				all = append(all, inferring("ensemble", strconv.Itoa(i), true, "text_input", "say hello", "max_tokens", tokens, "stream", true))
			}
			f.stream(all...)
		})
	}
	wg.Wait()
	s := f.statistics()
	const n = streams * each
	counts := func(name string) [3]uint64 {
		m := s[name]
		return [3]uint64{m.InferenceCount, m.ExecutionCount, m.InferenceStats.Success.Count}
	}
	want := map[string][3]uint64{"ensemble": {n, n, n}, "preprocessing": {n, n, n}, "tensorrt_llm": {n, n, n}, "postprocessing": {n * tokens, n * tokens, n * tokens}}
	got := map[string][3]uint64{}
	for name := range want {
		got[name] = counts(name)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	type parts struct{ queue, infer uint64 }
	ns := func(name string) parts {
		i := s[name].InferenceStats
		if total := i.Queue.Ns + i.ComputeInput.Ns + i.ComputeInfer.Ns + i.ComputeOutput.Ns; name != "ensemble" && total != i.Success.Ns {
			t.Errorf("%s: the parts are %d ns, the whole %d", name, total, i.Success.Ns)
		}
		return parts{i.Queue.Ns, i.ComputeInfer.Ns}
	}
	before, engine, after, whole := ns("preprocessing"), ns("tensorrt_llm"), ns("postprocessing"), ns("ensemble")
	if whole.infer != before.infer+engine.infer+after.infer || whole.queue != 0 {
		t.Errorf("the ensemble computed for %d ns, its models for %d, %d and %d", whole.infer, before.infer, engine.infer, after.infer)
	}
	if engine.queue == 0 {
		t.Error("nobody queued, with two places for fifteen requests")
	}
	var served int64
	for _, tr := range f.truths() {
		served += tr.End - tr.Read
	}
	if total := int64(s["ensemble"].InferenceStats.Success.Ns); total > served || total < served*9/10 {
		t.Errorf("success took %d ns, the truth has %d", total, served)
	}
	places := s["tensorrt_llm"].ResponseStats
	if len(places) != tokens {
		t.Errorf("%d places of responses, want %d", len(places), tokens)
	}
	var infer uint64
	for i := range tokens {
		p := places[strconv.Itoa(i)]
		if p.Success.Count != n {
			t.Errorf("place %d: %v", i, p)
		}
		infer += p.ComputeInfer.Ns
	}
	if infer != engine.infer {
		t.Errorf("responses computed for %d ns, the engine for %d", infer, engine.infer)
	}
}

func TestStatisticsOfFailures(t *testing.T) {
	f := startGRPC(t, func(c *config.Server) { c.Faults = []config.Fault{{Kind: config.FaultError, Share: 1}} })
	f.stream(vllmRequest("a", 4))
	f.stream(inferring("vllm_model", "b", false, "bogus", true)) // refused, and not counted
	s := f.statistics()["vllm_model"]
	// Triton counts a decoupled request that failed halfway as a success.
	if s.InferenceStats.Success.Count != 1 || s.InferenceStats.Fail.Count != 0 || s.ResponseStats["2"].Fail.Count != 1 {
		t.Errorf("%v", s)
	}
}

func TestTritonMetrics(t *testing.T) {
	f := startGRPC(t, nil)
	f.stream(vllmRequest("a", 4), vllmRequest("b", 4))
	_, text := f.fixture.get("/metrics")
	for _, line := range []string{
		`nv_inference_request_success{model="vllm_model",version="1"} 2`, `nv_inference_count{model="vllm_model",version="1"} 2`,
		`nv_inference_request_failure{model="vllm_model",reason="CANCELED",version="1"} 0`, `nv_inference_pending_request_count{model="vllm_model",version="1"} 0`,
		`vllm:generation_tokens_total{engine="0",model_name="mock"} 8.0`, `vllm:prompt_tokens_total{engine="0",model_name="mock"} 8.0`,
	} {
		if !strings.Contains(text, line+"\n") {
			t.Errorf("no line %s", line)
		}
	}
}
