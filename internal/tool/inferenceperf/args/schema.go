package args

import "sync"

// kind is the form of a value in a config file.
type kind int

const (
	text kind = iota
	whole
	number
	boolean
	choice  // one of words
	list    // of item
	mapping // of any name to item
	object  // of keys
	free    // anything that YAML can say
	union   // of scalar, mapped or listed, by how it is written
)

// form says what a value may be.
type form struct {
	kind  kind
	name  string   // of a form that the documentation explains once
	words []string // of a choice
	item  *form    // of a list or mapping
	keys  []key    // of an object
	loose bool     // keys of an object that are not known are passed over
	// least and most bound a number; over: least itself is too little.
	least, most *float64
	over        bool
	// The forms of a union; nil: not to be had.
	scalar, mapped, listed *form
}

// key is one key of an object.
type key struct {
	name string
	also string // an older name
	form form
	def  any  // default of a scalar or list; nil: there is none
	must bool // it has to be given
	// open: the key may be left out or null, and then there is none.
	open   bool
	unsaid bool // null is not shown: the original does not know it here
	secret bool // never shown
	help   string
}

// Forms that stand in the tables.
var (
	textForm    = form{kind: text}
	wholeForm   = form{kind: whole}
	numberForm  = form{kind: number}
	booleanForm = form{kind: boolean}
	freeForm    = form{kind: free}
	countForm   = form{kind: whole, least: new(0.0)}
	posWhole    = form{kind: whole, least: new(0.0), over: true}
	posNumber   = form{kind: number, least: new(0.0), over: true}
	nonNegative = form{kind: number, least: new(0.0)}
)

func words(w ...string) form { return form{kind: choice, words: w} }

func listOf(item form) form { return form{kind: list, item: &item} }

func mapOf(item form) form { return form{kind: mapping, item: &item} }

func section(keys ...key) form { return form{kind: object, keys: keys} }

// looseSection is a section in which the original minds no other keys.
func looseSection(keys ...key) form { return form{kind: object, keys: keys, loose: true} }

// root is the whole schema.
var root = sync.OnceValue(func() form {
	return section(
		key{name: "api", form: apiForm(), help: "The API to measure and what requests carry."},
		key{name: "data", form: dataForm(), help: "Where prompts come from."},
		key{name: "load", form: loadForm(), help: "When requests are sent."},
		key{name: "metrics", form: metricsForm(), open: true, help: "Where server metrics come from."},
		key{name: "report", form: reportForm(), help: "Which reports to write."},
		key{name: "storage", form: storageForm(), help: "Where to write reports. null: print only."},
		key{name: "server", form: serverForm(), open: true, help: "The server under test."},
		key{name: "tokenizer", form: tokenizerForm(), open: true, help: "Client-side tokenizer."},
		key{name: "circuit_breakers", form: listOf(breakerForm()), open: true, help: "Conditions that end the run; `load.circuit_breakers` lists the active ones."},
	)
})

func apiForm() form {
	format := section(
		key{name: "type", form: words("json_schema", "json_object"), def: "json_schema", help: "A schema that responses must follow, or any JSON object."},
		key{name: "name", form: textForm, def: "structured_output", help: "Name of the schema in requests."},
		key{name: "json_schema", form: mapOf(freeForm), open: true, help: "The schema."},
	)
	return section(
		key{name: "type", form: words("completion", "chat", "anthropic_messages"), def: "completion", help: "/v1/completions, /v1/chat/completions or /v1/messages."},
		key{name: "streaming", form: booleanForm, def: false, help: "Stream responses: time to first token and inter-token latency need it."},
		key{name: "headers", form: mapOf(textForm), open: true, secret: true, help: "Headers added to every request."},
		key{name: "slo_unit", form: words("s", "ms", "us"), open: true, help: "Unit of the SLO headers; null: ms."},
		key{name: "slo_tpot_header", form: textForm, open: true, help: "Header with the limit on time per output token; null: x-slo-tpot-UNIT."},
		key{name: "slo_ttft_header", form: textForm, open: true, help: "Header with the limit on time to first token; null: x-slo-ttft-UNIT."},
		key{name: "response_format", form: format, open: true, help: "Structured output, sent as `response_format`. Not for anthropic_messages."},
		key{name: "session_id_header_key", form: textForm, open: true, help: "Request header for the session ID."},
		key{name: "session_token_header_key", form: textForm, open: true, help: "Response header whose value later requests of the session send back."},
	)
}

