package csvreport

import (
	"strconv"

	"github.com/inferometer/inferometer/internal/result"
)

// server is the window of rows that are the server's own figures, warm-up included.
const server = "server"

// serverRows adds the server's figures: one row for each model and figure, named
// MODEL/VERSION/FIGURE. The parts of a model follow with its name before theirs.
func (t *table) serverRows(s *result.Stage) {
	if s.Server == nil {
		return
	}
	for i := range s.Server.Models {
		t.serverModel(s, "", &s.Server.Models[i])
	}
	if r := s.Server.Requests; r != nil {
		t.requests(s, server, "requests_failed_as_success", r.FailedAsSuccess)
		t.requests(s, server, "requests_of_others", r.Others)
		t.requests(s, server, "requests_missing", r.Missing)
	}
	for _, m := range s.Server.Metrics {
		name := m.Name
		if m.Labels != "" {
			name += "{" + m.Labels + "}"
		}
		if m.Target > 0 {
			name = strconv.Itoa(m.Target) + ":" + name
		}
		t.serverMetric(s, name, m)
	}
}

func (t *table) serverModel(s *result.Stage, before string, m *result.ServerModel) {
	path := before + m.Name + "/" + m.Version + "/"
	t.plain(s, path+"inferences", "inferences", strconv.FormatUint(m.Inferences, 10))
	t.plain(s, path+"executions", "executions", strconv.FormatUint(m.Executions, 10))
	for _, f := range []struct {
		name string
		time result.ServerTime
	}{
		{"success", m.Success}, {"failed", m.Failed}, {"queue", m.Queue}, {"compute_input", m.ComputeInput}, {"compute_infer", m.ComputeInfer},
		{"compute_output", m.ComputeOutput}, {"cache_hit", m.CacheHit}, {"cache_miss", m.CacheMiss},
	} {
		avg := t.number(s, server, path+f.name, "avg", f.time.AvgMS)
		if f.time.Count == 0 {
			avg = "" // of nothing there is no average
		}
		t.row(s, server, path+f.name, "ms", f.time.Count, avg)
	}
	t.plain(s, path+"overhead", "ms", t.number(s, server, path+"overhead", "avg", m.OverheadMS))
	for _, r := range m.Responses {
		name := path + "response_" + strconv.Itoa(r.Index) + "_compute_infer"
		t.row(s, server, name, "ms", r.ComputeInfer.Count, t.number(s, server, name, "avg", r.ComputeInfer.AvgMS))
	}
	for i := range m.Composing {
		t.serverModel(s, path, &m.Composing[i])
	}
}

// serverMetric adds a metric of the server's own page: the increase of a counter, or
// the average of a gauge with its least and most.
func (t *table) serverMetric(s *result.Stage, name string, m result.ServerMetric) {
	number := func(column string, v float64) string { return t.number(s, server, name, column, v) }
	switch g := m.Gauge; {
	case g != nil:
		t.plain(s, name, "gauge", number("avg", g.Avg), number("min", g.Min), number("max", g.Max))
	case m.Increase != nil:
		t.plain(s, name, "increase", number("avg", *m.Increase))
	}
}

// plain adds a row with an average and, perhaps, what stands behind it.
func (t *table) plain(s *result.Stage, metric, unit string, cells ...string) {
	t.row(s, server, metric, unit, 0, cells...)
}

func (t *table) row(s *result.Stage, window, metric, unit string, count uint64, cells ...string) {
	row := append(t.start(s, window, metric, unit, int64(count)), cells...)
	t.rows = append(t.rows, append(row, make([]string, len(t.columns)+3-len(cells))...))
}
