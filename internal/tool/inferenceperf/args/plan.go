package args

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/document"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

type builder struct {
	tree   *value
	action *Action
	faults plan.Faults
	now    time.Time
	plan   plan.Plan
}

// fault is one of the config's value at a path, unless that could not be read.
func (b *builder) fault(path, text, hint string) {
	if slices.ContainsFunc(b.faults, func(f plan.Fault) bool { return f.Path != "" && within(path, f.Path) }) {
		return
	}
	b.faults = append(b.faults, plan.Fault{Where: b.whereIs(path), Path: path, Text: text, Hint: hint})
}

// within reports whether a path is outer or a part of it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// whereIs is where the value at a path was set, or what holds it.
func (b *builder) whereIs(path string) string {
	v, where := b.tree, b.tree.where
	for name := range strings.SplitSeq(path, ".") {
		name, index, _ := strings.Cut(name, "[")
		if v = v.child(name); v == nil {
			return where
		}
		where = cmp.Or(v.where, where)
		if i, err := strconv.Atoi(strings.TrimSuffix(index, "]")); err == nil && i < len(v.list) {
			if v = v.list[i]; v == nil {
				return where
			}
			where = cmp.Or(v.where, where)
		}
	}
	return where
}

func (b *builder) value(path string) *value { return b.tree.child(path) }

// usualTimeout bounds a request where the config has no bound.
const usualTimeout = plan.Duration(10 * time.Minute)

// build makes the plan and the options. What does not fit is among the faults.
func (b *builder) build() {
	p := &b.plan
	*p = plan.Default()
	p.Name = "inference-perf"
	p.Data = plan.Data{}
	p.Budgets.Cached = 1 // the seed is the tool's own: what a run before left in the cache is a note
	// The original sends every request of its load, whatever becomes of them, and no other.
	p.Target.Proxy = plan.ProxyNone // which the original does not know
	p.Target.NoPreflight, p.Target.RetryAfter, p.MaxErrors.NotAlike = true, plan.RetryIgnore, true
	p.Seed = uint64(b.now.UnixMilli())
	if v := b.value("load.base_seed"); v != nil {
		p.Seed = uint64(v.integer())
	} else if l := b.value("load"); l != nil {
		l.put("base_seed", &value{kind: whole, scalar: b.now.UnixMilli()})
	}
	b.target(&p.Target)
	b.tokenizer(p)
	b.data()
	b.load()
	b.breakers()
	b.metrics(&p.Probes)
	b.reports()
	b.storage()
	b.idle()
	b.validate(p)
	if len(b.faults) > 0 {
		slices.SortStableFunc(b.faults, inOrder)
		return
	}
	b.action.Plan = p
}

// validate adds what is wrong with the plan. Of a section of the config that is faulty
// already nothing is added: what became of it says nothing of what was meant.
func (b *builder) validate(p *plan.Plan) {
	section := func(path string) string { return path[:strings.IndexAny(path+".", ".[")] }
	faulty := map[string]bool{}
	for _, f := range b.faults {
		faulty[section(f.Path)] = true
	}
	faulty["load"] = faulty["load"] || faulty["data"] // which loads go depends on the data
	var faults plan.Faults
	names := b.action.Names()
	names.Place = b.locate
	errors.As(names.Error(planfile.Validate(p)), &faults)
	for _, f := range faults {
		if !faulty[section(f.Path)] {
			b.faults = append(b.faults, f)
		}
	}
}

// inOrder compares faults: those of a file by its lines, behind those of flags.
func inOrder(a, b plan.Fault) int { return slices.Compare(place(a.Where), place(b.Where)) }

// place is the line and column of file:line:column; none of a flag.
func place(where string) []int {
	parts := strings.Split(where, ":")
	if len(parts) < 3 {
		return nil
	}
	line, _ := strconv.Atoi(parts[len(parts)-2])
	column, _ := strconv.Atoi(parts[len(parts)-1])
	return []int{line, column}
}

