// Package planfile reads plans from files and flags, checks them and prints them.
//
// How a plan stands in a file is said once, in the tables of spec.go: decoding,
// printing, the JSON Schema and the field list of docs/plan-fields.md come from them.
package planfile

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
)

// The tables below say how a plan stands in a file: each field's name, form and
// meaning, in the order in which a plan is printed.

// Those that are needed often are made once.
var planSpec = sync.OnceValue(newPlanSpec)

func newPlanSpec() codec[plan.Plan] {
	return object(
		always("version", integer[int](), func(p *plan.Plan) *int { return &p.Version }, "Version of this format."),
		fieldOf("name", text(), func(p *plan.Plan) *string { return &p.Name }, "Name of the run in reports."),
		seedField(),
		always("target", targetSpec(), func(p *plan.Plan) *plan.Target { return &p.Target }, "The server under test and how to call it."),
		always("data", dataSpec(), func(p *plan.Plan) *plan.Data { return &p.Data }, "Prompts: their source and lengths."),
		always("tokenizer", tokenizerSpec(), func(p *plan.Plan) *plan.Tokenizer { return &p.Tokenizer }, "Tokenizer of the client."),
		always("stages", list("list of stages", stageSpec()), func(p *plan.Plan) *[]plan.Stage { return &p.Stages },
			"Stages of the run, in order, each with its own load. They replace the default stage."),
		fieldOf("levels", levelsSpec(), func(p *plan.Plan) *plan.Levels { return &p.Levels },
			"Load levels of the plan's only stage: a list or a range; each level becomes a stage."),
		fieldOf("saturation", saturationSpec(), func(p *plan.Plan) *plan.Saturation { return &p.Saturation },
			"Finds the highest rate that the server can sustain and runs stages at rates up to it. The only stage sets everything but the rate."),
		fieldOf("capacity", capacitySpec(), func(p *plan.Plan) *plan.Capacity { return &p.Capacity },
			"Finds the highest load that meets objectives (docs/capacity.md). The only stage sets the kind of load, a rate or a concurrency, and where the search begins."),
		fieldOf("measurement", measurementSpec(), func(p *plan.Plan) *plan.Measurement { return &p.Measurement },
			"Measures each stage in windows until they agree. Left out: each stage is measured as a whole."),
		always("drain", duration(), func(p *plan.Plan) *plan.Duration { return &p.Drain },
			"How long in-flight requests may take to finish at the end of a stage before they are cut off."),
		always("grace", duration(), func(p *plan.Plan) *plan.Duration { return &p.Grace },
			"The same for a stage that ends early: by an interrupt, a breaker, too many errors or the timeout of its sessions. No longer than `drain`."),
		fieldOf("goodput", goodputSpec(), func(p *plan.Plan) *[]plan.SLO { return &p.Goodput },
			"Objectives that a request must meet to count as good: metric and maximum time."),
		fieldOf("fail_if", conditionsSpec(), func(p *plan.Plan) *[]string { return &p.FailIf },
			"Gates: conditions such as `ttft.p99 > 200ms`, under which a valid run exits with code 3 ([gates](gates.md))."),
		fieldOf("fail_unless", conditionsSpec(), func(p *plan.Plan) *[]string { return &p.FailUnless },
			"Gates that demand proof: conditions such as `ttft.p99 < 200ms`, which the run must show to hold, or it exits with code 3 ([gates](gates.md#demanding-proof))."),
		fieldOf("max_errors", maxErrorsSpec(), func(p *plan.Plan) *plan.MaxErrors { return &p.MaxErrors },
			"Stops a run in which too many requests fail. Left out: only `same_failure` applies."),
		fieldOf("breakers", list("list of breakers", breakerSpec()), func(p *plan.Plan) *[]plan.Breaker { return &p.Breakers },
			"Circuit breakers: conditions that stop the run."),
		always("budgets", budgetsSpec(), func(p *plan.Plan) *plan.Budgets { return &p.Budgets },
			"Limits for a valid measurement; a result over one of them is marked INVALID."),
		fieldOf("limits", limitsSpec(), func(p *plan.Plan) *plan.Limits { return &p.Limits },
			"Memory limits, whatever a server sends or a file holds; 0: no limit. Errors name the limit that was exceeded."),
		fieldOf("probes", probesSpec(), func(p *plan.Plan) *plan.Probes { return &p.Probes }, "Statistics and metrics to read from the server."),
		fieldOf("cost", costSpec(), func(p *plan.Plan) *plan.Cost { return &p.Cost }, "Price and power of the GPUs behind the target, for figures of cost and energy ([cost.md](cost.md))."),
		fieldOf("output", outputSpec(), func(p *plan.Plan) *plan.Output { return &p.Output }, "Files to write, and buckets to copy them to."),
	)
}

