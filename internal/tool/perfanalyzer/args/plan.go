package args

import (
	"encoding/json"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
)

func (s *settings) plan() (*plan.Plan, error) {
	d := planfile.NewDraft()
	p := &d.Plan
	a := &s.action
	p.Tokenizer = plan.Tokenizer{Name: plan.TokenizerWords} // nothing in this tool's reports counts tokens
	s.target(&p.Target)
	s.requests(&p.Data)
	p.Stages = []plan.Stage{s.stage()}
	p.Levels = s.levels()
	p.Measurement = s.measurement()
	// What the data asks for is not known here, so answers cannot be short of it.
	p.Budgets.ShortOutput, p.Budgets.TokenDrift = 1, 1
	p.Output = plan.Output{Dir: s.out, KeepRaw: s.out != "" && a.Export != ""}
	if a.Metrics {
		p.Probes.Metrics = s.metricsAddress()
		p.Probes.Interval = plan.Duration(time.Duration(s.metricsMS) * time.Millisecond)
	}
	made, err := d.Finish()
	return made, Names(p).Error(err)
}

func (s *settings) target(t *plan.Target) {
	a := &s.action
	t.Model, t.Headers = s.model, s.headers
	if len(t.Headers) == 0 {
		t.Headers = nil
	}
	if a.Service != Triton {
		t.NoPreflight, t.RetryAfter = true, plan.RetryIgnore // as the original
	}
	if a.Service == OpenAI {
		t.Protocol, t.Endpoint, t.Client = plan.ProtocolOpenAI, plan.EndpointChat, plan.ClientPlain
		t.URLs = []string{withScheme(s.url, "http")}
		t.TLS = s.tls
		t.Path = "/" + strings.TrimLeft(a.Endpoint, "/")
		switch {
		case strings.HasSuffix(t.Path, "/embeddings"):
			t.Endpoint = plan.EndpointEmbeddings
		case strings.HasSuffix(t.Path, "/completions") && !strings.HasSuffix(t.Path, "/chat/completions"):
			t.Endpoint = plan.EndpointCompletions
		}
		t.Streaming = t.Endpoint != plan.EndpointEmbeddings
		return
	}
	if a.Service == TFServing || a.Service == TorchServe {
		s.predicting(t)
		return
	}
	t.Protocol, t.Transport, t.Endpoint, t.TLS = plan.ProtocolTriton, plan.TransportHTTP, plan.EndpointInfer, s.tls
	t.URLs = []string{withScheme(s.url, "http")}
	t.Streaming = a.Streaming
	t.Triton = plan.Triton{Version: s.modelVersion, Composing: s.composing, Trace: s.trace}
	if s.sharedMemory == "system" {
		t.Triton.SharedMemory, t.Triton.OutputMemory = plan.MemorySystem, int(s.outputSharedMemory)
	}
	if a.GRPC {
		t.Transport, t.TLS = plan.TransportGRPC, s.grpcTLS
		scheme := "grpc"
		if s.useTLS {
			scheme = "grpcs"
		}
		t.URLs = []string{withScheme(s.url, scheme)}
		if len(s.parameters) > 0 {
			t.Triton.Parameters = s.parameters
		}
		if s.compression != "none" {
			t.Triton.Compression = s.compression
		}
		if a.Streaming {
			t.Endpoint = plan.EndpointStream
		}
		return
	}
	if s.inputFormat != plan.FormatBinary { // outputs come in the same format, as with the original
		t.Triton.InputFormat, t.Triton.OutputFormat = s.inputFormat, s.inputFormat
	}
}

// predicting is a server of TensorFlow or PyTorch models.
func (s *settings) predicting(t *plan.Target) {
	t.Endpoint, t.Streaming, t.TLS = plan.EndpointPredict, false, s.tls
	t.URLs = []string{withScheme(s.url, "http")}
	name := url.PathEscape(s.model)
	if s.action.Service == TorchServe {
		t.Protocol = plan.ProtocolTorchServe
		if s.modelVersion != "" {
			t.Path = "/predictions/" + name + "/" + url.PathEscape(s.modelVersion)
		}
		return
	}
	t.Protocol = plan.ProtocolTFServing
	if s.modelVersion != "" {
		t.Path = "/v1/models/" + name + "/versions/" + url.PathEscape(s.modelVersion)
	}
	if s.signature != "" {
		t.Body = map[string]any{"signature_name": s.signature}
	}
}

// withScheme puts a scheme before an address that has none.
func withScheme(address, scheme string) string {
	if strings.Contains(address, "://") {
		return address
	}
	return scheme + "://" + address
}

// metricsAddress is the metrics page: as given, or that of the server's host.
func (s *settings) metricsAddress() string {
	if s.given["--metrics-url"] {
		return withScheme(s.metricsURL, "http")
	}
	host := "localhost"
	if u, err := url.Parse(withScheme(s.url, "http")); err == nil && u.Hostname() != "" {
		host = u.Hostname()
	}
	return "http://" + net.JoinHostPort(host, "8002") + "/metrics"
}

