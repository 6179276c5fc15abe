package genaiperf

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// folder is the directory of one run, of this program or of the original.
type folder struct {
	export string // the file of all requests
	report string // the JSON report; empty: there is none
}

// reportSuffix ends the name of a JSON report.
const reportSuffix = "_genai_perf.json"

// findFolder looks for the files of a run. Other files of JSON may lie beside them: early
// releases write into the working directory. Several runs there cannot be told apart.
func findFolder(dir string) (folder, error) {
	exports, reports := runFiles(dir)
	switch {
	case len(exports) == 0:
		return folder{}, fmt.Errorf("%s holds no profile export", dir)
	case len(exports) > 1:
		own := strings.TrimSuffix(exports[0], filepath.Ext(exports[0])) + args.RecordsSuffix
		return folder{}, fmt.Errorf("%s holds several runs, with the profile exports %s: put each into its own directory, or report on %s, if there is one", dir, strings.Join(exports, ", "), own)
	}
	f := folder{export: filepath.Join(dir, exports[0])}
	for _, name := range reports {
		if f.report == "" || name == strings.TrimSuffix(exports[0], ".json")+reportSuffix {
			f.report = filepath.Join(dir, name)
		}
	}
	return f, nil
}

// runFiles are the names of the profile exports and of the JSON reports in a directory.
func runFiles(dir string) (exports, reports []string) {
	names, _ := filepath.Glob(filepath.Join(dir, "*.json"))
	for _, name := range names {
		switch base := filepath.Base(name); {
		case strings.HasSuffix(base, reportSuffix):
			reports = append(reports, base)
		case isExport(name):
			exports = append(exports, base)
		}
	}
	return exports, reports
}

// isExport looks into a file for what only profile exports have.
func isExport(name string) bool {
	f, err := tool.Inputs().Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	d := json.NewDecoder(tool.Inputs().Reader(f, name))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	for d.More() {
		key, err := d.Token()
		if err != nil || key == "experiments" {
			return err == nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
	}
	return false
}

// IsFolder reports whether a directory holds a profile export.
func IsFolder(dir string) bool {
	exports, _ := runFiles(dir)
	return len(exports) > 0
}

// jsonReport is what a JSON report says besides its figures.
type jsonReport struct {
	RequestThroughput struct{ Avg float64 } `json:"request_throughput"`
	OutputThroughput  struct{ Avg float64 } `json:"output_token_throughput"`
	Config            json.RawMessage       `json:"input_config"`
	GPUs              json.RawMessage       `json:"telemetry_stats"`
}

// savedConfig is the part of a report's configuration that reading takes.
type savedConfig struct {
	Models   []string `json:"model_names"`
	Endpoint struct {
		Type, Backend string
		Streaming     bool
	}
	PerfAnalyzer struct {
		Stimulus map[string]float64
	} `json:"perf_analyzer"`
	Input struct {
		Goodput json.RawMessage
	}
	Tokenizer struct {
		Name, Revision string
	}
}

// reading is the work of making reports again from profile exports.
type reading struct {
	job
	docs    []*profileexport.Document
	reports []jsonReport
	config  json.RawMessage // of the first run that has one
	current string          // the prompt of the request being taken
	asked   bool            // which the file has
	images  int             // and its images
}

// Report reads the directory of a run and gives its outcome again. A tokenizer or
// release of "" is that of the run.
func Report(ctx context.Context, dir string, set args.Settings, env *tool.Session) (*Outcome, error) {
	f, err := findFolder(dir)
	if err != nil {
		return nil, tool.WrapPrepareError(err)
	}
	r := &reading{job: job{env: env, set: &set, plan: new(plan.Plan)}}
	if err := r.load(f); err != nil {
		return nil, err
	}
	return r.outcome(ctx)
}

// Merge makes one result of the runs in the directories below one.
func Merge(ctx context.Context, a *args.Action, env *tool.Session) (*Outcome, error) {
	r := &reading{job: job{env: env, set: &a.Settings, plan: new(plan.Plan)}}
	below, err := os.ReadDir(a.InputDir)
	if err != nil {
		return nil, tool.WrapPrepareError(fmt.Errorf("--input-directory: %w", err))
	}
	for _, d := range below {
		dir := filepath.Join(a.InputDir, d.Name())
		if !IsFolder(dir) {
			continue
		}
		f, err := findFolder(dir)
		if err == nil && f.report != "" {
			err = r.load(f)
		}
		if err != nil {
			return nil, tool.WrapPrepareError(err)
		}
	}
	if len(r.docs) == 0 {
		return nil, tool.WrapPrepareError(fmt.Errorf("--input-directory: no directory in %s holds a profile export and its _genai_perf.json", a.InputDir))
	}
	if r.gpus, err = r.mergedGPUs(); err != nil {
		return nil, err
	}
	out, err := r.outcome(ctx)
	if err != nil {
		return nil, err
	}
	r.addUp(out.Summary)
	if out.Config, err = mergedConfig(out.Config, r.set, a.InputDir); err != nil {
		return nil, err
	}
	return out, r.writeMerged(out)
}

func (r *reading) load(f folder) error {
	file, err := tool.Inputs().Open(f.export)
	if err != nil {
		return err
	}
	defer file.Close()
	doc, err := profileexport.Read(tool.Inputs().Reader(file, f.export))
	if err != nil {
		return fmt.Errorf("%s: %w", f.export, err)
	}
	r.docs = append(r.docs, doc)
	if f.report == "" {
		return nil
	}
	text, err := tool.Inputs().ReadFile(f.report)
	if err != nil {
		return err
	}
	var s jsonReport
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("%s: %w", f.report, err)
	}
	r.reports = append(r.reports, s)
	if r.config == nil {
		r.config = s.Config
	}
	return nil
}

