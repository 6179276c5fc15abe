package result

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// TestTokenCounts: counts that cannot be are a fault, counts that merely differ are one only
// where figures are made of both.
func TestTokenCounts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		bend  func(*world)
		want  []string // checks over their budgets
		says  string   // in a reason or, where there is none, in a note
		quiet bool     // no note of tokens
	}{
		{name: "alike", bend: func(w *world) {}, quiet: true},
		{name: "more than there can be", bend: func(w *world) {
			w.each(func(i int, r *record.Record) {
				r.Out = record.Tokens{N: 20, Source: record.FromEvents, Local: -1, Claimed: 5000 + i}
			})
		}, want: []string{"usage"}, says: "In 100 % of the 2000 answers the server counts more output tokens than there can be, up to 7199"},
		{name: "more input than there can be, once", bend: func(w *world) { w.recs[300].In.Claimed = 1 << 40 },
			says: "In 1 answer the server counts more input tokens than there can be, up to 1099511627776"},
		{name: "one for twenty events", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerWords
			w.each(func(_ int, r *record.Record) {
				r.Out, r.Asked = record.Tokens{N: 1, Source: record.FromServer, Local: 8}, 0
			})
		}, want: []string{"usage"}, says: "In 100 % of the 2000 answers the server counts less than half of the output tokens that came: 2000, where 40000 events of text came (budget 1 %)."},
		{name: "one for twenty by the tokenizer", bend: func(w *world) {
			w.each(func(_ int, r *record.Record) {
				r.Out, r.Asked = record.Tokens{N: 1, Source: record.FromServer, Local: 20}, 0
				r.Events, r.Streamed = r.Events[:1], false
			})
		}, want: []string{"usage"}, says: "2000, where their events or the tokenizer test-tokenizer show 40000"},
		{name: "one for twenty by a stand-in", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerWords
			w.each(func(_ int, r *record.Record) {
				r.Out, r.Asked = record.Tokens{N: 1, Source: record.FromServer, Local: 20}, 0
				r.Events, r.Streamed = r.Events[:1], false
			})
		}},
		{name: "tokens spread over events", bend: func(w *world) {
			w.each(func(_ int, r *record.Record) {
				r.Out, r.Asked = record.Tokens{N: 10, Source: record.FromServer, Local: 10}, 0
			})
		}},
		{name: "one for twenty, once", bend: func(w *world) {
			w.recs[300].Out, w.recs[300].Asked = record.Tokens{N: 1, Source: record.FromServer, Local: -1}, 0
		}, says: "In 1 answer the server counts less than half of the output tokens that came: 1, where"},
		{name: "another tokenizer's", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.Out.Local = 23 })
		}, says: "disagree on 15 % of the output tokens. All figures use the server's counts"},
		{name: "images in the prompts", bend: func(w *world) {
			w.plan.Target.Endpoint = plan.EndpointCompletions
			w.each(func(i int, r *record.Record) { r.In.Local = 12 })
		}, says: "disagree on 90.62 % of the input tokens"},
		{name: "figures of the tokenizer's", bend: func(w *world) {
			w.each(func(i int, r *record.Record) {
				if r.Out.Local = 23; i%2 == 0 {
					r.Out.N, r.Out.Source, r.Out.Local = 23, record.FromTokenizer, 23
				}
			})
		}, want: []string{"token_drift"}, says: "figures of 1,000 requests use the tokenizer's counts"},
		{name: "figures of the tokenizer's input", bend: func(w *world) {
			w.plan.Target.Endpoint = plan.EndpointCompletions
			w.each(func(i int, r *record.Record) {
				if r.In.Local = 120; i%2 == 0 {
					r.In.N, r.In.Source = 120, record.FromTokenizer
				}
			})
		}, want: []string{"token_drift_input"}, says: "6.2 %"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := healthy()
			tt.bend(w)
			r := w.build(t)
			if got := broken(&r.Verdict); !slices.Equal(got, tt.want) {
				t.Fatalf("over budget: %v, want %v: %v", got, tt.want, r.Verdict.Reasons)
			}
			said := strings.Join(r.Verdict.Reasons, "\n")
			if tt.want == nil {
				said = strings.Join(r.Notes, "\n")
			}
			if !strings.Contains(said, tt.says) || tt.quiet && strings.Contains(said, "server") {
				t.Errorf("%q, want %q", said, tt.says)
			}
		})
	}
}