func targetSpec() codec[plan.Target] {
	return object(
		always("urls", urlsSpec(), func(t *plan.Target) *[]string { return &t.URLs },
			"Base URLs; requests are dealt out in turn. None: the built-in mock."),
		always("protocol", named("`openai`, `anthropic`, `triton`, `http`, `tfserving` or `torchserve`", protocolNames()...), func(t *plan.Target) *string { return &t.Protocol },
			"Protocol of the server. Left out: `triton` for grpc:// and grpcs:// URLs, `http` for its own endpoints, else `openai`."),
		fieldOf("transport", named("`http` or `grpc`", plan.TransportHTTP, plan.TransportGRPC), func(t *plan.Target) *string { return &t.Transport },
			"Transport for Triton; left out: from the scheme of the URLs."),
		always("endpoint", named("`chat`, `completions` or `embeddings`; for Anthropic `messages`; for Triton `stream`, `infer` or `generate`; for http `rankings`, `rerank`, `image_retrieval`, `huggingface_generate` or `template`; for TensorFlow Serving and TorchServe `predict`",
			slices.Concat(endpointNames(), []string{plan.EndpointMessages}, tritonEndpoints(), httpEndpoints(), []string{plan.EndpointPredict})...),
			func(t *plan.Target) *string { return &t.Endpoint }, "Endpoint to call. For Triton, left out: `stream` over gRPC, `generate` over HTTP."),
		fieldOf("path", text(), func(t *plan.Target) *string { return &t.Path }, "Path instead of the endpoint's usual one."),
		fieldOf("template", text(), func(t *plan.Target) *string { return &t.Template },
			"With endpoint `template`: a Jinja file that makes a body of `text` and `texts`, or `nv-embedqa`."),
		fieldOf("form", word(plan.FormShaped), func(t *plan.Target) *string { return &t.Form },
			"Layout of request bodies: the fields and their order, instead of our own."),
		fieldOf("client", word(plan.ClientPlain), func(t *plan.Target) *string { return &t.Client },
			"Behave as a plain HTTP client: no headers of our own, no request for the list of models, and each chunk of a streamed response is an arrival, even where several come in one read."),
		fieldOf("counts", word(plan.CountsPlain), func(t *plan.Target) *string { return &t.Counts },
			"Count tokens as plain clients do: the server's counts as they are, even where they cannot be, and with the tokenizer the texts of prompts without their template and the visible text of responses, each event by itself."),
		fieldOf("model", text(), func(t *plan.Target) *string { return &t.Model }, "Model name; left out: the first that the server lists."),
		always("streaming", boolean(), func(t *plan.Target) *bool { return &t.Streaming }, "Request a stream. Embeddings and Triton's `infer` never stream."),
		fieldOf("headers", headersSpec(), func(t *plan.Target) *map[string]string { return &t.Headers }, "Headers added to every request."),
		fieldOf("api_key", secretSpec(), func(t *plan.Target) *plan.Secret { return &t.APIKey },
			"Where to find the API key, which is sent as a bearer token and is never part of a plan."),
		fieldOf("body", bodySpec(), func(t *plan.Target) *map[string]any { return &t.Body },
			"Fields added to every request body, such as `temperature: 0`. For Triton: input tensors and sampling parameters."),
		fieldOf("tls", tlsSpec(), func(t *plan.Target) *plan.TLS { return &t.TLS }, "TLS certificates: the ones to trust, and the client's own."),
		fieldOf("http2", boolean(), func(t *plan.Target) *bool { return &t.HTTP2 },
			"HTTP/2: negotiated over https, with prior knowledge over http."),
		fieldOf("proxy", text(), func(t *plan.Target) *string { return &t.Proxy },
			"`none`, `environment` (`http_proxy`, `https_proxy` and `no_proxy`) or the URL of an HTTP proxy. Left out: `environment`, except that targets in a private network are reached directly."),
		fieldOf("source_addresses", sourcesSpec(), func(t *plan.Target) *[]netip.Prefix { return &t.SourceAddresses },
			"Local IP addresses and CIDR ranges that connections come from in turn, for more connections than one address has ports for. Left out: the system's choice."),
		always("timeouts", timeoutsSpec(), func(t *plan.Target) *plan.Timeouts { return &t.Timeouts }, "Timeouts of a request; 0: none."),
		fieldOf("retries", retriesSpec(), func(t *plan.Target) *plan.Retries { return &t.Retries },
			"Retries of a request that could not connect, or whose connection broke before the first byte of the answer. Each attempt has its own `timeouts`; latencies count from the first attempt."),
		fieldOf("preflight", yes(), func(t *plan.Target) *bool { return &t.NoPreflight },
			"Send one short request with a prompt of its own before the run, and stop if it is refused. No metric includes it. Left out: true."),
		fieldOf("retry_after", word(plan.RetryHonor, plan.RetryIgnore), func(t *plan.Target) *string { return &t.RetryAfter },
			"Whether a slot of a closed loop waits as long as a 429 or 503 says in `Retry-After`, a minute at most. Left out: `honor`."),
		fieldOf("session", sessionHeadersSpec(), func(t *plan.Target) *plan.SessionHeaders { return &t.Session }, "Headers that tie the requests of a session together."),
		fieldOf("slo_headers", sloHeadersSpec(), func(t *plan.Target) *plan.SLOHeaders { return &t.SLOHeaders },
			"Request headers that hold its objectives, which goodput then uses."),
		fieldOf("triton", tritonSpec(), func(t *plan.Target) *plan.Triton { return &t.Triton }, "Settings for Triton only."),
	)
}