func (b *builder) target(t *plan.Target) {
	api := b.value("api")
	b.action.Options.Server = b.value("server.type").text()
	switch api.child("type").text() {
	case "completion":
		t.Endpoint = plan.EndpointCompletions
	case "anthropic_messages":
		t.Protocol, t.Endpoint = plan.ProtocolAnthropic, plan.EndpointMessages
	}
	t.Streaming = api.child("streaming").yes()
	t.Headers = api.child("headers").textMap()
	t.Session = plan.SessionHeaders{ID: api.child("session_id_header_key").text(), Token: api.child("session_token_header_key").text()}
	t.Body = map[string]any{}
	if !t.Streaming {
		t.Body["stream"] = false
	}
	if t.Protocol != plan.ProtocolAnthropic && !b.value("server.ignore_eos").yes() {
		t.Body["ignore_eos"] = false
	}
	if t.Endpoint == plan.EndpointCompletions && b.value("data.use_chat_template").yes() {
		t.Body["add_special_tokens"] = false // the template's own are in the text
	}
	if f := api.child("response_format"); f != nil {
		b.responseFormat(t, f)
	}
	b.sloHeaders(t, api)
	t.Timeouts.Request = usualTimeout
	if v := b.value("load.request_timeout"); v.number() > 0 {
		t.Timeouts.Request = seconds(v.number())
	}
	b.server(t)
}

func (b *builder) responseFormat(t *plan.Target, f *value) {
	if t.Protocol == plan.ProtocolAnthropic {
		b.warn("api.response_format has no effect: anthropic_messages does not support it")
		return
	}
	format := map[string]any{"type": "json_object"}
	if f.child("type").text() == "json_schema" {
		if f.child("json_schema") == nil {
			b.fault("api.response_format.json_schema", "is missing", "give the schema, or set type to json_object")
		}
		format = map[string]any{"type": "json_schema", "json_schema": map[string]any{
			"name": f.child("name").text(), "schema": f.child("json_schema").plain(),
		}}
	}
	t.Body["response_format"] = format
}

// sloHeaders finds the headers that hold a request's objectives. They are the same for
// all requests, so what they say takes the place of the objectives of the report.
func (b *builder) sloHeaders(t *plan.Target, api *value) {
	unit := cmp.Or(api.child("slo_unit").text(), "ms")
	h := plan.SLOHeaders{
		TTFT: cmp.Or(api.child("slo_ttft_header").text(), "x-slo-ttft-"+unit),
		TPOT: cmp.Or(api.child("slo_tpot_header").text(), "x-slo-tpot-"+unit), Unit: unit,
	}
	sent := slices.AppendSeq(slices.Collect(maps.Keys(t.Headers)), maps.Values(b.value("data.otel_trace_replay.attribute_to_header_map").textMap()))
	used := slices.ContainsFunc(sent, func(name string) bool { return strings.EqualFold(name, h.TTFT) || strings.EqualFold(name, h.TPOT) })
	if used || api.child("slo_ttft_header") != nil || api.child("slo_tpot_header") != nil {
		t.SLOHeaders = h
	}
}

func (b *builder) server(t *plan.Target) {
	s := b.value("server")
	if s == nil {
		b.fault("server", "is missing: there is nothing to measure", "such as server: {type: vllm, base_url: http://localhost:8000}")
		return
	}
	t.Model = s.child("model_name").text()
	t.TLS = plan.TLS{Cert: s.child("cert_path").text(), Key: s.child("key_path").text(), CA: s.child("ca_path").text(), Insecure: s.child("insecure").yes()}
	if b.action.Options.Server == "mock" {
		b.warn("server.type mock is the built-in server; server.base_url is not used")
	} else {
		t.URLs = []string{s.child("base_url").text()}
	}
	if k := s.child("api_key").text(); k == hidden {
		b.fault("server.api_key", "was removed when this config was written", "add it again")
	} else if k != "" {
		name, value := "Authorization", "Bearer "+k
		if t.Protocol == plan.ProtocolAnthropic {
			name, value = "x-api-key", k
		}
		if t.Headers == nil {
			t.Headers = map[string]string{}
		}
		if headerOf(t.Headers, name) == "" {
			t.Headers[name] = value
		}
	}
}

// headerOf is a header as it is written here, whatever its case; empty: there is none.
func headerOf(headers map[string]string, name string) string {
	for given := range headers {
		if strings.EqualFold(given, name) {
			return given
		}
	}
	return ""
}

