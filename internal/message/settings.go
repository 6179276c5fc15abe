package message

import (
	"cmp"
	"strings"
)

// Setting is what users can set, as messages name it: its path in a plan and, after a space, what
// our own commands call it if not that. What no field stands for is a remedy.
type Setting string

// The settings that messages name.
const (
	Model         Setting = "target.model --model"
	APIKey        Setting = "target.api_key --api-key-env or --api-key-file"
	Endpoint      Setting = "target.endpoint --endpoint"
	Path          Setting = "target.path --path"
	Extra         Setting = "target.body --extra"
	Protocol      Setting = "target.protocol --protocol"
	SetTriton     Setting = "remedy.set_triton set protocol to triton (--protocol triton)"
	Streaming     Setting = "remedy.no_stream set it to false (--no-stream)"
	Preflight     Setting = "target.preflight --no-preflight"
	HTTP2         Setting = "target.http2 --http2"
	Proxy         Setting = "target.proxy --proxy none (target.proxy)"
	SourceAddress Setting = "target.source_addresses --source-address"
	RetryAfter    Setting = "target.retry_after --retry-after ignore"
	Retries       Setting = "target.retries.count"
	CA            Setting = "target.tls.ca --ca"
	Insecure      Setting = "target.tls.insecure --insecure"
	Cert          Setting = "target.tls.cert --cert"
	Key           Setting = "target.tls.key --key"
	GiveCert      Setting = "target.tls.cert target.tls.cert (--cert)"
	GiveKey       Setting = "target.tls.key target.tls.key (--key)"
	Convention    Setting = "target.triton.convention --convention"
	SharedMemory  Setting = "target.triton.shared_memory --shared-memory"
	SetMemory     Setting = "remedy.memory set shared_memory to system (--shared-memory system)"
	Tokenizer     Setting = "tokenizer.name --tokenizer"
	CountOutput   Setting = "tokenizer.count_output"
	Prompts       Setting = "data.prompts"
	Adapters      Setting = "data.adapters"
	Batch         Setting = "data.batch"
	Images        Setting = "data.media.image.count"
	VideoFormat   Setting = "data.media.video.format format"
	InputData     Setting = "data.tensors.files --input-data"
	Shape         Setting = "data.tensors.shapes --shape"
	Output        Setting = "data.output"
	OutputTokens  Setting = "data.output --output-tokens"
	GiveOutput    Setting = "data.output data.output (--output-tokens)"
	IgnoreEOS     Setting = "data.ignore_eos"
	MinTokens     Setting = "data.min_tokens"
	OutputCap     Setting = "data.output_cap"
	InputCount    Setting = "data.input_tokens_count"
	Salt          Setting = "data.salt"
	SaltRun       Setting = "data.salt --salt run"
	Trace         Setting = "data.trace"
	Dataset       Setting = "data.dataset"
	DatasetPath   Setting = "data.dataset.path path"
	DatasetFile   Setting = "data.dataset.path data.dataset.path, or --input-file"
	DatasetHub    Setting = "data.dataset.hub hub.name"
	DatasetInput  Setting = "data.dataset.input input"
	DatasetOutput Setting = "data.dataset.output output"
	Payload       Setting = "remedy.payload data.source payload"
	Seed          Setting = "seed"
	MaxInFlight   Setting = "stages.max_in_flight max_in_flight"
	AutoWarmup    Setting = "stages.warmup.auto --warmup auto"
	Warmup        Setting = "stages.warmup.requests --warmup"
	Drain         Setting = "drain its drain"
	MaxErrors     Setting = "max_errors.count max_errors"
	Alike         Setting = "max_errors.same_failure max_errors.same_failure: false"
	Levels        Setting = "levels levels.start, end and step (--levels START:END:STEP)"
	LevelsEnd     Setting = "levels.end"
	Threshold     Setting = "measurement.latency_threshold"
	StreamLimit   Setting = "limits.stream"
	RawLimit      Setting = "limits.raw"
	OutputDir     Setting = "output.dir output.dir (--out)"
	Project       Setting = "probes.prometheus.project"
	UseTriton     Setting = "remedy.triton add --protocol triton"
	UseTritonGRPC Setting = "remedy.triton_grpc add --protocol triton and write grpc:// in front of the address"
	UseStream     Setting = "remedy.stream endpoint stream"
	UseGenerate   Setting = "remedy.generate endpoint generate, or endpoint stream over gRPC"
	UseChat       Setting = "remedy.chat use chat or messages"
	UseOpenAI     Setting = "remedy.openai use protocol openai"
	UseURL        Setting = "remedy.url leave the protocol out or set it to triton"
	Schemes       Setting = "remedy.schemes http or https; grpc or grpcs for Triton"
	Signature     Setting = "target.body.signature_name --extra signature_name"
)

// Path is the setting's place in a plan.
func (s Setting) Path() string {
	path, _, _ := strings.Cut(string(s), " ")
	return path
}

// String is what users of our own commands call it.
func (s Setting) String() string {
	path, name, _ := strings.Cut(string(s), " ")
	return cmp.Or(name, path)
}

// Speak is the remedy where a server speaks another protocol than it is asked in.
func Speak(protocol string) Setting {
	return Setting("remedy." + protocol + " add --protocol " + protocol)
}

// Untrusted is what to do about a certificate that is not trusted, behind the error.
func Untrusted() Message {
	return New("; %v names certificates to trust, %v trusts any", CA, Insecure).Or("; %v names certificates to trust", CA).Or("")
}
