package csvreport_test

import (
	"bytes"
	"encoding/csv"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/report/csvreport"
	"github.com/inferometer/inferometer/internal/result"
)

func withServer() *result.Result {
	part := result.ServerModel{Name: "part", Version: "2", Inferences: 9, Executions: 3, Success: result.ServerTime{Count: 9, AvgMS: 1.5}}
	rose := 4.0
	return &result.Result{Stages: []result.Stage{{Load: "1 in flight", Server: &result.TritonStats{
		Requests: &result.ServerRequests{FailedAsSuccess: 2},
		Models: []result.ServerModel{{
			Name: "m", Version: "1", Queue: result.ServerTime{Count: 4, AvgMS: 0.25}, OverheadMS: 0.5, Composing: []result.ServerModel{part},
			Responses: []result.ServerResponse{{Index: 3, ComputeInfer: result.ServerTime{Count: 7, AvgMS: 2}}},
		}},
		Metrics: []result.ServerMetric{{Name: "nv_c", Labels: `model="m"`, Increase: &rose}, {Target: 1, Name: "nv_g", Gauge: &result.Gauge{Avg: 2, Min: 1, Max: 3}}},
	}}}}
}

func TestServerRows(t *testing.T) {
	var buf bytes.Buffer
	if err := csvreport.Write(&buf, withServer()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&buf).ReadAll() // it refuses rows of different lengths
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range rows {
		if r[3] == "server" {
			got = append(got, strings.TrimRight(strings.Join(r[4:10], " "), " "))
		}
	}
	want := []string{
		"m/1/inferences inferences  0", "m/1/executions executions  0", "m/1/success ms", "m/1/failed ms", "m/1/queue ms 4 0.25",
		"m/1/compute_input ms", "m/1/compute_infer ms", "m/1/compute_output ms", "m/1/cache_hit ms", "m/1/cache_miss ms", "m/1/overhead ms  0.5",
		"m/1/response_3_compute_infer ms 7 2",
		"m/1/part/2/inferences inferences  9", "m/1/part/2/executions executions  3", "m/1/part/2/success ms 9 1.5", "m/1/part/2/failed ms", "m/1/part/2/queue ms",
		"m/1/part/2/compute_input ms", "m/1/part/2/compute_infer ms", "m/1/part/2/compute_output ms", "m/1/part/2/cache_hit ms", "m/1/part/2/cache_miss ms", "m/1/part/2/overhead ms  0",
		"requests_failed_as_success requests  2", "requests_of_others requests  0", "requests_missing requests  0",
		`nv_c{model="m"} increase  4`, "1:nv_g gauge  2 1 3",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	r := withServer()
	r.Stages[0].Server.Metrics[1].Gauge.Max = math.Inf(1)
	if err := csvreport.Write(&bytes.Buffer{}, r); err == nil {
		t.Error("infinity was written as a number")
	}
}