// tokenizer names what counts tokens. If the config does not, the run tries the model's first.
func (b *builder) tokenizer(p *plan.Plan) {
	o := &b.action.Options
	o.HubToken = b.value("tokenizer.token").text()
	if name := b.value("tokenizer.pretrained_model_name_or_path").text(); name != "" {
		p.Tokenizer.Name, o.TokenizerGiven = name, true
	}
	// The screen says what the reports say.
	p.Tokenizer.Output = !b.value("report.request_lifecycle.use_server_output_tokens").yes()
	if o.Faithful {
		p.Target.Counts = plan.CountsPlain
	}
	o.TokenizerTimeout = time.Duration(seconds(b.value("tokenizer.load_timeout").number()))
}

func (b *builder) breakers() {
	defined := map[string]plan.Breaker{}
	var names []string
	for i, v := range b.value("circuit_breakers").items() {
		br := plan.Breaker{Name: v.child("name").text(), Matches: v.child("metrics.matches").texts(), Rules: v.child("metrics.rules").texts()}
		for _, t := range v.child("triggers").items() {
			br.Triggers = append(br.Triggers, plan.Trigger{
				Kind: t.child("type").text(), Threshold: t.child("threshold").number(),
				Window: seconds(t.child("window_sec").number()), MinSamples: int(t.child("min_samples").integer()),
			})
		}
		if _, twice := defined[br.Name]; twice {
			b.fault(fmt.Sprintf("circuit_breakers[%d].name", i), quote(br.Name)+" is given twice", "")
		}
		defined[br.Name] = br
		names = append(names, br.Name)
	}
	for i, name := range b.value("load.circuit_breakers").texts() {
		br, ok := defined[name]
		if !ok {
			b.fault(fmt.Sprintf("load.circuit_breakers[%d]", i), "there is no breaker "+quote(name),
				suggestion(name, names, "circuit_breakers has "+cmp.Or(strings.Join(names, ", "), "none")))
			continue
		}
		b.plan.Breakers = append(b.plan.Breakers, br)
	}
	if len(names) > 0 && len(b.plan.Breakers) == 0 {
		b.warn("circuit_breakers are defined, but load.circuit_breakers lists none: none is active")
	}
}

func (b *builder) metrics(p *plan.Probes) {
	m := b.value("metrics")
	if m == nil {
		return
	}
	p.Scrape = m.child("scrape_urls").texts()
	if m.child("type").text() != "prometheus" {
		return
	}
	v := m.child("prometheus")
	if v == nil {
		b.warn("metrics.type prometheus collects nothing: there is no metrics.prometheus, such as {url: http://localhost:9090}")
		return
	}
	p.Prometheus = plan.Prometheus{
		URL: v.child("url").text(), GoogleManaged: v.child("google_managed").yes(), Filters: v.child("filters").texts(),
		Interval: seconds(v.child("scrape_interval").number()), Server: b.action.Options.Server,
	}
	if p.Prometheus.Server == "mock" {
		p.Prometheus.Server = "vllm"
	}
	if (p.Prometheus.URL != "") == p.Prometheus.GoogleManaged {
		b.fault("metrics.prometheus", "needs exactly one of url and google_managed", "")
	}
}

func (b *builder) reports() {
	o := &b.action.Options
	r := b.value("report.request_lifecycle")
	o.Lifecycle = LifecycleReports{
		Summary: r.child("summary").yes(), PerStage: r.child("per_stage").yes(), PerRequest: r.child("per_request").yes(),
		PerAdapter: r.child("per_adapter").yes(), PerAdapterStage: r.child("per_adapter_stage").yes(),
		ServerTokens: r.child("use_server_output_tokens").yes(), MaxErrorMessages: int(r.child("max_error_messages").integer()),
		Fields: RequestFields{
			Request: r.child("per_request_fields.request").yes(), Response: r.child("per_request_fields.response").yes(),
			Info: r.child("per_request_fields.info").yes(), Chunks: r.child("per_request_fields.response_chunks").yes(),
			Metrics: r.child("per_request_fields.computed_metrics").yes(),
		},
	}
	for _, v := range r.child("percentiles").items() {
		o.Lifecycle.Percentiles = append(o.Lifecycle.Percentiles, v.number())
	}
	s := b.value("report.prometheus")
	o.Prometheus = PrometheusReports{Summary: s.child("summary").yes(), PerStage: s.child("per_stage").yes()}
	s = b.value("report.session_lifecycle")
	o.Sessions = SessionReports{Summary: s.child("summary").yes(), PerStage: s.child("per_stage").yes(), PerSession: s.child("per_session").yes()}
	b.goodput()
}

