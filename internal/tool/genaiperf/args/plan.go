package args

import (
	"cmp"
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

func (b *builder) refuse() {
	for _, key := range []string{"sweep-type", "sweep-range", "sweep-list"} {
		b.faultIf(b.given(key) && b.command != Analyze, b.as(key), "only for analyze", "use genai-perf analyze …")
	}
	for _, key := range []string{"input-directory", "file", "override-config", "files", "plot-config"} {
		b.faultIf(b.given(key), b.as(key), "is not supported here", "see docs/genai-perf.md")
	}
}

// plan says in the words of a plan what the settings are.
func (b *builder) plan() {
	s := &b.a.Settings
	p := plan.Default()
	p.Name = "genai-perf"
	p.Seed = uint64(max(s.Seed, -s.Seed)) // a sign makes no difference to Python's either
	// The seed is the tool's own: what an earlier run left in the server's cache is a note.
	p.Budgets.Cached = 1
	p.Target.NoPreflight, p.Target.RetryAfter = true, plan.RetryIgnore // as the original
	b.target(&p.Target)
	b.data(&p)
	p.Goodput = goodputOf(s)
	p.Tokenizer = plan.Tokenizer{Name: s.Tokenizer, Revision: s.TokenizerRevision, Optional: isBuiltin(s.Tokenizer)}
	p.Stages = []plan.Stage{b.stage(&p)}
	p.Output = plan.Output{Dir: RecordsDir(s), KeepRaw: true}
	p.Probes = b.passed.probes
	if s.EndpointType == "generate" {
		p.Probes.Statistics = plan.StatisticsOff // nothing but the requests goes to the server
	}
	for _, u := range s.MetricsURLs {
		if !strings.Contains(u, "://") {
			u = "http://" + u
		}
		p.Probes.Scrape = append(p.Probes.Scrape, u)
	}
	if len(p.Probes.Scrape) > 0 && p.Probes.Interval == 0 {
		p.Probes.Interval = plan.Duration(telemetryInterval)
	}
	if b.passed.target != nil {
		b.passed.target(&p.Target)
	}
	if len(b.faults) > 0 {
		return
	}
	var faults plan.Faults
	if err := b.a.Names().Error(planfile.Validate(&p)); errors.As(err, &faults) {
		b.faults = append(b.faults, faults...)
		return
	}
	b.a.Plan = &p
}

// isBuiltin reports whether a tokenizer is the built-in one, by its name on the hub.
func isBuiltin(name string) bool { return name == "gpt2" || name == "openai-community/gpt2" }

// RecordsSuffix ends the name of that directory.
const RecordsSuffix = "_inferometer"

// RecordsDir is the directory within that of a run in which inferometer keeps its own
// files.
func RecordsDir(s *Settings) string {
	stem := strings.TrimSuffix(s.ExportFile, filepath.Ext(s.ExportFile))
	return filepath.Join(s.Dir, stem+RecordsSuffix)
}

// measurements is how many measurements of an interval Perf Analyzer takes at least.
const measurements = 3

// telemetryInterval is how often metrics of GPUs are read.
const telemetryInterval = 330 * time.Millisecond

// usualOutput is the length that is asked of TensorRT-LLM by default.
const usualOutput = 256

// anyStability is the stability at which all measurements agree.
const anyStability = 999

func (b *builder) stage(p *plan.Plan) plan.Stage {
	s := &b.a.Settings
	stage := plan.Stage{Concurrency: s.Concurrency, Rate: s.Rate, Requests: int64(s.Requests),
		Warmup: plan.Warmup{Requests: int64(s.Warmup), Drain: s.Warmup > 0}}
	if s.Rate > 0 {
		stage.Arrival = plan.ArrivalConstant
		if b.passed.arrival == plan.ArrivalPoisson {
			stage.Arrival, stage.Draws = plan.ArrivalPoisson, plan.DrawsMT19937
		}
	}
	switch {
	case s.FixedSchedule:
		return plan.Stage{Arrival: plan.ArrivalTrace}
	case s.SessionConcurrency > 0: // the sessions are its end
		return plan.Stage{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Concurrent: s.SessionConcurrency}}
	case s.Interval > 0 && b.passed.window != nil:
		p.Measurement = *b.passed.window
		p.Measurement.Interval, p.Measurement.Stability = plan.Duration(s.Interval), s.Stability/100
	case s.Interval > 0 && s.Stability >= anyStability:
		// Windows that always agree are one piece.
		stage.Duration = plan.Duration(measurements * s.Interval)
		p.Drain = 0
	case s.Interval > 0:
		p.Measurement = plan.DefaultMeasurement()
		p.Measurement.Interval = plan.Duration(s.Interval)
		p.Measurement.Stability = s.Stability / 100
	}
	return stage
}

func (b *builder) target(t *plan.Target) {
	s := &b.a.Settings
	if len(s.Models) > 0 {
		t.Model = s.Models[0]
	}
	t.Streaming, t.Form = s.Streaming, plan.FormShaped
	t.Timeouts = plan.Timeouts{Connect: plan.Duration(10 * time.Second), Request: plan.Duration(10 * time.Minute)}
	for _, h := range s.Headers {
		if t.Headers == nil {
			t.Headers = map[string]string{}
		}
		name, value, _ := strings.Cut(h, ":")
		t.Headers[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	t.Body = map[string]any{}
	for _, e := range s.Extra {
		t.Body[e.Name] = e.Value
	}
	if s.ServiceKind == "triton" {
		t.Protocol, t.Transport = plan.ProtocolTriton, plan.TransportGRPC
		t.Endpoint = plan.EndpointStream
		t.URLs = []string{b.address("grpc", "localhost:8001")}
		t.Triton.Convention = plan.ConventionTRTLLM
		if s.Backend == "vllm" {
			t.Triton.Convention = plan.ConventionVLLM
		}
		return
	}
	t.Protocol, t.Endpoint, t.Client = plan.ProtocolOpenAI, s.EndpointType, plan.ClientPlain
	t.URLs = []string{b.address("http", "localhost:8000")}
	t.Path = "/" + strings.TrimPrefix(s.Endpoint, ".")
	switch s.EndpointType {
	case "multimodal", "vision":
		t.Endpoint = plan.EndpointChat
	case "nvclip":
		t.Endpoint = plan.EndpointEmbeddings
	case "rankings", "image_retrieval", "huggingface_generate", "template":
		t.Protocol, t.Template = plan.ProtocolHTTP, s.Template
		if t.Body["rankings"] == "tei" {
			t.Endpoint = plan.EndpointRerank
			delete(t.Body, "rankings")
		}
	case "generate":
		t.Protocol, t.Transport, t.Endpoint = plan.ProtocolTriton, plan.TransportHTTP, plan.EndpointGenerate
		if model, version, ok := generateAt(s.Endpoint); ok {
			t.Model, t.Triton.Version, t.Path = model, version, ""
		}
	}
}

func (b *builder) address(scheme, usual string) string {
	text := cmp.Or(b.a.Settings.URL, usual)
	if !strings.Contains(text, "://") {
		return scheme + "://" + text
	}
	u, err := url.Parse(text)
	if err == nil && scheme == "grpc" && (u.Scheme == "http" || u.Scheme == "https") {
		u.Scheme = strings.Replace(u.Scheme, "http", "grpc", 1)
		return u.String()
	}
	return text
}
