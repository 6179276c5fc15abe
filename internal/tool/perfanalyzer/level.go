package perfanalyzer

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/probe"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
	report "github.com/inferometer/inferometer/internal/tool/analyzerreport"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// options say how levels are printed.
func (t *job) options() report.Options {
	return report.Options{
		Verbose: t.action.Verbose > 0, Percentile: t.action.Percentile, GRPC: t.action.GRPC,
		Decoupled: t.setup.Decoupled, Library: !t.setup.Decoupled, Sequence: t.setup.Sequences,
	}
}

func (t *job) level(s plan.Stage, l *sweep.Level) report.LevelReport {
	out := report.LevelReport{Load: t.load(s), Client: t.client(*l.Merged)}
	if !t.setup.Decoupled && t.action.Service != args.OpenAI {
		out.Client.First = nil
	}
	used, several := probe.Used(l.Server)
	for _, name := range several {
		t.printf("WARNING: Multiple versions of model %s are loaded in the triton server, and the version to use was unspecified. The stats for that model may be inaccurate.", name)
	}
	if i := slices.IndexFunc(used, func(m record.ModelStats) bool { return m.Name == t.plan.Target.Model }); i >= 0 {
		out.Server = inOrder(used[i])
	}
	if t.action.Metrics {
		out.GPUs = append([]record.GPU{}, l.GPUs...)
	}
	return out
}

// inOrder is a model with those that it is made of by their names.
func inOrder(m record.ModelStats) *record.ModelStats {
	m.Composing = slices.SortedFunc(slices.Values(m.Composing), func(a, b record.ModelStats) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Version, b.Version))
	})
	for i := range m.Composing {
		m.Composing[i] = *inOrder(m.Composing[i])
	}
	return &m
}

// client is a window as it is printed. A request is as many inferences as its batch
// has items, and at a concurrency no request can go out late.
func (t *job) client(w sweep.Window) sweep.Window {
	batch := float64(max(t.action.Batch, 1))
	w.Throughput *= batch
	w.Streamed *= batch
	switch {
	case t.setup.Decoupled: // the time between responses is the model's, and none of it is told
		w.Send, w.Receive, w.Request = 0, 0, 0
	case t.action.GRPC: // parts of the whole, as the report has them, although requests are made ahead
		w.Send, w.Receive = t.coding.marshal.average(), t.coding.unmarshal.average()
	}
	if t.action.Load == args.LoadConcurrency {
		w.Delayed = 0
	}
	return w
}

// files writes the CSV and one more for each composing model.
func (t *job) files() error {
	name := t.action.CSV
	if name == "" || len(t.levels) == 0 {
		return nil
	}
	o := report.CSVOptions{Verbose: t.action.VerboseCSV, Decoupled: t.setup.Decoupled, GPUs: t.action.Metrics,
		Percentile: t.action.Percentile > 0}
	errs := []error{create(name, func(w io.Writer) error { return report.CSV(w, t.levels, o) })}
	for _, m := range report.Composing(t.levels) {
		errs = append(errs, create(report.ComposingName(name, &m), func(w io.Writer) error {
			return report.ComposingCSV(w, t.levels, m.Name, m.Version)
		}))
	}
	for range report.Unaccounted(t.levels) {
		t.printf("Server average accounted time was larger than client average wait time due to small sample size. Increase the measurement interval with `--measurement-interval`.")
	}
	return errors.Join(errs...)
}

func create(name string, content func(io.Writer) error) error {
	if err := atomicfile.Write(name, content); err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}
