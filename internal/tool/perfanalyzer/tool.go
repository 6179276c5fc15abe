// Package perfanalyzer does what a command line of Perf Analyzer asks for: it runs the
// plan, prints each level as it ends, and writes the files in that tool's shape.
package perfanalyzer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/inputdata"
	"github.com/inferometer/inferometer/internal/prompt/tensordata"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool"
	report "github.com/inferometer/inferometer/internal/tool/analyzerreport"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	"github.com/inferometer/inferometer/internal/tool/profileexport/export"
)

// Outcome is what came of a command.
type Outcome struct {
	Code   int            // exit code
	Result *result.Result // nil means nothing was measured
}

// job is a running command. It follows the run.
type job struct {
	ctx    context.Context
	env    *tool.Session
	action *args.Action
	plan   *plan.Plan
	setup  target.Setup
	levels []report.LevelReport // reported
	loads  []plan.Stage         // begun
	failed record.StopReason    // why a level was not reported
	shaky  bool                 // the windows of that level did not agree
	err    error                // the first thing that could not be printed
	inputs export.Inputs        // of requests, for the export
	coding coding               // of the current level
	delays tensordata.Delays    // of the turns of sessions, where those are the load

	records record.File
}

// Run carries out a command.
func Run(ctx context.Context, a *args.Action, env *tool.Session) (Outcome, error) {
	t := &job{ctx: ctx, env: env, action: a, plan: a.Plan}
	clean, err := t.prepare()
	defer clean()
	if err != nil {
		return Outcome{Code: args.ExitGeneric}, err
	}
	t.records = rundir.Records(t.plan)
	res, err := env.Run(ctx, t.plan, run.Options{Kit: t.kit(), Names: args.Names(t.plan), Ready: t.ready, Observer: t, Prompt: t.see})
	if res == nil {
		return Outcome{Code: args.ExitGeneric}, err
	}
	t.addError(report.WriteSummary(env.Out, t.levels, a.Percentile))
	t.addError(t.files())
	t.warnOfGPUs(res)
	if a.Export != "" {
		t.addError(t.export())
	}
	return Outcome{Code: t.exit(res), Result: res}, errors.Join(err, t.err)
}

// prepare makes room for the records that the export is made from.
func (t *job) prepare() (clean func(), err error) {
	if err := t.payloads(); err != nil {
		return func() {}, err
	}
	if t.action.Export == "" || t.plan.Output.Dir != "" {
		return func() {}, nil
	}
	dir, err := os.MkdirTemp("", "inferometer-perf-analyzer-")
	if err != nil {
		return func() {}, fmt.Errorf("creating a temporary directory for the export: %w", err)
	}
	t.plan.Output = plan.Output{Dir: dir, KeepRaw: true}
	return func() { os.RemoveAll(dir) }, nil
}

func (t *job) addError(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *job) printf(format string, args ...any) { fmt.Fprintf(t.env.Log, format+"\n", args...) }

func (t *job) ready(s target.Setup) {
	t.setup = s
	a := t.action
	if s.Sequences {
		t.sequences()
	}
	set := report.Settings{
		Service: strings.ToUpper(a.Service), Warmup: a.Warmup, Requests: a.RequestCount,
		CountWindows: a.CountWindows, WindowMS: a.WindowMS, WindowRequests: a.WindowRequests, Percentile: a.Percentile,
		Threshold: a.Threshold, Async: a.Async, Decoupled: s.Decoupled, Binary: a.Binary, Rate: a.Load == args.LoadRate, Poisson: a.Poisson,
		ConcurrencyStart: a.Concurrency.Start, ConcurrencyEnd: a.Concurrency.End, RateStart: a.Rate.Start, RateEnd: a.Rate.End,
	}
	if a.ShowBatch {
		set.Batch = a.Batch
	}
	set.Streams, set.Steps = t.dataSize()
	if a.Load == args.LoadSchedule {
		set.Requests = int64(set.Steps) - a.Warmup
	}
	t.words()
	t.idleShapes()
	t.addError(report.WriteSettings(t.env.Out, &set))
}

