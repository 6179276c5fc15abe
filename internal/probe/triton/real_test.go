package triton

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/promtext"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/triton"
)

// post asks a model over HTTP and gives the whole response.
func post(t *testing.T, s *triton.Server, path, body string) string {
	t.Helper()
	resp, err := http.Post("http://"+s.HTTP+"/v2/models/"+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}

// prompt asks the ensemble for a stream of 3 tokens. A prompt of 13 words fails.
func prompt(t *testing.T, s *triton.Server, words int) string {
	t.Helper()
	text, err := json.Marshal(strings.TrimSpace(strings.Repeat("word ", words)))
	if err != nil {
		t.Fatal(err)
	}
	return post(t, s, "ensemble/generate_stream", fmt.Sprintf(`{"text_input":%s,"max_tokens":3,"stream":true}`, text))
}

// around does something between two snapshots and gives the difference.
func around(t *testing.T, p *Probe, work func()) *record.Snapshot {
	t.Helper()
	take := func() *record.Snapshot {
		s, busy, err := probe.SnapshotIdle(t.Context(), p)
		if err != nil || busy {
			t.Fatalf("busy %v, error %v", busy, err)
		}
		return s
	}
	before := take()
	work()
	d, restarted := probe.Difference(before, take())
	if restarted != "" {
		t.Errorf("restarted: %s", restarted)
	}
	return d
}

func TestReal(t *testing.T) {
	s := triton.Start(t, "ensemble", "vllm_model", "cached", "bls")
	overGRPC := func(model string, composing ...string) *Probe {
		return newProbe(t, plan.Target{Model: model, Transport: plan.TransportGRPC, Triton: plan.Triton{Composing: composing}}, "grpc://"+s.GRPC,
			Options{Statistics: true, Metrics: "http://" + s.Metrics + "/metrics"})
	}
	overHTTP := newProbe(t, plan.Target{Model: "ensemble"}, "http://"+s.HTTP, Options{Statistics: true})

	t.Run("ensemble", func(t *testing.T) { ensembleCounts(t, s, overGRPC("ensemble"), overHTTP) })
	t.Run("decoupled", func(t *testing.T) {
		d := around(t, overGRPC("vllm_model"), func() {
			for _, knobs := range []string{`{}`, `{\"fail_after\":2}`, `{\"max_tokens\":2}`} {
				post(t, s, "vllm_model/generate_stream", `{"text_input":"a","stream":true,"sampling_parameters":"`+knobs+`"}`)
			}
		})
		// The one that failed in mid-stream is a success to Triton.
		if m := d.Models[0]; m.Success.Count != 3 || m.Fail.Count != 0 {
			t.Errorf("%+v", m)
		}
	})
	const sum = `{"inputs":[{"name":"INPUT0","datatype":"INT32","shape":[1,16],"data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]},` +
		`{"name":"INPUT1","datatype":"INT32","shape":[1,16],"data":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}]}`
	t.Run("cache", func(t *testing.T) {
		d := around(t, overGRPC("cached"), func() {
			for range 5 {
				post(t, s, "cached/infer", sum)
			}
		})
		m := d.Models[0]
		if m.Success.Count != 5 || m.CacheHit.Count != 4 || m.CacheMiss.Count != 1 || m.ComputeInfer.Count != 1 || m.CacheHit.NS == 0 {
			t.Errorf("%+v", m)
		}
		if o := probe.Overhead(&m); o < 0 || o > probe.Average(m.Success) {
			t.Errorf("overhead %v of %v", o, probe.Average(m.Success))
		}
	})
	t.Run("bls", func(t *testing.T) {
		s.Load(t, "simple")
		d := around(t, overGRPC("bls", "simple"), func() { post(t, s, "bls/infer", sum); post(t, s, "bls/infer", sum) })
		if m := d.Models[0]; m.Success.Count != 2 || len(m.Composing) != 1 || m.Composing[0].Name != "simple" || m.Composing[0].Success.Count != 2 {
			t.Errorf("%+v", m)
		}
	})
	t.Run("restart", func(t *testing.T) { restartIsSeen(t, s, overGRPC("vllm_model")) })
}

// ensembleCounts sends requests, some of which fail, and compares what the server counts over gRPC and HTTP.
func ensembleCounts(t *testing.T, s *triton.Server, p, overHTTP *Probe) {
	const good, bad = 20, 3
	d := around(t, p, func() {
		var wg sync.WaitGroup
		for i := range good + bad {
			words, want := 4, " three"
			if i < bad {
				words, want = 13, "fails after 2"
			}
			wg.Go(func() {
				if got := prompt(t, s, words); !strings.Contains(got, want) {
					t.Errorf("a prompt of %d words gave %s", words, got)
				}
			})
		}
		wg.Wait()
	})
	if len(d.Models) != 1 || len(d.Models[0].Composing) != 3 {
		t.Fatalf("models %+v", d.Models)
	}
	whole := d.Models[0]
	// Triton may count a failed request of an ensemble twice, and counts its steps,
	// which gave two responses before, as successes.
	if fails := whole.Fail.Count; whole.Name != "ensemble" || whole.Success.Count != good || fails < bad || fails > 2*bad || whole.Inferences != good {
		t.Errorf("the ensemble: %+v", whole)
	}
	for i, want := range []struct {
		name  string
		count uint64
	}{{"preprocessing", good + bad}, {"tensorrt_llm", good + bad}, {"postprocessing", 3*good + 2*bad}} {
		part := whole.Composing[i]
		if part.Name != want.name || part.Success.Count != want.count || part.Fail.Count != 0 || part.Inferences != want.count {
			t.Errorf("step %d, want %+v, got %+v", i, want, part)
		}
		if part.Queue.Count != want.count || part.ComputeInfer.Count != want.count || part.ComputeInfer.NS == 0 {
			t.Errorf("step %d: %+v", i, part)
		}
	}
	for _, m := range d.Metrics {
		if m.Name == "nv_inference_request_success" && promtext.NewReader().Label(m.Labels, "model") == "postprocessing" && m.Value != 3*good+2*bad {
			t.Errorf("%+v", m)
		}
	}
	over, err := overHTTP.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	same, err := p.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(same.Models, over.Models); diff != "" {
		t.Errorf("-gRPC +HTTP:\n%s", diff)
	}
}

func restartIsSeen(t *testing.T, s *triton.Server, p *Probe) {
	before, err := p.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.Kill()
	if got, err := p.Snapshot(t.Context()); got != nil || err == nil {
		t.Errorf("a dead server gives %v, %v", got, err)
	}
	s.Restart(t)
	after, err := p.Snapshot(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, restarted := probe.Difference(before, after); !strings.Contains(restarted, "model vllm_model version 1 went from 3 back to 0") {
		t.Errorf("restarted: %q", restarted)
	}
}
