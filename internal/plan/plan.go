// Package plan describes a benchmark as plain data: what is measured, with which
// prompts, under which load, judged by which budgets. Every front end compiles to
// a Plan, and a plan file says all that a front end can: plan/planfile reads, checks
// and prints it. What a field means stands in planfile/fields.yaml, beside what a file calls it.
package plan

import (
	"net/netip"
	"time"
)

// HTTP2Streams is how many requests share an HTTP/2 connection at most. It is below what servers
// allow: few connections, whose reads hold little of others.
const HTTP2Streams = 32

// Version is the version of the plan's format that this program writes.
const Version = 1

// The words that a plan uses.
const (
	ProtocolOpenAI = "openai"
	ProtocolTriton = "triton"

	EndpointChat        = "chat"
	EndpointCompletions = "completions"
	EndpointEmbeddings  = "embeddings"
	EndpointResponses   = "responses"

	EndpointStream   = "stream"
	EndpointInfer    = "infer"
	EndpointGenerate = "generate"

	TransportHTTP = "http"
	TransportGRPC = "grpc"

	SourceSynthetic = "synthetic"
	SourceFile      = "file"

	DistFixed     = "fixed"
	DistNormal    = "normal"
	DistUniform   = "uniform"
	DistLognormal = "lognormal"
	DistSkew      = "skew_normal"
	DistPoisson   = "poisson"

	SaltRequest = "request"
	SaltStage   = "stage"
	SaltRun     = "run"

	CountContent = "content"
	CountPrompt  = "prompt"

	TokenizerWords   = "words"
	TokenizerBuiltin = "builtin:gpt2"
	TokenizerServer  = "server" // the server's own, as far as its /tokenize tells

	ArrivalConstant = "constant"
	ArrivalPoisson  = "poisson"
	ArrivalGamma    = "gamma"
	ArrivalTrace    = "trace"

	ArrivalIntervals = "intervals"

	DrawsMT19937 = "mt19937"
)

// Plan is one benchmark.
type Plan struct {
	Version     int
	Name        string
	Seed        uint64
	DrawSeed    bool // no seed was given: whoever runs the plan draws one
	Target      Target
	Data        Data
	Tokenizer   Tokenizer
	Stages      []Stage
	Levels      Levels
	Saturation  Saturation
	Capacity    Capacity
	Measurement Measurement
	Cancel      Cancel // users who go away
	Drain       Duration
	Grace       Duration
	Goodput     []SLO
	Conditions  // gates
	MaxErrors   MaxErrors
	Breakers    []Breaker
	Budgets     Budgets
	Limits      Limits
	Probes      Probes
	Cost        Cost
	Output      Output
}

// Target is the server under test and how to speak to it.
type Target struct {
	URLs            []string
	Protocol        string
	Transport       string
	Endpoint        string
	Path            string
	Template        string
	Form            string
	Client          string
	Counts          string
	Model           string
	Streaming       bool
	Headers         map[string]string
	APIKey          Secret
	OAuth           OAuth // tokens in place of a key
	Body            map[string]any
	TLS             TLS
	HTTP2           bool
	Proxy           string
	SourceAddresses []netip.Prefix
	Timeouts        Timeouts
	Retries         Retries
	NoPreflight     bool
	ResetCache      string // ResetAuto or a path that is posted to; empty: caches stay as they are
	RetryAfter      string
	Triton          Triton
	Session         SessionHeaders
	SLOHeaders      SLOHeaders
}

// ResetAuto is whichever way a server has to empty its prefix cache.
const ResetAuto = "auto"

// Whom Target.Proxy leaves the choice to.
const (
	ProxyEnvironment = "environment" // the variables http_proxy, https_proxy and no_proxy alone
	ProxyNone        = "none"
)

// Secret says where a secret is; the secret itself is never part of a plan.
type Secret struct {
	Env  string
	File string
}

// OAuth says how tokens are had by the client credentials of OAuth 2. The zero OAuth has none.
type OAuth struct {
	TokenURL     string
	ClientID     string
	ClientSecret Secret
	Scopes       []string
	Audience     string
}

// TLS says whom to trust and who we are.
type TLS struct {
	CA       string
	Cert     string
	Key      string
	Insecure bool
}

// Timeouts bound a request; 0 is no bound.
type Timeouts struct {
	Connect   Duration
	FirstByte Duration
	Stall     Duration
	Request   Duration
}

// Data says what prompts are made of.
type Data struct {
	// Limits are those of the plan, for readers of the files that it names. They stand in the plan
	// itself.
	Limits        Limits
	Source        string
	File          string
	AllFields     bool
	Prompts       int
	Input         Length
	Output        Length
	OutputCap     bool
	Ahead         Ahead
	IgnoreEOS     bool
	Batch         int
	MinTokens     bool
	Counted       string
	Salt          string
	Pool          bool
	InWords       int
	Tensors       Tensors
	Corpus        string
	Template      bool
	Trace         Trace
	SharedPrefix  SharedPrefix
	Dataset       Dataset
	Conversations Conversations
	Replay        Replay
	Agents        Agents
	Media         Media
	TextOnly      bool
	Adapters      []Adapter
	ModelOrder    string
	Prefixes      Prefixes
	SystemPrompt  int
	TokenIDs      bool // prompts are sent as token ids
	Passages      Passages
	Payload       Payload
	Sessions      Sessions
	VLLM          VLLM
}