// idleShapes says which shapes are of no use to the model.
func (t *job) idleShapes() {
	if t.setup.Tensors == nil {
		return
	}
	for _, given := range t.plan.Data.Tensors.Shapes {
		name, _, err := tensor.ParseShape(given)
		if err != nil {
			continue // the run has told
		}
		open := func(s tensor.Spec) bool { return s.Name == name && s.Open() }
		if !slices.ContainsFunc(t.setup.Tensors.Inputs, open) {
			t.printf("WARNING: --shape %s has no effect: the model has no input of that name whose shape it leaves open.", given)
		}
	}
}

// sequences settles what is otherwise for a model that keeps state over sequences: it is asked
// asynchronously unless that is ruled out. Where requests wait for the one before them in their
// sequence, no more are in flight than there are sequences; those that wait have no slot of the
// threads, or a sequence that the server holds back would keep the one from its end that it waits for.
func (t *job) sequences() {
	a, st, q := t.action, &t.plan.Stages[0], t.plan.Data.Tensors.Sequences
	if !a.Sync {
		a.Async, t.plan.Measurement.ThroughputAlone = true, true
		st.MaxInFlight = 0
	}
	if q.Serial && st.MaxInFlight >= q.Live {
		st.MaxInFlight = 0
	}
}

// dataSize is how much data was read from JSON files.
func (t *job) dataSize() (streams, steps int) {
	files := t.plan.Data.Tensors.Files
	if len(files) == 0 {
		return 0, 0
	}
	if info, err := os.Stat(files[0]); err != nil || info.IsDir() {
		return 0, 0
	}
	data, err := inputdata.ReadExactly(prompt.Files(t.plan.Data), files...)
	if err != nil {
		return 0, 0 // the run has told
	}
	return len(data.Streams), data.Steps()
}

// payloads says which step of the data has no payload, where requests are made of them.
func (t *job) payloads() error {
	if t.action.Service != args.OpenAI {
		return nil
	}
	data, err := inputdata.ReadExactly(prompt.Files(t.plan.Data), t.plan.Data.Tensors.Files...)
	if err != nil {
		return nil // the run tells
	}
	for i, stream := range data.Streams {
		for k := range stream {
			if body, err := inputdata.Payload(&stream[k]); body == nil && err == nil {
				return plan.Faults{{
					Where: fmt.Sprintf("%s, stream %d, step %d", strings.Join(t.plan.Data.Tensors.Files, ", "), i, k),
					Text:  "has no payload", Hint: `write {"payload": [{"model": …}]}`,
				}}
			}
		}
	}
	return nil
}

func (t *job) load(s plan.Stage) report.LevelLoad {
	if t.action.Load == args.LoadSchedule { // the times stand in a file, and it has no word for that
		return report.LevelLoad{Rate: true, Value: t.action.Rate.Start}
	}
	return report.LevelLoad{Rate: s.Concurrency == 0, Value: value(s)}
}

func value(s plan.Stage) float64 {
	if s.Concurrency > 0 {
		return float64(s.Concurrency)
	}
	return s.PerSecond()
}

// Begin implements executor.Observer.
func (t *job) Begin(_ int, s plan.Stage) {
	t.loads = append(t.loads, s)
	t.coding.reset()
	switch t.action.Load {
	case args.LoadPeriodic: // there are no levels: the export has it all
		return
	case args.LoadIntervals, args.LoadSchedule: // what the load is stands in a file
		return
	}
	t.addError(report.WriteLoad(t.env.Out, t.load(s)))
	t.statistics()
}

// Window implements executor.Observer.
func (t *job) Window(_, trial int, w sweep.Window) {
	t.statistics()
	if t.action.Verbose > 0 {
		c := t.client(w)
		t.addError(report.WritePass(t.env.Out, trial, &c, t.action.Percentile))
	}
}

