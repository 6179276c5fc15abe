package prometheus

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// oracle is a stand-in for a Prometheus server that knows the responses to some queries.
type oracle struct {
	mu      sync.Mutex
	asked   []string
	answers func(query string) string // a value; empty: there is none
	status  int
	token   string // that requests must bring
}

func (o *oracle) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	defer o.mu.Unlock()
	q := r.FormValue("query")
	o.asked = append(o.asked, r.URL.Path+" "+q+" @"+r.FormValue("time"))
	if o.token != "" && r.Header.Get("Authorization") != "Bearer "+o.token {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprint(w, `{"status":"error","error":"who are you?"}`)
		return
	}
	if o.status != 0 {
		w.WriteHeader(o.status)
		return
	}
	result := ""
	if v := o.answers(q); v != "" {
		result = fmt.Sprintf(`{"metric":{},"value":[1700000000.5,%q]}`, v)
	}
	fmt.Fprintf(w, `{"status":"success","data":{"resultType":"vector","result":[%s]}}`, result)
}

func (o *oracle) has(part string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.asked {
		if strings.Contains(a, part) {
			return true
		}
	}
	return false
}

// knows answers a few queries.
func knows(q string) string {
	switch {
	case strings.HasPrefix(q, "count("), strings.HasPrefix(q, "min(timestamp"), strings.HasPrefix(q, "min((timestamp"):
		return "9e9"
	case strings.Contains(q, "vllm:request_success"):
		return "10"
	case strings.Contains(q, "quantile(0.5") && strings.Contains(q, "time_to_first"):
		return "NaN"
	case strings.Contains(q, "vllm:time_to_first_token_seconds"):
		return "20"
	case strings.Contains(q, "vllm:kv_cache_usage_perc"):
		return "0.5"
	}
	return ""
}

func stretch() []probe.TimeRange {
	return []probe.TimeRange{{Stage: 1, Begin: 2 * time.Second, End: 6 * time.Second, Next: 7 * time.Second}}
}

func TestArchive(t *testing.T) {
	o := &oracle{answers: knows}
	server := httptest.NewServer(o)
	defer server.Close()
	start := time.Unix(1_700_000_000, 0)
	a, err := NewClient(t.Context(), plan.Prometheus{URL: server.URL + "/prom/", Filters: []string{"namespace='llm'"}}, Options{Start: start, Model: `m"1`})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	got := a.Ask(t.Context(), stretch())
	if len(got) != 1 || got[0].Stage != 1 || got[0].Source != Source || len(got[0].Faults) > 0 {
		t.Fatalf("figures %+v", got)
	}
	byName := map[string]record.Figure{}
	for _, f := range got[0].Figures {
		byName[f.Name] = f
	}
	// differs: ip-server-rate
	if f := byName["requests"]; f.Total == nil || *f.Total != 10 || *f.Rate != 2.5 {
		t.Errorf("requests %+v", f)
	}
	if f := byName["time_to_first_token"]; f.Mean == nil || *f.Mean != 1 || f.Median != nil || f.P99 == nil {
		t.Errorf("first token %+v: what is not a number is missing", f)
	}
	if f := byName["kv_cache_usage"]; f.Max == nil || *f.Max != 0.5 {
		t.Errorf("cache %+v", f)
	}
	if len(byName) != 4 { // with request_success_count
		t.Errorf("what is missing is there: %v", byName)
	}
	// The end of the window is where the next stage begins.
	filters := `model_name="m\"1",namespace='llm'`
	for _, want := range []string{
		"/prom/api/v1/query ", " @1700000007.000",
		"((sum((vllm:prompt_tokens_total{" + filters + "} or vllm:prompt_tokens{" + filters + "})) - sum((vllm:prompt_tokens_total{" + filters + "} offset 5000ms or vllm:prompt_tokens{" + filters + "} offset 5000ms))) and ",
		"or sum((increase(vllm:prompt_tokens_total{" + filters + "}[5000ms]) or increase(vllm:prompt_tokens{" + filters + "}[5000ms])))",
		"quantile_over_time(0.9, avg(vllm:kv_cache_usage_perc{" + filters + "})[4000ms:1000ms]) @1700000006.000",
		"avg_over_time(sum(vllm:num_requests_waiting{" + filters + "})[4000ms:1000ms])",
		"histogram_quantile(0.99, ((sum by (le) (vllm:time_to_first_token_seconds_bucket{" + filters + "}) - ",
	} {
		if !o.has(want) {
			t.Errorf("nobody asked %s", want)
		}
	}
	if o.has("__name__") {
		t.Error("a name was matched by an expression")
	}
}

