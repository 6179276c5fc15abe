package mock

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"inferometer/internal/mock/repository"
)

// Flags registers the flags of the mock command; parsing fs fills c, whose
// values are the defaults.
func Flags(fs *pflag.FlagSet, c *Config) {
	fs.StringVar(&c.Listen, "listen", c.Listen, "address to listen on")
	fs.StringSliceVar(&c.Models, "model", c.Models, "model name that is served (repeat for more)")
	fs.StringVar(&c.APIKey, "api-key", c.APIKey, "key that requests must bring")
	fs.BoolVar(&c.Strict, "strict", c.Strict, "refuse unknown body fields and unknown models")
	fs.Uint64Var(&c.Seed, "seed", c.Seed, "seed of all draws")
	fs.StringVar(&c.SessionID, "session-id-header", c.SessionID, "request header with a session's id, for the truth file")
	fs.StringVar(&c.SessionToken, "session-token-header", c.SessionToken, "header with which answers hand out a token for a session")
	fs.StringVar(&c.Truth, "truth", c.Truth, "write what was sent when to this file (JSON lines)")
	fs.BoolVar(&c.TruthBody, "truth-body", c.TruthBody, "keep request bodies in the truth file")
	tritonFlags(fs, &c.Triton)
	latencyFlags(fs, &c.Latency)
	outputFlags(fs, &c.Output)
	fs.Var((*faultFlag)(&c.Faults), "fault", "KIND=SHARE: fail this share of the requests (repeat for more); kinds: status:CODE, refuse, slow-accept, close, reset, stall, truncate, error, error-event, garbage, html")
	fs.IntVar(&c.RetryAfter, "retry-after", c.RetryAfter, "seconds in the Retry-After of injected 429 and 503 (0: none)")
	fs.DurationVar(&c.StallFor, "stall-for", c.StallFor, "how long a stall lasts (0: until the client leaves)")
	fs.DurationVar(&c.SlowFor, "slow-accept-for", c.SlowFor, "how long a slow accept takes")
	fs.BoolVar(&c.HTTP2, "http2", c.HTTP2, "speak HTTP/2 too")
	fs.BoolVar(&c.TLS.SelfSigned, "tls", c.TLS.SelfSigned, "TLS with a made-up certificate for localhost")
	fs.StringVar(&c.TLS.Cert, "tls-cert", c.TLS.Cert, "TLS with the certificate in this PEM file")
	fs.StringVar(&c.TLS.Key, "tls-key", c.TLS.Key, "private key of --tls-cert")
	fs.StringVar(&c.TLS.ClientCA, "tls-client-ca", c.TLS.ClientCA, "ask clients for a certificate from this authority")
}

func tritonFlags(fs *pflag.FlagSet, t *Triton) {
	fs.StringVar(&t.GRPC, "grpc", t.GRPC, "serve Triton's gRPC on this address (Triton's HTTP is on --listen)")
	fs.StringVar(&t.Metrics, "metrics", t.Metrics, "serve /metrics on this address too")
	fs.Var((*modelsFlag)(&t.Models), "triton-models", "NAME=CONVENTION: what a model is like on Triton's side (repeat for more); conventions: any, vllm, vllm-old, trtllm, engine, add, sequence")
	fs.StringVar((*string)(&t.Convention), "triton-convention", string(t.Convention), "what the other models are like (default: told by their names, or by each request)")
	fs.BoolVar(&t.Echo, "triton-echo", t.Echo, "answer with the prompt ahead of the text")
}

func latencyFlags(fs *pflag.FlagSet, l *Latency) {
	fs.DurationVar(&l.TTFT, "ttft", l.TTFT, "time to first token")
	fs.DurationVar(&l.TTFTStddev, "ttft-stddev", l.TTFTStddev, "its standard deviation")
	fs.DurationVar(&l.ITL, "itl", l.ITL, "time between two tokens")
	fs.DurationVar(&l.ITLStddev, "itl-stddev", l.ITLStddev, "its standard deviation")
	fs.StringVar(&l.Dist, "latency-dist", l.Dist, "how latencies with a standard deviation are drawn: normal or lognormal")
	fs.DurationVar(&l.PrefillPerToken, "prefill-per-token", l.PrefillPerToken, "added to the time to first token for each prompt token not in the prefix cache")
	fs.IntVar(&l.PrefillLanes, "prefill-lanes", l.PrefillLanes, "prompts in prefill at once (0: no limit)")
	fs.DurationVar(&l.ITLPerSeq, "itl-per-seq", l.ITLPerSeq, "added to the time between two tokens for each running sequence")
	fs.IntVar(&l.MaxSeqs, "max-seqs", l.MaxSeqs, "sequences running at once, others queue (0: no limit)")
	fs.BoolVar(&l.PrefixCache, "prefix-cache", l.PrefixCache, "prompt blocks seen before cost no prefill")
	fs.IntVar(&l.BlockSize, "block-size", l.BlockSize, "tokens in a cache block")
	fs.IntVar(&l.KVBlocks, "kv-blocks", l.KVBlocks, "blocks in the cache")
}

func outputFlags(fs *pflag.FlagSet, o *Output) {
	fs.IntVar(&o.Tokens, "output-tokens", o.Tokens, "tokens in an answer where the request does not say")
	fs.IntVar(&o.TokensStddev, "output-tokens-stddev", o.TokensStddev, "let answers end by themselves at a drawn length")
	fs.IntVar(&o.MaxModelLen, "max-model-len", o.MaxModelLen, "most tokens of prompt and answer together")
	fs.IntVar(&o.TokensPerEvent, "tokens-per-event", o.TokensPerEvent, "tokens in a streamed event")
	fs.IntVar(&o.Coalesce, "coalesce", o.Coalesce, "events in one write")
	fs.BoolVar(&o.Role, "role-event", o.Role, "begin chat streams with an event that has only the role")
	fs.BoolVar(&o.FinishEvent, "finish-event", o.FinishEvent, "give the finish reason an event of its own")
	fs.BoolVar(&o.Usage, "usage", o.Usage, "send a usage event even when not asked")
	fs.BoolVar(&o.Done, "done", o.Done, "end streams with [DONE]")
	fs.DurationVar(&o.KeepAlive, "keep-alive", o.KeepAlive, "send a comment after this long without an event (0: none)")
	fs.BoolVar(&o.EarlyHeaders, "early-headers", o.EarlyHeaders, "send the head of a stream before its first token")
	fs.IntVar(&o.ReasoningTokens, "reasoning-tokens", o.ReasoningTokens, "tokens of reasoning ahead of the visible ones")
	fs.StringVar(&o.ReasoningField, "reasoning-field", o.ReasoningField, "field of reasoning: reasoning_content or reasoning")
	fs.BoolVar(&o.ToolCalls, "tool-calls", o.ToolCalls, "answer requests that bring tools with a tool call")
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
