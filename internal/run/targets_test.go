package run

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// TestTargetsAreReportedOneByOne measures two servers at once, of which one is slower and
// refuses every request in four.
func TestTargetsAreReportedOneByOne(t *testing.T) {
	good := serve(t, func(c *config.Server) { c.Latency.TTFT, c.Latency.ITL = 2*time.Millisecond, time.Millisecond })
	bad := serve(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.ITL = 30*time.Millisecond, time.Millisecond
		c.Faults = []config.Fault{{Kind: "status", Code: 500, Share: 0.25}}
	})
	p := closedPlan(t, good.url, 4, 200)
	p.Target.URLs = append(p.Target.URLs, strings.Replace(bad.url, "http://", "http://user:secret@", 1))
	res := mustRun(t, p)
	st := res.Stages[0]
	if len(st.Targets) != 2 {
		t.Fatalf("%d targets", len(st.Targets))
	}
	if a, b := st.Targets[0], st.Targets[1]; a.URL != plan.SafeURL(good.url) || strings.Contains(b.URL, "secret") || !strings.Contains(b.URL, strings.TrimPrefix(bad.url, "http://")) {
		t.Errorf("the targets are %s and %s", a.URL, b.URL)
	}
	var sent, ok, failures int64
	for _, x := range st.Targets {
		sent, ok, failures = sent+x.Counts.Sent, ok+x.Counts.OK, failures+x.Counts.Failed
		if x.Counts.Sent < 80 {
			t.Errorf("%s got %d of 200 requests", x.URL, x.Counts.Sent)
		}
	}
	if sent != st.Counts.Sent || ok != st.Counts.OK || failures != st.Counts.Failed || st.Targets[0].Counts.Failed != 0 || failures == 0 {
		t.Errorf("targets %+v, stage %+v", st.Targets, st.Counts)
	}
	if fast, slow := st.Targets[0].Metrics["time_to_first_token"], st.Targets[1].Metrics["time_to_first_token"]; fast.Distribution == nil || slow.Distribution == nil {
		t.Errorf("time to first token %+v and %+v", fast, slow)
	} else {
		// The moment that is taken for an event lies before its read's stamp where the read came late.
		type bound struct{ least, most float64 }
		bounds := map[int]bound{}
		for _, rec := range readKept(t, p.Output.Dir).recs {
			i := slices.IndexFunc(rec.Events, func(e record.Event) bool { return e.Label.IsToken() })
			if rec.Failure != nil || i < 0 {
				continue
			}
			mark := rec.Marks[rec.Events[i].Mark]
			took := func(at time.Duration) float64 { return float64(at-rec.Sent) / float64(time.Millisecond) }
			b, ok := bounds[rec.Target]
			if !ok {
				b = bound{math.Inf(1), math.Inf(1)}
			}
			bounds[rec.Target] = bound{min(b.least, took(mark.Time()-mark.Blur)), min(b.most, took(mark.Time()))}
		}
		for i, min := range []float64{fast.Min, slow.Min} {
			if b := bounds[i]; min < b.least || min > b.most || b.most < []float64{2, 30}[i] {
				t.Errorf("the fastest first token of server %d took %v ms, by the records %+v", i, min, b)
			}
		}
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := asJSON(t, res), asJSON(t, again); a != b {
		t.Errorf("the report made from the records differs:\n%s\n%s", a, b)
	}
	csv, err := os.ReadFile(filepath.Join(p.Output.Dir, "summary.csv"))
	if err != nil || !strings.Contains(string(csv), ","+st.Targets[1].URL+",requests_failed,requests,") {
		t.Errorf("summary.csv has no row of the second target: %v\n%s", err, csv)
	}
}
