package console

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// server prints what the server said of itself. What it did not say is among the notes.
func (p *printer) server(s *result.TritonStats) {
	if s == nil {
		return
	}
	switch {
	case s.Restarted != "":
		p.paragraph("Server", "restarted or replaced during the run: "+s.Restarted)
	case len(s.Models) > 0:
		p.blank()
		p.wrapped(indent, "Server statistics, from idle to drained, warm-up included; average times in ms:")
		p.models(s.Models)
		p.blank()
	}
	p.counted(s.Requests)
	for i := range s.Models {
		p.details(&s.Models[i])
	}
	for _, g := range s.GPUs {
		p.paragraph("GPU", fmt.Sprintf("%s: %s busy, %s W, %s of %s GiB", screen.Clean(g.UUID), number.Share(g.Utilization),
			number.ScaleFor("W", g.Power).Format(g.Power), gibibytes(g.MemoryUsed), gibibytes(g.MemoryTotal)))
	}
	if p.all {
		p.serverMetrics(s.Metrics)
	}
}

func gibibytes(v float64) string { return fmt.Sprintf("%.1f", v/(1<<30)) }

// nameWidth bounds the names of models.
const nameWidth = 26

// models prints the table of the models, each above those that it is made of.
func (p *printer) models(all []result.ServerModel) {
	t := table{columns: []column{
		{title: "Model", left: true, keep: mustKeep},
		{title: "OK", keep: 95},
		{title: "Failed", keep: 90},
		{title: "Batch", keep: 40},
		{title: "Latency", keep: mustKeep},
		{title: "Queue", keep: 85},
		{title: "Input", keep: 60},
		{title: "Infer", keep: 80},
		{title: "Output", keep: 60},
		{title: "Overhead", keep: 50},
	}}
	var add func(models []result.ServerModel, depth int)
	add = func(models []result.ServerModel, depth int) {
		for i := range models {
			m := &models[i]
			t.add(strings.Repeat("  ", depth)+modelName(m), number.Count(int64(m.Success.Count)), number.Count(int64(m.Failed.Count)), batch(m),
				average(m.Success), average(m.Queue), average(m.ComputeInput), average(m.ComputeInfer), average(m.ComputeOutput),
				average(result.ServerTime{Count: m.Success.Count, AvgMS: m.OverheadMS}))
			add(m.Composing, depth+1)
		}
	}
	add(all, 0)
	p.table(&t)
}

func modelName(m *result.ServerModel) string {
	name := screen.Clean(m.Name)
	if m.Version != "" {
		name += " v" + screen.Clean(m.Version)
	}
	return screen.Clip(name, nameWidth)
}

// batch is how many inferences a model carried out at once.
func batch(m *result.ServerModel) string {
	if m.Executions == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", float64(m.Inferences)/float64(m.Executions))
}

// average is a time in milliseconds; empty where nothing was timed.
func average(t result.ServerTime) string {
	if t.Count == 0 {
		return ""
	}
	decimals := 3 // microseconds, where there are few digits before them
	switch {
	case t.AvgMS >= 1000:
		decimals = 0
	case t.AvgMS >= 100:
		decimals = 1
	case t.AvgMS >= 10:
		decimals = 2
	}
	return strconv.FormatFloat(t.AvgMS, 'f', decimals, 64)
}

// counted says where the server's count of requests is not this client's.
func (p *printer) counted(r *result.ServerRequests) {
	if r == nil {
		return
	}
	var texts []string
	if r.FailedAsSuccess > 0 {
		texts = append(texts, number.Count(r.FailedAsSuccess)+" failed here")
	}
	if r.Others > 0 {
		texts = append(texts, number.Count(r.Others)+" not sent by this client")
	}
	if len(texts) > 0 {
		p.paragraph("Counts", "of the server's successes, "+strings.Join(texts, " and "))
	}
	if r.Missing > 0 {
		p.paragraph("Counts", "the server counts "+number.Count(r.Missing)+" fewer than it answered")
	}
}

// details prints what only some models have: a cache, and responses one by one.
func (p *printer) details(m *result.ServerModel) {
	if hit, miss := m.CacheHit, m.CacheMiss; hit.Count+miss.Count > 0 {
		p.paragraph("Cache", fmt.Sprintf("%s: %s of %s each, %s of %s each", modelName(m),
			number.Plural(int64(hit.Count), "hit"), number.Value(hit.AvgMS, "ms"), count(int64(miss.Count), "miss", "misses"), number.Value(miss.AvgMS, "ms")))
	}
	// The closing response of a stream may be empty, with nothing computed.
	if of := slices.DeleteFunc(slices.Clone(m.Responses),
		func(r result.ServerResponse) bool { return r.ComputeInfer.Count == 0 }); len(of) > 0 {
		first, last := of[0], of[len(of)-1]
		p.paragraph("Responses", fmt.Sprintf("%s: compute of response %d %s, of response %d %s on average", modelName(m),
			first.Index+1, number.Value(first.ComputeInfer.AvgMS, "ms"), last.Index+1, number.Value(last.ComputeInfer.AvgMS, "ms")))
	}
	for i := range m.Composing {
		p.details(&m.Composing[i])
	}
}

// serverMetrics prints the metrics of the server's Prometheus page that moved.
func (p *printer) serverMetrics(all []result.ServerMetric) {
	t := table{columns: []column{{title: "Server metric", left: true, keep: mustKeep}, {title: "increase", keep: mustKeep}, {title: "avg", keep: mustKeep}, {title: "max", keep: mustKeep}}}
	own := func(v float64) string { return number.ScaleFor("", v).Format(v) }
	for _, m := range all {
		name := m.Name
		if m.Labels != "" {
			name += "{" + m.Labels + "}"
		}
		name = screen.Clip(screen.Clean(name), 64)
		switch {
		case m.Increase != nil && *m.Increase > 0:
			t.add(name, own(*m.Increase), "", "")
		case m.Gauge != nil && m.Gauge.Max != 0:
			t.add(name, "", own(m.Gauge.Avg), own(m.Gauge.Max))
		}
	}
	if len(t.rows) > 0 {
		p.blank()
		p.table(&t)
		p.blank()
	}
}