func metricsForm() form {
	prometheus := section(
		key{name: "scrape_interval", form: posWhole, def: 15, help: "Scrape interval of the Prometheus server, in seconds."},
		key{name: "url", form: textForm, open: true, help: "URL of the Prometheus server."},
		key{name: "filters", form: listOf(textForm), def: []any{}, help: "Label matchers for every query, such as `namespace='llm'`."},
		key{name: "google_managed", form: booleanForm, def: false, help: "Use Google Managed Prometheus instead of `url`."},
	)
	return section(
		key{name: "type", form: words("prometheus", "default"), must: true, help: "Source of server metrics."},
		key{name: "prometheus", form: prometheus, open: true, help: "The Prometheus server; exactly one of `url` and `google_managed`."},
		key{name: "scrape_urls", form: listOf(textForm), open: true,
			help: "Inferometer extension: metrics pages of servers and exporters, such as http://localhost:8000/metrics, scraped once a second."},
	)
}

func serverForm() form {
	return section(
		key{name: "type", form: words("vllm", "sglang", "tgi", "mock"), def: "vllm", help: "Kind of server, which decides the names of its metrics. `mock` is the built-in server; `base_url` is not used."},
		key{name: "model_name", form: textForm, open: true, help: "Model to request; null: the first one the server lists."},
		key{name: "base_url", form: textForm, must: true, help: "URL of the server, such as http://localhost:8000."},
		key{name: "ignore_eos", form: booleanForm, def: true, help: "Ignore the end-of-sequence token, so that responses have the full length."},
		key{name: "api_key", form: textForm, open: true, secret: true, help: "Sent as a bearer token; for anthropic_messages: as x-api-key."},
		key{name: "cert_path", form: textForm, open: true, help: "Client certificate file."},
		key{name: "key_path", form: textForm, open: true, help: "Key file of the client certificate."},
		key{name: "ca_path", form: textForm, open: true, help: "Inferometer extension: CA certificates to trust instead of the system's."},
		key{name: "insecure", form: booleanForm, def: false, help: "Inferometer extension: do not verify the server's certificate."},
	)
}

func tokenizerForm() form {
	return section(
		key{name: "pretrained_model_name_or_path", form: textForm, open: true, help: "File, directory or Hugging Face ID; null: `server.model_name`."},
		key{name: "trust_remote_code", form: booleanForm, open: true, help: "Accepted, no effect: remote code is never run."},
		key{name: "token", form: textForm, open: true, secret: true, help: "Hugging Face access token, instead of HF_TOKEN."},
		key{name: "load_timeout", form: posNumber, def: 300.0, open: true, help: "Timeout for loading it, in seconds."},
	)
}

func breakerForm() form {
	trigger := looseSection(
		key{name: "type", form: words("consecutive", "rate_over_window"), must: true, help: "Hits in a row, or the share of hits in a window."},
		key{name: "window_sec", form: posNumber, open: true, help: "Length of the window, in seconds."},
		key{name: "threshold", form: nonNegative, must: true, help: "Hits in a row, 1 or more; or a share from 0 to 1."},
		key{name: "min_samples", form: countForm, open: true, help: "Minimum samples in a window."},
	)
	metrics := looseSection(
		key{name: "matches", form: listOf(textForm), must: true, help: "JMESPath expressions over a finished request; it is a sample if any is true."},
		key{name: "rules", form: listOf(textForm), def: []any{}, help: "JMESPath expressions; a sample is a hit if any is true. Empty: every sample is."},
	)
	return looseSection(
		key{name: "name", form: textForm, must: true, help: "Name for `load.circuit_breakers`."},
		key{name: "metrics", form: metrics, must: true, help: "Which requests count."},
		key{name: "triggers", form: listOf(trigger), must: true, help: "Any of these opens the breaker."},
	)
}

