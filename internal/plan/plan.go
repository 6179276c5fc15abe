// Package plan describes a benchmark as plain data: what is measured, with which
// prompts, under which load, judged by which budgets. Every front end compiles to
// a Plan, and a plan file says all that a front end can: plan/planfile reads, checks
// and prints it.
package plan

import (
	"net/netip"
	"time"
)

// HTTP2Streams is how many requests share an HTTP/2 connection at most. It is below
// what servers allow, so that connections are few and yet a read of one holds little
// that belongs to others.
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
	Levels      Levels      // what the only stage's load goes through
	Saturation  Saturation  // stages up to the rate that the server can keep up with
	Capacity    Capacity    // the highest load that meets objectives
	Measurement Measurement // in windows, until they agree
	Drain       Duration    // how long in-flight requests may take at the end of a stage
	Grace       Duration    // the same where it is ended before its time; never longer than Drain
	Goodput     []SLO
	Conditions  // gates
	MaxErrors   MaxErrors
	Breakers    []Breaker // end the run when requests go wrong in a way of theirs
	Budgets     Budgets
	Limits      Limits // of memory
	Probes      Probes // of the server's own view
	Cost        Cost   // of the GPUs behind the target
	Output      Output
}

// Target is the server under test and how to speak to it.
type Target struct {
	URLs     []string // requests are dealt out in turn; none: the built-in mock
	Protocol string   // "openai", "anthropic", "triton" or "http"
	// Transport is "http" or "grpc"; empty is http. The scheme of a URL says the
	// same: grpc:// and grpcs:// are Triton's gRPC service.
	Transport string
	// Endpoint is "chat", "completions" or "embeddings" of OpenAI, "messages" of
	// Anthropic, "stream", "infer" or "generate" of Triton, and those of ProtocolHTTP.
	Endpoint  string
	Path      string // instead of the endpoint's usual one
	Template  string // with endpoint "template": a file, or TemplateEmbedQA
	Form      string // of request bodies: empty is our own, or FormShaped
	Client    string // what HTTP client it is to be like: empty is our own, or ClientPlain
	Counts    string // how tokens are counted: empty is our own way, or CountsPlain
	Model     string // empty: the first that the server lists
	Streaming bool
	Headers   map[string]string
	APIKey    Secret
	Body      map[string]any // fields added to every request body
	TLS       TLS
	HTTP2     bool // HTTP/2: by ALPN over https, with prior knowledge over http
	// Proxy is ProxyEnvironment, ProxyNone or a URL; empty: as the environment says, but
	// for targets on this machine or in a private network.
	Proxy string
	// SourceAddresses are the local addresses, and ranges of them, that connections come from
	// in turn; none: the system chooses.
	SourceAddresses []netip.Prefix
	Timeouts        Timeouts
	Retries         Retries
	// NoPreflight: no request goes ahead of the run to find out whether such requests
	// are answered at all.
	NoPreflight bool
	RetryAfter  string // what a closed loop does with that header: RetryHonor (also when empty) or RetryIgnore
	Triton      Triton // what only that protocol has
	// Session and SLOHeaders are headers that differ from request to request or that
	// mean something to this side too.
	Session    SessionHeaders
	SLOHeaders SLOHeaders
}

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

// TLS says whom to trust and who we are.
type TLS struct {
	CA       string
	Cert     string
	Key      string
	Insecure bool // no verification
}

// Timeouts bound a request; 0 is no bound.
type Timeouts struct {
	Connect   Duration // resolve, connect and TLS
	FirstByte Duration // from Sent to the first byte of the response
	Stall     Duration // between two reads
	Request   Duration // from Sent to the end
}

// Data says what prompts are made of.
type Data struct {
	// Limits are those of the plan, for whoever reads the files that it names. They stand
	// in the plan itself.
	Limits Limits
	Source string // SourceSynthetic, SourceFile, SourceTensors, SourceRandom, …
	File   string
	// AllFields: every field of a line of a file goes with its request, whatever it is.
	AllFields bool
	Prompts   int // distinct prompts; 0: a new one for each request, or all of the file's
	// Input and Output are lengths in tokens. Input is unused where a file has
	// the prompts; an Output of mean 0 leaves it to the server.
	Input     Length
	Output    Length
	OutputCap bool  // answers may be shorter than Output
	Ahead     Ahead // how many of them are drawn before the run, for every stage; 0: each is drawn when its turn comes
	IgnoreEOS bool
	Batch     int    // texts in a request, where one may hold several; 0: 1
	MinTokens bool   // send min_tokens equal to the output length
	Counted   string // "", "content" or "prompt": what input is the length of
	Salt      string // "", "request", "stage" or "run": a prefix that no cache has seen
	Pool      bool   // requests are made once, and used again as they are
	InWords   int    // the prompt asks for about this many tokens in its words; 0: it does not
	Tensors   Tensors
	Corpus    string // text file that synthetic prompts are taken from; empty: the built-in one
	Template  bool   // the chat template is wrapped around random prompts here, and counted
	// What belongs to one source or a few.
	Trace         Trace
	SharedPrefix  SharedPrefix
	Dataset       Dataset
	Conversations Conversations
	Replay        Replay
	Agents        Agents
	Media         Media     // what prompts hold beside text
	TextOnly      bool      // media that the data names are left out
	Adapters      []Adapter // models that share the traffic; none: all of it is the target's
	ModelOrder    string    // how a prompt gets one of them: OrderShares (also when empty) or OrderRoundRobin
	Prefixes      Prefixes
	SystemPrompt  int // tokens of a system prompt that all requests begin with; 0: none
	Passages      Passages
	Payload       Payload
	Sessions      Sessions
}

