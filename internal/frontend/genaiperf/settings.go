package genaiperf

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// builder works out what a command line means.
type builder struct {
	*values
	a        *Action
	analyzer func(args []string) (*Passed, error)
	sweeping bool // the load of this run is one of a sweep
	passed   passing
}

func (b *builder) note(format string, args ...any) {
	b.a.Notes = append(b.a.Notes, fmt.Sprintf(format, args...))
}

// settings fills in everything from the flags and the release's defaults.
func (b *builder) settings() {
	s := &b.a.Settings
	s.Faithful, s.Verbose = b.given("faithful"), b.given("verbose")
	s.Streaming = b.given("streaming")
	if u, ok := b.last("model"); ok {
		s.Models = u.text
	} else {
		b.fault("-m", "the model is missing", "give its name: -m NAME")
	}
	s.PickRandom = b.text("model-selection", "") == "random"
	s.URL = b.text("url", "")
	b.endpoint()
	b.load()
	b.input()
	b.tokenizer()
	b.extras()
	b.sessions()
	b.passThrough()
	b.files()
}

// sessions settles conversations and schedules.
func (b *builder) sessions() {
	s := &b.a.Settings
	s.Sessions, s.SessionConcurrency = b.whole("sessions", 0), b.whole("session-concurrency", 0)
	s.TurnsMean, s.TurnsStddev = b.number("session-turns-mean", 1), b.number("session-turns-stddev", 0)
	s.TurnDelayMean, s.TurnDelayStddev = b.number("session-turn-delay-mean", 0), b.number("session-turn-delay-stddev", 0)
	s.DelayRatio = b.number("session-delay-ratio", 1)
	s.FixedSchedule = b.given("fixed-schedule")
	loads := 0
	for _, key := range []string{"concurrency", "request-rate", "fixed-schedule", "session-concurrency"} {
		if b.given(key) {
			loads++
		}
	}
	switch {
	case s.FixedSchedule && s.PayloadFile == "":
		b.fault("--fixed-schedule", "needs a payload file", "give --input-file payload:FILE")
	case s.SessionConcurrency > 0 && s.Sessions == 0 && s.PayloadFile == "":
		b.fault("--session-concurrency", "needs sessions", "give --num-sessions or --input-file payload:FILE")
	case s.Sessions > 0 && s.SessionConcurrency == 0:
		b.fault("--num-sessions", "needs --session-concurrency", "how many are held at a time")
	case s.Sessions > 0 && s.PayloadFile != "":
		b.fault("--num-sessions", "contradicts a payload file, which has its own sessions", "give one of the two")
	case (s.SessionConcurrency > 0 || s.FixedSchedule) && loads > 1 && !(b.given("concurrency") && b.given("request-rate")):
		b.fault(b.as(map[bool]string{true: "fixed-schedule", false: "session-concurrency"}[s.FixedSchedule]), "contradicts another kind of load", "give one of --concurrency, --request-rate, --session-concurrency and --fixed-schedule")
	case (s.SessionConcurrency > 0 || s.PayloadFile != "") && s.EndpointType != "chat" && s.EndpointType != "completions":
		b.fault("--endpoint-type", "sessions and payload files belong to chat and completions", "")
	case s.SessionConcurrency > 0 && s.EndpointType != "chat":
		b.fault("--session-concurrency", "sessions belong to --endpoint-type chat", "")
	}
	if s.TurnsMean < 1 {
		b.fault("--session-turns-mean", "must be at least 1", "")
	}
	if s.SessionConcurrency > 0 || s.FixedSchedule {
		s.Concurrency, s.Rate, s.Requests, s.Interval = 0, 0, 0, 0
	}
}

// paths are where the endpoint types are on a server.
func paths() map[string]string {
	return map[string]string{
		"chat": "v1/chat/completions", "completions": "v1/completions", "embeddings": "v1/embeddings",
		"multimodal": "v1/chat/completions", "rankings": "v1/ranking", "nvclip": "v1/embeddings",
		"image_retrieval": "v1/infer", "huggingface_generate": ".",
	}
}

