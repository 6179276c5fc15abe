package live

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/stat"
	promtest "github.com/inferometer/inferometer/internal/testkit/prometheus"
)

// measured is a run with something of everything.
func measured(t *testing.T) *fakeRun {
	c := newFake(t)
	c.add(0, record.Warmup, 500*ms)
	for i := range 20 {
		c.add(0, record.Measured, time.Duration(20+i*5)*ms)
	}
	c.Stage, c.InFlight = 1, 3
	c.Times = []record.StageTimes{{Begin: 0, WarmupEnd: 100 * ms, SendEnd: time.Second, DrainEnd: 2 * time.Second},
		{Begin: 2 * time.Second, WarmupEnd: 2 * time.Second, SendEnd: record.NotYet, DrainEnd: record.NotYet}}
	c.At = 4 * time.Second
	c.add(1, record.Measured, 90*ms)
	c.add(1, record.Measured, 200*ms)
	c.add(1, record.Measured, 0)
	return c
}

func TestExposition(t *testing.T) {
	c := measured(t)
	for file, accept := range map[string]string{
		"metrics.txt":     "text/plain;version=0.0.4",
		"openmetrics.txt": "application/openmetrics-text;version=1.0.0",
	} {
		kind, page, err := exposition(&c.Progress, "v1", http.Header{"Accept": {accept}})
		if err != nil || !strings.HasPrefix(kind, strings.Split(accept, ";")[0]) {
			t.Errorf("%s: kind %q, %v", file, kind, err)
		}
		golden(t, file, string(page))
	}
	if strings.Contains(string(mustRead(t, "testdata/metrics.txt")), "secret") {
		t.Error("the page of metrics has a secret")
	}
}

// The form that Prometheus asks for has native histograms, which count what the classic ones do.
func TestNativeHistograms(t *testing.T) {
	c := measured(t)
	kind, page, err := exposition(&c.Progress, "v1", http.Header{"Accept": {
		"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited,application/openmetrics-text;version=1.0.0;q=0.8"}})
	if err != nil {
		t.Fatal(err)
	}
	d := expfmt.NewDecoder(bytes.NewReader(page), expfmt.NewFormat(expfmt.TypeProtoDelim))
	seen := 0
	for {
		var f dto.MetricFamily
		if err := d.Decode(&f); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("%s: %v", kind, err)
		}
		if f.GetType() != dto.MetricType_HISTOGRAM {
			continue
		}
		for _, m := range f.Metric {
			h := m.Histogram
			var n, at int64
			for _, delta := range h.PositiveDelta {
				at += delta
				n += at
			}
			if uint64(n)+h.GetZeroCount() != h.GetSampleCount() || h.GetSampleCount() == 0 || h.GetSchema() != schema {
				t.Errorf("%s: %d samples in buckets, of %d", f.GetName(), n, h.GetSampleCount())
			}
			seen++
		}
	}
	if seen != 6 {
		t.Errorf("%d histograms, want 3 of each stage", seen)
	}
}

// A bucket of a native histogram has the samples between its bounds, and a gap between
// buckets is a new span.
func TestNativeBuckets(t *testing.T) {
	var h stat.Histogram
	for _, v := range []time.Duration{0, 1020 * ms, 1050 * ms, 1150 * ms, 4100 * ms} {
		h.Add(int64(v))
	}
	got := histogram(&h)
	var spans []int64
	for _, s := range got.PositiveSpan {
		spans = append(spans, int64(s.GetOffset()), int64(s.GetLength()))
	}
	// Bucket 1 ends at 1.09 s, 2 at 1.19 s and 17 at 4.36 s.
	if diff := cmp.Diff([]int64{1, 2, 14, 1}, spans); diff != "" {
		t.Errorf("spans (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]int64{2, -1, 0}, got.PositiveDelta); diff != "" {
		t.Errorf("differences (-want +got):\n%s", diff)
	}
	if got.GetZeroCount() != 1 || got.GetSampleCount() != 5 || got.GetSampleSum() != 7.32 {
		t.Errorf("%v", got)
	}
}

// Before the first run there is nothing to say, and nothing breaks.
func TestExpositionOfNoRun(t *testing.T) {
	_, page, err := exposition(&run.Progress{}, "v1", http.Header{})
	if err != nil || len(page) != 0 {
		t.Errorf("%q, %v", page, err)
	}
}

// A name that is not UTF-8 does not keep Prometheus from the figures.
func TestExpositionOfBrokenNames(t *testing.T) {
	c := measured(t)
	c.Plan.Name = "broken \xff\n\"name"
	for _, accept := range []string{"text/plain", "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited"} {
		if _, page, err := exposition(&c.Progress, "v1", http.Header{"Accept": {accept}}); err != nil || !utf8.Valid(page) && accept == "text/plain" {
			t.Errorf("%s: %v", accept, err)
		}
	}
}

// A real Prometheus scrapes the page and has native histograms of it.
func TestPrometheusScrapes(t *testing.T) {
	s, c := listen(t, Options{}), measured(t)
	s.Watch(func() run.Progress { return c.Progress })
	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	server := promtest.Start(t, 200*ms, u.Host)
	for query, want := range map[string]float64{
		`histogram_count(inferometer_time_to_first_token_seconds{stage="1"})`:         20,
		`histogram_sum(inferometer_request_latency_seconds{stage="1"})`:               1.75,
		`histogram_quantile(1,inferometer_inter_token_latency_seconds{stage="2"})`:    0.0105, // to the end of a bucket
		`inferometer_requests_total{stage="2",error_type="timeout",phase="measured"}`: 1,
		`inferometer_good_requests_total{stage="1",model="模型"}`:                       17,
	} {
		got := server.Value(t, query)
		if math.Abs(got-want) > 0.05*want {
			t.Errorf("%s is %v, want %v", query, got, want)
		}
	}
}