func (r *reading) outcome(ctx context.Context) (*Outcome, error) {
	if err := r.settings(ctx); err != nil {
		return nil, err
	}
	o := r.options()
	if r.set.ServiceKind == "triton" || r.set.EndpointType == "generate" {
		o.Prompt = func(*record.Record) string { return r.current }
	}
	fold := dialect.NewFold(o)
	if err := r.fold(fold); err != nil {
		return nil, err
	}
	return &Outcome{Summary: fold.Summary(), Report: r.reportOptions(), Config: r.config}, nil
}

// options say how the requests of the files are to be seen.
func (r *reading) options() dialect.Options {
	o := r.dialect(nil)
	o.Input = func(*record.Record) (int, bool) { return r.tok.Count(r.current), r.asked }
	o.Pictures = func(*record.Record) int { return r.images }
	return o
}

// settings fills in what only the files say, and finds the tokenizer.
func (r *reading) settings(ctx context.Context) error {
	s, doc := r.set, r.docs[0]
	var c savedConfig
	if r.config != nil {
		if err := json.Unmarshal(r.config, &c); err != nil {
			return fmt.Errorf("the input_config of the report: %w", err)
		}
	}
	s.Release, s.Shape = cmp.Or(s.Release, args.ReleaseLast), cmp.Or(s.Shape, args.ReleaseLast)
	s.ServiceKind = doc.ServiceKind
	s.Models, s.Backend, s.Endpoint = c.Models, c.Endpoint.Backend, doc.Endpoint
	s.EndpointType = cmp.Or(c.Endpoint.Type, kindOf(doc))
	s.Streaming = c.Endpoint.Streaming || r.config == nil && r.streamed()
	s.Concurrency, s.Rate = int(c.PerfAnalyzer.Stimulus["concurrency"]), c.PerfAnalyzer.Stimulus["request_rate"]
	if s.Tokenizer == "" {
		s.Tokenizer, s.TokenizerRevision = c.Tokenizer.Name, c.Tokenizer.Revision
	}
	r.plan.Tokenizer = plan.Tokenizer{Name: cmp.Or(s.Tokenizer, plan.TokenizerBuiltin), Revision: s.TokenizerRevision,
		Optional: !s.TokenizerGiven}
	var goodput map[string]float64
	if json.Unmarshal(c.Input.Goodput, &goodput) == nil && len(s.Goodput) == 0 {
		for name, v := range goodput {
			s.Goodput = append(s.Goodput, args.Objective{Metric: name, Value: v})
		}
		slices.SortFunc(s.Goodput, func(a, b args.Objective) int { return strings.Compare(a.Metric, b.Metric) })
	}
	return r.tokenizer(ctx)
}

// kindOf tells the endpoint's type from its path.
func kindOf(doc *profileexport.Document) string {
	switch {
	case doc.ServiceKind == profileexport.Triton:
		return "kserve"
	case strings.HasSuffix(doc.Endpoint, "embeddings"):
		return "embeddings"
	case doc.Endpoint == "v1/ranking" || doc.Endpoint == "rerank":
		return "rankings"
	case doc.Endpoint == "v1/infer":
		return "image_retrieval"
	case strings.HasSuffix(doc.Endpoint, "/generate") || strings.HasSuffix(doc.Endpoint, "/generate_stream"):
		return "generate"
	case doc.Endpoint == "." || doc.Endpoint == "":
		return "huggingface_generate"
	case strings.HasSuffix(doc.Endpoint, "chat/completions"):
		return "chat"
	default:
		return "completions"
	}
}

// streamed reports whether a request was answered in several responses.
func (r *reading) streamed() bool {
	return slices.ContainsFunc(r.docs[0].Experiments, func(e profileexport.Experiment) bool {
		return slices.ContainsFunc(e.Requests, func(q profileexport.Request) bool { return len(q.Responses) > 1 })
	})
}

// fold takes every request of every run that was answered.
func (r *reading) fold(f *dialect.Fold) error {
	return r.each(false, func(rec *record.Record, _ *profileexport.Request) error {
		f.Add(rec)
		return nil
	})
}

