package run

import (
	"bytes"
	"io"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe/servermetrics"
	"github.com/inferometer/inferometer/internal/result"
)

// The page of metrics of a target is found where the plan wants that, and says what the server did.
func TestMetricsAreFound(t *testing.T) {
	for _, family := range []string{config.NamesVLLM, config.NamesSGLang} {
		s := serve(t, func(c *config.Server) {
			c.MetricsNames = family
			c.Output.DraftTokens, c.Output.AcceptanceLength = 3, 2.5
			c.Latency.PrefixCache, c.Latency.BlockSize = true, 16
			c.Latency.TTFT, c.Latency.ITL = 5*time.Millisecond, time.Millisecond
		})
		p := closedPlan(t, s.url, 4, 40)
		p.Tokenizer.Name, p.Data.Input.Mean = plan.TokenizerWords, 160
		p.Data.Prefixes = plan.Prefixes{Count: 1, Share: 0.5}
		p.Probes.Find, p.Probes.Interval = true, plan.Duration(20*time.Millisecond)
		var log bytes.Buffer
		res, err := Run(t.Context(), p, options(&log))
		if err != nil {
			t.Fatal(err)
		}
		asJSON(t, res)
		if !strings.Contains(log.String(), "reading the server's metrics at "+s.url+"/metrics") ||
			!strings.Contains(strings.Join(res.Notes, "\n"), "metrics were found and read at "+s.url+"/metrics") {
			t.Errorf("%s: the log says %s; notes %q", family, log.String(), res.Notes)
		}
		m := result.FromPages(res.Stages[0].Services)
		if m == nil {
			t.Fatalf("%s: nothing was read", family)
		}
		steps, tokens, prompts, cached := 0.0, 0.0, 0.0, 0.0
		for _, truth := range s.truths(t) {
			steps += math.Ceil(float64(truth.Tokens-1) / 2.5)
			tokens += float64(truth.Tokens)
			prompts, cached = prompts+float64(truth.Prompt), cached+float64(truth.Cached)
		}
		accepted := tokens - 40 - steps
		for name, want := range map[string]float64{
			servermetrics.SpecRate: accepted / steps / 3, servermetrics.SpecLength: 1 + accepted/steps, servermetrics.SpecPerStep: tokens / steps,
		} {
			f := m.Figure(name)
			if f == nil || f.Mean == nil || math.Abs(*f.Mean-want) > 0.02*want {
				t.Errorf("%s: %s is %+v, want %v", family, name, f, want)
			}
		}
		if got, ok := servermetrics.HitRatio(m.Figures); !ok || math.Abs(got-cached/prompts) > 1e-9 || got < 0.3 {
			t.Errorf("%s: hits %v, want %v", family, got, cached/prompts)
		}
		drawn := map[string]bool{}
		for _, series := range m.Series {
			drawn[series.Name] = true
		}
		names := []string{servermetrics.Queue, servermetrics.Running, servermetrics.KVCache, servermetrics.SpecLength, servermetrics.SpecRate}
		for _, name := range names {
			if !drawn[name] {
				t.Errorf("%s: %s is not known over time: %v", family, name, drawn)
			}
		}
	}
}

// A target is asked once for a page that it does not have, and not at all where the plan wants none.
func TestMetricsAreLookedForOnce(t *testing.T) {
	for _, find := range []bool{false, true} {
		s := serve(t, nil)
		var asked atomic.Int32
		address, _ := gatewayTo(t, s, func(w http.ResponseWriter, r *http.Request) bool {
			if strings.Contains(r.URL.Path, "metrics") {
				asked.Add(1)
				http.NotFound(w, r)
				return true
			}
			return false
		})
		p := closedPlan(t, address, 1, 3)
		p.Probes.Find = find
		res, err := Run(t.Context(), p, options(io.Discard))
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int32{true: 1}[find]; asked.Load() != want || len(res.Stages[0].Services) != 0 {
			t.Errorf("find: %v: asked %d times, %d services", find, asked.Load(), len(res.Stages[0].Services))
		}
	}
}

// What is no page of metrics is not taken for one: TensorRT-LLM has it elsewhere.
func TestMetricsElsewhere(t *testing.T) {
	s := serve(t, nil)
	address, _ := gatewayTo(t, s, func(w http.ResponseWriter, r *http.Request) bool {
		switch r.URL.Path {
		case "/metrics":
			_, _ = io.WriteString(w, `[{"iter": 1, "kvCacheStats": {"usedNumBlocks": 3}}]`)
		case "/prometheus/metrics":
			_, _ = io.WriteString(w, "# TYPE trtllm_kv_cache_utilization gauge\ntrtllm_kv_cache_utilization{model_name=\"mock\"} 0.25\n")
		default:
			return false
		}
		return true
	})
	p := closedPlan(t, address, 1, 3)
	p.Probes.Find = true
	res := mustRun(t, p)
	m := result.FromPages(res.Stages[0].Services)
	if m == nil || m.Figure(servermetrics.KVCache) == nil || *m.Figure(servermetrics.KVCache).Mean != 0.25 {
		t.Errorf("services %+v", res.Stages[0].Services)
	}
}
