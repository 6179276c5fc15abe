package run

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

// unfinished is the check of requests that hang; false: it was not made.
func unfinished(res *result.Result) (result.Check, bool) {
	i := slices.IndexFunc(res.Verdict.Checks, func(c result.Check) bool { return c.Name == "unfinished" })
	if i < 0 {
		return result.Check{}, false
	}
	return res.Verdict.Checks[i], true
}

// A server that never answers one request in twelve: its latencies are lower bounds, and the run is
// not valid.
func TestHangingRequests(t *testing.T) {
	t.Parallel()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1)%12 == 0 {
			_, _ = io.Copy(io.Discard, r.Body) // else the server does not see that the client is gone
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"word"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	}))
	t.Cleanup(s.Close)
	p := closedPlan(t, s.URL, 0, 0)
	p.Target.Model = "m"
	p.Stages = []plan.Stage{{Rate: 400, Arrival: plan.ArrivalConstant, Requests: 360}}
	p.Drain = plan.Duration(3 * time.Second)
	res := mustRun(t, p)
	st := &res.Stages[0]
	if st.Counts.CutOff != 30 || st.Counts.OK != 330 {
		t.Fatalf("%+v", st.Counts)
	}
	for _, id := range []string{"time_to_first_byte", "time_to_first_token", "time_to_first_token_from_due", "request_latency", "request_latency_from_due"} {
		m := st.Metrics[id]
		if m.Censored != 30 || m.Count != 330 || !m.Open("avg") || !m.Open("p95") || m.Open("p50") || m.P95 < 1500 || m.Avg < 125 {
			t.Errorf("%s: %+v, %+v", id, m, m.Distribution)
		}
	}
	if c, made := unfinished(res); !made || c.OK || res.Verdict.Status != result.Invalid || !strings.Contains(c.Reason, "30 of 360 requests") {
		t.Errorf("the verdict is %s: %+v", res.Verdict.Status, c)
	}
	sameAsReport(t, p, asJSON(t, res))
}

// A run that ends with requests in flight, none of them old, is not to blame for them.
func TestCutWhileYoung(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *config.Server) {
		c.Latency.TTFT, c.Latency.ITL, c.Output.Tokens = 20*time.Millisecond, 5*time.Millisecond, 20
	})
	p := closedPlan(t, s.url, 8, 0)
	p.Stages[0].Duration, p.Drain = plan.Duration(2*time.Second), plan.Duration(time.Microsecond)
	res := mustRun(t, p)
	c, made := unfinished(res)
	if res.Stages[0].Counts.CutOff == 0 || !made || !c.OK {
		t.Errorf("%+v, %+v", res.Stages[0].Counts, c)
	}
	sameAsReport(t, p, asJSON(t, res))
}
