// Package plan describes a benchmark as plain data: what is measured, with which
// prompts, under which load, judged by which budgets. Every front end compiles to
// a Plan, and a plan file says all that a front end can.
package plan

import "time"

// Version is the version of the plan's format that this program writes.
const Version = 1

// Plan is one benchmark.
type Plan struct {
	Version   int       `yaml:"version"`
	Name      string    `yaml:"name,omitempty"`
	Seed      uint64    `yaml:"seed"`
	Target    Target    `yaml:"target"`
	Data      Data      `yaml:"data"`
	Tokenizer Tokenizer `yaml:"tokenizer"`
	Stages    []Stage   `yaml:"stages"`
	Drain     Duration  `yaml:"drain"` // how long in-flight requests may take at the end of a stage
	Goodput   []SLO     `yaml:"goodput,omitempty"`
	MaxErrors MaxErrors `yaml:"max_errors,omitempty"`
	Budgets   Budgets   `yaml:"budgets"`
	Output    Output    `yaml:"output"`
}

// Target is the server under test and how to speak to it.
type Target struct {
	URLs      []string          `yaml:"urls"`            // requests are dealt out in turn; none: the built-in mock
	Protocol  string            `yaml:"protocol"`        // "openai"
	Endpoint  string            `yaml:"endpoint"`        // "chat", "completions" or "embeddings"
	Path      string            `yaml:"path,omitempty"`  // in place of the endpoint's usual one
	Model     string            `yaml:"model,omitempty"` // empty: the first that the server lists
	Streaming bool              `yaml:"streaming"`
	Headers   map[string]string `yaml:"headers,omitempty"`
	APIKey    Secret            `yaml:"api_key,omitempty"`
	Body      map[string]any    `yaml:"body,omitempty"` // fields added to every request body
	TLS       TLS               `yaml:"tls,omitempty"`
	HTTP2     bool              `yaml:"http2,omitempty"` // HTTP/2: by ALPN over https, with prior knowledge over http
	Timeouts  Timeouts          `yaml:"timeouts"`
}

// Secret says where a secret is; the secret itself is never part of a plan.
type Secret struct {
	Env  string `yaml:"env,omitempty"`
	File string `yaml:"file,omitempty"`
}

// TLS says whom to trust and who we are.
type TLS struct {
	CA       string `yaml:"ca,omitempty"`
	Cert     string `yaml:"cert,omitempty"`
	Key      string `yaml:"key,omitempty"`
	Insecure bool   `yaml:"insecure,omitempty"` // no verification
}

// Timeouts bound a request; 0 is no bound.
type Timeouts struct {
	Connect   Duration `yaml:"connect"`    // resolve, connect and TLS
	FirstByte Duration `yaml:"first_byte"` // from Sent to the first byte of the answer
	Stall     Duration `yaml:"stall"`      // between two reads
	Request   Duration `yaml:"request"`    // from Sent to the end
}

// Data says what prompts are made of.
type Data struct {
	Source  string `yaml:"source"` // "synthetic" or "file"
	File    string `yaml:"file,omitempty"`
	Prompts int    `yaml:"prompts,omitempty"` // distinct prompts; 0: a new one for each request, or all of the file's
	// Input and Output are lengths in tokens; an Output of mean 0 leaves it to the server.
	Input     Length `yaml:"input"`
	Output    Length `yaml:"output,omitempty"`
	IgnoreEOS bool   `yaml:"ignore_eos,omitempty"`
	MinTokens bool   `yaml:"min_tokens,omitempty"` // send min_tokens equal to the output length
	Salt      string `yaml:"salt,omitempty"`       // "", "request" or "stage": a prefix that no cache has seen
}

// Length is a distribution of lengths.
type Length struct {
	Dist   string  `yaml:"dist,omitempty"` // "fixed", "normal", "uniform" (min to max) or "lognormal"
	Mean   float64 `yaml:"mean,omitempty"`
	Stddev float64 `yaml:"stddev,omitempty"`
	Min    int     `yaml:"min,omitempty"`
	Max    int     `yaml:"max,omitempty"` // 0: no bound
}

// Tokenizer names what counts tokens on this side.
type Tokenizer struct {
	Name string `yaml:"name"` // "words"
}

// Stage is a part of the run with one load. Either Concurrency or Rate is set.
type Stage struct {
	Name        string   `yaml:"name,omitempty"`
	Concurrency int      `yaml:"concurrency,omitempty"`   // closed loop: this many in flight
	Rate        float64  `yaml:"rate,omitempty"`          // open loop: requests per second
	Arrival     string   `yaml:"arrival,omitempty"`       // "constant", "poisson" or "gamma"
	CV          float64  `yaml:"cv,omitempty"`            // coefficient of variation of gamma arrivals
	MaxInFlight int      `yaml:"max_in_flight,omitempty"` // open loop: arrivals beyond it wait
	RampTo      float64  `yaml:"ramp_to,omitempty"`       // concurrency or rate changes linearly to this over Duration
	Warmup      Warmup   `yaml:"warmup,omitempty"`
	Duration    Duration `yaml:"duration,omitempty"` // measured part, without warm-up
	Requests    int64    `yaml:"requests,omitempty"` // measured requests; with Duration, whichever is first
	Gap         Duration `yaml:"gap,omitempty"`      // pause before this stage
}

// Warmup is load that is not measured; the measured part follows without a
// break. With both set it ends when both are reached.
type Warmup struct {
	Duration Duration `yaml:"duration,omitempty"`
	Requests int64    `yaml:"requests,omitempty"`
}

// SLO is one service-level objective of goodput: Metric ≤ Max for each request.
type SLO struct {
	Metric string   `yaml:"metric"` // time_to_first_token, inter_token_latency, request_latency, …
	Max    Duration `yaml:"max"`
}

// MaxErrors ends a run that fails too often; zero values never do.
type MaxErrors struct {
	Count int64   `yaml:"count,omitempty"`
	Share float64 `yaml:"share,omitempty"` // of the requests ended so far, once 20 have
}

// Budgets are the bounds of a valid measurement.
type Budgets struct {
	Lag         Duration `yaml:"lag"` // Sent − Due, p99; or LagShare of the median TTFT if that is more
	LagShare    float64  `yaml:"lag_share"`
	ReadDelay   Duration `yaml:"read_delay"`   // p99, where there are no kernel stamps
	Coalesced   float64  `yaml:"coalesced"`    // share of events that this client read too late to tell apart
	CPU         float64  `yaml:"cpu"`          // share of the CPU time that it may use
	GC          float64  `yaml:"gc"`           // share of the time in GC pauses
	Achieved    float64  `yaml:"achieved"`     // least share of the scheduled requests that were sent
	TokenDrift  float64  `yaml:"token_drift"`  // disagreement of server and tokenizer
	ShortOutput float64  `yaml:"short_output"` // share of answers empty or short of the length asked for
	ClockStep   Duration `yaml:"clock_step"`
	Drift       float64  `yaml:"drift"` // change of throughput or latency between the halves of the steady window
}

// Output says what is written where.
type Output struct {
	Dir     string `yaml:"dir,omitempty"`      // empty: nothing but the screen
	KeepRaw bool   `yaml:"keep_raw,omitempty"` // keep the bytes of every answer
}

// Duration is a time.Duration that a plan file writes as "1m30s".
type Duration time.Duration
