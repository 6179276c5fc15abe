package mock

import (
	"fmt"
	"strings"
)

// failureReasons are those under which Triton counts failed requests.
var failureReasons = [...]string{"REJECTED", "CANCELED", "BACKEND", "OTHER"}

// metricsText is the models' part of the metrics page, under Triton's names.
func (t *triton) metricsText() string {
	var b strings.Builder
	models := t.all()
	family := func(name, kind, help string, value func(*tritonModel, *modelStats) uint64) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		for _, m := range models {
			m.stats.mu.Lock()
			v := value(m, &m.stats)
			m.stats.mu.Unlock()
			fmt.Fprintf(&b, "%s{model=\"%s\",version=\"1\"} %d\n", name, escapeLabel(m.name), v)
		}
	}
	us := func(t tally) uint64 { return t.ns / 1000 }
	family("nv_inference_request_success", "counter", "Number of successful inference requests, all batch sizes", func(_ *tritonModel, s *modelStats) uint64 { return s.success.count })
	b.WriteString("# HELP nv_inference_request_failure Number of failed inference requests, all batch sizes\n# TYPE nv_inference_request_failure counter\n")
	for _, m := range models {
		m.stats.mu.Lock()
		canceled := m.stats.canceled
		m.stats.mu.Unlock()
		for _, reason := range failureReasons {
			n := uint64(0)
			if reason == "CANCELED" {
				n = canceled
			}
			fmt.Fprintf(&b, "nv_inference_request_failure{model=\"%s\",reason=\"%s\",version=\"1\"} %d\n", escapeLabel(m.name), reason, n)
		}
	}
	family("nv_inference_count", "counter", "Number of inferences performed (does not include cached requests)", func(_ *tritonModel, s *modelStats) uint64 { return s.inferences })
	family("nv_inference_exec_count", "counter", "Number of model executions performed (does not include cached requests)", func(_ *tritonModel, s *modelStats) uint64 { return s.executions })
	family("nv_inference_request_duration_us", "counter", "Cumulative inference request duration in microseconds (includes cached requests)", func(_ *tritonModel, s *modelStats) uint64 { return us(s.success) })
	family("nv_inference_queue_duration_us", "counter", "Cumulative inference queuing duration in microseconds (includes cached requests)", func(_ *tritonModel, s *modelStats) uint64 { return us(s.queue) })
	family("nv_inference_compute_input_duration_us", "counter", "Cumulative compute input duration in microseconds (does not include cached requests)", func(_ *tritonModel, s *modelStats) uint64 { return us(s.input) })
	family("nv_inference_compute_infer_duration_us", "counter", "Cumulative compute inference duration in microseconds (does not include cached requests)", func(_ *tritonModel, s *modelStats) uint64 { return us(s.infer) })
	family("nv_inference_compute_output_duration_us", "counter", "Cumulative inference compute output duration in microseconds (does not include cached requests)", func(_ *tritonModel, s *modelStats) uint64 { return us(s.output) })
	family("nv_inference_pending_request_count", "gauge", "Instantaneous number of pending requests awaiting execution per-model.", func(m *tritonModel, _ *modelStats) uint64 { return uint64(max(m.stats.pending.Load(), 0)) })
	return b.String()
}
