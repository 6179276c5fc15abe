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
	// refused are words of a choice that are known and not to be had, and why.
	refused map[string]string
	item    *form // of a list or mapping
	keys    []key // of an object
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
	// refused says why the key is known and may be nothing but null, and what to use.
	refused string
	help    string
}

func f64(v float64) *float64 { return &v }

// Forms that stand in the tables.
var (
	textForm    = form{kind: text}
	wholeForm   = form{kind: whole}
	numberForm  = form{kind: number}
	booleanForm = form{kind: boolean}
	freeForm    = form{kind: free}
	countForm   = form{kind: whole, least: f64(0)}
	posWhole    = form{kind: whole, least: f64(0), over: true}
	posNumber   = form{kind: number, least: f64(0), over: true}
	nonNegative = form{kind: number, least: f64(0)}
)

func words(w ...string) form { return form{kind: choice, words: w} }

func listOf(item form) form { return form{kind: list, item: &item} }

func mapOf(item form) form { return form{kind: mapping, item: &item} }

func section(keys ...key) form { return form{kind: object, keys: keys} }

// root is the whole schema.
var root = sync.OnceValue(func() form {
	return section(
		key{name: "api", form: apiForm(), help: "The API that is measured and what requests carry."},
		key{name: "data", form: dataForm(), help: "What prompts are made of."},
		key{name: "load", form: loadForm(), help: "When requests are sent."},
		key{name: "metrics", form: metricsForm(), open: true, help: "Where metrics of the server's own come from."},
		key{name: "report", form: reportForm(), help: "Which reports are written."},
		key{name: "storage", form: storageForm(), help: "Where reports are written. null: nowhere but the screen."},
		key{name: "server", form: serverForm(), open: true, help: "The server under test."},
		key{name: "tokenizer", form: tokenizerForm(), open: true, help: "What counts tokens on this side."},
		key{name: "circuit_breakers", form: listOf(breakerForm()), open: true, help: "Conditions that end the run; `load.circuit_breakers` names those that are in force."},
	)
})

func apiForm() form {
	format := section(
		key{name: "type", form: words("json_schema", "json_object"), def: "json_schema", help: "A schema that answers must follow, or any JSON object."},
		key{name: "name", form: textForm, def: "structured_output", help: "What the schema is called in requests."},
		key{name: "json_schema", form: mapOf(freeForm), open: true, help: "The schema."},
	)
	return section(
		key{name: "type", form: words("completion", "chat", "anthropic_messages"), def: "completion", help: "/v1/completions, /v1/chat/completions or /v1/messages."},
		key{name: "streaming", form: booleanForm, def: false, help: "Ask for a stream: only then there are times to first token and between tokens."},
		key{name: "headers", form: mapOf(textForm), open: true, secret: true, help: "Headers added to every request."},
		key{name: "slo_unit", form: words("s", "ms", "us"), open: true, help: "Unit of the headers that hold objectives; null: ms."},
		key{name: "slo_tpot_header", form: textForm, open: true, help: "Header that holds the longest time per output token; null: x-slo-tpot-UNIT."},
		key{name: "slo_ttft_header", form: textForm, open: true, help: "Header that holds the longest time to first token; null: x-slo-ttft-UNIT."},
		key{name: "response_format", form: format, open: true, help: "Structured answers, sent as `response_format`. Not of anthropic_messages."},
		key{name: "session_id_header_key", form: textForm, open: true, help: "Header that carries the session's id."},
		key{name: "session_token_header_key", form: textForm, open: true, help: "Response header whose value later requests of the session send back."},
	)
}

func metricsForm() form {
	prometheus := section(
		key{name: "scrape_interval", form: posWhole, def: 15, help: "How often that Prometheus scrapes, in seconds."},
		key{name: "url", form: textForm, open: true, help: "Address of the Prometheus server."},
		key{name: "filters", form: listOf(textForm), def: []any{}, help: "Label matchers of every query, such as `namespace='llm'`."},
		key{name: "google_managed", form: booleanForm, def: false, help: "Google Managed Prometheus instead of `url`."},
	)
	return section(
		key{name: "type", form: words("prometheus", "default"), must: true, help: "Where from."},
		key{name: "prometheus", form: prometheus, open: true, help: "The Prometheus server; exactly one of `url` and `google_managed`."},
		key{name: "scrape_urls", form: listOf(textForm), open: true,
			help: "Inferometer extension: pages of metrics of the servers and exporters themselves, such as http://localhost:8000/metrics, read once a second."},
	)
}

func serverForm() form {
	return section(
		key{name: "type", form: words("vllm", "sglang", "tgi", "mock"), def: "vllm", help: "Whose names metrics have. `mock` is the built-in server, and `base_url` is not used."},
		key{name: "model_name", form: textForm, open: true, help: "Model to ask for; null: the first that the server lists."},
		key{name: "base_url", form: textForm, must: true, help: "Address of the server, such as http://localhost:8000."},
		key{name: "ignore_eos", form: booleanForm, def: true, help: "Ask for the whole length of answer."},
		key{name: "api_key", form: textForm, open: true, secret: true, help: "Sent as a bearer token; of anthropic_messages, as x-api-key."},
		key{name: "cert_path", form: textForm, open: true, help: "Client certificate file."},
		key{name: "key_path", form: textForm, open: true, help: "Key file of the client certificate."},
		key{name: "ca_path", form: textForm, open: true, help: "Inferometer extension: file of certificates to trust, instead of the system's."},
		key{name: "insecure", form: booleanForm, def: false, help: "Inferometer extension: do not verify the server's certificate."},
	)
}

