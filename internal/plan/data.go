package plan

// Data sets that are known by name.
const (
	DatasetShareGPT    = "sharegpt"
	DatasetCNN         = "cnn_dailymail"
	DatasetBillsum     = "billsum_conversations"
	DatasetInfinity    = "infinity_instruct"
	DatasetVisionArena = "visionarena"
	DatasetOpenOrca    = "openorca"
	DatasetMTBench     = "mtbench"
	DatasetLongBench   = "longbench"
	DatasetBFCL        = "bfcl"

	// DatasetAuto is whichever of those the columns of the files are of, or lines of prompts.
	DatasetAuto = "auto"
)

// DatasetKinds are the data sets that are known by name.
func DatasetKinds() []string {
	return []string{DatasetShareGPT, DatasetCNN, DatasetBillsum, DatasetInfinity, DatasetVisionArena, DatasetOpenOrca, DatasetMTBench,
		DatasetLongBench, DatasetBFCL}
}

// Dataset is a well-known set of prompts, from a local file or the hub.
type Dataset struct {
	Kind   string
	Path   string
	Hub    Hub
	Input  Bounds
	Output Bounds
	Images int
	At     Spot
	Files  string
	Rows   int
	Free   bool
	Whole  bool
	Start  int
	GoOn   bool
}

// Hub is a data set on the Hugging Face hub.
type Hub struct {
	Name     string
	Revision string
	Config   string
	Split    string
}

// Bounds are of a number of tokens; 0 is no bound.
type Bounds struct {
	Min int
	Max int
}

// What becomes of a tool call that the model got wrong.
const (
	ToolCallsNone     = "none"
	ToolCallsRecorded = "use_recorded"
)

// Whether a turn that called a tool is made to call it again.
const (
	ToolChoiceForced = "force_recorded"
	ToolChoiceFree   = "as_recorded"
)

// Replay says which sessions are played again, and how.
type Replay struct {
	Dir                string
	Files              []string
	Hub                Hub
	Filter             string
	Model              string
	Models             map[string]string
	MaxTokens          int
	ToolMaxTokens      int
	RandomID           bool
	Sessions           int
	Once               bool
	MaxWait            Duration
	PredecessorTimeout Duration
	SkipErrors         bool
	SkipInvalid        bool
	NoSubstitution     bool
	Headers            map[string]string
	Labels             map[string]string
	BadToolCalls       string
	ToolChoice         string
	IgnoreDelays       bool
	IdleGap            Duration
	ThinkTimeOnly      bool
	BlockSize          int
	Entries            int
	Lanes              int
	StartMin           float64
	StartMax           float64
	LaneWarmup         int
	CacheBust          bool
	MaxContext         int
	Scenario           string
	Overridden         []string
}

// ArrivalSessions is the load of a stage that plays whole sessions.
const ArrivalSessions = "sessions"

// SessionLoad is a load of whole sessions: each goes on by its own clock once it began.
type SessionLoad struct {
	Concurrent int
	Rate       float64
	Count      int64
	Timeout    Duration
}

// FormShaped is the form of request bodies that prompt/shaped makes, whatever the model.
const FormShaped = "genai-perf"

// Shaped reports whether requests come with whole bodies of such a form.
func (t *Target) Shaped() bool { return t.Form != "" }

// FormVLLM is the form of request bodies of vLLM's serving benchmark.
const FormVLLM = "vllm-bench"

// ClientPlain is an HTTP client that sends no headers but the user's and the least that HTTP
// needs, asks for no list of models, and takes each chunk of a response as it is handed over.
const ClientPlain = "plain"

// Plain reports whether the client is of that kind.
func (t *Target) Plain() bool { return t.Client == ClientPlain }

// CountsPlain believes the server's counts of tokens whatever they are, and counts prompts' texts
// and responses' visible text alone, by event, of the first choice.
const CountsPlain = "plain"

// PlainCounts reports whether tokens are counted in that way.
func (t *Target) PlainCounts() bool { return t.Counts == CountsPlain }

// Sources of whole sessions that are known ahead, but for the responses.
const (
	SourcePayload  = "payload"  // lines with times, sessions, lengths and fields of requests
	SourceSessions = "sessions" // generated sessions of a number
)

// How a prompt gets one of several models.
const (
	OrderShares     = "shares"
	OrderRoundRobin = "round_robin"
)

// Prefixes are a few beginnings that synthetic prompts share.
type Prefixes struct {
	Count  int
	Length Length
	Share  float64
}

// Passages are what a query is ranked against: some are drawn for each.
type Passages struct {
	File  string
	Count int
}

// Payload says how the lines of a payload file are used.
type Payload struct {
	DelayRatio float64
	Alone      bool
}

// Sessions are generated: so many, each once. Data.Input and Data.Output are a turn's lengths.
type Sessions struct {
	Count      int
	Turns      Length
	Delay      Length
	DelayRatio float64
}

// Sources of prompts beside generated text, files and tensors.
const (
	SourceRandom             = "random"              // random tokens
	SourceSharedPrefix       = "shared_prefix"       // groups of prompts that begin alike
	SourceDataset            = "dataset"             // a well-known data set
	SourceConversationReplay = "conversation_replay" // generated conversations of many turns
	SourceOtelTrace          = "otel_trace"          // sessions out of OpenTelemetry traces
	SourceWekaTrace          = "weka_trace"          // sessions out of block-hash traces
	SourceMock               = "mock"                // a few words and a number
)