// endpoint settles what is asked of the server.
func (b *builder) endpoint() {
	s := &b.a.Settings
	s.Endpoint = strings.TrimLeft(b.text("endpoint", ""), " /")
	s.EndpointType = b.text("endpoint-type", "")
	s.Backend = "tensorrtllm"
	if b.text("backend", "") == "vllm" {
		s.Backend = "vllm"
	}
	s.ServiceKind = b.text("service-kind", "")
	b.outputFormat()
	if s.ServiceKind == "" {
		s.ServiceKind = "triton"
		if s.EndpointType != "" && s.EndpointType != "kserve" {
			s.ServiceKind = "openai"
		}
	}
	switch s.ServiceKind {
	case "triton":
		b.triton()
	case "openai":
		b.openAI()
	case "tensorrtllm_engine":
		b.fault(b.as("service-kind"), "the engine inside this process cannot be measured: it needs Triton's in-process C API", "serve the model with Triton and use --service-kind triton --backend tensorrtllm")
	case "dynamic_grpc":
		b.fault(b.as("service-kind"), "methods of services that are not Triton's are not served", "use --service-kind triton, or the perf_analyzer of NVIDIA")
	}
}

// outputFormat reads the flag of 24.03 that says shape, service and backend in one.
func (b *builder) outputFormat() {
	s := &b.a.Settings
	format, ok := b.last("output-format")
	if !ok {
		return
	}
	want := "openai"
	switch format.text[0] {
	case "vllm":
		s.Backend, want = "vllm", "triton"
	case "trtllm":
		s.Backend, want = "tensorrtllm", "triton"
	case "openai_chat_completions":
		s.EndpointType = "chat"
	case "openai_completions":
		s.EndpointType = "completions"
	}
	if s.ServiceKind == "" {
		s.ServiceKind = "triton" // the default, also of this release
	}
	if s.ServiceKind != want {
		b.fault("--output-format", fmt.Sprintf("%s is a format of --service-kind %s, not of %s", format.text[0], want, s.ServiceKind), "change one of the two")
	}
}

func (b *builder) triton() {
	s := &b.a.Settings
	if s.EndpointType != "" && s.EndpointType != "kserve" {
		b.fault(b.as("endpoint-type"), s.EndpointType+" is an endpoint of --service-kind openai", "leave one of the two out")
	}
	s.EndpointType = "kserve"
	s.Endpoint = ""
}

// served are the endpoint types of OpenAI-like servers.
func served() []string {
	return []string{"chat", "completions", "embeddings", "multimodal", "rankings", "nvclip", "image_retrieval", "huggingface_generate", "generate", "template"}
}

// Plain reports whether answers have no text to count.
func (s *Settings) Plain() bool {
	return slices.Contains([]string{"embeddings", "rankings", "nvclip", "image_retrieval", "template"}, s.EndpointType)
}

// Pictures reports whether requests may hold images.
func (s *Settings) Pictures() bool {
	return slices.Contains([]string{"multimodal", "nvclip", "image_retrieval", "huggingface_generate"}, s.EndpointType)
}

func (b *builder) openAI() {
	s := &b.a.Settings
	if b.given("backend") {
		b.fault("--backend", "belongs to --service-kind triton", "leave it out")
	}
	if s.EndpointType == "vision" {
		s.EndpointType = "multimodal"
	}
	if s.EndpointType == "" { // the path says it
		for _, kind := range served() {
			if s.Endpoint == paths()[kind] {
				s.EndpointType = kind
				break
			}
		}
	}
	switch {
	case s.Endpoint == "" && (s.EndpointType == "" || s.Release == Release2403):
		b.fault("--service-kind openai", "needs --endpoint", "such as --endpoint v1/chat/completions or --endpoint v1/completions")
		return
	case s.EndpointType == "":
		b.fault("--endpoint", fmt.Sprintf("what is at %q?", shorten(s.Endpoint)), "say it with --endpoint-type chat or completions")
		return
	case s.EndpointType == "tensorrtllm_engine":
		b.fault(b.as("endpoint-type"), "the engine inside this process cannot be measured: it needs Triton's in-process C API", "serve the model with Triton and use --endpoint-type kserve --backend tensorrtllm")
	case s.EndpointType == "dynamic_grpc":
		b.fault(b.as("endpoint-type"), "methods of services that are not Triton's are not served", "use --endpoint-type kserve, or the perf_analyzer of NVIDIA")
	case !slices.Contains(served(), s.EndpointType):
		b.fault(b.as("endpoint-type"), s.EndpointType+" is not served", "one of "+strings.Join(append(served(), "kserve"), ", "))
	}
	switch {
	case s.Endpoint != "":
	case s.EndpointType == "generate":
		if len(s.Models) > 0 {
			s.Endpoint = "v2/models/" + s.Models[0] + "/generate"
		}
		if s.Streaming {
			s.Endpoint += "_stream"
		}
	case s.EndpointType == "template":
		b.fault("--endpoint-type template", "needs --endpoint: bodies are posted there", "tensors of a Triton model are measured by inferometer perf_analyzer --input-data")
	default:
		s.Endpoint = paths()[s.EndpointType]
	}
	if s.Streaming && s.Plain() {
		b.fault("--streaming", s.EndpointType+" are never streamed", "leave it out")
	}
}