// each gives every request of every run as a decoded record; failed: those too that came to
// no answer.
func (r *reading) each(failed bool, f func(*record.Record, *profileexport.Request) error) error {
	decode, err := r.decoder()
	if err != nil {
		return err
	}
	base := r.docs[0].Base()
	for _, d := range r.docs {
		base = min(base, d.Base())
	}
	var x record.Exchange
	for _, d := range r.docs {
		for e := range d.Experiments {
			for i, req := range d.Experiments[e].All() {
				if !failed && i >= len(d.Experiments[e].Requests) {
					break
				}
				if err := d.Record(&x.Record, req, base); err != nil {
					return fmt.Errorf("request %d of the profile export: %w", i+1, err)
				}
				decode(&x)
				r.current, err = d.Prompt(req)
				r.asked = err == nil
				if err != nil && len(req.Inputs) > 0 && !d.Any { // there are none where the bodies were not kept
					return fmt.Errorf("request %d of the profile export: %w", i+1, err)
				}
				r.images = 0
				if r.set.EndpointType == "image_retrieval" {
					r.images = imagesOf(req)
				}
				x.Stage = e
				if err := f(&x.Record, req); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// imagesOf is how many images a request of image retrieval holds.
func imagesOf(req *profileexport.Request) int {
	payload, _ := req.Inputs.Text("payload")
	var body struct{ Input []struct{ Type string } }
	if json.Unmarshal([]byte(payload), &body) != nil {
		return 0
	}
	n := 0
	for _, c := range body.Input {
		if c.Type == "image_url" {
			n++
		}
	}
	return n
}

// decoder is what decodes answers of OpenAI's protocol; those of Triton's are decoded.
func (t *job) decoder() (func(x *record.Exchange), error) {
	if t.set.ServiceKind != profileexport.OpenAI {
		return func(*record.Exchange) {}, nil
	}
	d, err := t.reader()
	return d.Decode, err
}

func (t *job) reader() (endpoint.Decoder, error) {
	target := t.answers()
	protocol, err := registry.Pick(t.env.Kit.Protocols, "protocol", target.Protocol)
	if err != nil {
		return endpoint.Decoder{}, err
	}
	return protocol.Decoder(target, nil, false), nil
}

// visible is what a chat said in an answer in one piece, where its bytes were kept.
func (t *job) visible() func(rec *record.Record) (string, bool) {
	if !t.set.Faithful || t.set.ServiceKind != profileexport.OpenAI {
		return nil
	}
	d, err := t.reader()
	if err != nil || d.Reply == nil {
		return nil
	}
	return func(rec *record.Record) (string, bool) {
		said := d.Reply(rec)
		return said.Text, !said.Empty
	}
}

// answers is a target whose answers are those of the endpoint's type.
func (t *job) answers() plan.Target {
	target := plan.Target{Protocol: plan.ProtocolOpenAI, Endpoint: plan.EndpointChat, Form: plan.FormShaped}
	switch t.set.EndpointType {
	case "embeddings", "nvclip":
		target.Endpoint = plan.EndpointEmbeddings
	case "rankings", "image_retrieval", "template", "huggingface_generate":
		target.Protocol, target.Endpoint = plan.ProtocolHTTP, plan.EndpointTemplate
		if t.set.EndpointType == "huggingface_generate" {
			target.Endpoint = plan.EndpointTGI
		}
	case "generate":
		target.Protocol, target.Transport, target.Endpoint = plan.ProtocolTriton, plan.TransportHTTP, plan.EndpointGenerate
		target.Triton.Convention = plan.ConventionTRTLLM
	}
	return target
}

// addUp makes the throughputs the sums of those of the runs, which went on side by
// side.
func (r *reading) addUp(s *dialect.Summary) {
	var requests, tokens float64
	for _, report := range r.reports {
		requests += report.RequestThroughput.Avg
		tokens += report.OutputThroughput.Avg
	}
	if st, ok := s.Stat(dialect.RequestThroughput); ok {
		st.Avg = requests
	}
	if st, ok := s.Stat(dialect.OutputThroughput); ok {
		st.Avg = tokens
	}
}

func (r *reading) writeMerged(out *Outcome) error {
	r.set.Dir = filepath.Join(r.set.Artifacts, r.set.Folder())
	if err := os.MkdirAll(r.set.Dir, 0o755); err != nil {
		return fmt.Errorf("--artifact-dir: creating the directory of the run: %w", err)
	}
	first := r.docs[0]
	err := r.write(r.set.ExportFile, func(w io.Writer) error {
		file := profileexport.NewWriter(w, *first, first.Experiments[0].Load)
		var windows []uint64
		for _, d := range r.docs {
			for e := range d.Experiments {
				for i := range d.Experiments[e].Requests {
					file.Add(&d.Experiments[e].Requests[i])
				}
				if windows == nil {
					windows = d.Experiments[e].Windows
				}
			}
		}
		return file.Close(windows)
	})
	stem := strings.TrimSuffix(r.set.ExportFile, filepath.Ext(r.set.ExportFile))
	err = errors.Join(err, r.write(stem+"_genai_perf.csv", func(w io.Writer) error { return writeCSV(w, out) }))
	err = errors.Join(err, r.write(stem+"_genai_perf.json", func(w io.Writer) error { return WriteJSON(w, out) }))
	out.Files = r.files
	return err
}