func TestArchiveFaults(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers func(string) string
		status  int
		want    string
		figures bool
	}{
		{"nothing is known", func(string) string { return "" }, 0, "has no metric of vllm", false},
		{"no Prometheus server", nil, http.StatusNotFound, "is this the address of a Prometheus server?", false},
		{"out of order", nil, http.StatusBadGateway, "HTTP status 502", false},
		{"another model", func(q string) string {
			if strings.Contains(q, "model_name") {
				return ""
			}
			return knows(q)
		}, 0, `No metric has the model "m"`, true},
	} {
		server := httptest.NewServer(&oracle{answers: c.answers, status: c.status})
		a, err := NewClient(t.Context(), plan.Prometheus{URL: server.URL, Interval: plan.Duration(time.Millisecond)}, Options{Start: time.Unix(1_700_000_000, 0), Model: "m"})
		if err != nil {
			t.Fatal(err)
		}
		got := a.Ask(t.Context(), stretch())
		server.Close()
		if len(got) != 1 || len(got[0].Faults) != 1 || !strings.Contains(got[0].Faults[0], c.want) || (len(got[0].Figures) > 0) != c.figures {
			t.Errorf("%s: %+v, want %q", c.name, got, c.want)
		}
	}
	if a, err := NewClient(t.Context(), plan.Prometheus{URL: "http://h"}, Options{}); err != nil || a.Ask(t.Context(), nil) != nil {
		t.Error("nothing was asked, and something said")
	}
}

func TestGoogleManaged(t *testing.T) {
	o := &oracle{answers: knows, token: "t0ken"}
	server := httptest.NewServer(o)
	defer server.Close()
	tokens := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"access_token":"t0ken","expires_in":3600}`)
	}))
	defer tokens.Close()
	file := filepath.Join(t.TempDir(), "adc.json")
	if err := os.WriteFile(file, []byte(`{"type":"authorized_user","quota_project_id":"p","refresh_token":"r","token_uri":"`+tokens.URL+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, value := range map[string]string{
		"HOME": t.TempDir(), "CLOUDSDK_CONFIG": "", "GOOGLE_CLOUD_PROJECT": "", "GCLOUD_PROJECT": "",
		"GOOGLE_APPLICATION_CREDENTIALS": file, "CLOUDSDK_API_ENDPOINT_OVERRIDES_MONITORING": server.URL + "/",
	} {
		t.Setenv(name, value)
	}
	options := Options{Start: time.Unix(1_700_000_000, 0), Getenv: os.Getenv}
	a, err := NewClient(t.Context(), plan.Prometheus{GoogleManaged: true}, options)
	if err != nil {
		t.Fatal(err)
	}
	if got := a.Ask(t.Context(), stretch()); len(got[0].Faults) > 0 || len(got[0].Figures) != 4 || !o.has("/v1/projects/p/location/global/prometheus/api/v1/query ") {
		t.Errorf("%+v", got)
	}
	o.token = "another"
	if got := a.Ask(t.Context(), stretch()); len(got[0].Faults) != 1 || !strings.Contains(got[0].Faults[0], "who are you?") || strings.Contains(got[0].Faults[0], "t0ken") {
		t.Errorf("%+v", got)
	}
	t.Setenv("GOOGLE_APPLICATION_CREDENTIALS", "/nowhere/adc.json")
	if _, err := NewClient(t.Context(), plan.Prometheus{GoogleManaged: true}, options); err == nil {
		t.Error("without credentials")
	}
}

func FuzzValue(f *testing.F) {
	f.Add(200, []byte(`{"status":"success","data":{"resultType":"vector","result":[{"value":[1,"2"]}]}}`))
	f.Add(400, []byte(`{"status":"error","error":"bad"}`))
	mutate.Fuzz(f, func(t *testing.T, status int, body []byte) {
		v, err := value(status, body)
		if v != nil && (err != nil || *v != *v) {
			t.Errorf("%v, %v", *v, err)
		}
	})
}
