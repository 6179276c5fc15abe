package config

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/mock/repository"
)

// Flags registers the flags of the mock command; parsing fs fills c, whose
// values are the defaults.
func Flags(fs *pflag.FlagSet, c *Server) {
	fs.StringVar(&c.Listen, "listen", c.Listen, "address to listen on")
	fs.StringSliceVar(&c.Models, "model", c.Models, "model name that is served (repeat for more)")
	fs.BoolVar(&c.AnyModel, "any-model", c.AnyModel, "accept requests for any model; the default unless --model names some")
	fs.StringVar(&c.APIKey, "api-key", c.APIKey, "API key that requests must send")
	fs.BoolVar(&c.Strict, "strict", c.Strict, "refuse unknown body fields and unknown models")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "random seed")
	fs.StringVar(&c.SessionID, "session-id-header", c.SessionID, "request header with the session ID, recorded in the truth file")
	fs.StringVar(&c.SessionToken, "session-token-header", c.SessionToken, "response header that carries a session token")
	fs.StringVar(&c.Truth, "truth", c.Truth, "write what was sent, with timestamps, to this file (JSON lines)")
	fs.BoolVar(&c.TruthBody, "truth-body", c.TruthBody, "keep request bodies in the truth file")
	tritonFlags(fs, &c.Triton)
	latencyFlags(fs, &c.Latency)
	outputFlags(fs, &c.Output)
	fs.Var((*faultFlag)(&c.Faults), "fault", "KIND=SHARE: fail this share of the requests (repeat for more); kinds: status:CODE, refuse, slow-accept, close, reset, stall, truncate, error, error-event, garbage, html")
	fs.IntVar(&c.RetryAfter, "retry-after", c.RetryAfter, "Retry-After of injected 429 and 503 responses, in seconds (0: none)")
	fs.DurationVar(&c.StallFor, "stall-for", c.StallFor, "how long a stall lasts (0: until the client leaves)")
	fs.DurationVar(&c.SlowFor, "slow-accept-for", c.SlowFor, "how long a slow accept takes")
	fs.StringVar(&c.MetricsNames, "metrics-names", c.MetricsNames, "names on /metrics: vllm or sglang")
	fs.BoolVar(&c.HTTP2, "http2", c.HTTP2, "also serve HTTP/2")
	fs.BoolVar(&c.TLS.SelfSigned, "tls", c.TLS.SelfSigned, "serve TLS with a self-signed certificate for localhost")
	fs.StringVar(&c.TLS.Cert, "tls-cert", c.TLS.Cert, "serve TLS with the certificate in this PEM file")
	fs.StringVar(&c.TLS.Key, "tls-key", c.TLS.Key, "private key for --tls-cert")
	fs.StringVar(&c.TLS.ClientCA, "tls-client-ca", c.TLS.ClientCA, "require client certificates from this authority")
}

// Infer fills in what the flags that were given say about others: who names models wants no other.
func Infer(fs *pflag.FlagSet, c *Server) {
	if fs.Changed("model") && !fs.Changed("any-model") {
		c.AnyModel = false
	}
}

func tritonFlags(fs *pflag.FlagSet, t *Triton) {
	fs.StringVar(&t.GRPC, "grpc", t.GRPC, "serve Triton's gRPC on this address (Triton's HTTP is on --listen)")
	fs.StringVar(&t.Metrics, "metrics", t.Metrics, "also serve /metrics on this address")
	fs.Var((*modelsFlag)(&t.Models), "triton-models", "NAME=CONVENTION: inputs and outputs of a Triton model (repeat for more); conventions: any, vllm, vllm-old, trtllm, engine, add, sequence")
	fs.StringVar((*string)(&t.Convention), "triton-convention", string(t.Convention), "convention of the other models (default: from their names, or from each request)")
	fs.BoolVar(&t.Echo, "triton-echo", t.Echo, "put the prompt before the output text")
}

