// Package metric is the one table of what is measured. Each metric has a name, a unit and a formula
// over a request's record or a window's sums; Fold works them out for a stream of records.
package metric

import (
	"math"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// The units of metrics.
const (
	Milliseconds = "ms"
	TokenCount   = "tokens"
	Share        = "share"
	Requests     = "requests"
	RequestRate  = "requests/sec"
	TokenRate    = "tokens/sec"
	UserRate     = "tokens/sec/user"
	PerEvent     = "tokens/event"
	GPURate      = "tokens/sec/GPU"
	PerMegatoken = "$/Mtok"
	MegawattRate = "tokens/sec/MW"
	PerToken     = "J/token"
	PerRequest   = "J/request"
	Joules       = "J"
	Watts        = "W"
)

// micro is the resolution of samples that are no integers.
const micro = 1e6

// Def defines a metric. One of One, Many and Rate is set.
type Def struct {
	ID      string
	Name    string
	Unit    string
	Formula string
	Help    string

	// Sample gives the sample of a request, where it has one.
	Sample func(*Request) (int64, bool)
	// Many gives the samples of a request. They are pooled over requests.
	Many func(*Request) []int64
	// Tail gives those of a long stream's part that was not kept event by event, or nil.
	Tail func(*Request) *record.TailHistogram
	// Bounds is how much less and how much more than the sample of a request the truth can be; nil:
	// the sample is exact, or unknown.
	Bounds func(*Request) (below, above int64)
	// Ends are the least and the most that each sample of Many can be, of a request that has one
	// which is not exact; nil means they are exact, or unknown.
	Ends func(*Request) (least, most []int64)
	// Rate is worked out from the sums of a window.
	Rate func(*Totals) (float64, bool)

	// Scale is how many steps of a sample make one unit.
	Scale float64
	// Failed: failed requests have samples too.
	Failed bool
	// PerRequest is a request's value that objectives are compared with, if not its sample.
	PerRequest func(*Request) (int64, bool)
	// OwnBounds are the Bounds of Own.
	OwnBounds func(*Request) (below, above int64)
	// AfterFirstToken: it is about what follows the first token. A request that was
	// answered with one token meets any objective on it.
	AfterFirstToken bool

	gaps bool // Many gives gaps between events or, where each has one token, between tokens
}

// Defs are all metrics, in the order in which a report lists them.
func Defs() []Def {
	return slices.Concat(firsts(), gapDefs(), requestMetrics(), lengths(), rates(), costs(), client())
}

// ByID finds a metric.
func ByID(id string) (Def, bool) {
	all := Defs()
	if i := slices.IndexFunc(all, func(d Def) bool { return d.ID == id }); i >= 0 {
		return all[i], true
	}
	return Def{}, false
}

// perRequest gives the function that yields the value of one request, or nil.
func (d *Def) perRequest() func(*Request) (int64, bool) {
	if d.PerRequest != nil {
		return d.PerRequest
	}
	return d.Sample
}

// since is a time span as a sample, where both ends were reached.
func since(from, to time.Duration) (int64, bool) {
	return int64(to - from), from != record.Never && to != record.Never
}

// perUnit is v ÷ by, rounded to the nearest.
func perUnit(v, by int64) int64 {
	return int64(math.Round(float64(v) / float64(by)))
}

// ratio is a ÷ b in millionths.
func ratio(a, b float64) int64 { return int64(math.Round(a / b * micro)) }

func ms(d Def) Def {
	d.Unit, d.Scale = Milliseconds, float64(time.Millisecond)
	return d
}

// firsts are the metrics of how soon something comes.
func firsts() []Def {
	return []Def{
		ms(Def{
			ID: "time_to_first_byte", Name: "Time to first byte",
			Formula: "stamp of the first read − Sent",
			Help:    "When the first byte of the response arrived, headers included.",
			Sample: func(r *Request) (int64, bool) {
				if len(r.Marks) == 0 {
					return 0, false
				}
				return since(r.Sent, r.Marks[0].Time())
			},
			Bounds: func(r *Request) (int64, int64) { return r.blur.byte.since(r.blur.sent) },
		}),
		ms(Def{
			ID: "time_to_first_event", Name: "Time to first event",
			Formula: "stamp of the first event of any label − Sent",
			Help:    "When the stream began, even with an event without tokens.",
			Sample: func(r *Request) (int64, bool) {
				v, ok := since(r.Sent, r.Opened)
				return v, ok && (r.Stream || r.silent())
			},
			Bounds: func(r *Request) (int64, int64) { return r.blur.opened.since(r.blur.sent) },
		}),
		ms(Def{
			ID: "time_to_first_token", Name: "Time to first token",
			Formula: "stamp of the first token event − Sent",
			Help:    "When the first output token arrived, on any channel: content, reasoning, tool call or refusal.",
			Sample:  func(r *Request) (int64, bool) { return since(r.Sent, r.First) },
			Bounds:  func(r *Request) (int64, int64) { return r.blur.first.since(r.blur.sent) },
		}),
		ms(Def{
			ID: "time_to_first_output_token", Name: "Time to first visible token",
			Formula: "stamp of the first token event with visible text − Sent",
			Help:    "When the first visible text arrived; reasoning is not visible.",
			Sample:  func(r *Request) (int64, bool) { return since(r.Sent, r.Visible) },
			Bounds:  func(r *Request) (int64, int64) { return r.blur.visible.since(r.blur.sent) },
		}),
		ms(Def{
			ID: "time_to_second_token", Name: "Time to second token",
			Formula:         "stamp of the second token event − stamp of the first",
			Help:            "The first gap of the stream, which often differs from the others.",
			Sample:          func(r *Request) (int64, bool) { return since(r.First, r.Second) },
			Bounds:          func(r *Request) (int64, int64) { return r.blur.second.since(r.blur.first) },
			AfterFirstToken: true,
		}),
		ms(Def{
			ID: "time_to_first_token_from_due", Name: "Time to first token, from due",
			Formula: "stamp of the first token event − Due",
			Help:    "Time to first token from the scheduled send time, including delays in the client.",
			Sample:  func(r *Request) (int64, bool) { return since(r.Due, r.First) },
			Bounds:  func(r *Request) (int64, int64) { return r.blur.first.since(r.blur.due) },
		}),
	}
}

// gapDefs are the metrics of how steadily a stream flows.
func gapDefs() []Def {
	return []Def{
		ms(Def{
			ID: "inter_token_latency", Name: "Inter-token latency",
			Formula:    "for each token event after the first with k tokens: k samples of (its stamp − the stamp before) ÷ k; requests in which the tokens of every event are known",
			Help:       "The time between tokens, each token one sample, all requests pooled. An objective is compared with the request's own mean.",
			Many:       func(r *Request) []int64 { return r.perToken },
			Ends:       func(r *Request) (least, most []int64) { return r.perTokenLeast, r.perTokenMost },
			Tail:       (*Request).tailTokens,
			PerRequest: meanTokenGap, OwnBounds: meanTokenGapBounds,
			AfterFirstToken: true, gaps: true,
		}),
		ms(Def{
			ID: "inter_event_latency", Name: "Inter-event latency",
			Formula: "stamp of each token event after the first − stamp of the one before",
			Help:    "The time between events, however many tokens they carry. An objective is compared with the request's own mean.",
			Many:    func(r *Request) []int64 { return r.gaps },
			Ends:    func(r *Request) (least, most []int64) { return r.gapLeast, r.gapMost },
			Tail:    (*Request).tailGaps,
			PerRequest: func(r *Request) (int64, bool) {
				if r.gapCount == 0 {
					return 0, false
				}
				return perUnit(int64(r.Last-r.First), int64(r.gapCount)), true
			},
			OwnBounds:       func(r *Request) (below, above int64) { return r.flowBounds(int64(r.gapCount)) },
			AfterFirstToken: true, gaps: true,
		}),
		ms(Def{
			ID: "time_per_output_token", Name: "Time per output token",
			Formula:         "(stamp of the last token event − stamp of the first) ÷ (output tokens − 1)",
			Help:            "The mean time between tokens of a request, one sample per request. Others call this inter token latency.",
			Sample:          timePerToken,
			Bounds:          timePerTokenBounds,
			AfterFirstToken: true,
		}),
		ms(Def{
			ID: "longest_gap", Name: "Longest gap",
			Formula:         "the greatest inter-event latency of the request",
			Help:            "The longest pause in the stream.",
			Sample:          func(r *Request) (int64, bool) { return r.longest, r.gapCount > 0 },
			Bounds:          (*Request).longestBounds,
			AfterFirstToken: true,
		}),
		{
			ID: "stall_share", Name: "Share of time stalled", Unit: Share, Scale: micro,
			Formula: "Σ of the gaps over 5 × the request's median gap ÷ (stamp of the last token event − stamp of the first); events with the same stamp are one",
			Help:    "Share of the stream's time spent in gaps much longer than its median gap.",
			Sample: func(r *Request) (int64, bool) {
				if r.Last <= r.First || r.Sparse {
					return 0, false
				}
				return ratio(float64(r.stalled), float64(r.Last-r.First)), true
			},
		},
		{
			ID: "tokens_per_event", Name: "Tokens per event", Unit: PerEvent, Scale: micro,
			Formula: "output tokens ÷ token events",
			Help:    "How many tokens the server sends per event. Above 1, inter-event latency is longer than inter-token latency.",
			Sample: func(r *Request) (int64, bool) {
				if !r.Stream || r.Tokens <= 0 || r.Sparse {
					return 0, false
				}
				return ratio(float64(r.Tokens), float64(r.events)), true
			},
		},
		{
			ID: "output_token_throughput_per_user", Name: "Output tokens/s per user", Unit: UserRate, Scale: micro,
			Formula: "(output tokens − 1) ÷ (stamp of the last token event − stamp of the first)",
			Help:    "The pace at which one stream runs after its first token: the inverse of time per output token.",
			Sample:  (*Request).pace,
			Bounds:  (*Request).paceBounds,
		},
	}
}

func timePerToken(r *Request) (int64, bool) {
	if r.Tokens < 2 || r.gapCount == 0 && !(r.Sparse && r.events > 1) {
		return 0, false
	}
	return perUnit(int64(r.Last-r.First), int64(r.Tokens-1)), true
}

// meanTokenGap is the mean time between the tokens of a request.
func meanTokenGap(r *Request) (int64, bool) {
	if r.tokensIn > 0 {
		return perUnit(int64(r.Last-r.First), r.tokensIn), true
	}
	return timePerToken(r)
}

func meanTokenGapBounds(r *Request) (below, above int64) {
	if r.tokensIn > 0 {
		return r.flowBounds(r.tokensIn)
	}
	return timePerTokenBounds(r)
}

func timePerTokenBounds(r *Request) (below, above int64) {
	return r.flowBounds(int64(r.Tokens - 1))
}

func requestMetrics() []Def {
	return []Def{
		ms(Def{
			ID: "request_latency", Name: "Request latency",
			Formula: "End − Sent",
			Help:    "From the first byte sent to the last byte received.",
			Sample:  func(r *Request) (int64, bool) { return since(r.Sent, r.End) },
			Bounds:  func(r *Request) (int64, int64) { return r.blur.end.since(r.blur.sent) },
		}),
		ms(Def{
			ID: "request_latency_from_due", Name: "Request latency, from due",
			Formula: "End − Due",
			Help:    "Latency from the scheduled send time, including delays in the client.",
			Sample:  func(r *Request) (int64, bool) { return since(r.Due, r.End) },
			Bounds:  func(r *Request) (int64, int64) { return r.blur.end.since(r.blur.due) },
		}),
		ms(Def{
			ID: "normalized_time_per_output_token", Name: "Normalised time per output token",
			Formula: "(End − Sent) ÷ output tokens",
			Help:    "Request latency made comparable between responses of different length; it includes the time to first token.",
			Sample: func(r *Request) (int64, bool) {
				if r.Tokens <= 0 || r.Sent == record.Never {
					return 0, false
				}
				return perUnit(int64(r.End-r.Sent), int64(r.Tokens)), true
			},
			Bounds: func(r *Request) (int64, int64) {
				below, above := r.blur.end.since(r.blur.sent)
				return perUnit(below, int64(r.Tokens)), perUnit(above, int64(r.Tokens))
			},
		}),
	}
}

// lengths are the metrics of how long prompts and responses are.
func lengths() []Def {
	return []Def{
		{
			ID: "output_sequence_length", Name: "Output sequence length", Unit: TokenCount, Scale: 1,
			Formula: "output tokens",
			Help:    "Tokens in the response, by the source that the report names.",
			Sample:  func(r *Request) (int64, bool) { return int64(r.Tokens), r.Tokens >= 0 },
		},
		{
			ID: "input_sequence_length", Name: "Input sequence length", Unit: TokenCount, Scale: 1,
			Formula: "input tokens",
			Help:    "Tokens in the prompt, by the source that the report names. A server's count includes its chat template.",
			Sample:  func(r *Request) (int64, bool) { return int64(r.In.N), r.In.Source != record.Uncounted },
		},
		{
			ID: "cached_prompt_tokens", Name: "Cached prompt tokens", Unit: TokenCount, Scale: 1,
			Formula: "prompt tokens that the server took from its cache",
			Help:    "Only for servers that report it.",
			Sample:  func(r *Request) (int64, bool) { return int64(r.Cached), r.Cached >= 0 },
		},
	}
}
