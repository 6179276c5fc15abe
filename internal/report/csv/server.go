package csvreport

import (
	"strconv"

	"inferometer/internal/result"
)

// server is the window of rows that are the server's own figures, warm-up included.
const server = "server"

// serverRows adds the server's figures: one row for each model and figure, named
// MODEL/VERSION/FIGURE. The parts of a model follow with its name before theirs.
func (t *table) serverRows(s *result.Stage) error {
	if s.Server == nil {
		return nil
	}
	for i := range s.Server.Models {
		if err := t.serverModel(s, "", &s.Server.Models[i]); err != nil {
			return err
		}
	}
	if r := s.Server.Requests; r != nil {
		for _, n := range []struct {
			name  string
			value int64
		}{
			{"requests_failed_as_success", r.FailedAsSuccess}, {"requests_of_others", r.Others}, {"requests_missing", r.Missing},
		} {
			t.plain(s, n.name, "requests", strconv.FormatInt(n.value, 10))
		}
	}
	for _, m := range s.Server.Metrics {
		name := m.Name
		if m.Labels != "" {
			name += "{" + m.Labels + "}"
		}
		if m.Target > 0 {
			name = strconv.Itoa(m.Target) + ":" + name
		}
		if err := t.serverMetric(s, name, m); err != nil {
			return err
		}
	}
	return nil
}

func (t *table) serverModel(s *result.Stage, before string, m *result.ServerModel) error {
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
		avg, err := number(f.time.AvgMS)
		if err != nil {
			return fault(s, server, path+f.name, "avg", err)
		}
		if f.time.Count == 0 {
			avg = "" // of nothing there is no average
		}
		t.row(s, path+f.name, "ms", f.time.Count, avg)
	}
	avg, err := number(m.OverheadMS)
	if err != nil {
		return fault(s, server, path+"overhead", "avg", err)
	}
	t.plain(s, path+"overhead", "ms", avg)
	for _, r := range m.Responses {
		avg, err := number(r.ComputeInfer.AvgMS)
		if err != nil {
			return fault(s, server, path+"response", "avg", err)
		}
		t.row(s, path+"response_"+strconv.Itoa(r.Index)+"_compute_infer", "ms", r.ComputeInfer.Count, avg)
	}
	for i := range m.Composing {
		if err := t.serverModel(s, path, &m.Composing[i]); err != nil {
			return err
		}
	}
	return nil
}

// serverMetric adds a metric of the server's own page: the increase of a counter, or
// the average of a gauge with its least and most.
func (t *table) serverMetric(s *result.Stage, name string, m result.ServerMetric) error {
	if m.Gauge == nil && m.Increase == nil {
		return nil
	}
	g, unit := m.Gauge, "gauge"
	if g == nil {
		g, unit = &result.Gauge{Avg: *m.Increase}, "increase"
	}
	var cells []string
	for _, v := range []float64{g.Avg, g.Min, g.Max} {
		cell, err := number(v)
		if err != nil {
			return fault(s, server, name, "avg", err)
		}
		cells = append(cells, cell)
	}
	if m.Gauge == nil {
		cells = cells[:1]
	}
	t.plain(s, name, unit, cells...)
	return nil
}

// plain adds a row with an average and, perhaps, what stands behind it.
func (t *table) plain(s *result.Stage, metric, unit string, cells ...string) {
	t.row(s, metric, unit, 0, cells...)
}

func (t *table) row(s *result.Stage, metric, unit string, count uint64, cells ...string) {
	row := append(t.start(s, server, metric, unit, int64(count)), cells...)
	t.rows = append(t.rows, append(row, make([]string, len(t.columns)+2-len(cells))...))
}