// load settles how much is sent, and for how long.
func (b *builder) load() {
	s := &b.a.Settings
	s.Concurrency = 1
	switch {
	case b.given("concurrency") && b.given("request-rate"):
		b.fault("--request-rate", "contradicts --concurrency: there is one kind of load", "give one of the two")
	case b.given("request-rate"):
		s.Concurrency, s.Rate = 0, b.number("request-rate", 0)
		if s.Rate == 0 {
			b.fault("--request-rate", "must be more than 0", "")
		}
	default:
		s.Concurrency = b.whole("concurrency", 1)
	}
	s.Stability = b.number("stability", 999)
	s.Warmup = b.whole("warmup", 0)
	interval := map[string]int{Release2403: 5000, Release2404: 10000}[s.Release]
	switch {
	case b.given("interval") && b.given("request-count"):
		b.fault(b.as("request-count"), "contradicts "+b.as("interval")+": a measurement is timed or counted", "give one of the two")
	case b.given("request-count"):
		s.Requests = b.whole("request-count", 0)
	case b.given("interval") || interval > 0:
		s.Interval = time.Duration(b.whole("interval", interval)) * time.Millisecond
	default:
		s.Requests = max(10, 2*s.Concurrency)
	}
	if s.Requests > 0 && s.Requests < s.Concurrency {
		b.fault(b.as("request-count"), fmt.Sprintf("%d requests cannot keep %d in flight", s.Requests, s.Concurrency), "ask for at least as many requests as --concurrency")
	}
}

// input settles what prompts are made of.
func (b *builder) input() {
	s := &b.a.Settings
	s.InputMean, s.InputStddev = b.whole("input-mean", 550), b.whole("input-stddev", 0)
	s.OutputMean, s.OutputStddev = b.whole("output-mean", 0), b.whole("output-stddev", 0)
	s.Deterministic = b.given("deterministic")
	s.Prompts = b.whole("prompts", 100)
	s.Seed = b.whole("seed", 0)
	s.Prefixes, s.PrefixLength = b.whole("prefix-prompts", 0), b.whole("prefix-length", 100)
	if s.Prefixes > 0 && s.PrefixLength == 0 {
		b.fault("--prefix-prompt-length", "must be more than 0", "")
	}
	s.Batch = b.whole("batch-text", 1)
	if s.Batch > 1 && s.EndpointType != "embeddings" && s.EndpointType != "rankings" && s.EndpointType != "nvclip" {
		b.fault(b.as("batch-text"), "belongs to --endpoint-type embeddings, rankings or nvclip", "leave it out")
	}
	b.media()
	if s.OutputStddev > 0 && s.OutputMean == 0 {
		b.fault("--output-tokens-stddev", "has no mean to go with", "give --output-tokens-mean too")
	}
	if s.Release == Release2403 || b.given("expected-output") {
		s.InWords = b.whole("expected-output", 150)
		if !b.given("output-mean") {
			s.OutputMean = s.InWords
		}
	}
	if b.given("requested-output") {
		s.OutputMean, s.Deterministic = b.whole("requested-output", 0), true
		if !b.given("expected-output") {
			s.InWords = s.OutputMean
		}
	}
	if s.Plain() {
		s.OutputMean, s.InWords = 0, 0
	}
	if s.Deterministic && s.ServiceKind == "openai" {
		s.Deterministic = false
		if b.given("deterministic") {
			b.note("--output-tokens-mean-deterministic has no effect: OpenAI's protocol has no least number of tokens")
		}
	}
	b.source()
	b.fitting()
}