// SourceTrace are the requests of a trace, at its times.
const SourceTrace = "trace"

// ScenarioAgentX are the rules by which InferenceX replays agents.
const ScenarioAgentX = "inferencex-agentx-mvp"

// The forms of traces. Azure's is TIMESTAMP, ContextTokens, GeneratedTokens.
const (
	TraceAzure    = "azure"
	TraceMooncake = "mooncake"
	TraceBailian  = "bailian"
	TraceBurstGPT = "burstgpt"
	TraceTimed    = "timed"
	TraceServeGen = "servegen"
	// Those of whole sessions:
	TraceTraceLab  = "tracelab"
	TraceWeka      = "weka"
	TraceOtel      = "otel"
	TraceLMCache   = "lmcache"
	TraceMultiTurn = "aiperf-multi-turn"
	TraceDAG       = "aiperf-dag"
	TraceSGLang    = "sglang-agentic"
	TraceMLPerf    = "mlperf"
)

// TraceFormats are the forms of traces.
func TraceFormats() []string {
	return []string{
		TraceMooncake, TraceBailian, TraceBurstGPT, TraceAzure, TraceTimed, TraceServeGen, TraceTraceLab, TraceWeka, TraceOtel,
		TraceLMCache, TraceMultiTurn, TraceDAG, TraceSGLang, TraceMLPerf,
	}
}

// Trace is a file that says when requests arrive or how long they are.
type Trace struct {
	Lengths  string
	Once     bool
	Arrivals string
	Format   string
	Speed    float64
	From, To Duration
	CapGaps  Duration
}

// Ahead says how many lengths are drawn before a run.
type Ahead struct {
	Input  int
	Output int
}

// Adapter is one of the models that share the traffic.
type Adapter struct {
	Name  string
	Share float64
}

// SourceAgents are generated sessions of agents that call tools and other agents.
const SourceAgents = "agents"

// The themes of generated sessions of agents.
const (
	ThemeGeneric  = "generic"
	ThemeDatabase = "db2_latency_incident"
	ThemeResearch = "research_rag"
	ThemeCode     = "code_change_task"
)

// ThemeNames are the themes of generated sessions of agents.
func ThemeNames() []string {
	return []string{ThemeGeneric, ThemeDatabase, ThemeResearch, ThemeCode}
}

// Agents says what generated sessions of agents are like. A zero Length is 0.
type Agents struct {
	Sessions    int
	Turns       Length
	Input       Length
	Output      Length
	Head        int
	Loop        Length
	Catalog     Length
	Calls       Length
	Fanout      float64
	Children    Length
	Depth       int
	Events      int
	ToolLatency Length
	Think       Length
	CompactAt   Length
	CompactTo   Length
	Themes      []Theme
	Seed        uint64
}

// Theme is what sessions are about, and how often.
type Theme struct {
	Name   string
	Weight float64
}

// SharedPrefix says how prompts of a group begin alike. The length of responses is
// Data.Output.
type SharedPrefix struct {
	Groups    int
	Prompts   int
	Prefix    Length
	Question  Length
	MultiTurn bool
	Repeat    bool
	Media     Media
	Seed      uint64
}

// Conversations are generated, of many turns each. The length of responses is Data.Output.
type Conversations struct {
	Count         int
	SharedPrompt  int
	DynamicPrompt Length
	Turns         Length
	Input         Length
	ToolLatency   Length
	MaxContext    int
	Seed          uint64
}

// SourceVLLM are the requests of vLLM's serving benchmark.
const SourceVLLM = "vllm_bench"

// The kinds of its requests.
const (
	VLLMRandom   = "random"
	VLLMRerank   = "random_rerank"
	VLLMShareGPT = "sharegpt"
	VLLMCustom   = "custom"
	VLLMPrefixes = "prefix_repetition"
	VLLMBurstGPT = "burstgpt"
	VLLMTimed    = "timed_trace"
)

// The releases whose ways are others.
const (
	VLLMScript = "0.10"       // its benchmark_serving.py
	VLLMFork   = "inferencex" // what InferenceX made of that
)

// VLLMKinds are the kinds of requests of vLLM's serving benchmark.
func VLLMKinds() []string {
	return []string{VLLMRandom, VLLMRerank, VLLMShareGPT, VLLMCustom, VLLMPrefixes, VLLMBurstGPT, VLLMTimed}
}

// VLLM says what vLLM's serving benchmark draws ahead of a run: its requests, and in stages whose arrival
// is trace the times at which they are due. File has its data, Batch is how many texts share a request.
type VLLM struct {
	Kind        string
	Release     string
	Requests    int
	Input       int
	Output      int
	InputRange  float64
	OutputRange float64
	Prefix      int
	Prefixes    int
	Ordered     bool
	Short       bool
	Bare        bool
	Pairs       bool
	Template    map[string]any
	Rehearsed   bool
	IDPrefix    string
	Align       string
	Arrivals    VLLMArrivals
	Timed       VLLMTimedRows
}

// VLLMArrivals are times that are drawn: gaps of a gamma distribution.
type VLLMArrivals struct {
	Rate        float64
	Burstiness  float64
	RampTo      float64
	Exponential bool
}

// VLLMTimedRows say how the rows of a trace with times are read.
type VLLMTimedRows struct {
	Chunk     int
	Second    float64
	HashSeed  string
	Timestamp string
	Input     string
	Output    string
	Hashes    string
}