func endpointNames() []string {
	return []string{plan.EndpointChat, plan.EndpointCompletions, plan.EndpointEmbeddings}
}

// urlsSpec is a list of URLs; a single one may stand alone.
var urlsSpec = sync.OnceValue(func() codec[[]string] {
	one := text()
	one.check = func(c *checker, path string, url *string) { c.url(path, *url) }
	return listOrOne("list of URLs", one)
})

// listOrOne is a list of texts of which a single one may stand alone.
func listOrOne[V any](kind string, one codec[V]) codec[[]V] {
	c := list(kind, one)
	readList := c.read
	c.read = func(r *reader, n *yaml.Node, path string, v *[]V) {
		if n.Kind == yaml.ScalarNode {
			r.draft.Set(path+"[0]", document.Position(r.file, n))
			*v = make([]V, 1)
			one.read(r, n, path+"[0]", &(*v)[0])
			return
		}
		readList(r, n, path, v)
	}
	c.schema = schema{"anyOf": []any{c.schema, schema{"type": "string"}}}
	return c
}

func secretSpec() codec[plan.Secret] {
	return object(
		fieldOf("env", text(), func(s *plan.Secret) *string { return &s.Env }, "Environment variable that holds it."),
		fieldOf("file", text(), func(s *plan.Secret) *string { return &s.File }, "File that holds it."),
	)
}

func tlsSpec() codec[plan.TLS] {
	return object(
		fieldOf("ca", text(), func(t *plan.TLS) *string { return &t.CA }, "File of certificates to trust, instead of the system's."),
		fieldOf("cert", text(), func(t *plan.TLS) *string { return &t.Cert }, "Client certificate file."),
		fieldOf("key", text(), func(t *plan.TLS) *string { return &t.Key }, "Key file of the client certificate."),
		fieldOf("insecure", boolean(), func(t *plan.TLS) *bool { return &t.Insecure }, "Do not verify the server's certificate."),
	)
}

var timeoutsSpec = sync.OnceValue(func() codec[plan.Timeouts] {
	return object(
		always("connect", duration(), func(t *plan.Timeouts) *plan.Duration { return &t.Connect }, "DNS lookup, connect and TLS handshake."),
		always("first_byte", duration(), func(t *plan.Timeouts) *plan.Duration { return &t.FirstByte }, "From sending to the first byte of the answer."),
		always("stall", duration(), func(t *plan.Timeouts) *plan.Duration { return &t.Stall }, "Between two reads of an answer."),
		always("request", duration(), func(t *plan.Timeouts) *plan.Duration { return &t.Request }, "From sending to the end of the answer."),
	)
})

