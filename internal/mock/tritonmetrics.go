package mock

import (
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/mock/repository"
)

// failureReasons are those under which Triton counts failed requests.
var failureReasons = [...]string{"REJECTED", "CANCELED", "BACKEND", "OTHER"}

// tritonMetrics is the models' part of the metrics page, under Triton's names.
func (s *Server) tritonMetrics() string {
	var b strings.Builder
	models := s.triton.All()
	all := make([]repository.Totals, len(models))
	for i, m := range models {
		all[i] = m.Totals()
	}
	family := func(name, kind, help string, value func(repository.Totals) int64) {
		fmt.Fprintf(&b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
		for i, m := range models {
			fmt.Fprintf(&b, "%s{model=\"%s\",version=\"1\"} %d\n", name, escapeLabel(m.Name), value(all[i]))
		}
	}
	family("nv_inference_request_success", "counter", "Number of successful inference requests, all batch sizes", func(t repository.Totals) int64 { return int64(t.Succeeded) })
	b.WriteString("# HELP nv_inference_request_failure Number of failed inference requests, all batch sizes\n# TYPE nv_inference_request_failure counter\n")
	for i, m := range models {
		for _, reason := range failureReasons {
			n := uint64(0)
			if reason == "CANCELED" {
				n = all[i].Cancelled
			}
			fmt.Fprintf(&b, "nv_inference_request_failure{model=\"%s\",reason=\"%s\",version=\"1\"} %d\n", escapeLabel(m.Name), reason, n)
		}
	}
	family("nv_inference_count", "counter", "Number of inferences performed (does not include cached requests)", func(t repository.Totals) int64 { return int64(t.Inferences) })
	family("nv_inference_exec_count", "counter", "Number of model executions performed (does not include cached requests)", func(t repository.Totals) int64 { return int64(t.Executions) })
	family("nv_inference_request_duration_us", "counter", "Cumulative inference request duration in microseconds (includes cached requests)", func(t repository.Totals) int64 { return t.Request.Microseconds() })
	family("nv_inference_queue_duration_us", "counter", "Cumulative inference queuing duration in microseconds (includes cached requests)", func(t repository.Totals) int64 { return t.Queue.Microseconds() })
	family("nv_inference_compute_input_duration_us", "counter", "Cumulative compute input duration in microseconds (does not include cached requests)", func(t repository.Totals) int64 { return t.Input.Microseconds() })
	family("nv_inference_compute_infer_duration_us", "counter", "Cumulative compute inference duration in microseconds (does not include cached requests)", func(t repository.Totals) int64 { return t.Infer.Microseconds() })
	family("nv_inference_compute_output_duration_us", "counter", "Cumulative inference compute output duration in microseconds (does not include cached requests)", func(t repository.Totals) int64 { return t.Output.Microseconds() })
	family("nv_inference_pending_request_count", "gauge", "Instantaneous number of pending requests awaiting execution per-model.", func(t repository.Totals) int64 { return t.Pending })
	return b.String()
}

// acceptTriton checks a request and reads it into the call.
func (c *call) acceptTriton(m *repository.Model, r *repository.Request) *repository.StatusError {
	if failure := c.s.triton.Check(m, r); failure != nil {
		return failure
	}
	if err := c.takeTriton(m, r); err != nil {
		return repository.Refuse(repository.CodeInvalid, "%s", err.Error())
	}
	return nil
}

// deliver puts results where the request wants them, and takes them out of the response.
func (c *call) deliver() *repository.StatusError {
	for i := range c.t.results {
		o := &c.t.results[i]
		if w := c.t.wish(o.name); w.Region != "" {
			if failure := c.s.triton.Regions.Write(w, o.data); failure != nil {
				return failure
			}
			o.data = nil
		}
	}
	return nil
}

// countOnce puts the call into its model's statistics, if it is not there yet.
func (c *call) countOnce(now int64, whole bool) {
	t := &c.t
	if t.counted {
		return
	}
	t.counted = true
	v := repository.Service{
		Arrived: c.arrived(), Parsed: t.parsed, Admitted: c.admitted, Made: t.made, Done: t.done, Now: now,
		Wall: c.s.clock.Base.Add(time.Duration(now)).UnixMilli(), Batch: c.choices,
	}
	switch {
	case !whole:
		v.End = repository.EndedCancelled
	case c.finish == "error":
		v.End = repository.EndedFailed
	case t.convention == repository.ConventionVLLM || t.convention == repository.ConventionOld:
		v.End = repository.EndedEmpty
	}
	t.model.Count(v)
}
