// Package config is what the built-in server can be told: latencies, outputs, faults, TLS, and the flags for them.
package config

import (
	"errors"
	"fmt"
	"math"
	"time"
)

// Distributions that a latency can be drawn from.
const (
	DistNormal    = "normal"
	DistLognormal = "lognormal"
)

// Names that servers give to the field with a model's reasoning.
const (
	FieldReasoningContent = "reasoning_content"
	FieldReasoning        = "reasoning"
)

// Server is every knob of the server, as plain data. Start from Default.
type Server struct {
	Listen string   // address that the command listens on
	Models []string // names that /v1/models lists
	// AnyModel: requests may name any model. Otherwise one that is not in Models is answered 404, as with Strict.
	AnyModel bool
	APIKey   string // when set, requests without it are answered 401
	Strict   bool   // unknown body fields are answered 400, unknown models 404
	Seed     uint64 // the n-th request of two runs with one seed has the same draws

	Triton     Triton
	Latency    Latency
	Output     Output
	Faults     []Fault       // at most one strikes a request; shares of a request's faults add up to 1 or less
	RetryAfter int           // seconds in Retry-After of injected 429 and 503; 0 leaves it out
	StallFor   time.Duration // how long a stall lasts; 0: until the client leaves
	SlowFor    time.Duration // how long a slow accept waits before the first read

	HTTP2 bool // also HTTP/2: by ALPN with TLS, with prior knowledge without
	TLS   TLS

	// SessionID and SessionToken are headers that tie the requests of a session together: the truth
	// file has them, and responses carry the token that came or a new one.
	SessionID, SessionToken string

	MetricsNames string // whose names /metrics has: NamesVLLM or NamesSGLang

	Truth     string // file of JSON lines (see Truth); empty: none
	TruthBody bool   // keep each request's body in its line
}

// Whose names the page of metrics has.
const (
	NamesVLLM   = "vllm"
	NamesSGLang = "sglang"
)

// Latency is the model of how long the responses take. All zero: as fast as it goes.
type Latency struct {
	TTFT       time.Duration // from the start of a sequence to its first token, prefill not counted
	TTFTStddev time.Duration
	ITL        time.Duration // between two tokens of a sequence running alone
	ITLStddev  time.Duration
	Dist       string // how values with a standard deviation are drawn

	PrefillPerToken time.Duration // per prompt token that no cache holds
	PrefillLanes    int           // prompts whose per-token prefill runs at once; 0: no limit
	ITLPerSeq       time.Duration // added to ITL for each running sequence
	MaxSeqs         int           // sequences running at once, the others queue in order; 0: no limit

	PrefixCache bool // blocks of prompt words seen before cost no prefill
	BlockSize   int  // words in a block
	KVBlocks    int  // blocks that the cache holds
}

// Output is what responses are made of and how they are cut into events.
type Output struct {
	Tokens       int // length where the request names none
	TokensStddev int // when set, responses end by themselves at a length drawn around Tokens
	MaxModelLen  int // prompt and response together; more is answered 400

	// DraftTokens are what the server says that it drafts in each step of speculative decoding, of AcceptanceLength
	// tokens on average; 0: it does not speculate. It changes what /metrics says, and no latency.
	DraftTokens      int
	AcceptanceLength float64

	TokensPerEvent int           // an event is sent when its last token is there
	Coalesce       int           // events per write
	Role           bool          // chat streams begin with an event that has only the role
	FinishEvent    bool          // the finish reason has an event of its own
	Usage          bool          // a usage event even where the request does not ask for one
	Done           bool          // streams end with [DONE]
	KeepAlive      time.Duration // a comment is sent after this long without an event; 0: none
	EarlyHeaders   bool          // the head of a stream is sent at once, not with the first event

	ReasoningTokens int    // reasoning tokens before the visible ones
	ReasoningField  string // what their field is called
	ToolCalls       bool   // a request that brings tools is answered with a call of the first
	EmbeddingDim    int    // length of embedding vectors where the request names none
}

// TLS says how the server proves who it is: with Cert and Key, or SelfSigned for localhost.
type TLS struct {
	Cert, Key  string // PEM files
	SelfSigned bool
	ClientCA   string // PEM file; when set, clients must have a certificate from it
}

// Enabled reports whether the server speaks TLS.
func (t TLS) Enabled() bool { return t.SelfSigned || t.Cert != "" || t.Key != "" }

// Default returns a server that answers as fast as it can, with 64 tokens and no faults.
func Default() Server {
	return Server{
		Listen:     "127.0.0.1:8000",
		Models:     []string{"mock"},
		AnyModel:   true,
		RetryAfter: 1, MetricsNames: NamesVLLM,
		SlowFor: time.Second,
		Latency: Latency{Dist: DistNormal, BlockSize: 16, KVBlocks: 16384},
		Output: Output{
			Tokens: 64, AcceptanceLength: 2, MaxModelLen: 1 << 20, TokensPerEvent: 1, Coalesce: 1,
			Role: true, Done: true, ReasoningField: FieldReasoningContent, ToolCalls: true, EmbeddingDim: 64,
		},
	}
}

