package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
)

// asTools are the tools whose reports can be made of any run.
var asTools = []string{"genai-perf", "perf_analyzer", "llm_perf", "inference-perf", "vllm-bench"}

// kept is a run made by hand, whose every stamp is known.
type kept struct {
	name    string
	edit    func(p *plan.Plan)                    // of a streamed chat
	change  func(rec *record.Record)              // of every request
	write   func(t *testing.T, p *plan.Plan)      // in place of a run that came to its end
	noted   map[string]string                     // what the screen says of what there is not, by tool
	refused string                                // the tool that cannot report it
	dead    bool                                  // nothing was answered
	source  func(t *testing.T, dir string) string // what is reported in place of the directory
}

// requestsEach is how many requests a stage has.
const requestsEach = 20

// request is the n-th request of a stage: from 100 ms on, each takes 0.1 ms more.
func request(p *plan.Plan, stage, n int) *record.Record {
	sent := time.Duration(stage)*time.Minute + time.Duration(n)*10*time.Millisecond
	latency := 100*time.Millisecond + time.Duration(n*37%requestsEach)*100*time.Microsecond
	rec := &record.Record{
		Seq: int64(stage*requestsEach + n), Stage: stage, Prompt: uint64(n), Due: sent, Ready: sent, Sent: sent, Written: sent,
		End:    sent + latency,
		Status: 200, Conn: record.Conn{Reused: true}, Streamed: p.Target.Streaming, Cached: -1, Size: 10,
		In: record.Tokens{N: 7, Source: record.FromTokenizer, Local: 7}, Out: record.Tokens{N: 4, Source: record.FromServer, Local: -1},
	}
	pieces := 4
	if !rec.Streamed {
		pieces = 1
	}
	for i := 1; i <= pieces; i++ {
		at := sent + latency*time.Duration(i)/time.Duration(pieces)
		e := record.Event{Mark: i - 1, Label: record.Content, Text: 3, Tokens: 4 / pieces}
		if !rec.Streamed {
			e.Label = record.Whole
		}
		rec.Marks = append(rec.Marks, record.Read{Kernel: at, User: at})
		rec.Events = append(rec.Events, e)
		rec.Text = append(rec.Text, "ab "...)
	}
	return rec
}

// fail makes every fifth request one that failed.
func fail(rec *record.Record) {
	if rec.Seq%5 == 4 {
		rec.Failure = &record.Failure{Class: record.HTTPStatus, Status: 500, Message: "out of order", At: rec.End}
		rec.Status, rec.Marks, rec.Events, rec.Text, rec.Out = 500, nil, nil, nil, record.Tokens{Local: -1}
	}
}

// body gives a request the bytes that a run keeps which is told to.
func body(rec *record.Record) {
	rec.RequestBody = []byte(`{"model":"m","messages":[{"role":"user","content":"what is this?"}]}`)
	for i := range rec.Marks {
		rec.Body = append(rec.Body, `data: {"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"ab "}}]}`+"\n\n"...)
		if i == len(rec.Marks)-1 {
			rec.Body = append(rec.Body, "data: [DONE]\n\n"...)
		}
		rec.Marks[i].Off = len(rec.Body)
	}
}

func stages(loads ...plan.Stage) func(*plan.Plan) {
	return func(p *plan.Plan) {
		for i := range loads {
			loads[i].Requests = requestsEach
		}
		p.Stages = loads
	}
}