func tokenizerForm() form {
	return section(
		key{name: "pretrained_model_name_or_path", form: textForm, open: true, help: "File, directory or name on the hub; null: that of the model."},
		key{name: "trust_remote_code", form: booleanForm, open: true, help: "Accepted and without effect: no code of others is ever run."},
		key{name: "token", form: textForm, open: true, secret: true, help: "Access token of the hub, instead of HF_TOKEN."},
		key{name: "load_timeout", form: posNumber, def: 300.0, open: true, help: "Longest time that loading it may take, in seconds."},
	)
}

func breakerForm() form {
	trigger := section(
		key{name: "type", form: words("consecutive", "rate_over_window"), must: true, help: "Hits in a row, or the share of hits in a window."},
		key{name: "threshold", form: nonNegative, must: true, help: "How many in a row, 1 or more; or a share from 0 to 1."},
		key{name: "window_sec", form: posNumber, open: true, help: "Length of the window, in seconds."},
		key{name: "min_samples", form: countForm, open: true, help: "Samples that a window must have to be judged."},
	)
	metrics := section(
		key{name: "matches", form: listOf(textForm), must: true, help: "JMESPath expressions over a finished request; any that holds makes it a sample."},
		key{name: "rules", form: listOf(textForm), def: []any{}, help: "Which samples are hits: any that holds; none: all."},
	)
	return section(
		key{name: "name", form: textForm, must: true, help: "What `load.circuit_breakers` calls it."},
		key{name: "metrics", form: metrics, must: true, help: "Which requests count."},
		key{name: "triggers", form: listOf(trigger), must: true, help: "What opens it: any of these."},
	)
}

func reportForm() form {
	onOff := func(name string, on bool, help string) key {
		return key{name: name, form: booleanForm, def: on, help: help}
	}
	fields := section(
		onOff("request", true, "Body of the request."),
		onOff("response", true, "Body of the answer."),
		onOff("info", true, "What is known of the answer."),
		onOff("response_chunks", true, "Pieces of a streamed answer."),
		onOff("computed_metrics", false, "Latencies and token counts of the request."),
	)
	lifecycle := section(
		onOff("summary", true, "summary_lifecycle_metrics.json."),
		onOff("per_stage", true, "stage_N_lifecycle_metrics.json."),
		onOff("per_request", false, "per_request_lifecycle_metrics.json."),
		key{name: "per_request_fields", form: fields, help: "What an entry of that report has."},
		onOff("per_adapter", true, "adapter_NAME_lifecycle_metrics.json."),
		onOff("per_adapter_stage", false, "adapter_NAME_stage_N_lifecycle_metrics.json."),
		key{name: "percentiles", form: listOf(form{kind: number, least: f64(0), most: f64(100)}), def: []any{0.1, 1.0, 5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9}, help: "Percentiles of every metric."},
		onOff("use_server_output_tokens", false, "Count answers by what the server says instead of the tokenizer."),
		key{name: "max_error_messages", form: countForm, def: 100, help: "Most messages that are kept of each kind of error."},
	)
	return section(
		key{name: "request_lifecycle", form: lifecycle, help: "What requests took."},
		key{name: "prometheus", form: section(
			onOff("summary", true, "summary_prometheus_metrics.json."),
			onOff("per_stage", false, "stage_N_prometheus_metrics.json."),
		), help: "What the server says of itself."},
		key{name: "session_lifecycle", form: section(
			onOff("summary", true, "summary_session_lifecycle_metrics.json."),
			onOff("per_stage", true, "stage_N_session_lifecycle_metrics.json."),
			onOff("per_session", false, "per_session_lifecycle_metrics.json."),
		), help: "What sessions took."},
		key{name: "goodput", form: section(
			key{name: "constraints", form: mapOf(posNumber), def: map[string]any{}, help: "Longest times in seconds by `ttft`, `tpot`, `itl`, `ntpot` and `request_latency`."},
		), open: true, help: "Objectives that a good request keeps to."},
	)
}

func storageForm() form {
	place := []key{
		{name: "path", form: textForm, def: "reports-{timestamp}", help: "Directory, or path in the bucket. `{timestamp}` becomes the time of the start."},
		{name: "report_file_prefix", form: textForm, open: true, help: "What the names of reports begin with."},
	}
	bucket := key{name: "bucket_name", form: textForm, must: true, help: "The bucket; it must be there."}
	return section(
		key{name: "local_storage", form: section(place...), help: "A local directory."},
		key{name: "google_cloud_storage", form: section(append(place[:2:2], bucket)...), open: true, help: "A bucket of Google Cloud Storage that reports are copied to."},
		key{name: "simple_storage_service", form: section(append(place[:2:2], bucket,
			key{name: "endpoint_url", form: textForm, open: true, help: "Address of the S3 server; null: Amazon's."},
			key{name: "region_name", form: textForm, open: true, help: "Region of the bucket."},
			key{name: "addressing_style", form: words("auto", "virtual", "path"), open: true, help: "Whether the bucket stands in the host's name or in the path."},
		)...), open: true, help: "A bucket of an S3 server that reports are copied to."},
	)
}
