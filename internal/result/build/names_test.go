package build

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	genaiperf "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	llmperf "github.com/inferometer/inferometer/internal/tool/llmperf/args"
	perfanalyzer "github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// TestToolsNameTheirOwn: what a verdict tells users to do, they can do with the tool that they
// called.
func TestToolsNameTheirOwn(t *testing.T) {
	tools := []struct {
		name  string
		names func(*plan.Plan) message.Names
	}{
		{"inferometer", func(*plan.Plan) message.Names { return message.Names{} }},
		{"genai-perf", genaiperf.Names}, {"perf_analyzer", perfanalyzer.Names}, {"llm_perf", llmperf.Names},
	}
	for _, tt := range []struct {
		about string
		bend  func(*world)
		says  []string // by tool
	}{
		{"a cold server", func(w *world) {
			w.facts.Stages[0].WarmupEnd = 0
			w.each(func(i int, r *record.Record) {
				r.Phase = record.Measured
				for k := range r.Marks {
					if i < 300 {
						r.Marks[k].Kernel += 200 * ms
					}
				}
				r.End = r.Marks[len(r.Marks)-1].Kernel
			})
		}, []string{"--warmup auto removes it.", "--warmup-request-count ", "--warmup-request-count ", "send that much load first."}},
		{"a cap on what is in flight", func(w *world) {
			w.plan.Stages[0] = plan.Stage{Rate: 200, Arrival: "poisson", MaxInFlight: 64, Duration: plan.Duration(10 * time.Second)}
			w.facts.Stages[0].Scheduled, w.facts.Stages[0].Unsent = 2300, 100
		}, []string{"or raise max_in_flight (64).", "Lower the rate.", "or raise --max-threads (64).", "Lower the rate."}},
		{"short answers", func(w *world) {
			w.each(func(_ int, r *record.Record) { r.RequestedTokens = 500 })
		}, []string{"Set data.ignore_eos or data.min_tokens, or data.output_cap if", "Set --output-tokens-mean-deterministic, or", "Ask for shorter responses.", "Ask for shorter responses."}},
		{"another tokenizer", func(w *world) { w.plan.Tokenizer.Name = plan.TokenizerBuiltin },
			[]string{"the model's: pass --tokenizer to", "the model's: pass --tokenizer to", "not the model's.", "the model's: pass --tokenizer-path to"}},
	} {
		for i, tool := range tools {
			w := healthy()
			tt.bend(w)
			w.facts.Names = tool.names(&w.plan)
			r := w.build(t)
			said := slices.Concat(r.Notes, r.Verdict.Reasons)
			if !slices.ContainsFunc(said, func(text string) bool { return strings.Contains(text, tt.says[i]) }) {
				t.Errorf("%s: %s does not say %q:\n%s", tt.about, tool.name, tt.says[i], strings.Join(said, "\n"))
			}
		}
	}
}
