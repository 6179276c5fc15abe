package build

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
		}, want: []string{"usage_output_plausible"}, says: "In 100 % of the 2000 responses the server counts more output tokens than there can be, up to 7199"},
		{name: "more input than there can be, once", bend: func(w *world) { w.recs[300].In.Claimed = 1 << 40 },
			says: "In 1 response the server counts more input tokens than there can be, up to 1099511627776"},
		{name: "one for twenty events", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerWords
			w.each(func(_ int, r *record.Record) {
				r.Out, r.RequestedTokens = record.Tokens{N: 1, Source: record.FromServer, Local: 8}, 0
			})
		}, want: []string{"usage_output_plausible"}, says: "In 100 % of the 2000 responses the server counts less than half of the output tokens that came: 2000, where 40000 events of text came (budget 1 %)."},
		{name: "one for twenty by the tokenizer", bend: func(w *world) {
			w.each(func(_ int, r *record.Record) {
				r.Out, r.RequestedTokens = record.Tokens{N: 1, Source: record.FromServer, Local: 20}, 0
				r.Events, r.Streamed = r.Events[:1], false
			})
		}, want: []string{"usage_output_plausible"}, says: "2000, where their events or the tokenizer test-tokenizer show 40000"},
		{name: "one for twenty by a stand-in", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerWords
			w.each(func(_ int, r *record.Record) {
				r.Out, r.RequestedTokens = record.Tokens{N: 1, Source: record.FromServer, Local: 20}, 0
				r.Events, r.Streamed = r.Events[:1], false
			})
		}},
		{name: "reads back as more than was asked for", bend: func(w *world) {
			w.each(func(_ int, r *record.Record) {
				r.Out, r.RequestedTokens = record.Tokens{N: 20, Source: record.FromServer, Local: 20}, 20
			})
			w.recs[300].Out.Local = 72
		}, quiet: true},
		{name: "prompts that grow with each request", bend: func(w *world) {
			w.plan.Data.Source, w.plan.Tokenizer.Name = plan.SourceSynthetic, plan.TokenizerBuiltin
			w.each(func(i int, r *record.Record) {
				r.In = record.Tokens{N: 8 * (i + 1), Source: record.FromServer, Local: 8}
			})
		}, want: []string{"token_drift_input"}, says: "the server counts from "},
		{name: "prompts with a long template", bend: func(w *world) {
			w.plan.Data.Source, w.plan.Tokenizer.Name = plan.SourceSynthetic, plan.TokenizerBuiltin
			w.each(func(i int, r *record.Record) {
				r.In = record.Tokens{N: 3000 + 2*(8+i%30), Source: record.FromServer, Local: 8 + i%30}
			})
		}},
		{name: "prompts shorter than was asked", bend: func(w *world) {
			w.plan.Data.Source, w.plan.Tokenizer = plan.SourceSynthetic, plan.Tokenizer{Name: plan.TokenizerBuiltin, Find: true}
			w.each(func(i int, r *record.Record) {
				r.In = record.Tokens{N: 805, Source: record.FromServer, Local: 1024}
			})
		}, want: []string{"prompt_length"}, says: "1,024 tokens were, and the server counts 805, 21 % off (budget 5 %). They were made with the tokenizer builtin:gpt2. Name the model's tokenizer with --tokenizer."},
		{name: "prompts longer than was asked", bend: func(w *world) {
			w.plan.Data.Source, w.plan.Tokenizer = plan.SourceSynthetic, plan.Tokenizer{Name: plan.TokenizerBuiltin, Find: true}
			w.each(func(i int, r *record.Record) {
				r.In = record.Tokens{N: 1150, Source: record.FromServer, Local: 1024}
			})
		}, want: []string{"prompt_length"}, says: "6.1 % off"},
		{name: "short prompts with a template around them", bend: func(w *world) {
			w.plan.Data.Source, w.plan.Tokenizer = plan.SourceSynthetic, plan.Tokenizer{Name: plan.TokenizerServer, Find: true}
			w.each(func(i int, r *record.Record) {
				r.In = record.Tokens{N: 45, Source: record.FromServer, Local: 8}
			})
		}},
		{name: "prompts shorter than was asked in GPT-2's tokens", bend: func(w *world) {
			w.plan.Data.Source, w.plan.Tokenizer.Name = plan.SourceSynthetic, plan.TokenizerBuiltin
			w.each(func(i int, r *record.Record) {
				r.In = record.Tokens{N: 805, Source: record.FromServer, Local: 1024}
			})
		}},
		{name: "tokens spread over events", bend: func(w *world) {
			w.each(func(_ int, r *record.Record) {
				r.Out, r.RequestedTokens = record.Tokens{N: 10, Source: record.FromServer, Local: 10}, 0
			})
		}},
		{name: "one for twenty, once", bend: func(w *world) {
			w.recs[300].Out, w.recs[300].RequestedTokens = record.Tokens{N: 1, Source: record.FromServer, Local: -1}, 0
		}, says: "In 1 response the server counts less than half of the output tokens that came: 1, where"},
		{name: "another tokenizer's", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.Out.Local = 23 })
		}, says: "disagree on 15 % of the output tokens. All figures use the server's counts"},
		{name: "far more input than the tokenizer finds", bend: func(w *world) {
			w.plan.Target.Endpoint = plan.EndpointCompletions
			w.each(func(i int, r *record.Record) { r.In.Local = 12 })
		}, want: []string{"token_drift_input"}, says: "the server counts 256000 where the tokenizer test-tokenizer finds 24000"},
		{name: "a chat template", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.In.Local = 12 })
		}, says: "its chat template is in its count"},
		{name: "less input than the tokenizer finds", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.In.Local = 300 })
		}, want: []string{"token_drift_input"}, says: "Latencies are not affected"},
		{name: "more than a chat template", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.In.N = 3000 })
		}, want: []string{"token_drift_input"}, says: "Figures in input tokens cannot be trusted"},
		{name: "texts of a batch", bend: func(w *world) {
			w.plan.Target.Endpoint = plan.EndpointEmbeddings
			w.each(func(i int, r *record.Record) {
				r.In.Local = 90
				r.Out = record.Tokens{Source: record.FromServer, Local: -1}
			})
		}, says: "disagree on 30 % of the input tokens"},
		{name: "images, which no tokenizer counts", bend: func(w *world) {
			w.plan.Target.Endpoint = plan.EndpointCompletions
			w.each(func(i int, r *record.Record) { r.In.N, r.In.Local = 3000, -1 })
		}, quiet: true},
		{name: "three times what the tokenizer finds", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.Out.N = 60 })
		}, want: []string{"token_drift"}, says: "the server counts 120000 where the tokenizer test-tokenizer finds 40000"},
		{name: "reasoning that is hidden", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.Out.N, r.Out.Expected = 60, 60 })
		}, quiet: true},
		{name: "a few tokens that end an answer", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.Out.N, r.Out.Local = 24, 20 })
		}, says: "disagree on 17 % of the output tokens"},
		{name: "fewer than events", bend: func(w *world) {
			w.each(func(i int, r *record.Record) { r.Out.Claimed = 12 })
		}, want: []string{"usage_output_plausible"}, says: "In 100 % of the 2000 responses the server counts fewer output tokens than there can be: 24000, where the client counts 40000"},
		{name: "tokens cut up on the way", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerBuiltin
			w.each(func(i int, r *record.Record) {
				r.RequestedTokens = 0
				r.Out = record.Tokens{N: 5, Source: record.FromServer, Local: -1, Expected: 6}
			})
		}},
		{name: "three times what GPT-2's finds", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerBuiltin
			w.sample(record.Tokens{N: 60, Source: record.FromServer, Local: -1}, 20)
		}, want: []string{"token_drift"}, says: "in 125 responses that were looked at, the server counts 7500 where builtin:gpt2 finds 2500 in the text"},
		{name: "a quarter of what GPT-2's finds", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerBuiltin
			w.sample(record.Tokens{N: 20, Source: record.FromServer, Local: -1}, 80)
		}, want: []string{"token_drift"}, says: "cannot be checked"},
		{name: "about what GPT-2's finds", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerBuiltin
			w.sample(record.Tokens{N: 20, Source: record.FromServer, Local: -1}, 27)
		}},
		{name: "not counted, as many as events", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerBuiltin
			w.each(func(i int, r *record.Record) { r.Out = record.Tokens{N: 21, Source: record.FromTokenizer, Local: -1} })
		}, says: "The output tokens of 2,000 requests are counted with builtin:gpt2: the server reported no count."},
		{name: "not counted, four times the events", bend: func(w *world) {
			w.plan.Tokenizer.Name = plan.TokenizerBuiltin
			w.each(func(i int, r *record.Record) { r.Out = record.Tokens{N: 80, Source: record.FromTokenizer, Local: -1} })
		}, want: []string{"token_drift"}, says: "builtin:gpt2 finds 160000 tokens in 40000 events. Pass the model's tokenizer with"},
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
			said := strings.Join(append(r.Verdict.Reasons, r.Verdict.Undecided...), "\n")
			if tt.want == nil {
				said = strings.Join(r.Notes, "\n")
			}
			if !strings.Contains(said, tt.says) || tt.quiet && strings.Contains(said, "server") {
				t.Errorf("%q, want %q", said, tt.says)
			}
		})
	}
}

// sample gives all responses a count, and those that a stand-in looks over what it finds.
func (w *world) sample(out record.Tokens, found int) {
	n := 0
	w.each(func(i int, r *record.Record) {
		r.RequestedTokens, r.Out = 0, out
		if n%record.Sampled == 0 {
			r.Out.Expected = found
		}
		n++
	})
}