// End implements executor.Observer.
func (t *job) End(_ int, s plan.Stage, l *sweep.Level) {
	if l.Merged == nil {
		return
	}
	if (t.action.RequestCount > 0 || t.action.Load == args.LoadSchedule) && t.action.Verbose > 0 {
		t.statistics()
		c := t.client(*l.Merged)
		t.addError(report.WritePass(t.env.Out, 1, &c, t.action.Percentile))
	}
	if n := l.Merged.Empty; n > 0 {
		t.printf("WARNING: %d requests ended without a single response. They have no latency and are not counted.", n)
	}
	if l.Ended == record.StopThroughput {
		t.printf("WARNING: throughput became stable within %d windows, latency did not. The level is reported anyway.", t.action.MaxTrials)
	}
	if l.Passed || l.Ended == "" && l.Merged.Requests > 0 {
		level := t.level(s, l)
		t.levels = append(t.levels, level)
		t.addError(report.WriteLevel(t.env.Out, &level, t.options()))
		return
	}
	t.failed, t.shaky = l.Ended, l.Ended == record.StopTrials || l.Ended == record.StopThreshold
	t.printf("%s", t.why(s, l))
}

// failing is why a level is not reported whose requests only failed in the last window.
const failing record.StopReason = "failing"

func (t *job) why(s plan.Stage, l *sweep.Level) string {
	limit := time.Duration(t.action.Threshold) * time.Millisecond
	last := l.Windows[len(l.Windows)-1]
	switch {
	case l.Ended == record.StopEmpty && last.Failed > 0:
		t.failed = failing
		return fmt.Sprintf("Failed to maintain requested inference load. Worker thread(s) failed to generate concurrent requests. All %d requests that ended in the last window failed.", last.Failed)
	case last.Requests == 0:
		t.failed = record.StopEmpty
		return "No valid requests recorded within time interval. Please use a larger time window."
	case limit > 0 && l.Measured() >= limit:
		t.failed = record.StopThreshold
		return fmt.Sprintf("Measured latency went over the set limit of %d msec. ", t.action.Threshold)
	}
	t.failed = record.StopTrials
	if t.action.Load != args.LoadConcurrency {
		return "Failed to obtain stable measurement."
	}
	flag := "--measurement-interval"
	if t.action.CountWindows {
		flag = "--measurement-request-count"
	}
	return fmt.Sprintf("Failed to obtain stable measurement within %d measurement windows for concurrency %d. Please try to increase the %s.", t.action.MaxTrials, s.Concurrency, flag)
}

// warnOfGPUs says which figures of GPUs there are not, and why where that is known.
func (t *job) warnOfGPUs(res *result.Result) {
	if !t.action.Metrics || len(t.levels) == 0 || len(t.levels[0].GPUs) > 0 {
		return
	}
	for _, name := range []string{"nv_gpu_utilization", "nv_gpu_power_usage", "nv_gpu_memory_used_bytes", "nv_gpu_memory_total_bytes"} {
		t.printf("WARNING: Unable to parse '%s' metric.", name)
	}
	if s := res.Stages[0].Server; s != nil {
		for _, f := range s.Faults {
			t.printf("WARNING: %s", f)
		}
	}
}

// cut says why a load stopped growing.
func (t *job) cut(st *result.Stage) {
	t.failed = record.StopEarlyAnswer
	t.printf("A request ended before it had the %d responses of --request-period, so the load stopped growing after %d of %.0f requests. Choose a --request-period that every request reaches.",
		t.action.Period, st.Counts.Sent, t.action.Periodic.End)
}

func (t *job) exit(res *result.Result) int {
	failures := int64(0)
	for _, st := range res.Stages {
		failures += st.Counts.Failed
		if st.Ended == record.StopEarlyAnswer {
			t.cut(&st)
		}
		for _, f := range st.Failures {
			t.printf("%d requests failed: %s %s", f.Count, f.Class, f.Example)
		}
	}
	switch {
	case t.failed == record.StopEarlyAnswer, t.failed == failing:
		return args.ExitGeneric
	case t.failed == record.StopEmpty:
		return args.ExitOption
	case t.shaky && len(t.loads) == 1:
		t.printf("Failed to obtain stable measurement.")
		return args.ExitUnstable
	case len(t.levels) == 0 && t.failed == "" && failures > 0, res.Failing():
		return args.ExitGeneric
	}
	return args.ExitOK
}
