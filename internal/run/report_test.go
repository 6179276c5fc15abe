package run

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	csvreport "github.com/inferometer/inferometer/internal/report/csvreport"
	"github.com/inferometer/inferometer/internal/report/html"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// A report made from the records says to the last digit what the run itself said.
func TestReportSaysWhatTheRunSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		server func(c *config.Server)
		change func(p *plan.Plan)
	}{
		{"closed loop with a warm-up", func(c *config.Server) { c.Latency.TTFT, c.Latency.ITL = time.Millisecond, 100*time.Microsecond }, func(p *plan.Plan) {
			p.Stages[0].Warmup.Requests = 20
			p.Goodput = []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(2 * time.Millisecond)}, {Metric: "request_latency", Max: plan.Duration(time.Second)}}
		}},
		{"a warm-up to be found", nil, func(p *plan.Plan) { p.Stages[0].Warmup.Auto = true }},
		{"open loop", nil, func(p *plan.Plan) {
			p.Stages = []plan.Stage{{Rate: 800, Arrival: plan.ArrivalPoisson, MaxInFlight: 2, Requests: 100}}
		}},
		{"stages with a gap, by time", nil, func(p *plan.Plan) {
			p.Stages = []plan.Stage{
				{Name: "first", Concurrency: 1, RampTo: 4, Duration: plan.Duration(60 * time.Millisecond), Warmup: plan.Warmup{Duration: plan.Duration(20 * time.Millisecond)}},
				{Concurrency: 3, Requests: 30, Gap: plan.Duration(5 * time.Millisecond)},
			}
		}},
		{"failures of several kinds", func(c *config.Server) {
			c.Faults = []config.Fault{{Kind: config.FaultStatus, Code: 500, Share: 0.2}, {Kind: config.FaultTruncate, Share: 0.2},
				{Kind: config.FaultError, Share: 0.2}, {Kind: config.FaultHTML, Share: 0.1}}
		}, func(p *plan.Plan) { p.Target.Model = "mock" }},
		{"not streamed, answers kept", nil, func(p *plan.Plan) {
			p.Target.Streaming = false
			p.Output.KeepRaw = true
			p.Data.Output = plan.Length{Dist: plan.DistUniform, Min: 1, Max: 9}
		}},
		{"embeddings", nil, func(p *plan.Plan) {
			p.Target.Streaming = false
			p.Target.Endpoint = plan.EndpointEmbeddings
		}},
		{"fields and headers, some of them secret", func(c *config.Server) { c.Strict = false }, func(p *plan.Plan) {
			p.Target.Headers = map[string]string{"Authorization": "Bearer 0123456789abcdef", "X-Plain": "yes"}
			p.Target.Body = map[string]any{"temperature": 0.5, "top_k": 40, "stop": []any{"a", "b"}, "nested": map[string]any{"n": 1, "x": nil}, "big": 1e300}
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := serve(t, tt.server)
			p := closedPlan(t, s.url, 4, 100)
			tt.change(p)
			var drawn *pagedata.Document
			o := options(io.Discard)
			o.Draw = func(document func() (*pagedata.Document, error)) (err error) { drawn, err = document(); return err }
			live, err := Run(t.Context(), p, o)
			if err != nil {
				t.Fatal(err)
			}
			again, err := saved.Read(p.Output.Dir, saved.Options{Draw: true})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(asPage(t, drawn), asPage(t, again.Document)) {
				t.Error("the page that was drawn during the run is not that of its report")
			}
			want := asJSON(t, live)
			if diff := cmp.Diff(want, asJSON(t, again.Result)); diff != "" {
				t.Errorf("(-run +report):\n%s", diff)
			}
			if diff := cmp.Diff(want, readFile(t, p.Output.Dir, rundir.ResultFile)); diff != "" {
				t.Errorf("(-run +%s):\n%s", rundir.ResultFile, diff)
			}
			var csv bytes.Buffer
			if err := csvreport.Write(&csv, again.Result); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(csv.String(), readFile(t, p.Output.Dir, rundir.SummaryFile)); diff != "" {
				t.Errorf("(-report +%s):\n%s", rundir.SummaryFile, diff)
			}
			var doc struct{ Verdict struct{ Reasons []string } }
			if err := json.Unmarshal([]byte(want), &doc); err != nil {
				t.Errorf("the result is not JSON: %v", err)
			}
		})
	}
}