// Length is a distribution of lengths. The zero Length is none at all.
type Length struct {
	Dist   string // "fixed", "normal", "uniform" (min to max), "lognormal", "skew_normal" or "poisson"
	Mean   float64
	Stddev float64
	Min    int
	Max    int     // 0: no bound
	Skew   float64 // of a skewed normal distribution; 0 is none, more leans right
	// Shifted makes a lognormal length Min and a lognormal rest with the mean that is
	// left.
	Shifted bool
}

// Tokenizer names what makes and counts tokens on this side.
type Tokenizer struct {
	Name     string // file, directory, Hugging Face ID, TokenizerBuiltin or TokenizerWords
	Revision string // of a Hugging Face ID; empty: main
	Optional bool   // where it is unavailable, TokenizerBuiltin takes its place
	Output   bool   // figures are made of its count of responses, even where the server has one
	// Find: prompts are to have their exact length in the model's tokens, though Name is none of
	// its own: that is looked for, and then asked of the server.
	Find bool
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
	Concurrency int     // closed loop: this many in flight
	Rate        float64 // open loop: requests per second
	Arrival     string  // "constant", "poisson" or "gamma", of a rate, whose empty is constant; or "trace"
	// Intervals lie between one request and the next, over and over: arrivals of a
	// kind of their own, "intervals".
	Intervals   []Duration
	CV          float64     // coefficient of variation of gamma arrivals
	Draws       string      // what poisson arrivals are drawn with; empty: the plan's seed
	Sessions    SessionLoad // with arrival "sessions"
	MaxInFlight int         // open loop: arrivals beyond it wait
	RampTo      float64     // concurrency or rate changes linearly to this over Duration
	Growth      Growth      // concurrency grows as responses come
	Warmup      Warmup
	Duration    Duration // measured part, without warm-up
	Requests    int64    // measured requests; with Duration, whichever is first
	MinRequests int64    // the stage goes on after Duration until it has sent so many
	Gap         Duration // pause before this stage
}

// Warmup is load that is not measured; the measured part follows without a break, unless
// the warm-up drains. With both set it ends when both are reached.
type Warmup struct {
	Duration Duration
	Requests int64
	Drain    bool // its requests end before the measured part begins
	Auto     bool // none is sent: what turns out to have been one is taken out of the measured part
}

// SLO is one service-level objective of goodput: Metric ≤ Max for each request.
type SLO struct {
	Metric string // one of SLOMetrics
	Max    Duration
}

// MaxErrors ends a run that fails too often; a zero Count or Share never does.
type MaxErrors struct {
	Count int64
	Share float64 // of the requests ended so far, once 20 have
	// NotAlike: a closed loop goes on even if its first requests all fail in the same way.
	NotAlike bool
}

// Budgets are the bounds of a valid measurement.
type Budgets struct {
	Lag         Duration // Sent − Due, p99; or LagShare of the median TTFT if that is more
	LagShare    float64
	CPU         float64 // share of the CPU time that it may use
	GC          float64 // share of the time in GC pauses
	Achieved    float64 // least share of the scheduled requests that were sent
	TokenDrift  float64 // disagreement of server and tokenizer
	ShortOutput float64 // share of responses empty or short of the length asked for
	ClockStep   Duration
	StartSkew   Duration // how late the last worker began a stage; or a part of the load's gaps if that is more
	ClockBound  Duration // by how much the clocks of workers may differ; or Error of the measured time if that is less
	Resent      float64  // share of requests that were sent twice
	Error       float64  // share of a latency that this client can have bent it by; or Lag if that is more
	Drift       float64  // change of throughput or latency between the halves of the steady window
	Failures    float64  // share of requests that failed, those aside that this side has ended
	Unfinished  float64  // share of requests that were cut off long after the others had ended
	InFlight    float64  // least share of a closed loop's concurrency that was held
	Standstill  float64  // share of the time in which this client stood still
	Pause       Duration
	Cached      float64 // share of prompt tokens out of the server's cache, where nothing was to be found there
}

// Output says what is written where.
type Output struct {
	Dir     string // empty: nothing but the screen
	KeepRaw bool   // keep the bytes of every response
	NoTexts bool   // keep no text of a response
	OnFull  string // what to do when records cannot be written any more; empty: OnFullContinue
	S3      S3     // a bucket that reports are copied to
	GCS     GCS    // the same at Google
}

// What to do when records cannot be written any more, as on a full disk.
const (
	OnFullContinue = "continue" // measure on without them
	OnFullStop     = "stop"     // end the run
)

// Duration is a time.Duration that a plan file writes as "1m30s".
type Duration time.Duration

// Default is the plan that a run starts from: chat completions, streamed, one
// request at a time for 30 s, against the built-in mock where no URL is added.
// Prompts are 128 tokens long and the server decides how long it answers.
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
