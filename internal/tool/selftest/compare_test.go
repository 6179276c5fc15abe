package selftest

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// kept writes records as a run would, and gives the plan and the result of them.
func kept(t *testing.T, recs []record.Record) (*plan.Plan, *result.Result) {
	t.Helper()
	p := plan.Default()
	p.Stages = []plan.Stage{{Concurrency: 2}}
	p.Output.Dir = t.TempDir()
	var file bytes.Buffer
	header := record.Header{Schema: record.Schema, Start: time.Unix(1000, 0), Kernel: true}
	w, err := record.NewWriter(&file, header)
	if err != nil {
		t.Fatal(err)
	}
	fold, err := metric.NewFold(metric.OptionsFor(&p))
	if err != nil {
		t.Fatal(err)
	}
	defer fold.Close()
	for i := range recs {
		if err := w.Append(record.AppendJSON(nil, &recs[i], false)); err != nil {
			t.Fatal(err)
		}
		fold.Add(&recs[i])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.Output.Dir, rundir.RecordsFile), file.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	res, err := build.Result(&p, build.Inputs{Header: header}, fold)
	if err != nil {
		t.Fatal(err)
	}
	return &p, res
}

const ms = time.Millisecond

// answer is request n: sent at 100·n ms, its three tokens 50, 60 and 70 ms later.
func answer(n int64) record.Record {
	sent := time.Duration(n) * 100 * ms
	r := record.Record{
		Seq: n, Due: sent, Ready: sent, Sent: sent, Written: sent + ms/10, End: sent + 70*ms, Status: 200, Streamed: true,
		Out: record.Tokens{N: 3, Source: record.FromServer, Local: -1}, Cached: -1,
	}
	for i := range 3 {
		at := sent + time.Duration(50+10*i)*ms
		r.Marks = append(r.Marks, record.Read{Off: 10 * (i + 1), Kernel: at, User: at})
		r.Events = append(r.Events, record.Event{Mark: i, Label: record.Content, Text: 1, Tokens: 1})
	}
	r.Text = []byte("abc")
	return r
}

// truthOf is what the mock would say of a record if it had written everything so much
// earlier than it was read.
func truthOf(r *record.Record, earlier time.Duration) truthfile.Request {
	wall := func(d time.Duration) int64 { return time.Unix(1000, 0).UnixNano() + int64(d) }
	t := truthfile.Request{ID: "run-" + string(rune('0'+r.Seq)), Read: wall(r.Sent), Status: 200, Tokens: 3}
	for _, m := range r.Marks {
		t.Events = append(t.Events, truthfile.Event{At: wall(m.Time() - earlier), Bytes: 10, Kind: "content", Tokens: 1})
	}
	return t
}

func TestBarsAreWhatTheStampsAreOffBy(t *testing.T) {
	var recs []record.Record
	var truth []truthfile.Request
	for n := range int64(8) {
		r := answer(n)
		recs, truth = append(recs, r), append(truth, truthOf(&r, 4*ms))
	}
	p, res := kept(t, recs)
	c, err := compare(p, res, truth)
	if err != nil {
		t.Fatal(err)
	}
	if c.Lost != 0 || c.Requests != 8 {
		t.Errorf("%d requests, %d lost; want 8 and none", c.Requests, c.Lost)
	}
	for metric, want := range map[string]struct{ is, off float64 }{
		"time_to_first_token": {46, 4}, "request_latency": {66, 4}, "inter_token_latency": {10, 0}, "output_sequence_length": {3, 0},
	} {
		b := find(c, metric)
		if b == nil || math.Abs(b.True-want.is) > 1e-6 || math.Abs(b.Avg-want.off) > 1e-6 || math.Abs(b.Error-want.off) > 1e-6 {
			t.Errorf("%s: %+v; want a true average of %v and an error of %v", metric, b, want.is, want.off)
		}
	}
	for _, own := range ownMetrics() {
		if find(c, own) != nil {
			t.Errorf("%s has an error bar, and the mock knows nothing of it", own)
		}
	}
}