// fitting checks what some endpoints need of the data.
func (b *builder) fitting() {
	s := &b.a.Settings
	if s.EndpointType == "image_retrieval" && s.ImageWidthMean == 0 && s.InputFile == "" {
		b.fault("--endpoint-type image_retrieval", "there are no images", "give --image-width-mean and --image-height-mean, or --input-file")
	}
	if s.EndpointType != "template" {
		return
	}
	for _, x := range b.used["extra"] {
		name, file, _ := strings.Cut(x.text[0], ":")
		if name != "payload_template" {
			b.fault(x.as, "a template has no field but payload_template", "put others into the template")
			continue
		}
		s.Template = file
	}
	if s.Template == "" {
		b.fault("--endpoint-type template", "the template is missing", "give --extra-inputs payload_template:FILE")
	}
}

// media settles the images and the audio of requests.
func (b *builder) media() {
	s := &b.a.Settings
	s.ImageWidthMean, s.ImageWidthStddev = b.whole("image-width-mean", 0), b.whole("image-width-stddev", 0)
	s.ImageHeightMean, s.ImageHeightStddev = b.whole("image-height-mean", 0), b.whole("image-height-stddev", 0)
	s.ImageFormat = b.text("image-format", "png")
	s.BatchImage, s.BatchAudio = b.whole("batch-image", 1), b.whole("batch-audio", 1)
	s.AudioLengthMean, s.AudioLengthStddev = b.number("audio-length-mean", 0), b.number("audio-length-stddev", 0)
	s.AudioChannels = b.whole("audio-num-channels", 1)
	s.AudioDepths, s.AudioRates = []int{16}, []float64{16}
	if u, ok := b.last("audio-depths"); ok {
		s.AudioDepths = nil
		for _, text := range u.text {
			n, err := strconv.Atoi(text)
			if err != nil || !slices.Contains([]int{8, 16, 24, 32}, n) {
				b.fault(u.as, fmt.Sprintf("%q is no depth of audio", shorten(text)), "8, 16, 24 or 32")
			}
			s.AudioDepths = append(s.AudioDepths, n)
		}
	}
	if u, ok := b.last("audio-sample-rates"); ok {
		s.AudioRates = nil
		for _, text := range u.text {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !(v >= 1 && v <= 1000) {
				b.fault(u.as, fmt.Sprintf("%q is no sample rate in kHz", shorten(text)), "such as 16 or 44.1")
			}
			s.AudioRates = append(s.AudioRates, v)
		}
	}
	if b.text("audio-format", "wav") != "wav" {
		b.fault("--audio-format", "mp3 is not made", "use wav")
	}
	for _, key := range []string{"image-width-mean", "image-height-mean", "audio-length-mean"} {
		if b.given(key) && (!s.Pictures() || key == "audio-length-mean" && s.EndpointType != "multimodal") {
			b.fault(b.as(key), "belongs to --endpoint-type multimodal", "leave it out")
		}
	}
	if (s.ImageWidthMean > 0) != (s.ImageHeightMean > 0) {
		b.fault("--image-width-mean", "an image needs a width and a height", "give both, or none")
	}
}

