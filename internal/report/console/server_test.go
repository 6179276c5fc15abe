package console

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

func took(n uint64, ms float64) result.ServerTime {
	return result.ServerTime{Count: n, NS: uint64(float64(n) * ms * 1e6), AvgMS: ms}
}

func serverModel(name string, n uint64, infer float64, parts ...result.ServerModel) result.ServerModel {
	return result.ServerModel{
		Name: name, Version: "1", Inferences: n, Executions: (n + 1) / 2, Success: took(n, infer+1.5), Failed: took(3, 1), Queue: took(n, 0.4),
		ComputeInput: took(n, 0.02), ComputeInfer: took(n, infer), ComputeOutput: took(n, 0.08), OverheadMS: 1, UnflooredMS: 1, Composing: parts,
	}
}

// withServer is a run on an ensemble that was asked about itself.
func withServer() *result.Result {
	r := oneStage()
	post := serverModel("postprocessing", 93696, 0.2)
	post.CacheHit, post.CacheMiss = took(90000, 0.011), took(1, 0.05)
	llm := serverModel("a_language_model_with_a_name_that_nobody_wants_to_read", 1464, 642)
	llm.Responses = []result.ServerResponse{{Index: 0, ComputeInfer: took(1464, 48)}, {Index: 63, ComputeInfer: took(1464, 9.5)},
		{Index: 64, Empty: took(1464, 0.1)}}
	idle := result.ServerModel{Name: "idle"}
	rose := 1464.0
	r.Stages[0].Server = &result.TritonStats{
		Window:   result.Span{Begin: 0, End: 35.2},
		Requests: &result.ServerRequests{Sent: 1464, OK: 1454, Failed: 10, FailedAsSuccess: 10, Others: 4},
		Models:   []result.ServerModel{serverModel("ensemble", 1468, 655, serverModel("preprocessing", 1464, 1.1), llm, post, idle)},
		GPUs:     []result.ServerGPU{{UUID: "GPU-1b2c", Utilization: 0.871, Power: 412.4, MemoryUsed: 71 << 30, MemoryTotal: 80 << 30}},
		Faults:   []string{"metrics at http://h:8002/metrics: the server answers with HTTP status 404"},
		Metrics: []result.ServerMetric{
			{Name: "nv_inference_count", Labels: `model="ensemble",version="1"`, Increase: &rose},
			{Name: "nv_inference_count", Labels: `model="idle",version="1"`, Increase: new(float64)},
			{Name: "nv_cpu_utilization", Gauge: &result.Gauge{Avg: 0.5, Min: 0.1, Max: 0.9}},
		},
	}
	return r
}

func restarted() *result.Result {
	r := oneStage()
	r.Stages[0].Server = &result.TritonStats{Restarted: "the number of inferences of model m version 1 went from 900 back to 3 between 12.0 s and 13.0 s"}
	return r
}

func TestServerGolden(t *testing.T) {
	for _, c := range []struct {
		name string
		r    *result.Result
		all  bool
	}{{"server", withServer(), false}, {"server-all", withServer(), true}, {"restarted", restarted(), false}} {
		for _, width := range []int{80, 100} {
			var buf bytes.Buffer
			if err := Write(&buf, c.r, Options{Width: width, All: c.all}); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(buf.String()) {
				if w := screen.Width(strings.TrimSuffix(line, "\n")); w > width {
					t.Errorf("line of %d columns: %q", w, line)
				}
			}
			golden(t, fmt.Sprintf("%s-%d.txt", c.name, width), buf.String())
		}
	}
}
