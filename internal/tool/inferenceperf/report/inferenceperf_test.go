package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/dialect"
)

var update = flag.Bool("update", false, "write the golden files anew")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = "testdata/" + name
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func records() []*record.Record {
	const body = "data: {\"choices\":[{\"text\":\"a\"}]}\n\ndata: {\"choices\":[{\"text\":\" b\"}]}\n\ndata: [DONE]\n\n"
	ok := &record.Record{
		Due: 0, Ready: 0, Sent: time.Millisecond, End: 120 * time.Millisecond, Streamed: true, Cached: 3, Size: 9, RequestBody: []byte(`{"a":"b"}`),
		Session: "s1", Model: "red", Body: []byte(body), Retries: 2, LastTry: 61 * time.Millisecond,
		Marks: []record.Read{{Off: 34, Kernel: record.Never, User: 101 * time.Millisecond},
			{Off: len(body), Kernel: record.Never, User: 120 * time.Millisecond}},
		Events: []record.Event{
			{Mark: 0, Label: record.Content, Text: 1, Tokens: 1}, {Mark: 1, Label: record.Content, Text: 2, Tokens: 1},
			{Mark: 1, Label: record.Done},
		},
		In: record.Tokens{N: 5, Source: record.FromServer, Local: -1}, Out: record.Tokens{N: 2, Source: record.FromServer, Local: 2},
	}
	bad := &record.Record{
		Due: 0, Sent: 2 * time.Millisecond, End: 52 * time.Millisecond, Streamed: true, Cached: -1, Status: 503, Stage: 0,
		In: record.Tokens{N: 4, Source: record.FromTokenizer, Local: -1}, Out: record.Tokens{Local: -1},
		Failure: &record.Failure{Class: record.HTTPStatus, Status: 503, Message: "busy \"now\""},
	}
	return []*record.Record{ok, bad}
}

func fold(t *testing.T, percentiles ...float64) (*dialect.Fold, *dialect.Options) {
	pool := stat.NewPool(t.TempDir(), 1<<20)
	t.Cleanup(func() { pool.Close() })
	o := dialect.Options{
		Percentiles: percentiles, MaxMessages: 10, Pool: pool, Goodput: map[string]float64{dialect.TTFT: 0.2, dialect.RequestLatency: 0.1},
		Media: func(p uint64) []dialect.Medium {
			return []dialect.Medium{{Kind: dialect.Image, Bytes: 3, Width: 2, Height: 1}}
		},
	}
	f := dialect.NewFold(o)
	for _, r := range records() {
		f.Add(r)
	}
	return f, &o
}