func reportForm() form {
	onOff := func(name string, on bool, help string) key {
		return key{name: name, form: booleanForm, def: on, help: help}
	}
	fields := section(
		onOff("request", true, "Request body."),
		onOff("response", true, "Response body."),
		onOff("info", true, "Token counts, timestamps and server usage."),
		onOff("response_chunks", true, "Chunks of a streamed response."),
		onOff("computed_metrics", false, "Latencies and token counts of the request."),
	)
	lifecycle := section(
		onOff("summary", true, "summary_lifecycle_metrics.json."),
		onOff("per_stage", true, "stage_N_lifecycle_metrics.json."),
		onOff("per_request", false, "per_request_lifecycle_metrics.json."),
		key{name: "per_request_fields", form: fields, help: "Fields of an entry in that report."},
		onOff("per_adapter", true, "adapter_NAME_lifecycle_metrics.json."),
		onOff("per_adapter_stage", false, "adapter_NAME_stage_N_lifecycle_metrics.json."),
		key{name: "percentiles", form: listOf(form{kind: number, least: new(0.0), most: new(100.0)}), def: []any{0.1, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9}, help: "Percentiles to report for every metric."},
		onOff("use_server_output_tokens", false, "Use the server's output token counts instead of the tokenizer's."),
		key{name: "max_error_messages", form: countForm, def: 100, help: "Maximum error messages to keep per kind of error."},
	)
	return section(
		key{name: "request_lifecycle", form: lifecycle, help: "Per-request metrics."},
		key{name: "prometheus", form: section(
			onOff("summary", true, "summary_prometheus_metrics.json."),
			onOff("per_stage", false, "stage_N_prometheus_metrics.json."),
		), help: "Server metrics."},
		key{name: "session_lifecycle", form: section(
			onOff("summary", true, "summary_session_lifecycle_metrics.json."),
			onOff("per_stage", true, "stage_N_session_lifecycle_metrics.json."),
			onOff("per_session", false, "per_session_lifecycle_metrics.json."),
		), help: "Session metrics."},
		key{name: "goodput", form: section(
			key{name: "constraints", form: mapOf(posNumber), def: map[string]any{}, help: "Limits in seconds for `ttft`, `tpot`, `itl`, `ntpot` and `request_latency`."},
		), open: true, help: "Limits that a good request meets."},
	)
}

func storageForm() form {
	place := []key{
		{name: "path", form: textForm, def: "reports-{timestamp}", help: "Directory, or path in the bucket. `{timestamp}` is replaced by the start time."},
		{name: "report_file_prefix", form: textForm, open: true, help: "Prefix of report file names."},
	}
	bucket := key{name: "bucket_name", form: textForm, must: true, help: "The bucket; it must exist."}
	return section(
		key{name: "local_storage", form: section(place...), help: "A local directory."},
		key{name: "google_cloud_storage", form: section(append(place[:2:2], bucket)...), open: true, help: "Google Cloud Storage bucket to upload reports to."},
		key{name: "simple_storage_service", form: section(append(place[:2:2], bucket,
			key{name: "endpoint_url", form: textForm, open: true, help: "URL of the S3 server; null: Amazon's."},
			key{name: "region_name", form: textForm, open: true, help: "Region of the bucket."},
			key{name: "addressing_style", form: words("auto", "virtual", "path"), open: true, help: "Whether the bucket is part of the host name or of the path."},
		)...), open: true, help: "S3 bucket to upload reports to."},
	)
}