func dataSpec() codec[plan.Data] {
	return object(
		always("source", named("`synthetic`, `file`, `tensors`, `random`, `shared_prefix`, `dataset`, `conversation_replay`, `otel_trace`, `weka_trace`, `agents`, `payload`, `sessions`, `trace` or `mock`", sourceNames()...), func(d *plan.Data) *string { return &d.Source },
			"Source of the prompts. Left out: `file` or `tensors` where only that is given, else `synthetic`."),
		fieldOf("file", text(), func(d *plan.Data) *string { return &d.File },
			"JSON lines or plain text, one prompt a line. Relative to the working directory."),
		fieldOf("all_fields", boolean(), func(d *plan.Data) *bool { return &d.AllFields },
			"Send every field of a line of `file` with its request. Left out: those that the APIs are known to have."),
		fieldOf("prompts", integer[int](), func(d *plan.Data) *int { return &d.Prompts },
			"Distinct prompts, used in turn; 0: a new one for each request, or all of the file's."),
		fieldOf("input", lengthSpec(), func(d *plan.Data) *plan.Length { return &d.Input }, "Length of synthetic prompts, in tokens."),
		fieldOf("output", lengthSpec(), func(d *plan.Data) *plan.Length { return &d.Output },
			"Output length to request, in tokens. Left out: the server decides."),
		fieldOf("output_cap", boolean(), func(d *plan.Data) *bool { return &d.OutputCap }, "Answers may be shorter than `output`: it is the most, not the length that is asked for."),
		fieldOf("ahead", aheadSpec(), func(d *plan.Data) *plan.Ahead { return &d.Ahead },
			"For `synthetic` and `random`: draw the lengths before the run, as numpy's default generator does with this seed. Every stage begins with the first. Left out: every request of every stage has a length of its own."),
		fieldOf("ignore_eos", boolean(), func(d *plan.Data) *bool { return &d.IgnoreEOS }, "Send `ignore_eos`: generate the whole length."),
		fieldOf("min_tokens", boolean(), func(d *plan.Data) *bool { return &d.MinTokens }, "Send `min_tokens` equal to the output length."),
		fieldOf("batch", integer[int](), func(d *plan.Data) *int { return &d.Batch },
			"Texts in a request of embeddings or of a template, passages in one of a ranking. Left out: one."),
		fieldOf("input_tokens_count", word(plan.CountContent, plan.CountPrompt), func(d *plan.Data) *string { return &d.Counted },
			"What `input` counts: the `content` of prompts that are made (the default), or the whole `prompt` that the model sees, with the special tokens of a completion and, of synthetic prompts, the chat template. Of `shared_prefix` both parts are counted so."),
		fieldOf("salt", word(plan.SaltRequest, plan.SaltStage, plan.SaltRun), func(d *plan.Data) *string { return &d.Salt },
			"Add a prefix that no cache has seen, new for each request, stage or run."),
		fieldOf("pool", boolean(), func(d *plan.Data) *bool { return &d.Pool },
			"Build `prompts` requests, or as many as the data has, once, and reuse them with the same output lengths, media and models."),
		fieldOf("in_words", integer[int](), func(d *plan.Data) *int { return &d.InWords },
			"Also ask for about this many tokens in the text of synthetic prompts. Their length stays `input`."),
		fieldOf("prefixes", prefixesSpec(), func(d *plan.Data) *plan.Prefixes { return &d.Prefixes }, "Prefixes that synthetic prompts share."),
		fieldOf("system_prompt", count[int](mostLength), func(d *plan.Data) *int { return &d.SystemPrompt },
			"Tokens of a generated system prompt that all requests share, in addition to the prompt's; a message of its own in a chat, which has none of the data's."),
		fieldOf("passages", passagesSpec(), func(d *plan.Data) *plan.Passages { return &d.Passages },
			"Passages that queries are ranked against: `batch` of them for each query. Left out: the prompts that follow."),
		fieldOf("payload", payloadSpec(), func(d *plan.Data) *plan.Payload { return &d.Payload }, "How the lines of a payload file are used."),
		fieldOf("sessions", sessionsSpec(), func(d *plan.Data) *plan.Sessions { return &d.Sessions }, "Generated conversations."),
		fieldOf("tensors", tensorsSpec(), func(d *plan.Data) *plan.Tensors { return &d.Tensors }, "Input tensors instead of prompts."),
		fieldOf("corpus", text(), func(d *plan.Data) *string { return &d.Corpus }, "Text file that synthetic prompts are taken from. Left out: the built-in words."),
		fieldOf("template", boolean(), func(d *plan.Data) *bool { return &d.Template },
			"Apply the tokenizer's chat template to random prompts in the client; lengths then include it."),
		fieldOf("trace", traceSpec(), func(d *plan.Data) *plan.Trace { return &d.Trace }, "Lengths or timestamps from a trace."),
		fieldOf("shared_prefix", sharedPrefixSpec(), func(d *plan.Data) *plan.SharedPrefix { return &d.SharedPrefix }, "Prompts with shared prefixes."),
		fieldOf("dataset", datasetSpec(), func(d *plan.Data) *plan.Dataset { return &d.Dataset }, "A well-known data set."),
		fieldOf("conversations", conversationsSpec(), func(d *plan.Data) *plan.Conversations { return &d.Conversations }, "Generated conversations of many turns."),
		fieldOf("replay", replaySpec(), func(d *plan.Data) *plan.Replay { return &d.Replay }, "Recorded sessions to replay."),
		fieldOf("agents", agentsSpec(), func(d *plan.Data) *plan.Agents { return &d.Agents }, "Generated sessions of agents that call tools and other agents."),
		fieldOf("media", mediaSpec(), func(d *plan.Data) *plan.Media { return &d.Media }, "Images, video and audio in prompts."),
		fieldOf("text_only", boolean(), func(d *plan.Data) *bool { return &d.TextOnly }, "With `target.form`: leave out the images, audio and video that the data names."),
		fieldOf("adapters", list("list of adapters", adapterSpec()), func(d *plan.Data) *[]plan.Adapter { return &d.Adapters },
			"Models, such as LoRA adapters, that share the traffic. None: all requests use `target.model`."),
		fieldOf("model_order", word(plan.OrderShares, plan.OrderRoundRobin), func(d *plan.Data) *string { return &d.ModelOrder },
			"How a request gets one of `adapters`: at random by share, or in turn. Left out: `shares`."),
	)
}

