package perfanalyzer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/wholefile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/report"
)

// options say how levels are printed.
func (t *job) options() report.Options {
	return report.Options{
		Verbose: t.action.Verbose > 0, Percentile: t.action.Percentile, GRPC: t.action.GRPC,
		Decoupled: t.setup.Decoupled, Library: !t.setup.Decoupled, Sequence: t.setup.Sequences,
	}
}

// level is a measured level as it is printed.
func (t *job) level(s plan.Stage, l *sweep.Level) report.Level {
	out := report.Level{Load: t.load(s), Client: t.client(l.Merged)}
	if l.Merged.First != nil && (t.setup.Decoupled || t.action.Service == args.OpenAI) {
		first := spread(l.Merged.First)
		out.Client.First = &first
	}
	if s.Concurrency == 0 {
		due := spread(&l.Merged.FromDue)
		out.Client.FromDue = &due
	}
	used, several := probe.Used(l.Server)
	for _, name := range several {
		t.say("WARNING: Multiple versions of model %s are loaded in the triton server, and the version to use was unspecified. The stats for that model may be inaccurate.", name)
	}
	out.Server = serverModel(used, t.plan.Target.Model)
	if t.action.Metrics {
		out.GPUs = []report.GPU{}
		for _, g := range l.GPUs {
			out.GPUs = append(out.GPUs, report.GPU{UUID: g.UUID, Utilization: g.Utilization, Power: g.Power, MemoryUsed: g.MemoryUsed, MemoryTotal: g.MemoryTotal})
		}
	}
	return out
}

// client is a window as it is printed. A request is as many inferences as its batch
// has items.
func (t *job) client(w *sweep.Window) report.Client {
	batch := float64(max(t.action.Batch, 1))
	send, receive := w.Send, w.Receive
	if t.setup.Decoupled {
		send, receive = 0, 0 // the time between responses is the model's
	}
	return report.Client{
		Requests: w.Requests, Failed: w.Failed, Delayed: t.delayed(w), SendRate: w.SendRate,
		Sequences: w.Sequences, SequenceRate: float64(w.Sequences) / (w.End - w.Begin).Seconds(),
		Throughput: w.Throughput * batch, ResponseThroughput: w.Streamed * batch, Overhead: 100 * w.Overhead,
		Latency: spread(&w.Latency), Request: w.Request, Send: send, Receive: receive,
	}
}

// delayed is how many requests went out late: of a concurrency none can.
func (t *job) delayed(w *sweep.Window) int64 {
	if t.action.Load == args.LoadConcurrency {
		return 0
	}
	return w.Delayed
}

func spread(s *sweep.Spread) report.Spread {
	out := report.Spread{Avg: s.Avg, Std: s.Std}
	for _, p := range s.Percentiles {
		out.Percentiles = append(out.Percentiles, report.Percentile{P: p.P, Value: p.Value})
	}
	return out
}

// serverModel finds the statistics of a model; nil: the server gave none.
func serverModel(list []record.ModelStats, name string) *report.Model {
	for i := range list {
		if list[i].Name == name {
			m := modelOf(&list[i])
			return &m
		}
	}
	return nil
}

// modelOf is the statistics of a model as they are printed, those it is made of by
// their names.
func modelOf(m *record.ModelStats) report.Model {
	sum := func(c record.CountTime) report.Sum { return report.Sum{Count: c.Count, NS: c.NS} }
	out := report.Model{
		Name: m.Name, Version: m.Version, Inferences: m.Inferences, Executions: m.Executions,
		Success: sum(m.Success), Queue: sum(m.Queue), ComputeInput: sum(m.ComputeInput), ComputeInfer: sum(m.ComputeInfer),
		ComputeOutput: sum(m.ComputeOutput), CacheHit: sum(m.CacheHit), CacheMiss: sum(m.CacheMiss),
	}
	for i := range m.Composing {
		out.Composing = append(out.Composing, modelOf(&m.Composing[i]))
	}
	slices.SortFunc(out.Composing, func(a, b report.Model) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	return out
}

// files writes the CSV and one more for each composing model.
func (t *job) files() error {
	name := t.action.CSV
	if name == "" || len(t.levels) == 0 {
		return nil
	}
	o := report.CSVOptions{Verbose: t.action.VerboseCSV, Decoupled: t.setup.Decoupled, GPUs: t.action.Metrics, Percentile: t.action.Percentile > 0}
	errs := []error{create(name, func(w io.Writer) error { return report.CSV(w, t.levels, o) })}
	for _, m := range report.Composing(t.levels) {
		errs = append(errs, create(report.ComposingName(name, &m), func(w io.Writer) error {
			return report.ComposingCSV(w, t.levels, m.Name, m.Version)
		}))
	}
	return errors.Join(errs...)
}

// create writes a file.
func create(name string, content func(io.Writer) error) error {
	if err := wholefile.Write(name, content); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