// Length is a distribution of lengths. The zero Length is none at all.
type Length struct {
	Dist    string
	Mean    float64
	Stddev  float64
	Min     int
	Max     int
	Skew    float64
	Shifted bool
}

// Tokenizer names what makes and counts tokens on this side.
type Tokenizer struct {
	Name     string
	Revision string
	Optional bool
	Output   bool
	Find     bool
}

// StandIn reports whether the tokenizer only stands in for the model's own, which
// nobody named: lengths are then about right, and counts are not held against the
// server's.
func (t Tokenizer) StandIn() bool {
	return t.Name == TokenizerWords || t.Name == TokenizerBuiltin || t.Name == TokenizerServer
}

// Stage is part of the run with one load. Either Concurrency or Rate is set, or
// Arrival is "trace": the data says when each request is due.
type Stage struct {
	Name        string
	Concurrency int
	Rate        float64
	Arrival     string
	Intervals   []Duration
	CV          float64
	Draws       string
	Sessions    SessionLoad
	MaxInFlight int
	RampTo      float64
	Growth      Growth
	Warmup      Warmup
	Duration    Duration
	Requests    int64
	MinRequests int64
	Gap         Duration
}

// Warmup is load that is not measured; the measured part follows without a break, unless
// the warm-up drains. With both set it ends when both are reached.
type Warmup struct {
	Duration Duration
	Requests int64
	Drain    bool
	Auto     bool
}

// Cancel is about users who go away before their response is complete: the connection or stream of their
// request is closed. The zero Cancel has none.
type Cancel struct {
	Share float64 // of the requests
	After Length  // how long they wait once their request was sent, in milliseconds
}

// SLO is one service-level objective of goodput: Metric ≤ Max for each request.
type SLO struct {
	Metric string // one of SLOMetrics
	Max    Duration
}

// MaxErrors ends a run that fails too often; a zero Count or Share never does.
type MaxErrors struct {
	Count    int64
	Share    float64
	NotAlike bool
}

// Budgets are the bounds of a valid measurement.
type Budgets struct {
	Lag         Duration
	LagShare    float64
	CPU         float64
	GC          float64
	Achieved    float64
	TokenDrift  float64
	ShortOutput float64
	ClockStep   Duration
	StartSkew   Duration
	ClockBound  Duration
	Resent      float64
	Error       float64
	Drift       float64
	Failures    float64
	Unfinished  float64
	InFlight    float64
	Standstill  float64
	Pause       Duration
	CacheHit    float64
	Cached      float64
}

// Output says what is written where.
type Output struct {
	Dir     string
	KeepRaw bool
	NoTexts bool
	OnFull  string
	S3      S3
	GCS     GCS
}

// What to do when records cannot be written any more, as on a full disk.
const (
	OnFullContinue = "continue" // measure on without them
	OnFullStop     = "stop"     // end the run
)

// Duration is a time.Duration that a plan file writes as "1m30s".
type Duration time.Duration

// Default is the plan that a run starts from: chat completions, streamed, one request at a time for
// 30 s, against the built-in mock without a URL. Prompts have 128 tokens; the server decides how
// long responses are.
func Default() Plan {
	return Plan{
		Version: Version,
		Target: Target{
			Protocol:  ProtocolOpenAI,
			Endpoint:  EndpointChat,
			Streaming: true,
			Timeouts: Timeouts{
				Connect: Duration(10 * time.Second),
				Request: Duration(10 * time.Minute),
			},
		},
		Data: Data{
			Source: SourceSynthetic,
			Input:  Length{Dist: DistFixed, Mean: 128},
		},
		Tokenizer: Tokenizer{Name: TokenizerBuiltin},
		Stages:    []Stage{{Concurrency: 1, Duration: Duration(30 * time.Second)}},
		Drain:     Duration(30 * time.Second),
		Grace:     Duration(30 * time.Second),
		Limits:    DefaultLimits(),
		Budgets: Budgets{
			Lag:         Duration(time.Millisecond),
			LagShare:    0.01,
			CPU:         0.85,
			GC:          0.01,
			Achieved:    0.99,
			TokenDrift:  0.01,
			ShortOutput: 0.01,
			ClockStep:   Duration(5 * time.Millisecond),
			StartSkew:   Duration(5 * time.Millisecond),
			ClockBound:  Duration(20 * time.Millisecond),
			Resent:      0.01,
			Error:       0.05,
			Drift:       0.1,
			Failures:    0.01,
			Unfinished:  0.01,
			InFlight:    0.95,
			Standstill:  0.05,
			Pause:       Duration(time.Second),
			CacheHit:    0.1,
			Cached:      0.2,
		},
	}
}

// Servers of models that are no language models, spoken to over HTTP.
const (
	ProtocolTFServing  = "tfserving"  // TensorFlow Serving's REST API
	ProtocolTorchServe = "torchserve" // TorchServe

	EndpointPredict = "predict" // of both
)