var lengthSpec = sync.OnceValue(func() codec[plan.Length] {
	c := or(object(
		fieldOf("dist", word(plan.Distributions()...), func(l *plan.Length) *string { return &l.Dist },
			"Distribution. Left out: normal with a stddev, uniform with a max and no mean, else fixed."),
		fieldOf("mean", number(), func(l *plan.Length) *float64 { return &l.Mean }, "Mean; for a fixed length, the length."),
		fieldOf("stddev", number(), func(l *plan.Length) *float64 { return &l.Stddev }, "Standard deviation."),
		fieldOf("min", integer[int](), func(l *plan.Length) *int { return &l.Min }, "Minimum; never below 1."),
		fieldOf("max", integer[int](), func(l *plan.Length) *int { return &l.Max }, "Maximum; 0: none."),
		fieldOf("skew", number(), func(l *plan.Length) *float64 { return &l.Skew }, "For `skew_normal`: 0 is symmetric, positive leans right, negative leans left."),
		fieldOf("shifted", boolean(), func(l *plan.Length) *bool { return &l.Shifted },
			"For `lognormal`: `min` plus a lognormal part with the rest of the mean."),
	), "length", plan.ParseLength, schema{"type": "number"}, schema{"type": "string"})
	c.check = func(c *checker, path string, l *plan.Length) { c.length(path, *l) }
	readAny := c.read
	c.read = func(r *reader, n *yaml.Node, path string, l *plan.Length) {
		*l = plan.Length{} // a default's parameters do not mix with those of another distribution
		readAny(r, n, path, l)
		*l = l.Complete()
	}
	write := c.write
	c.write = func(l plan.Length) *yaml.Node {
		if (l == plan.Length{Dist: plan.DistFixed, Mean: l.Mean}) {
			return toNode(l.Mean)
		}
		n := write(l)
		n.Style = yaml.FlowStyle
		return n
	}
	return c
})

func tokenizerSpec() codec[plan.Tokenizer] {
	return or(object(
		always("name", text(), func(t *plan.Tokenizer) *string { return &t.Name }, "The model's tokenizer: a `tokenizer.json`, `tekken.json`, `.tiktoken` or `.model` file, a directory with one, or a Hugging Face ID. `server`: prompts have their exact length by the server's `/tokenize`. `builtin:gpt2` and `words` are stand-ins, which the report notes."),
		fieldOf("revision", text(), func(t *plan.Tokenizer) *string { return &t.Revision }, "Branch, tag or commit of a Hugging Face ID; left out: `main`."),
		fieldOf("optional", boolean(), func(t *plan.Tokenizer) *bool { return &t.Optional }, "Fall back to `builtin:gpt2`, with a note, where it cannot be loaded. Left out: that is an error."),
		fieldOf("find", boolean(), func(t *plan.Tokenizer) *bool { return &t.Find }, "Prompts are to have their exact length: in place of `name`, use the model's own tokenizer from the local cache or the hub, else `server`. Prompts that are more than 5 % longer or shorter are then a fault."),
		fieldOf("count_output", boolean(), func(t *plan.Tokenizer) *bool { return &t.Output }, "Count output tokens with it. Left out: use the server's count where there is one."),
	), "mapping", func(name string) (plan.Tokenizer, error) { return plan.Tokenizer{Name: name}, nil }, schema{"type": "string"})
}

