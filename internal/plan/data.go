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
	Kind string
	Path string // file or directory of files; empty: the hub
	Hub  Hub    // empty: where the kind usually lies
	// Input and Output are which rows are taken: those whose prompt and answer have so
	// many tokens.
	Input  Bounds
	Output Bounds
	Images int    // most images of a request
	At     Spot   // where images stand in the prompt
	Files  string // name or pattern of files in the hub's repository; empty: the kind's own
	Rows   int    // most rows that are used; 0: all, or 1000 with images
	Free   bool   // the server decides how long it answers; rows without a response are used too
	Whole  bool   // chats are sent as they are, with their last response; Input and Output are not looked at
	Start  int    // row to begin with; those before it come last
	GoOn   bool   // a stage goes on where the one before ended
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
	Dir    string   // directory of traces; or
	Files  []string // files or patterns; or
	Hub    Hub      // a data set
	Filter string   // expression that a session must meet
	// Model is asked for instead of the recorded ones; else Models maps them.
	Model         string
	Models        map[string]string
	MaxTokens     int  // of turns of which neither length nor text was recorded; 0 is 1000
	ToolMaxTokens int  // of turns that call tools, at least; 0: as recorded
	RandomID      bool // a random tag in each session's text, so that no cache knows it
	Sessions      int  // sessions are repeated to reach so many; 0: as many as there are
	Once          bool // no session is played again: stages have what is left, and those with nothing are left out
	// MaxWait bounds the recorded time between a turn and the one before; 0: no bound.
	MaxWait            Duration
	PredecessorTimeout Duration // how long a turn waits for those before it; 0: forever
	SkipErrors         bool     // leave out turns that were recorded as errors
	SkipInvalid        bool     // leave out files that cannot be read
	NoSubstitution     bool     // send recorded responses instead of live ones
	Headers            map[string]string
	Labels             map[string]string
	BadToolCalls       string // "none" (also when empty) or "use_recorded"
	ToolChoice         string // "force_recorded" (also when empty) or "as_recorded"
	IgnoreDelays       bool   // no waits at all
	// Of block-hash traces:
	IdleGap       Duration // longest gap of a session's own clock; 0: no bound
	ThinkTimeOnly bool
	BlockSize     int // tokens of a block; 0 is 64
	Entries       int // sessions that are read from the hub; 0: all
}

// ArrivalSessions is the load of a stage that plays whole sessions.
const ArrivalSessions = "sessions"

// SessionLoad is a load of whole sessions: each goes on by its own clock once it began.
type SessionLoad struct {
	Concurrent int      // sessions in flight; 0: no bound
	Rate       float64  // sessions that begin, per second; 0: as soon as there is room
	Count      int64    // sessions of the stage; 0: what earlier stages have left of the data, or all
	Timeout    Duration // of the stage; 0: none
}

// FormShaped is the form of request bodies that prompt/shaped makes, before anything is
// known of the model.
const FormShaped = "genai-perf"

// Shaped reports whether requests come with whole bodies of that form.
func (t *Target) Shaped() bool { return t.Form == FormShaped }

// ClientPlain is an HTTP client that sends no headers but the user's and the least that HTTP
// needs, asks for no list of models, and takes each chunk of a response as it is handed over.
const ClientPlain = "plain"

// Plain reports whether the client is of that kind.
func (t *Target) Plain() bool { return t.Client == ClientPlain }

// CountsPlain is to believe the server's counts of tokens whatever they are, and to count no more
// than the texts of prompts and the visible text of responses, of each event by itself and of the
// first of several choices.
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
	Count  int // 0: none
	Length Length
}

// Passages are what a query is ranked against: some are drawn for each.
type Passages struct {
	File  string // of texts; or
	Count int    // of generated ones
}

// Payload says how the lines of a payload file are used.
type Payload struct {
	DelayRatio float64 // factor on the delays of its lines; 0 is 1
	Alone      bool    // every line is a request of its own, without what is said before it
}

