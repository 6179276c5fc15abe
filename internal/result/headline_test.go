package result

import (
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// level is a stage at a rate of which so many requests were answered.
func levelAt(rate float64, inFlight int, answered float64, status string, ok, failed int64, ttft float64) Stage {
	return Stage{
		Rate: rate, Concurrency: inFlight, Verdict: &StageVerdict{Status: status, Valid: status == Valid},
		Counts: Counts{Sent: ok + failed, OK: ok, Failed: failed},
		Metrics: map[string]Stat{
			"request_throughput":  {Unit: "requests/sec", Avg: answered},
			"time_to_first_token": {Unit: "ms", Avg: ttft, Count: ok, Distribution: &Distribution{P50: ttft, P90: ttft, P95: ttft, P99: 2 * ttft}},
		},
	}
}

// attained says which share of a stage's requests met the objectives.
func attained(s Stage, share float64) Stage {
	s.Metrics["slo_attainment"] = Stat{Unit: "fraction", Avg: share}
	return s
}

// lasting gives the requests of a stage a latency in milliseconds.
func lasting(s Stage, ms float64) Stage {
	s.Metrics["request_latency"] = Stat{Unit: "ms", Avg: ms, Distribution: &Distribution{P50: ms}}
	return s
}

func poisson(s Stage) Stage {
	s.Load = "20/s poisson"
	return s
}

func TestHeadline(t *testing.T) {
	thin := levelAt(0, 4, 1, Valid, 30, 0, 500)
	stat := thin.Metrics["time_to_first_token"]
	stat.LowSamples = []string{"p90", "p95", "p99"}
	thin.Metrics["time_to_first_token"] = stat
	dead := Stage{Counts: Counts{Sent: 30, Failed: 30}, Failures: []record.FailureCount{{Class: "timeout", Count: 2}, {Class: "http_status", Status: 503, Count: 28, Example: "no  worker\nis up."}}, Verdict: &StageVerdict{Status: Invalid}}
	failing := levelAt(0, 4, 1, Invalid, 21, 9, 500)
	failing.Failures = []record.FailureCount{{Class: record.HTTPStatus, Status: 500, Count: 5}, {Class: record.Dropped, Count: 4}}
	for name, c := range map[string]struct {
		verdict string
		stages  []Stage
		want    string
	}{
		"rates that meet objectives until the server is saturated": {Invalid, []Stage{
			attained(levelAt(10, 0, 10, Valid, 100, 0, 50), 1), attained(levelAt(40, 0, 39.8, Valid, 325, 0, 91), 0.99),
			attained(levelAt(60, 0, 43.2, Invalid, 400, 0, 900), 0.2),
		}, "2 of 3 stages valid. Meets the objectives to 40/s, saturates near 43.2 requests/s. 825 requests, none failed. TTFT p99 at 40/s: 182 ms."},
		"all loads are met": {Valid, []Stage{attained(levelAt(0, 1, 1, Valid, 99, 1, 50), 1), attained(levelAt(0, 4, 4, Valid, 100, 0, 50), 1)},
			"2 of 2 stages valid. Meets the objectives at every load, to 4 in flight. 200 requests, 1 failed (0.5 %). TTFT p99 at 4 in flight: 100 ms."},
		"the first load misses": {Valid, []Stage{attained(levelAt(5, 0, 5, Valid, 100, 0, 50), 0.5)},
			"Valid. Misses the objectives at 5/s. 100 requests, none failed. TTFT p99 at 5/s: 100 ms."},
		"concurrency that brings no more": {Valid, []Stage{levelAt(0, 8, 40, Valid, 100, 0, 50), levelAt(0, 1, 10, Valid, 100, 0, 50), levelAt(0, 16, 41, Valid, 100, 0, 70)},
			"3 of 3 stages valid. Saturates near 41 requests/s. 300 requests, none failed. TTFT p99 at 8 in flight: 100 ms."},
		"a short stage ends with its last responses": {Valid, []Stage{lasting(levelAt(4, 0, 4, Valid, 60, 0, 50), 157), lasting(levelAt(32, 0, 29.6, Valid, 60, 0, 50), 190)},
			"2 of 2 stages valid. 120 requests, none failed. TTFT p99 at 32/s: 100 ms."},
		"random arrivals are more or fewer": {Valid, []Stage{poisson(levelAt(20, 0, 17, Valid, 100, 0, 50))}, "Valid. 100 requests, none failed. TTFT p99 at 20/s: 100 ms."},
		"as many fail at every load":        {Valid, []Stage{levelAt(10, 0, 9, Valid, 90, 10, 50), levelAt(20, 0, 18, Valid, 180, 20, 50)}, "2 of 2 stages valid. 300 requests, 30 failed (10 %). TTFT p99 at 20/s: 100 ms."},
		"no stage is valid":                 {Invalid, []Stage{levelAt(10, 0, 10, Invalid, 100, 0, 50), levelAt(60, 0, 20, Invalid, 100, 0, 900)}, "None of 2 stages valid: do not use the figures. 200 requests, none failed."},
		"how most failed":                   {Invalid, []Stage{failing}, "Not valid: do not use the figures. 30 requests, 9 failed (30 %, most often HTTP 500)."},
		"too few for a p99":                 {Valid, []Stage{thin}, "Valid. 30 requests, none failed. TTFT p50: 500 ms."},
		"an invalid run has no best":        {Invalid, []Stage{levelAt(0, 4, 1, Invalid, 30, 0, 500)}, "Not valid: do not use the figures. 30 requests, none failed."},
		"nothing succeeded":                 {Invalid, []Stage{dead}, "None of 30 requests succeeded: HTTP 503, such as: no worker is up."},
		"under way":                         {"", []Stage{{Load: "8 in flight", Counts: Counts{Sent: 5, OK: 5}}}, "5 requests, none failed."},
		"on a live page":                    {"running", []Stage{{Load: "8 in flight", Counts: Counts{Sent: 5, OK: 5}}}, "5 requests, none failed."},
		"nothing yet":                       {"", []Stage{{}}, ""},
	} {
		r := Result{Verdict: Verdict{Status: c.verdict}, Stages: c.stages}
		if got := r.Headline(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
}

func TestBest(t *testing.T) {
	for name, c := range map[string]struct {
		stages []Stage
		want   int
	}{
		"the highest load that meets the objectives": {[]Stage{attained(levelAt(40, 0, 40, Valid, 100, 0, 50), 1), attained(levelAt(10, 0, 10, Valid, 100, 0, 50), 1), attained(levelAt(60, 0, 59, Valid, 100, 0, 50), 0.2)}, 0},
		"not one that cannot be trusted":             {[]Stage{levelAt(0, 1, 1, Valid, 100, 0, 50), levelAt(0, 4, 4, Invalid, 100, 0, 50)}, 0},
		"not one that saturates the server":          {[]Stage{levelAt(10, 0, 10, Valid, 100, 0, 50), levelAt(60, 0, 20, Valid, 100, 0, 900)}, 0},
		"concurrency that brings no more":            {[]Stage{levelAt(0, 8, 40, Valid, 100, 0, 50), levelAt(0, 1, 10, Valid, 100, 0, 50), levelAt(0, 16, 41, Valid, 100, 0, 70)}, 0},
		"none meets the objectives":                  {[]Stage{attained(levelAt(10, 0, 10, Valid, 100, 0, 50), 0.1), attained(levelAt(20, 0, 20, Valid, 100, 0, 50), 0)}, 1},
		"none can be trusted":                        {[]Stage{levelAt(10, 0, 10, Invalid, 100, 0, 50)}, -1},
		"none":                                       {nil, -1},
	} {
		if got := (&Result{Stages: c.stages}).Best(); got != c.want {
			t.Errorf("%s: stage %d, want %d", name, got, c.want)
		}
	}
}

// A level that nothing came back of does not hide that those behind it bring no more.
func TestSaturationBehindAnEmptyLevel(t *testing.T) {
	empty := Stage{Concurrency: 1, Metrics: map[string]Stat{}}
	r := Result{Stages: []Stage{
		empty, levelAt(0, 2, 10, Valid, 100, 0, 50), levelAt(0, 4, 10, Valid, 100, 0, 90), levelAt(0, 8, 10, Valid, 100, 0, 180),
	}}
	if got := r.saturation([]int{0, 1, 2, 3}); got != 10 {
		t.Errorf("saturates at %v requests/s", got)
	}
}