func stageSpec() codec[plan.Stage] {
	return object(
		fieldOf("name", text(), func(s *plan.Stage) *string { return &s.Name }, "Name of the stage in reports."),
		fieldOf("concurrency", integer[int](), func(s *plan.Stage) *int { return &s.Concurrency }, "Closed loop: this many requests in flight."),
		fieldOf("rate", number(), func(s *plan.Stage) *float64 { return &s.Rate },
			"Open loop: requests per second. Either this or `concurrency`."),
		fieldOf("arrival", named("`constant`, `poisson`, `gamma`, `trace`, `intervals` or `sessions`", append(arrivalNames(), plan.ArrivalTrace, plan.ArrivalIntervals, plan.ArrivalSessions)...), func(s *plan.Stage) *string { return &s.Arrival },
			"Arrival process of a rate. Left out: constant. Instead of a rate: `trace` sends at the data's own timestamps, `intervals` at the intervals given here, `sessions` plays whole sessions of the data."),
		fieldOf("intervals", list("list of durations", duration()), func(s *plan.Stage) *[]plan.Duration { return &s.Intervals },
			"With arrival `intervals`: the times between requests, repeated."),
		fieldOf("cv", number(), func(s *plan.Stage) *float64 { return &s.CV }, "Coefficient of variation of gamma arrivals; 1 is Poisson, more is burstier."),
		fieldOf("draws", named("`mt19937`", plan.DrawsMT19937), func(s *plan.Stage) *string { return &s.Draws }, "What Poisson arrivals are drawn with. Left out: the seed. `mt19937`: what C++ programs draw without one."),
		fieldOf("sessions", sessionLoadSpec(), func(s *plan.Stage) *plan.SessionLoad { return &s.Sessions }, "With arrival `sessions`: how many, and when they start."),
		fieldOf("max_in_flight", integer[int](), func(s *plan.Stage) *int { return &s.MaxInFlight },
			"Open loop: cap on requests in flight; arrivals beyond it wait, and are counted."),
		fieldOf("ramp_to", number(), func(s *plan.Stage) *float64 { return &s.RampTo },
			"Concurrency or rate changes linearly to this over the duration."),
		fieldOf("growth", growthSpec(), func(s *plan.Stage) *plan.Growth { return &s.Growth },
			"Concurrency grows as answers come; each request is sent once, and the last answer ends the stage."),
		fieldOf("warmup", warmupSpec(), func(s *plan.Stage) *plan.Warmup { return &s.Warmup },
			"Load that is not measured; the measured part follows without a break."),
		fieldOf("duration", duration(), func(s *plan.Stage) *plan.Duration { return &s.Duration }, "Length of the measured part."),
		fieldOf("requests", integer[int64](), func(s *plan.Stage) *int64 { return &s.Requests },
			"Requests of the measured part. With `duration`, whichever comes first."),
		fieldOf("min_requests", integer[int64](), func(s *plan.Stage) *int64 { return &s.MinRequests },
			"Closed loop: the stage goes on after its `duration` until it has sent so many."),
		fieldOf("gap", duration(), func(s *plan.Stage) *plan.Duration { return &s.Gap }, "Pause before the stage."),
	)
}

func arrivalNames() []string {
	return []string{plan.ArrivalConstant, plan.ArrivalPoisson, plan.ArrivalGamma}
}

func warmupSpec() codec[plan.Warmup] {
	return or(object(
		fieldOf("duration", duration(), func(w *plan.Warmup) *plan.Duration { return &w.Duration }, "Length of the warm-up; `warmup: 5s` for short."),
		fieldOf("requests", integer[int64](), func(w *plan.Warmup) *int64 { return &w.Requests },
			"Requests of the warm-up; `warmup: 100` for short. With both, it ends when both are reached."),
		fieldOf("drain", boolean(), func(w *plan.Warmup) *bool { return &w.Drain },
			"Let warm-up requests finish before the measured part begins, instead of overlapping with it. With `requests` only."),
		fieldOf("auto", boolean(), func(w *plan.Warmup) *bool { return &w.Auto },
			"Treat the start of the stage, until it is steady and at most half of its requests, as warm-up; `warmup: auto` for short."),
	), "duration, whole number, auto or mapping", plan.ParseWarmup, schema{"type": "integer"}, schema{"const": plan.WarmupAuto}, durationSchema())
}

// goodputSpec is a mapping of metric to longest time, or the same on one line.
func goodputSpec() codec[[]plan.SLO] {
	return codec[[]plan.SLO]{
		kind: "mapping of metric to duration",
		zero: func(v []plan.SLO) bool { return len(v) == 0 },
		schema: schema{"anyOf": []any{
			schema{"type": "object", "additionalProperties": durationSchema()},
			schema{"type": "string"},
		}},
		read: func(r *reader, n *yaml.Node, path string, v *[]plan.SLO) {
			if readText(r, n, path, v, ParseGoodput) {
				return
			}
			if n.Kind != yaml.MappingNode {
				r.wrong(n, path, "a mapping such as {ttft: 200ms, itl: 30ms}")
				return
			}
			*v = nil
			limit := duration()
			r.pairs(n, path, func(key string, _, value *yaml.Node) {
				slo := plan.SLO{Metric: plan.SLOMetric(key)}
				sub := document.Join(path, slo.Metric)
				if value = r.enter(value, sub); value != nil {
					limit.read(r, value, sub, &slo.Max)
				}
				*v = append(*v, slo)
			})
		},
		put: func(r *reader, steps []string, n *yaml.Node, path string, v *[]plan.SLO) {
			slo := plan.SLO{Metric: plan.SLOMetric(strings.Join(steps, "."))}
			formOf(duration()).set(r, nil, n, document.Join(path, slo.Metric), &slo.Max)
			*v = append(slices.DeleteFunc(*v, func(s plan.SLO) bool { return s.Metric == slo.Metric }), slo)
		},
		write: func(v []plan.SLO) *yaml.Node {
			m := &yaml.Node{Kind: yaml.MappingNode}
			for _, s := range v {
				m.Content = append(m.Content, toNode(s.Metric), toNode(s.Max.String()))
			}
			return m
		},
	}
}