// Validate returns every fault of the configuration, joined.
func (c Server) Validate() error {
	var v faults
	v.check(len(c.Models) > 0, "--model: at least one name is needed")
	for _, m := range c.Models {
		v.check(m != "", "--model: a name cannot be empty")
	}
	v.check(c.MetricsNames == NamesVLLM || c.MetricsNames == NamesSGLang, "--metrics-names %s: must be vllm or sglang", c.MetricsNames)
	v.check(c.Output.DraftTokens >= 0, "--draft-tokens %d: cannot be negative", c.Output.DraftTokens)
	v.check(c.Output.DraftTokens == 0 || c.Output.AcceptanceLength >= 1 && c.Output.AcceptanceLength <= float64(c.Output.DraftTokens)+1,
		"--acceptance-length %v: must be from 1 to one more than --draft-tokens", c.Output.AcceptanceLength)
	v.check(c.RetryAfter >= 0, "--retry-after %d: seconds cannot be negative", c.RetryAfter)
	v.duration("--stall-for", c.StallFor)
	v.duration("--slow-accept-for", c.SlowFor)
	v.check((c.TLS.Cert == "") == (c.TLS.Key == ""), "--tls-cert and --tls-key: give both or neither")
	v.check(c.TLS.Cert == "" || !c.TLS.SelfSigned, "--tls and --tls-cert: a made-up certificate or your own, not both")
	v.check(c.TLS.ClientCA == "" || c.TLS.Enabled(), "--tls-client-ca: needs --tls or --tls-cert")
	v.check(!c.TruthBody || c.Truth != "", "--truth-body: needs --truth")
	c.Triton.validate(&v)
	c.Latency.validate(&v)
	c.Output.validate(&v)
	validateFaults(c.Faults, &v)
	return errors.Join(v...)
}

func (l Latency) validate(v *faults) {
	v.duration("--ttft", l.TTFT)
	v.duration("--ttft-stddev", l.TTFTStddev)
	v.duration("--itl", l.ITL)
	v.duration("--itl-stddev", l.ITLStddev)
	v.duration("--prefill-per-token", l.PrefillPerToken)
	v.duration("--itl-per-seq", l.ITLPerSeq)
	v.check(l.Dist == DistNormal || l.Dist == DistLognormal, "--latency-dist %q: must be %q or %q", l.Dist, DistNormal, DistLognormal)
	v.check(l.TTFTStddev == 0 || l.TTFT > 0, "--ttft-stddev: needs --ttft")
	v.check(l.ITLStddev == 0 || l.ITL > 0, "--itl-stddev: needs --itl")
	v.check(l.PrefillLanes >= 0, "--prefill-lanes %d: cannot be negative", l.PrefillLanes)
	v.check(l.MaxSeqs >= 0, "--max-seqs %d: cannot be negative", l.MaxSeqs)
	v.between("--block-size", l.BlockSize, 1, 1<<20)
	v.between("--kv-blocks", l.KVBlocks, 1, 1<<28)
}

func (o Output) validate(v *faults) {
	v.between("--output-tokens", o.Tokens, 1, maxTokens)
	v.between("--output-tokens-stddev", o.TokensStddev, 0, maxTokens)
	v.between("--max-model-len", o.MaxModelLen, 1, maxTokens)
	v.between("--tokens-per-event", o.TokensPerEvent, 1, 1<<16)
	v.between("--coalesce", o.Coalesce, 1, 1<<16)
	v.between("--reasoning-tokens", o.ReasoningTokens, 0, maxTokens)
	v.between("--embedding-dim", o.EmbeddingDim, 1, MaxDim)
	v.check(o.ReasoningField == FieldReasoningContent || o.ReasoningField == FieldReasoning,
		"--reasoning-field %q: must be %q or %q", o.ReasoningField, FieldReasoningContent, FieldReasoning)
	v.duration("--keep-alive", o.KeepAlive)
}

// Bounds on what one request can make the server allocate.
const (
	maxTokens = 1 << 24
	MaxDim    = 1 << 16
)

// faults collects what is wrong with a configuration.
type faults []error

func (f *faults) check(ok bool, format string, args ...any) {
	if !ok {
		*f = append(*f, fmt.Errorf(format, args...))
	}
}

func (f *faults) between(flag string, v, lo, hi int) {
	f.check(v >= lo && v <= hi, "%s %d: must be between %d and %d", flag, v, lo, hi)
}

func (f *faults) duration(flag string, d time.Duration) {
	f.check(d >= 0 && d <= time.Duration(math.MaxInt64/4), "%s %v: must be zero or more", flag, d)
}