// Sessions are generated: so many, each once. The lengths of a turn are Data.Input and
// Data.Output.
type Sessions struct {
	Count int    // 0: as many as the load asks for
	Turns Length // of a session
	// Delay is the time between a response and the next turn, in milliseconds.
	Delay      Length
	DelayRatio float64 // factor on it; 0 is 1
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

// The forms of traces. Azure's is TIMESTAMP, ContextTokens, GeneratedTokens.
const (
	TraceAzure    = "azure"
	TraceMooncake = "mooncake"
	TraceBailian  = "bailian"
	TraceBurstGPT = "burstgpt"
	TraceTimed    = "timed"
)

// TraceFormats are the forms of traces of requests.
func TraceFormats() []string {
	return []string{TraceMooncake, TraceBailian, TraceBurstGPT, TraceAzure, TraceTimed}
}

// Trace is a file that says when requests arrive or how long they are.
type Trace struct {
	Lengths  string // CSV file whose lengths take the place of input and output
	Once     bool   // a stage ends after the last row of it
	Arrivals string // CSV file whose times are those of arrival: trace
	Format   string // of TraceFormats; empty: "azure", or of SourceTrace what the file is
	// Of SourceTrace:
	Speed    float64  // 2 plays it twice as fast; 0 is 1
	From, To Duration // what is played of it; To 0: up to its end
	CapGaps  Duration // no request is due later than that after the one before; 0: no bound
}

// Ahead says how many lengths are drawn before a run.
type Ahead struct {
	Input  int
	Output int
}

// Adapter is one of the models that share the traffic.
type Adapter struct {
	Name  string
	Share float64 // of the requests
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
	Sessions    int     // how many differ from each other
	Turns       Length  // of the user in a session
	Input       Length  // tokens of a user's turn, and of a sub-agent's task
	Output      Length  // tokens of a response in text
	Head        int     // tokens of the system prompt of each agent
	Loop        Length  // calls of a model that call tools before the response
	Catalog     Length  // tools that an agent knows
	Calls       Length  // tool calls of one response; at least 1
	Fanout      float64 // probability that an agent starts others
	Children    Length  // how many
	Depth       int     // how deep agents may start others
	Events      int     // most calls of a model in a session
	ToolLatency Length  // whole seconds that tools take
	Think       Length  // whole seconds before a user's later turns
	CompactAt   Length  // tokens of a context that is replaced by a summary; zero: none is
	CompactTo   Length  // tokens of the summary
	Themes      []Theme // none: all alike
	Seed        uint64  // of all of it, instead of the plan's
}

// Theme is what sessions are about, and how often.
type Theme struct {
	Name   string
	Weight float64
}

// SharedPrefix says how prompts of a group begin alike. The length of responses is
// Data.Output.
type SharedPrefix struct {
	Groups    int    // 0 is 10
	Prompts   int    // of a group, each a user with a question of its own; 0 is 10
	Prefix    Length // of the part that a group shares
	Question  Length // of the part that is each prompt's own
	MultiTurn bool   // a user's requests are turns of one conversation
	Repeat    bool   // each of them is the user's whole prompt again, instead of a new question
	Media     Media  // of the shared part: the same in all prompts of a group; Data.Media is each request's own, in the question
	Seed      uint64 // 0: the plan's
}

// Conversations are generated, of many turns each. The length of responses is Data.Output.
type Conversations struct {
	Count         int    // conversations in flight; 0 is 200
	SharedPrompt  int    // tokens of the system prompt that all share
	DynamicPrompt Length // of what each adds to it
	Turns         Length // of a conversation
	Input         Length // of a turn
	// ToolLatency is how long a user's tools take between a response and the next turn,
	// in milliseconds.
	ToolLatency Length
	MaxContext  int    // tokens; the oldest turns are dropped to keep to it; 0: no bound
	Seed        uint64 // 0: the plan's
}