func latencyFlags(fs *pflag.FlagSet, l *Latency) {
	fs.DurationVar(&l.TTFT, "ttft", l.TTFT, "time to first token")
	fs.DurationVar(&l.TTFTStddev, "ttft-stddev", l.TTFTStddev, "standard deviation of --ttft")
	fs.DurationVar(&l.ITL, "itl", l.ITL, "time between two tokens")
	fs.DurationVar(&l.ITLStddev, "itl-stddev", l.ITLStddev, "standard deviation of --itl")
	fs.StringVar(&l.Dist, "latency-dist", l.Dist, "distribution of latencies that have a standard deviation: normal or lognormal")
	fs.DurationVar(&l.PrefillPerToken, "prefill-per-token", l.PrefillPerToken, "added to the time to first token for each prompt token not in the prefix cache")
	fs.IntVar(&l.PrefillLanes, "prefill-lanes", l.PrefillLanes, "maximum prompts in prefill (0: no limit)")
	fs.DurationVar(&l.ITLPerSeq, "itl-per-seq", l.ITLPerSeq, "added to the time between two tokens for each running sequence")
	fs.IntVar(&l.MaxSeqs, "max-seqs", l.MaxSeqs, "maximum running sequences; others queue (0: no limit)")
	fs.BoolVar(&l.PrefixCache, "prefix-cache", l.PrefixCache, "skip prefill for prompt blocks seen before")
	fs.IntVar(&l.BlockSize, "block-size", l.BlockSize, "tokens in a cache block")
	fs.IntVar(&l.KVBlocks, "kv-blocks", l.KVBlocks, "blocks in the cache")
}

func outputFlags(fs *pflag.FlagSet, o *Output) {
	fs.IntVar(&o.Tokens, "output-tokens", o.Tokens, "output tokens when the request sets no limit")
	fs.IntVar(&o.TokensStddev, "output-tokens-stddev", o.TokensStddev, "end outputs at a random length with this standard deviation (0: off)")
	fs.IntVar(&o.MaxModelLen, "max-model-len", o.MaxModelLen, "maximum tokens of prompt and output together")
	fs.IntVar(&o.DraftTokens, "draft-tokens", o.DraftTokens, "draft tokens per step of speculative decoding, as /metrics has it (0: no speculation); latencies stay as they are")
	fs.Float64Var(&o.AcceptanceLength, "acceptance-length", o.AcceptanceLength, "with --draft-tokens: average tokens per step")
	fs.IntVar(&o.TokensPerEvent, "tokens-per-event", o.TokensPerEvent, "tokens per streamed event")
	fs.IntVar(&o.Coalesce, "coalesce", o.Coalesce, "events per write")
	fs.BoolVar(&o.Role, "role-event", o.Role, "start chat streams with an event that only has the role")
	fs.BoolVar(&o.FinishEvent, "finish-event", o.FinishEvent, "send the finish reason in a separate event")
	fs.BoolVar(&o.Usage, "usage", o.Usage, "send a usage event even if not requested")
	fs.BoolVar(&o.Done, "done", o.Done, "end streams with [DONE]")
	fs.DurationVar(&o.KeepAlive, "keep-alive", o.KeepAlive, "send an SSE comment after this long without an event (0: none)")
	fs.BoolVar(&o.EarlyHeaders, "early-headers", o.EarlyHeaders, "send response headers before the first token")
	fs.IntVar(&o.ReasoningTokens, "reasoning-tokens", o.ReasoningTokens, "reasoning tokens before the visible ones")
	fs.StringVar(&o.ReasoningField, "reasoning-field", o.ReasoningField, "field for reasoning: reasoning_content or reasoning")
	fs.BoolVar(&o.ToolCalls, "tool-calls", o.ToolCalls, "answer requests that have tools with a tool call")
	fs.IntVar(&o.EmbeddingDim, "embedding-dim", o.EmbeddingDim, "length of embedding vectors")
}

// faultFlag is a repeatable flag of faults, also separated by commas.
type faultFlag []Fault

func (f *faultFlag) String() string {
	var s []string
	for _, x := range *f {
		s = append(s, x.String())
	}
	return strings.Join(s, ",")
}

func (f *faultFlag) Set(s string) error {
	for part := range strings.SplitSeq(s, ",") {
		x, err := ParseFault(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		*f = append(*f, x)
	}
	return nil
}

func (f *faultFlag) Type() string { return "kind=share" }

// modelsFlag is a repeatable flag of models and their conventions, also separated by commas.
type modelsFlag map[string]repository.Convention

func (f *modelsFlag) String() string {
	var s []string
	for name, c := range *f {
		s = append(s, name+"="+string(c))
	}
	slices.Sort(s)
	return strings.Join(s, ",")
}

func (f *modelsFlag) Set(s string) error {
	if *f == nil {
		*f = make(modelsFlag)
	}
	for part := range strings.SplitSeq(s, ",") {
		name, c, ok := strings.Cut(strings.TrimSpace(part), "=")
		if !ok {
			return fmt.Errorf("%q: write NAME=CONVENTION, for example ensemble=trtllm", part)
		}
		(*f)[name] = repository.Convention(c)
	}
	return nil
}

func (f *modelsFlag) Type() string { return "name=convention" }