// killedRun writes what a run leaves that is killed: no stage has ended, and three requests
// are under way.
func killedRun(t *testing.T, p *plan.Plan) {
	text, err := planfile.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(rundir.Records(p).Path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := record.NewWriter(out, record.Header{Start: time.Unix(1_800_000_000, 0)})
	if err != nil {
		t.Fatal(err)
	}
	var under record.Flights
	for i := range requestsEach {
		err = errors.Join(err, w.Append(record.AppendJSON(nil, request(p, 0, i), true)))
	}
	for i := range 3 {
		x := &record.Exchange{Record: *request(p, 0, requestsEach+i)}
		under.Begin(x)
		x.Flight.SetSent(x.Sent)
	}
	lines, failed := under.Append(nil, time.Minute)
	err = errors.Join(err, failed, w.Append(lines), w.Flush(), os.WriteFile(filepath.Join(p.Output.Dir, rundir.PlanFile), text, 0o644))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(out, "\x28\xb5"); err != nil { // a frame that was cut
		t.Fatal(err)
	}
}

// madeBy reports a run as a tool does, and gives where its files are.
func madeBy(tool string) func(t *testing.T, dir string) string {
	return func(t *testing.T, dir string) string {
		out := filepath.Join(t.TempDir(), "files")
		if code, _, errs := here(t, "report", dir, "--format", tool, "--out", out); code != 0 {
			t.Fatalf("exit %d: %s", code, errs)
		}
		return out
	}
}

// keptRuns are runs of every kind.
func keptRuns() []kept {
	noBodies := map[string]string{"genai-perf": "kept no bodies", "perf_analyzer": "kept no bodies", "inference-perf": "kept no bodies", "llm_perf": ""}
	sweep := stages(plan.Stage{Concurrency: 1}, plan.Stage{Concurrency: 4}, plan.Stage{Rate: 50, Arrival: plan.ArrivalPoisson},
		plan.Stage{Concurrency: 4})
	grpc := func(p *plan.Plan) {
		p.Target.Protocol, p.Target.Transport, p.Target.Endpoint, p.Target.URLs = plan.ProtocolTriton, plan.TransportGRPC, plan.EndpointStream, []string{"grpc://localhost:8001"}
	}
	return []kept{
		{name: "chat, streamed", noted: noBodies},
		{name: "chat with its bodies", edit: func(p *plan.Plan) { p.Output.KeepRaw = true }, change: body},
		{name: "chat without its texts", edit: func(p *plan.Plan) { p.Output.NoTexts = true }, change: (*record.Record).WithoutText, noted: map[string]string{"llm_perf": "kept no texts"}, refused: "genai-perf"},
		{name: "chat, in one piece", edit: func(p *plan.Plan) { p.Target.Streaming = false }},
		{name: "messages of Anthropic", edit: func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Endpoint = plan.ProtocolAnthropic, plan.EndpointMessages
		}},
		{name: "embeddings", edit: func(p *plan.Plan) { p.Target.Endpoint, p.Target.Streaming = plan.EndpointEmbeddings, false }, change: func(rec *record.Record) {
			rec.Text, rec.Events[0].Text, rec.Events[0].Tokens, rec.Out = nil, 0, 0, record.Tokens{Local: -1}
		}},
		{name: "triton", edit: grpc, noted: map[string]string{"perf_analyzer": "no server statistics"}},
		{name: "warm-up, and requests that fail", change: func(rec *record.Record) {
			if fail(rec); rec.Seq < 10 {
				rec.Phase = record.Warmup
			}
		}},
		{name: "every request fails", change: func(rec *record.Record) { rec.Seq = 4; fail(rec) }, dead: true},
		{name: "several stages, and adapters", edit: sweep, change: func(rec *record.Record) { rec.Model = "lora/" + strconv.Itoa(int(rec.Seq%2)) }},
		{name: "sessions, and a trace", edit: stages(plan.Stage{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Concurrent: 2}}, plan.Stage{Arrival: plan.ArrivalTrace}), change: func(rec *record.Record) {
			rec.Session, rec.Turn = "s"+strconv.Itoa(int(rec.Seq/10)), int(rec.Seq%10)
		}},
		{name: "a killed run", write: killedRun},
		{name: "a profile export of Perf Analyzer", edit: stages(plan.Stage{Concurrency: 2}, plan.Stage{Rate: 5}), change: fail, source: func(t *testing.T, dir string) string {
			return filepath.Join(madeBy("perf_analyzer")(t, dir), "profile_export.json")
		}},
		{name: "a directory of GenAI-Perf", edit: func(p *plan.Plan) { p.Output.KeepRaw = true }, change: body, source: madeBy("genai-perf")},
		{name: "GenAI-Perf at Triton", edit: grpc, source: madeBy("genai-perf")},
		{name: "single requests of inference-perf", edit: sweep, change: fail, source: madeBy("inference-perf")},
		{name: "its file alone, in one piece", edit: func(p *plan.Plan) { p.Target.Streaming = false }, source: func(t *testing.T, dir string) string {
			return filepath.Join(madeBy("inference-perf")(t, dir), "per_request_lifecycle_metrics.json")
		}},
	}
}