// What the mock read late is not the client's fault once write(2) had returned.
func TestALateMockIsNotTheClientsError(t *testing.T) {
	r := answer(1)
	late := truthOf(&r, 0)
	late.Read += int64(20 * ms)
	p, res := kept(t, []record.Record{r})
	c, err := compare(p, res, []truthfile.Request{late})
	if err != nil {
		t.Fatal(err)
	}
	if b := find(c, "time_to_first_token"); b == nil || math.Abs(b.Error-0.1) > 1e-6 {
		t.Errorf("%+v; want an error of the 0.1 ms that the write took", b)
	}
}

func TestAnswersThatTheMockDidNotSend(t *testing.T) {
	a, b, c := answer(1), answer(2), answer(3)
	missing, fewer, more := truthOf(&a, 0), truthOf(&b, 0), truthOf(&c, 0)
	missing.ID = "run-77"
	fewer.Events = fewer.Events[:2]
	more.Tokens = 4
	p, res := kept(t, []record.Record{a, b, c})
	got, err := compare(p, res, []truthfile.Request{missing, fewer, more})
	if err != nil {
		t.Fatal(err)
	}
	l := Trial{Calibration: *got}
	l.judge(res)
	if got.Lost != 3 || l.Honest || !strings.Contains(strings.Join(l.Reasons, " "), "3 of 3 responses differ from what the mock sent") {
		t.Errorf("%d lost, honest %v, %q; want 3, false and a reason", got.Lost, l.Honest, l.Reasons)
	}
}

func TestHonest(t *testing.T) {
	for _, tt := range []struct {
		name    string
		verdict result.Verdict
		bar     record.Bar
		honest  bool
	}{
		{"small", result.Verdict{Status: result.Valid}, record.Bar{Unit: "ms", True: 50, Error: 0.9, Avg: -0.9}, true},
		{"undecided, and small", result.Verdict{Status: result.Inconclusive}, record.Bar{Unit: "ms", True: 50, Error: 0.9}, true},
		{"more than a millisecond", result.Verdict{Status: result.Valid}, record.Bar{Unit: "ms", True: 50, Error: 1.1}, false},
		{"a hundredth of much", result.Verdict{Status: result.Valid}, record.Bar{Unit: "ms", True: 500, Error: 4.9}, true},
		{"large, and stated", result.Verdict{Status: result.Valid}, record.Bar{Unit: "ms", True: 50, Error: 3, Avg: -3, Stated: 3.5, StatedP99: 3.5}, true},
		{"a percentile, and stated", result.Verdict{Status: result.Valid}, record.Bar{Unit: "ms", True: 50, Error: 3, P99: 3, StatedP99: 3.5}, true},
		{"a percentile, stated for the average", result.Verdict{Status: result.Valid}, record.Bar{Unit: "ms", True: 50, Error: 3, P99: 3, Stated: 3.5}, false},
		{"larger than stated", result.Verdict{Status: result.Valid}, record.Bar{Unit: "ms", True: 50, Error: 4, Avg: 4, Stated: 3.5, StatedP99: 9}, false},
		{"a rate", result.Verdict{Status: result.Valid}, record.Bar{Unit: "requests/sec", True: 100, Error: 1.5, Avg: 1.5}, false},
		{"invalid", result.Verdict{Status: result.Invalid, Reasons: []string{"late"}}, record.Bar{Unit: "ms", True: 50}, false},
	} {
		l := Trial{Calibration: record.Calibration{Bars: []record.Bar{tt.bar}}}
		l.judge(&result.Result{Verdict: tt.verdict})
		if l.Honest != tt.honest {
			t.Errorf("%s: honest %v (%q), want %v", tt.name, l.Honest, l.Reasons, tt.honest)
		}
	}
}

func find(c *record.Calibration, metric string) *record.Bar {
	for i := range c.Bars {
		if c.Bars[i].Metric == metric {
			return &c.Bars[i]
		}
	}
	return nil
}