func (s *settings) requests(d *plan.Data) {
	*d = plan.Data{Source: plan.SourceTensors}
	t := &d.Tensors
	t.Files = s.data
	if s.action.Service == OpenAI || s.action.Service == TorchServe {
		return
	}
	if s.zero {
		t.Fill = plan.FillZero
	} else if len(s.data) == 0 {
		t.Fill = plan.FillRandom
	}
	if s.stringLength != 128 {
		t.StringLength = s.stringLength
	}
	t.StringData, t.Shapes = s.stringData, s.shapes
	if s.action.Batch > 1 {
		t.Batch = s.action.Batch
	}
	t.Timestamps = s.action.Load == LoadSchedule
	if s.action.Service == Triton {
		s.sequencesOf(&t.Sequences)
	}
}

// sequencesOf says how requests form sequences, for models that have them, in the model's mode.
func (s *settings) sequencesOf(q *plan.Sequences) {
	if s.action.Load != LoadConcurrency {
		// A thread that waits for its answers has its sequences wait too.
		q.Live, q.Serial = s.sequences, s.serial || s.action.Sync
	}
	if s.given["--sequence-length"] {
		q.Length = s.sequenceLength
	}
	q.Variation = min(s.variation/100, 1)
	if s.firstID != 1 {
		q.FirstID = uint64(s.firstID)
	}
	q.IDs = uint64(s.ids)
}

// stage is the load, at its first level.
func (s *settings) stage() plan.Stage {
	a := &s.action
	st := plan.Stage{Warmup: plan.Warmup{Requests: a.Warmup, Drain: a.Warmup > 0 && a.Load != LoadSchedule}, Requests: a.RequestCount}
	switch a.Load {
	case LoadRate:
		st.Rate, st.Arrival = a.Rate.Start, plan.ArrivalConstant
		if a.Poisson {
			st.Arrival, st.Draws = plan.ArrivalPoisson, plan.DrawsMT19937
		}
	case LoadIntervals:
		st.Arrival, st.Intervals = plan.ArrivalIntervals, s.intervals
	case LoadSchedule:
		st.Arrival = plan.ArrivalTrace
	case LoadSessions:
		st.Concurrency, st.Requests = int(s.sessions), s.turns()
	case LoadPeriodic:
		st = plan.Stage{Concurrency: int(a.Periodic.Start)}
		st.Growth = plan.Growth{To: int(a.Periodic.End), Step: int(a.Periodic.Step), Responses: int(a.Period)}
	default:
		st.Concurrency = int(a.Concurrency.Start)
	}
	if st.Concurrency == 0 && !a.Async {
		st.MaxInFlight = a.Threads // each waits for its answer before it sends again
	}
	return st
}

// entries are those of the data's files. Faults are told of when it is read for good.
func (s *settings) entries() []json.RawMessage {
	var all []json.RawMessage
	for _, name := range s.data {
		var file struct{ Data []json.RawMessage }
		if text, err := s.files.Read(name); err == nil && json.Unmarshal(text, &file) == nil {
			all = append(all, file.Data...)
		}
	}
	return all
}

// turns is how many requests the sessions of the data have together.
func (s *settings) turns() int64 {
	n := int64(0)
	for _, entry := range s.entries() {
		var stream []json.RawMessage
		if json.Unmarshal(entry, &stream) == nil {
			n += int64(len(stream))
			continue
		}
		n++
	}
	return max(n, 1)
}

// conversations is how many sessions the data has: a list of entries is one, and so are the
// entries with the same name of a session, and an entry without one.
func (s *settings) conversations() int64 {
	n, named := int64(0), map[string]bool{}
	for _, entry := range s.entries() {
		var turn struct {
			Session []json.RawMessage `json:"session_id"`
		}
		if json.Unmarshal(entry, &turn) != nil || len(turn.Session) == 0 {
			n++
			continue
		}
		named[string(turn.Session[0])] = true
	}
	return n + int64(len(named))
}

// levels are what the load goes through; none where there is one level.
func (s *settings) levels() plan.Levels {
	if s.action.Single {
		return plan.Levels{}
	}
	r := s.action.Concurrency
	if s.action.Load == LoadRate {
		r = s.action.Rate
	}
	l := plan.Levels{Start: r.Start, End: r.End, Step: r.Step}
	if s.action.Binary {
		l.Search = plan.SearchBinary
	}
	return l
}

func (s *settings) measurement() plan.Measurement {
	a := &s.action
	if a.Load == LoadPeriodic {
		return plan.Measurement{}
	}
	m := plan.Measurement{
		Mode: plan.WindowTime, Interval: plan.Duration(time.Duration(a.WindowMS) * time.Millisecond), Requests: a.WindowRequests,
		Windows: 3, Stability: a.Stability, Percentile: a.Percentile, MaxTrials: a.MaxTrials,
		LatencyThreshold: plan.Duration(time.Duration(a.Threshold) * time.Millisecond),
		ThroughputAlone:  a.Async, Faithful: s.faithful,
	}
	if a.CountWindows {
		m.Mode = plan.WindowCount
	}
	if a.RequestCount > 0 || a.Load == LoadSchedule || a.Load == LoadSessions {
		m.Mode, m.Windows = plan.WindowStage, 1
	}
	return m
}