// Objectives are the names of goodput's constraints, and the plan's.
func Objectives() map[string]string {
	return map[string]string{
		"ttft": "time_to_first_token", "tpot": "time_per_output_token", "itl": "inter_token_latency",
		"ntpot": "normalized_time_per_output_token", "request_latency": "request_latency",
	}
}

func (b *builder) goodput() {
	limits := map[string]float64{}
	known := Objectives()
	if c := b.value("report.goodput.constraints"); c != nil && len(c.names) > 0 {
		for _, name := range c.names {
			if known[name] == "" {
				b.warn("%s is not known and has no effect (%s)", document.Join("report.goodput.constraints", clip(name)),
					suggestion(name, slices.Sorted(maps.Keys(known)), "one of ttft, tpot, itl, ntpot, request_latency"))
				continue
			}
			limits[name] = c.fields[name].number()
		}
		// Without one that is known, every response is good, as in the original.
		b.action.Options.Goodput, b.action.Options.Constraints = limits, maps.Clone(limits)
	}
	t := &b.plan.Target
	unit := map[string]float64{"s": 1, "ms": 1e-3, "us": 1e-6}[t.SLOHeaders.Unit]
	for _, slo := range []struct{ header, name string }{{t.SLOHeaders.TTFT, "ttft"}, {t.SLOHeaders.TPOT, "tpot"}} {
		header := headerOf(t.Headers, slo.header)
		if header == "" {
			continue
		}
		n, err := strconv.ParseFloat(t.Headers[header], 64)
		if err != nil || !(n > 0) {
			b.fault(document.Join("api.headers", header), "must be a number more than 0: it is an objective", "")
			continue
		}
		limits[slo.name] = n * unit
		b.action.Options.Goodput = limits
	}
	for _, name := range slices.Sorted(maps.Keys(limits)) {
		b.plan.Goodput = append(b.plan.Goodput, plan.SLO{Metric: known[name], Max: seconds(limits[name])})
	}
}

func (b *builder) storage() {
	s := b.value("storage")
	if s == nil {
		return
	}
	stamp := func(v *value) string {
		p := v.child("path")
		if p == nil {
			return ""
		}
		p.scalar = strings.ReplaceAll(p.text(), "{timestamp}", b.now.Format("20060102-150405"))
		return p.text()
	}
	o := &b.action.Options
	o.Dir, o.Prefix = stamp(s.child("local_storage")), s.child("local_storage.report_file_prefix").text()
	if o.Dir == "" {
		b.fault("storage.local_storage.path", "is empty", "name a directory, or set storage to null")
	}
	if strings.ContainsAny(o.Prefix, `/\`) {
		b.fault("storage.local_storage.report_file_prefix", "must not contain a path separator", "put directories into path")
	}
	out := &b.plan.Output
	out.Dir = filepath.Join(o.Dir, o.Prefix+RecordsDir)
	out.KeepRaw = o.Lifecycle.PerRequest
	if g := s.child("google_cloud_storage"); g != nil {
		out.GCS = plan.GCS{Bucket: g.child("bucket_name").text(), Path: path.Clean(stamp(g)), Prefix: g.child("report_file_prefix").text()}
	}
	if g := s.child("simple_storage_service"); g != nil {
		out.S3 = plan.S3{
			Bucket: g.child("bucket_name").text(), Path: path.Clean(stamp(g)), Prefix: g.child("report_file_prefix").text(), Endpoint: g.child("endpoint_url").text(),
			Region: g.child("region_name").text(), Addressing: g.child("addressing_style").text(),
		}
	}
}