func asPage(t *testing.T, d *pagedata.Document) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := html.Write(&b, d); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A run that was killed leaves a record file that stops anywhere. As long as its
// header is there, a report can be made, and says that the run did not end.
func TestReportOfAKilledRun(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	p := closedPlan(t, s.url, 4, 200)
	full := mustRun(t, p)
	whole := flushedOften(t, filepath.Join(p.Output.Dir, rundir.RecordsFile))
	killed := t.TempDir()
	if err := os.WriteFile(filepath.Join(killed, rundir.PlanFile), []byte(readFile(t, p.Output.Dir, rundir.PlanFile)), 0o644); err != nil {
		t.Fatal(err)
	}
	reports, last, sizes := 0, int64(0), map[int64]bool{}
	for size := 0; size < len(whole); size += max(1, len(whole)/30) {
		if err := os.WriteFile(filepath.Join(killed, rundir.RecordsFile), []byte(whole[:size]), 0o644); err != nil {
			t.Fatal(err)
		}
		res, err := saved.Report(killed)
		if err != nil {
			if !strings.Contains(err.Error(), "ends in the middle") || reports > 0 {
				t.Fatalf("%d of %d bytes: %v", size, len(whole), err)
			}
			continue
		}
		reports++
		sent := res.Stages[0].Counts.Sent
		if !res.Incomplete || sent < last || sent > full.Stages[0].Counts.Sent {
			t.Errorf("%d of %d bytes: incomplete %v, %d requests after %d before", size, len(whole), res.Incomplete, sent, last)
		}
		if sent > 0 && sent == res.Stages[0].Counts.OK && res.Stages[0].Metrics["request_latency"].Count != sent {
			t.Errorf("%d of %d bytes: %d requests and %d latencies", size, len(whole), sent, res.Stages[0].Metrics["request_latency"].Count)
		}
		last, sizes[sent] = sent, true
	}
	if reports < 20 || len(sizes) < 10 || last < full.Stages[0].Counts.Sent/3 {
		t.Errorf("%d reports with %d different counts, the last with %d of %d requests", reports, len(sizes), last, full.Stages[0].Counts.Sent)
	}
}

// flushedOften is a record file as a long run has it when it is killed: flushed many
// times, and without the lines of the end.
func flushedOften(t *testing.T, name string) string {
	t.Helper()
	var file bytes.Buffer
	var w *record.Writer
	n := 0
	_, err := record.File{Path: name}.Walk(func(l record.Line) error {
		var err error
		switch {
		case l.Header != nil:
			w, err = record.NewWriter(&file, *l.Header)
		case l.Health != nil:
			err = w.Health(*l.Health)
		case l.Request != nil:
			err = w.Append(record.AppendJSON(nil, l.Request, false))
			if n++; n%10 == 0 && err == nil {
				err = w.Flush()
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func TestNothingIsWrittenWithoutADirectory(t *testing.T) {
	t.Chdir(t.TempDir())
	s := serve(t, nil)
	p := closedPlan(t, s.url, 2, 10)
	p.Output.Dir = ""
	if res := mustRun(t, p); res.Stages[0].Counts.OK != 10 {
		t.Errorf("counts %+v", res.Stages[0].Counts)
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestOutputDirectoryThatIsTaken(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 1, 2)
	mustRun(t, p)
	before := readFile(t, p.Output.Dir, rundir.RecordsFile)
	_, err := Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "already contains a run")
	if readFile(t, p.Output.Dir, rundir.RecordsFile) != before {
		t.Error("the records of the other run were touched")
	}
	o := options(io.Discard)
	o.Replace = true
	if _, err := Run(t.Context(), p, o); err != nil || readFile(t, p.Output.Dir, rundir.RecordsFile) == before {
		t.Errorf("an earlier run that may be replaced: %v", err)
	}

	p.Output.Dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(p.Output.Dir, "notes.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "is not empty (it holds notes.txt)")

	p.Output.Dir = filepath.Join(p.Output.Dir, "notes.txt")
	_, err = Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "output directory")

	p.Output.Dir = t.TempDir() // there, and empty
	mustRun(t, p)
}