var maxErrorsSpec = sync.OnceValue(func() codec[plan.MaxErrors] {
	return or(object(
		fieldOf("count", count[int64](mostRequests), func(m *plan.MaxErrors) *int64 { return &m.Count }, "Failed requests; `max_errors: 10` for short."),
		fieldOf("share", share(), func(m *plan.MaxErrors) *float64 { return &m.Share },
			"Share of the finished requests, once there are 20; `max_errors: 5%` for short."),
		fieldOf("same_failure", yes(), func(m *plan.MaxErrors) *bool { return &m.NotAlike },
			"Stop a closed loop whose first requests all fail in the same way: 50 of them, over 3 s or more. Left out: true."),
	), "whole number, share or mapping", plan.ParseMaxErrors, schema{"type": "integer"}, schema{"type": "string", "pattern": `^[0-9.]+ ?%?$`})
})

// seedField is left out where a run draws the seed, and printed otherwise, be it 0.
func seedField() field[plan.Plan] {
	f := always("seed", integer[uint64](), func(p *plan.Plan) *uint64 { return &p.Seed },
		"The same seed gives the same prompts, lengths and arrivals; left out: each run draws one and prints it.")
	f.hidden = func(p any) bool { return p.(*plan.Plan).DrawSeed }
	return f
}

var budgetsSpec = sync.OnceValue(func() codec[plan.Budgets] {
	return object(
		always("dispatch_delay", duration(), func(b *plan.Budgets) *plan.Duration { return &b.Lag }, "How late the client itself sent requests, p99; or `dispatch_delay_share`, if that is more."),
		always("dispatch_delay_share", share(), func(b *plan.Budgets) *float64 { return &b.LagShare }, "The same as a share of the median time to first token."),
		always("cpu", share(), func(b *plan.Budgets) *float64 { return &b.CPU }, "Share of the CPU time that this client may use."),
		always("gc", share(), func(b *plan.Budgets) *float64 { return &b.GC }, "Share of the time in garbage-collection pauses."),
		always("achieved", share(), func(b *plan.Budgets) *float64 { return &b.Achieved }, "Minimum share of the scheduled requests that must be sent."),
		always("token_drift", share(), func(b *plan.Budgets) *float64 { return &b.TokenDrift }, "Disagreement between server and tokenizer on token counts."),
		always("short_output", share(), func(b *plan.Budgets) *float64 { return &b.ShortOutput },
			"Share of answers that are empty or shorter than requested."),
		always("clock_step", duration(), func(b *plan.Budgets) *plan.Duration { return &b.ClockStep }, "Largest step of the wall clock."),
		always("start_skew", duration(), func(b *plan.Budgets) *plan.Duration { return &b.StartSkew },
			"How late the last worker began a stage; or half the time between two requests (50 ms at most), if that is more."),
		always("clock_bound", duration(), func(b *plan.Budgets) *plan.Duration { return &b.ClockBound },
			"By how much the clocks of two workers may differ; or `error` of the measured time, if that is less."),
		always("resent", share(), func(b *plan.Budgets) *float64 { return &b.Resent },
			"Share of requests that were sent twice, because the server closed the connection before it could have read them, and whose latency grew by more than `error` and `dispatch_delay` by that."),
		always("error", share(), func(b *plan.Budgets) *float64 { return &b.Error },
			"How far the error bar of a latency may reach, as a share of it; or `dispatch_delay` or 1.5 ms, if that is more."),
		always("drift", share(), func(b *plan.Budgets) *float64 { return &b.Drift },
			"Change of latency or flow during the stage, times twice the share of the smaller part."),
		always("failures", share(), func(b *plan.Budgets) *float64 { return &b.Failures },
			"Share of requests that failed; those cut off or cancelled at the end of a stage do not count."),
		always("unfinished", share(), func(b *plan.Budgets) *float64 { return &b.Unfinished },
			"Share of requests that were cut off or cancelled at an age of more than 1.5 times the longest latency of those that ended."),
		always("in_flight", share(), func(b *plan.Budgets) *float64 { return &b.InFlight }, "Minimum share of a closed loop's concurrency that must be held, on average."),
		always("client_stalled", share(), func(b *plan.Budgets) *float64 { return &b.Standstill }, "Share of the time in which this client was stalled for 0.25 s or more at a time."),
		always("client_longest_stall", duration(), func(b *plan.Budgets) *plan.Duration { return &b.Pause }, "Longest of those stalls."),
		always("prefix_cache_hits", share(), func(b *plan.Budgets) *float64 { return &b.Cached },
			"Share of prompt tokens found in the server's prefix cache, where no two prompts should share a prefix."),
	)
})