// make writes the run into a directory.
func (k *kept) make(t *testing.T, dir string) {
	p := plan.Default()
	p.DrawSeed, p.Target.Model, p.Target.URLs, p.Output.Dir = false, "org/m", []string{"http://localhost:8000"}, dir
	stages(plan.Stage{Concurrency: 8})(&p)
	if k.edit != nil {
		k.edit(&p)
	}
	if k.write != nil {
		k.write(t, &p)
		return
	}
	err := saved.Create(&p, record.Header{Start: time.Unix(1_800_000_000, 0)}, func(add func(*record.Record) error) error {
		for s := range p.Stages {
			for n := range requestsEach {
				rec := request(&p, s, n)
				seq := rec.Seq
				if k.change != nil {
					k.change(rec)
				}
				rec.Seq = seq
				if err := add(rec); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// figures are what a report says of one stage; times are in ms.
type figures struct {
	count    int64
	avg, p99 float64
}

// Every kind of run can be reported as every tool does, with figures that agree with our own
// report.
func TestReportAs(t *testing.T) {
	for _, k := range keptRuns() {
		t.Run(k.name, func(t *testing.T) {
			dir := t.TempDir()
			k.make(t, dir)
			before := contents(t, dir)
			var want []figures
			res, err := saved.Report(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range res.Stages {
				m := s.Metrics["request_latency"]
				want = append(want, figures{count: s.Counts.OK, avg: m.Avg})
				if m.Distribution != nil {
					want[len(want)-1].p99 = m.P99
				}
			}
			from := dir
			if k.source != nil {
				from = k.source(t, dir)
			}
			for _, as := range asTools {
				out := filepath.Join(t.TempDir(), "made")
				code, screen, errs := here(t, "report", from, "--format", as, "--out", out)
				if as == k.refused {
					if code == tool.ExitOK || !strings.Contains(errs, "kept no texts") {
						t.Errorf("%s: exit %d\n%s%s", as, code, screen, errs)
					}
					continue
				}
				if k.dead {
					if code != tool.ExitRun || !strings.Contains(errs, "no request succeeded") {
						t.Errorf("%s: exit %d\n%s%s", as, code, screen, errs)
					}
					continue
				}
				if code != tool.ExitOK {
					t.Errorf("%s: exit %d\n%s%s", as, code, screen, errs)
					continue
				}
				if note, ok := k.noted[as]; ok && (note == "") == strings.Contains(errs, "note: ") || !strings.Contains(errs, note) {
					t.Errorf("%s says %s", as, errs)
				}
				got := readFigures(t, as, out, screen)
				if len(got) != len(want) {
					t.Errorf("%s: %d stages, want %d\n%s", as, len(got), len(want), screen)
					continue
				}
				for i, w := range want {
					// Perf Analyzer cuts to microseconds, and percentiles lie between two samples of 0.1 ms.
					if g := got[i]; g.count != w.count || math.Abs(g.avg-w.avg) > 0.002 || math.Abs(g.p99-w.p99) > 0.2 {
						t.Errorf("%s, stage %d: %+v, want %+v", as, i+1, g, w)
					}
				}
			}
			if k.source == nil {
				for name, text := range contents(t, dir) {
					if before[name] != text {
						t.Errorf("%s has changed", name)
					}
				}
			}
		})
	}
}

// contents are the files of a directory.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = string(text)
	}
	return all
}

// readFigures reads what a tool reported, stage by stage.
func readFigures(t *testing.T, as, dir, screen string) []figures {
	t.Helper()
	switch as {
	case "perf_analyzer":
		return onScreen(t, screen, 1e3, `Request count: (\d+)`, `Avg latency: (\d+)`, `p99 latency: (\d+)`)
	case "llm_perf":
		return onScreen(t, screen, 1e-3, `payload and results: \d+ (\d+)`, `average_latency: (\S+)`, `p99_latency: (\S+)`)
	}
	var all []figures
	if as == "vllm-bench" {
		names, err := filepath.Glob(filepath.Join(dir, "*.json"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			var f struct {
				Completed int64
				Mean      float64 `json:"mean_e2el_ms"`
				P99       float64 `json:"p99_e2el_ms"`
			}
			readJSON(t, name, &f)
			all = append(all, figures{f.Completed, f.Mean, f.P99})
		}
		return all
	}
	if as == "inference-perf" {
		for i := 0; ; i++ {
			var f struct {
				Successes struct {
					Count   int64
					Latency map[string]map[string]float64
				}
			}
			if !readJSON(t, filepath.Join(dir, fmt.Sprintf("stage_%d_lifecycle_metrics.json", i)), &f) {
				return all
			}
			l := f.Successes.Latency["request_latency"]
			all = append(all, figures{f.Successes.Count, l["mean"] * 1e3, l["p99"] * 1e3})
		}
	}
	// One directory for each stage, in the order in which the screen names them.
	dirs := []string{dir}
	if found := regexp.MustCompile(`(?m)^`+regexp.QuoteMeta(dir)+`\S*$`).FindAllString(screen, -1); len(found) > 0 {
		dirs = found
	}
	for _, d := range dirs {
		var f map[string]json.RawMessage
		if !readJSON(t, filepath.Join(d, "profile_export_genai_perf.json"), &f) {
			t.Fatalf("there is no report in %s", d)
		}
		var count, latency map[string]any
		if err := errors.Join(json.Unmarshal(f["request_count"], &count), json.Unmarshal(f["request_latency"], &latency)); err != nil {
			t.Fatal(err)
		}
		avg, _ := latency["avg"].(float64)
		p99, _ := latency["p99"].(float64)
		n, _ := count["avg"].(float64)
		all = append(all, figures{int64(n), avg, p99})
	}
	return all
}

// readJSON reads a file; false: there is none.
func readJSON(t *testing.T, name string, to any) bool {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		return false
	}
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return true
}

// onScreen reads figures that are printed; unit is that of the times in ms.
func onScreen(t *testing.T, screen string, unit float64, patterns ...string) []figures {
	t.Helper()
	var columns [3][]float64
	for i, p := range patterns {
		for _, m := range regexp.MustCompile(p).FindAllStringSubmatch(screen, -1) {
			v, err := strconv.ParseFloat(m[1], 64)
			if err != nil {
				t.Fatal(err)
			}
			columns[i] = append(columns[i], v)
		}
	}
	var all []figures
	for i := range columns[0] {
		if i >= len(columns[1]) || i >= len(columns[2]) {
			t.Fatalf("%d counts, %d means and %d percentiles in\n%s", len(columns[0]), len(columns[1]), len(columns[2]), screen)
		}
		all = append(all, figures{int64(columns[0][i]), columns[1][i] / unit, columns[2][i] / unit})
	}
	return all
}

// What cannot be reported is said in a line, and nothing of a run is ever replaced.
func TestReportAsFaults(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	(&kept{}).make(t, dir)
	file := func(name, text string) string {
		path := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	occupied := filepath.Dir(file("notes.txt", "mine"))
	single := "per_request_lifecycle_metrics.json"
	for _, c := range []struct {
		line, want string
		code       int
	}{
		{dir + " --format genaiperf", "did you mean genai-perf?", 2},
		{dir + " --format genai-perf --format csv", "genai-perf cannot be combined with other formats", 2},
		{dir + " --out elsewhere", "needs the format of another tool", 2},
		{dir + " --format llm_perf --out " + occupied, "is not empty (it holds notes.txt)", 2},
		{dir + " --format llm_perf --out " + dir, "is not empty", 2},
		{dir + " --format genai-perf --tokenizer no/such --out " + filepath.Join(dir, "x"), "--tokenizer", 1},
		{occupied + " --format llm_perf", "holds no requests to read", 2},
		{dir + "/none --format llm_perf", "no such file", 2},
		{file("x.json", `{"experiments": []}`) + " --format llm_perf", "no experiments", 2},
		{file("x.json", `{"experiments": [{"requests": [{"timestamp": 5, "response_timestamps": [6]}]}]}`) + " --format genai-perf", "0 responses and 1 ", 2},
		{file("x.json", `{"experiments": [{"failed_requests": [{"timestamp": 5, "response_timestamps": [6]}]}]}`) + " --format genai-perf", "0 responses and 1 ", 2},
		{file("x.json", `{"experiments": [{"requests": []}], "service_kind": "openai"}`) + " --format perf_analyzer", "no request succeeded", 1},
		{file("x.json", `not JSON`) + " --format genai-perf", "holds no requests to read", 2},
		{file(single, `{}`) + " --format llm_perf", "per-request report", 2},
		{file(single, `[]`) + " --format llm_perf", "it has no requests", 2},
		{file(single, `[{"start_time": 5, "end_time": 4}]`) + " --format llm_perf", "end_time 4", 2},
		{file(single, `[{"start_time": 1e300, "end_time": 2e300}]`) + " --format llm_perf", "end_time 2e+300", 2},
		{file(single, `[{"start_time": 1, "end_time": 2, "stage_id": -1, "info": null}]`) + " --format llm_perf", "stage_id is -1", 2},
		{file(single, `[{"start_time": 1, "end_time": 2, "info": null, "error": {"error_type": "TimeoutError"}}]`) + " --format inference-perf", "no request succeeded", 1},
	} {
		code, out, errs := here(t, append([]string{"report"}, strings.Fields(c.line)...)...)
		if code != c.code || !strings.Contains(errs, c.want) {
			t.Errorf("%s: exit %d, want %d and %q\n%s%s", c.line, code, c.code, c.want, out, errs)
		}
	}
	// By itself, the files go beside the records, and may be made again.
	for range 2 {
		if code, _, errs := here(t, "report", dir, "--format", "llm_perf"); code != 0 || !strings.Contains(errs, filepath.Join(dir, "llm_perf", "profiling_results.json")) {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
	if code, _, errs := here(t, "report", dir); code == tool.ExitUsage || errs != "" {
		t.Errorf("our own report, after another: exit %d: %s", code, errs)
	}
}

// Files of the originals, and of other servers than those of text, are read too.
func TestReportAsOfOthers(t *testing.T) {
	entry := `{"start_time": 1000.5, "end_time": 1001.5, "request": "{}", "response": "", "error": null, "info": {"request_metrics": {"text": {"input_tokens": 3}},
		"response_metrics": {"output_tokens": 2, "server_usage": null, "chunk_times": [1001.0, 1001.5], "output_token_times": [1001.0, 1001.5]}, "lora_adapter": null}}`
	single := filepath.Join(t.TempDir(), "per_request_lifecycle_metrics.json")
	tensors := filepath.Join(t.TempDir(), "tensors.json")
	for name, text := range map[string]string{
		single:  "[" + entry + "," + entry + "]",
		tensors: `{"experiments":[{"experiment":{"mode":"concurrency","value":1},"requests":[{"timestamp":1000000000,"request_inputs":{"INPUT0":[1,2]},"response_timestamps":[2000000000],"response_outputs":[{"OUTPUT0":[3,4]}]}],"window_boundaries":[]}],"version":"1","service_kind":"triton","endpoint":""}`,
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, from := range []struct {
		path  string
		count int64
	}{{"../tool/genaiperf/testdata/vllm", 0}, {single, 2}, {tensors, 1}} {
		for _, as := range asTools {
			out := filepath.Join(t.TempDir(), "made")
			code, screen, errs := here(t, "report", from.path, "--format", as, "--out", out)
			if code != tool.ExitOK {
				t.Errorf("%s as %s: exit %d\n%s%s", from.path, as, code, screen, errs)
				continue
			}
			got := readFigures(t, as, out, screen)
			if len(got) != 1 || from.count > 0 && (got[0].count != from.count || math.Abs(got[0].avg-1000) > 0.01) || got[0].count == 0 {
				t.Errorf("%s as %s: %+v\n%s", from.path, as, got, screen)
			}
		}
	}
}