// source settles where prompts come from.
func (b *builder) source() {
	s := &b.a.Settings
	file := b.text("input-file", "")
	data := b.text("dataset", "")
	switch source := b.text("source", ""); source {
	case "url", "dataset":
		s.Dataset = data
		if data == "" {
			s.Dataset = datasets()[0]
		}
		if file != "" {
			b.fault(b.as("input-file"), fmt.Sprintf("contradicts %s %s", b.as("source"), source), "give one of the two")
		}
	case "file":
		s.InputFile = file
		if s.InputFile == "" {
			s.InputFile = "llm_inputs.json" // the original's default
		}
		if data != "" {
			b.fault(b.as("dataset"), fmt.Sprintf("contradicts %s file", b.as("source")), "give one of the two")
		}
	case "synthetic":
		if data != "" {
			b.note("%s has no effect with %s synthetic", b.as("dataset"), b.as("source"))
		}
		if file != "" {
			b.note("%s has no effect with %s synthetic", b.as("input-file"), b.as("source"))
		}
	default:
		s.Dataset, s.InputFile = data, file
		if data != "" && file != "" {
			b.fault(b.as("input-file"), "contradicts "+b.as("dataset"), "give one of the two")
		}
	}
	switch scheme, file, _ := strings.Cut(s.InputFile, ":"); scheme {
	case "payload":
		s.PayloadFile, s.InputFile = file, ""
	case "synthetic": // what is made up where there is no file
		s.InputFile = ""
		if s.EndpointType != "rankings" || file != "queries,passages" {
			b.fault(b.as("input-file"), "synthetic: belongs to --endpoint-type rankings, as synthetic:queries,passages", "leave it out for synthetic prompts")
		}
	}
	if s.EndpointType == "rankings" && s.PayloadFile != "" {
		b.fault(b.as("input-file"), "rankings have no payload files", "give a directory with queries.jsonl and passages.jsonl")
	}
	if s.Dataset != "" || s.InputFile != "" {
		s.InWords = 0 // prompts of others are sent as they are
	}
}

// tokenizer settles what makes and counts tokens.
func (b *builder) tokenizer() {
	s := &b.a.Settings
	s.Tokenizer, s.TokenizerGiven = b.text("tokenizer", ""), b.given("tokenizer")
	s.TokenizerRevision = b.text("tokenizer-revision", "")
	switch {
	case s.TokenizerGiven:
	case s.Release == ReleaseLast && len(s.Models) > 0:
		s.Tokenizer = s.Models[0]
	default:
		s.Tokenizer = "hf-internal-testing/llama-tokenizer"
	}
	if b.given("trust-remote-code") {
		b.note("--tokenizer-trust-remote-code has no effect: no code is fetched or run")
	}
}

// files settles where everything is written.
func (b *builder) files() {
	s := &b.a.Settings
	s.ExportFile = b.text("export-file", "profile_export.json")
	s.InputsFile = "inputs.json"
	s.Plots = b.given("plots")
	if b.given("checkpointing") {
		s.Checkpoint = b.text("checkpoint-dir", "checkpoint")
		if !b.sweeping {
			b.note("--enable-checkpointing has no effect here: a single run has nothing to go on with")
		}
	}
	if s.ExportFile == "" {
		b.fault("--profile-export-file", "is empty", "")
		return
	}
	if s.Release != ReleaseLast && !b.given("artifact-dir") {
		// Early releases write into the working directory, or where the file's name says.
		s.Dir, s.ExportFile = filepath.Dir(s.ExportFile), filepath.Base(s.ExportFile)
		s.InputsFile = "llm_inputs.json"
		return
	}
	if filepath.Base(s.ExportFile) != s.ExportFile {
		b.fault("--profile-export-file", "is a name, not a path", "give the directory with --artifact-dir")
		return
	}
	s.Artifacts = b.text("artifact-dir", "artifacts")
	s.Dir = filepath.Join(s.Artifacts, s.Folder())
}

// Folder is the name of the directory of a run.
func (s *Settings) Folder() string {
	load := "concurrency" + strconv.Itoa(s.Concurrency)
	switch {
	case s.FixedSchedule:
		load = "fixed_schedule"
	case s.SessionConcurrency > 0:
		load = "session_concurrency" + strconv.Itoa(s.SessionConcurrency)
	case s.PayloadFile != "":
		return s.name()
	case s.Rate > 0:
		load = "request_rate" + pythonFloat(s.Rate)
	}
	return s.name() + "-" + load
}

// name is the part of a directory's name that is the same under any load.
func (s *Settings) name() string {
	model := ""
	if len(s.Models) > 0 {
		model = strings.ReplaceAll(s.Models[0], "/", "_")
	}
	if len(s.Models) > 1 {
		model += "_multi"
	}
	kind := s.EndpointType
	if s.ServiceKind == "triton" {
		kind = s.Backend
	}
	return strings.Join([]string{model, s.ServiceKind, kind}, "-")
}

// pythonFloat is a number as Python prints it: 2.0, not 2.
func pythonFloat(f float64) string {
	text := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}