var outputSpec = sync.OnceValue(func() codec[plan.Output] {
	return object(
		fieldOf("dir", text(), func(o *plan.Output) *string { return &o.Dir }, "Directory for records and reports; left out: print only. `inferometer run` fills in `{timestamp}`, `{model}` and `{name}`."),
		fieldOf("keep_raw", boolean(), func(o *plan.Output) *bool { return &o.KeepRaw }, "Keep the bytes of every answer."),
		fieldOf("no_texts", boolean(), func(o *plan.Output) *bool { return &o.NoTexts }, "Keep no text of answers: records hold times, counts and failures alone."),
		fieldOf("on_disk_full", word(plan.OnFullContinue, plan.OnFullStop), func(o *plan.Output) *string { return &o.OnFull },
			"When records cannot be written any more, as on a full disk: continue without them, or stop the run. Left out: `continue`. Either way it is reported at once, and the exit code is 1."),
		fieldOf("s3", s3Spec(), func(o *plan.Output) *plan.S3 { return &o.S3 }, "S3 bucket to copy reports to, with the environment's credentials."),
		fieldOf("gcs", gcsSpec(), func(o *plan.Output) *plan.GCS { return &o.GCS }, "Google Cloud Storage bucket to copy reports to."),
	)
})

// headersSpec is a mapping of header to value.
func headersSpec() codec[map[string]string] {
	return codec[map[string]string]{
		kind:   "mapping of name to text",
		schema: schema{"type": "object", "additionalProperties": schema{"type": "string"}},
		zero:   func(v map[string]string) bool { return len(v) == 0 },
		read: func(r *reader, n *yaml.Node, path string, v *map[string]string) {
			if n.Kind != yaml.MappingNode {
				r.wrong(n, path, "a mapping of header to value")
				return
			}
			*v = map[string]string{}
			r.pairs(n, path, func(key string, _, value *yaml.Node) {
				var s string
				sub := document.Join(path, key)
				if value = r.enter(value, sub); value != nil {
					text().read(r, value, sub, &s)
				}
				(*v)[key] = s
			})
		},
		put: func(r *reader, steps []string, n *yaml.Node, path string, v *map[string]string) {
			if *v == nil {
				*v = map[string]string{}
			}
			name, value := strings.Join(steps, "."), ""
			formOf(text()).set(r, nil, n, document.Join(path, name), &value)
			(*v)[name] = value
		},
		write: func(v map[string]string) *yaml.Node {
			m := &yaml.Node{Kind: yaml.MappingNode}
			for _, k := range slices.Sorted(maps.Keys(v)) {
				m.Content = append(m.Content, toNode(k), toNode(v[k]))
			}
			return m
		},
	}
}

// ParseGoodput reads objectives: "ttft:200ms,itl:30ms". The names are those of
// SLOMetrics or ttft, itl, tpot, ntpot, latency, e2e and the like. Every part
// that cannot be read is in the error.
func ParseGoodput(s string) ([]plan.SLO, error) {
	var slos []plan.SLO
	var errs []error
	for part := range strings.SplitSeq(s, ",") {
		name, value, ok := strings.Cut(part, ":")
		if !ok {
			errs = append(errs, fmt.Errorf("%s is not an objective: write it as ttft:200ms,itl:30ms", truncate.Quote(part)))
			continue
		}
		limit, err := plan.ParseDuration(value)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", strings.TrimSpace(name), err))
			continue
		}
		slos = append(slos, plan.SLO{Metric: plan.SLOMetric(name), Max: limit})
	}
	if len(errs) == 0 {
		return slos, nil
	}
	// What can be read is not looked at again: its faults are told here too.
	var c checker
	c.goodput(slos)
	for _, f := range c.faults {
		errs = append(errs, fmt.Errorf("%s: %s", strings.TrimPrefix(f.Path, "goodput."), f.Text))
	}
	return slos, errors.Join(errs...)
}