func TestReports(t *testing.T) {
	f, o := fold(t, 10, 50, 99.9)
	s, err := f.Summary(dialect.All())
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	rate := 8.0
	golden(t, "stage.json", Lifecycle(s, &StageLoad{Rate: &rate, Concurrency: new(2)}))

	r := NewRequests(&b, Fields{Request: true, Response: true, Info: true, Chunks: true, Metrics: true}, o)
	for _, rec := range records() {
		r.Add(rec)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	golden(t, "per_request.json", b.Bytes())

	b.Reset()
	f.AddSession(&record.SessionSummary{
		Session: "s1", Begin: 5 * time.Millisecond, End: time.Second, Calls: 4, Unsent: 2, Origin: "traces/a.json", Cause: record.RequestFailed,
		Message: "http_status: no", Repaired: []string{"event_000_a"}, User: []int{0}, UserIDs: []string{"event_000_a"}, Program: 1,
	})
	sessions, err := f.SummarizeSessions(f.Sessions())
	if err != nil {
		t.Fatal(err)
	}
	b.Write(Sessions(sessions, &SessionStage{Stage: 1, Status: "COMPLETED", Duration: 2, Concurrent: new(int)}))
	b.WriteByte('\n')
	if err := EachSession(&b, f.Sessions(), time.Unix(100, 0)); err != nil {
		t.Fatal(err)
	}
	golden(t, "sessions.json", b.Bytes())

	s, err = f.SummaryAt(dialect.All(), PartialPercentiles())
	if err != nil {
		t.Fatal(err)
	}
	// differs: ip-partial-time
	golden(t, "partial.yaml", Partial(s, 0, time.Unix(100, 0), time.Unix(101, 0), time.Unix(103, 500e6)))
	failures := Partial(&dialect.Summary{Count: 2, Failed: 2}, 0, time.Unix(100, 0), time.Unix(101, 0), time.Unix(103, 0))
	if !strings.Contains(string(failures), "\n      latency: {}\n") {
		t.Errorf("of failures alone:\n%s", failures)
	}

	golden(t, "validation.json", Validation([]string{"a.json"}, append(Examine("a.json", "summary", &dialect.Summary{Count: 2, OK: 1}), Finding{Check: "verdict", Message: "late"})))
}

func TestServers(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	s := &ServerMetrics{Seconds: 10, Figures: []record.Figure{
		{Name: "requests", Total: n(20), Rate: n(2)}, {Name: "prompt_tokens", Total: n(200), Rate: n(20)},
		{Name: "request_latency", Mean: n(0.5), Median: n(0.4), P90: n(0.6)},
		{Name: "prefix_cache_hits", Total: n(1)}, {Name: "prefix_cache_queries", Total: n(4)},
		{Name: "gpu_power", Mean: n(300)},
	}, Series: []MetricSeries{{"queue_length", [][2]float64{{1, 2}, {2, 3}}}}}
	var b []byte
	for _, s.Faithful = range []bool{false, true} {
		b = append(append(b, Prometheus(s)...), '\n')
	}
	golden(t, "prometheus.json", b)
}

// The keys are those of a report that the real tool wrote, in its order, and prompt_len.
func TestKeysOfTheOriginal(t *testing.T) {
	f, _ := fold(t, 0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9)
	s, err := f.Summary(dialect.All())
	if err != nil {
		t.Fatal(err)
	}
	s.Goodput = nil // it was not asked for
	rate := 1.0
	ours := Lifecycle(s, &StageLoad{Rate: &rate, Concurrency: new(64)})
	theirs, err := os.ReadFile("../reader/testdata/original/stage_0_lifecycle_metrics.json")
	if err != nil {
		t.Fatal(err)
	}
	want := keys(t, theirs)
	var got []string
	have := map[string]bool{}
	for _, k := range want {
		have[k] = true
	}
	for _, k := range keys(t, ours) {
		if have[k] {
			got = append(got, k)
		} else if !allowed(k) {
			t.Errorf("%s is ours alone", k)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// allowed are keys that the report at hand has no occasion for.
func allowed(k string) bool {
	for _, prefix := range []string{
		".successes.prompt_len", ".failures.by_label.", ".failures.request_latency.", ".failures.prompt_tokens.",
		".retries", ".successes.image.pixels.", ".successes.image.bytes.", ".successes.image.aspect_ratio.",
	} {
		if len(k) >= len(prefix) && k[:len(prefix)] == prefix {
			return true
		}
	}
	return false
}

// keys are the paths of a JSON document, in its order.
func keys(t *testing.T, text []byte) []string {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	var out []string
	var walk func(path string)
	walk = func(path string) {
		token, err := d.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case json.Delim('{'):
			for d.More() {
				name, err := d.Token()
				if err != nil {
					t.Fatal(err)
				}
				p := fmt.Sprintf("%s.%v", path, name)
				out = append(out, p)
				walk(p)
			}
			_, _ = d.Token()
		case json.Delim('['):
			for d.More() {
				walk(path + "[]")
			}
			_, _ = d.Token()
		}
	}
	walk("")
	return out
}

func TestNumbersAsPython(t *testing.T) {
	for v, want := range map[float64]string{
		0: "0.0", 1: "1.0", 40356: "40356.0", 0.0001: "0.0001", 4.809518749482322e-05: "4.809518749482322e-05", 1e16: "1e+16", 1e22: "1e+22", -0.5: "-0.5", 123456789012345680: "1.2345678901234568e+17",
	} {
		if got := number.PythonJSON(v); got != want {
			t.Errorf("%v: %s, want %s", v, got, want)
		}
	}
	for p, want := range map[float64]string{50: "median", 99: "p99", 99.9: "p99.9", 0.1: "p0.1"} {
		if got := PercentileKey(p); got != want {
			t.Errorf("%v: %s", p, got)
		}
	}
}
