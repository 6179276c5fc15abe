package vllmbench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/token/loader"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/vllmbench/args"
	"github.com/inferometer/inferometer/internal/tool/vllmbench/dialect"
	"github.com/inferometer/inferometer/internal/tool/vllmbench/report"
)

// bench is a run of the benchmark.
type bench struct {
	env  *tool.Session
	set  *args.Settings
	plan *plan.Plan
	kit  registry.Kit // whose prompts are made
	side *side        // what is asked of the server beside the load

	before, after dialect.Counters
}

func (b *bench) printf(format string, args ...any) { fmt.Fprintf(b.env.Out, format+"\n", args...) }

// serve carries out a run, prints its figures and writes its file. The result is nil where there is none.
func serve(ctx context.Context, a *args.Action, env *tool.Session) (*result.Result, error) {
	b := &bench{env: env, set: &a.Settings, plan: a.Plan}
	if a.Plan.Output.Dir == "" {
		dir, err := os.MkdirTemp("", "inferometer-vllm-bench-")
		if err != nil {
			return nil, fmt.Errorf("creating a temporary directory for the records: %w", err)
		}
		defer os.RemoveAll(dir)
		a.Plan.Output.Dir = dir
	}
	for _, step := range []func(context.Context) error{b.prepare, b.await} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	res, err := env.Run(ctx, b.plan, run.Options{Kit: b.kit, Names: args.Names(b.plan), Observer: b, Replace: true})
	if res == nil {
		return nil, err
	}
	if b.set.Profile {
		b.profile(ctx, "stop")
	}
	rep, reportErr := b.report()
	if rep == nil {
		return res, errors.Join(err, reportErr)
	}
	return res, errors.Join(err, report.Print(env.Out, rep), b.save(rep))
}

// prepare makes the requests.
func (b *bench) prepare(ctx context.Context) error {
	secrets, err := target.ReadSecrets(ctx, b.plan.Target, b.plan.Limits, b.env.Getenv)
	if err != nil {
		return err
	}
	b.side = newSide(&b.plan.Target, secrets, b.env.Getenv)
	b.kit = b.env.Kit
	log := message.Log{To: b.env.Log, Names: args.Names(b.plan)}
	found, err := b.kit.Tokenizer(ctx, b.plan, log)
	if err != nil {
		return fmt.Errorf("the tokenizer %s: %w: name one with --tokenizer", b.set.Tokenizer, err)
	}
	if model := b.plan.Data.VLLM.Align; model != "" {
		b.kit.Server = target.OpenPlainTokenServer(&b.plan.Target, model, secrets, b.env.Getenv)
	}
	made, err := b.kit.Prompts(ctx, b.plan, found)
	if err != nil {
		return err
	}
	b.kit.Ready = &made
	b.kit.Tokenizers = func(context.Context, string, string, plan.Limits) (*loader.Found, error) { return found, nil }
	if !b.set.Temperature && b.set.Release == "" {
		b.printf("note: no --temperature is sent, so the server's default applies.")
	}
	return nil
}

// between is the time from one look for the server to the next.
const between = 5 * time.Second

// await sends the first request until the server answers it well, for as long as was asked for.
func (b *bench) await(ctx context.Context) error {
	b.printf("Starting initial single prompt test run...")
	if b.set.Test {
		ok, err := b.try(ctx)
		if ok {
			b.printf("Initial test run completed. Starting main benchmark run...")
			return nil
		}
		return fmt.Errorf("the first request failed, which is sent once before the run: %w", err)
	}
	if b.set.Release == plan.VLLMFork {
		return nil
	}
	if b.set.Ready <= 0 {
		b.printf("Skipping endpoint ready check.")
		return nil
	}
	b.printf("Waiting for endpoint to become up in %d seconds", b.set.Ready)
	until := time.Now().Add(time.Duration(b.set.Ready) * time.Second)
	for {
		ok, err := b.try(ctx)
		left := time.Until(until)
		switch {
		case ok:
			b.printf("Initial test run completed.")
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case left <= 0:
			return fmt.Errorf("the server did not answer the first request within %d s (--ready-check-timeout-sec): %w", b.set.Ready, err)
		}
		select {
		case <-time.After(min(between, left)):
		case <-b.env.Stop:
			return errors.New("stopped before the first request")
		}
	}
}

// try sends the first request once, in a run of its own.
func (b *bench) try(ctx context.Context) (ok bool, err error) {
	p := *b.plan
	p.Stages = []plan.Stage{{Concurrency: 1, Requests: 1}}
	p.Data.VLLM.Rehearsed = true
	if p.Output.Dir, err = os.MkdirTemp("", "inferometer-vllm-bench-"); err != nil {
		return false, err
	}
	defer os.RemoveAll(p.Output.Dir)
	quiet := *b.env
	quiet.Watch, quiet.Draw, quiet.Log = nil, nil, io.Discard
	kit := b.kit
	made := *b.kit.Ready
	made.Source = rehearsal{made.Source}
	kit.Ready = &made
	res, err := quiet.Run(ctx, &p, run.Options{Kit: kit, Names: args.Names(&p)})
	if err != nil {
		return false, err
	}
	st := &res.Stages[0]
	if st.Counts.OK == 0 {
		err = errors.New("it failed")
		if len(st.Failures) > 0 {
			err = errors.New(st.Failures[0].Example)
		}
	}
	return st.Counts.OK > 0, err
}

// Begin implements executor.Observer: it does what comes in front of the load.
func (b *bench) Begin(i int, _ plan.Stage) {
	if i < b.set.Main {
		b.printf("Warming up with %d requests...", b.set.Warmups)
		return
	}
	switch {
	case b.set.Main > 0 && b.set.Release != "":
		b.printf("Warmup completed.")
	case b.set.Main > 0:
		b.printf("Warmup run completed.")
	}
	if b.set.Release != plan.VLLMScript {
		b.printf("Starting main benchmark run...")
	}
	if b.set.Profile {
		b.profile(context.Background(), "start")
	}
	b.announce()
	if b.set.Release == "" {
		b.before = b.counters()
	}
}

// Window implements executor.Observer.
func (b *bench) Window(int, int, sweep.Window) {}

// End implements executor.Observer.
func (b *bench) End(i int, _ plan.Stage, _ *sweep.Level) {
	if i == b.set.Main && b.set.Release == "" {
		b.after = b.counters()
	}
}

// announce says what load comes.
func (b *bench) announce() {
	s := b.set
	if s.SelfTimed {
		b.printf("Self timing is set, using the timestamps from the trace file.")
		return
	}
	if s.Ramp != "" {
		b.printf("Traffic ramp-up strategy: %s.", s.Ramp)
		b.printf("Will increase RPS from %d to %d RPS over the duration of the benchmark.", s.RampFrom, s.RampTo)
	} else {
		b.printf("Traffic request rate: %s%s", python(s.Rate), map[string]string{plan.VLLMScript: " RPS."}[s.Release])
	}
	law := "Gamma distribution"
	if s.Burstiness == 1 {
		law = "Poisson process"
	}
	b.printf("Burstiness factor: %s (%s)", python(s.Burstiness), law)
	most := "None"
	if s.MaxConcurrency > 0 {
		most = fmt.Sprint(s.MaxConcurrency)
	}
	b.printf("Maximum request concurrency: %s", most)
}

// counters reads the server's page of metrics twice, as the original does: for speculative decoding, and for
// diffusion.
func (b *bench) counters() dialect.Counters {
	c := dialect.ReadCounters(b.side.page())
	other := dialect.ReadCounters(b.side.page())
	c.Diffusion, c.Steps, c.Positions, c.Committed = other.Diffusion, other.Steps, other.Positions, other.Committed
	return c
}

func (b *bench) profile(ctx context.Context, verb string) {
	b.printf("%s profiler...", map[string]string{"start": "Starting", "stop": "Stopping"}[verb])
	if b.side.post(ctx, "/"+verb+"_profile") {
		b.printf("Profiler %s", map[string]string{"start": "started", "stop": "stopped"}[verb])
	}
}

// report works out the figures of the stage that is measured.
func (b *bench) report() (*report.Report, error) {
	rep, err := summarize(rundir.Records(b.plan), b.plan, b.set)
	if err != nil {
		return nil, err
	}
	rep.Speculation = dialect.Speculated(b.before, b.after)
	rep.Diffused = dialect.Denoised(b.before, b.after, rep.Duration)
	return rep, nil
}

// summarize makes the report of a stage out of records.
func summarize(records record.File, p *plan.Plan, s *args.Settings) (*report.Report, error) {
	start, begin, err := beginning(records, s.Main)
	if err != nil {
		return nil, err
	}
	opt := dialect.Options{Begin: begin, Waiting: p.Stages[s.Main].Concurrency > 0, Text: s.Detailed, Faithful: s.Faithful, Old: s.Release != ""}
	bySeq := map[int64]dialect.Request{}
	end := begin
	if err := records.Requests(func(rec *record.Record) error {
		if rec.Stage == s.Main && rec.Phase == record.Measured {
			bySeq[rec.Seq] = dialect.Read(rec, opt)
			end = max(end, rec.End)
		}
		return nil
	}); err != nil {
		return nil, err
	}
	var all []dialect.Request
	for _, seq := range slices.Sorted(maps.Keys(bySeq)) {
		all = append(all, bySeq[seq])
	}
	r := &report.Report{
		Release: s.Release, BestOf: s.BestOf, Faithful: s.Faithful,
		Summary: dialect.Summarize(all, (end - begin).Seconds(), s.Goodput), Date: start.Add(end).Local().Format("20060102-150405"),
		Backend: s.Backend, Label: s.Label, Model: s.Model, Tokenizer: s.Tokenizer, Prompts: s.Prompts, Metadata: s.Metadata,
		Rate: s.Rate, Burstiness: s.Burstiness, MaxConcurrency: s.MaxConcurrency, Ramp: s.Ramp, RampFrom: s.RampFrom, RampTo: s.RampTo,
		Objectives: len(s.Goodput) > 0, Metrics: s.Metrics, Percentiles: s.Percentiles, Detailed: s.Detailed,
	}
	if !s.Faithful || s.Release == plan.VLLMFork {
		r.Begin, r.End = unix(start.Add(begin)), unix(start.Add(end))
	}
	if s.Ramp != "" {
		r.RateChanges = rateChanges(all, s, start)
	}
	return r, nil
}

// beginning is when a run began, and from then on a stage's measured part: where nothing was written of that,
// its first request.
func beginning(records record.File, stage int) (start time.Time, begin time.Duration, err error) {
	begin = record.Never
	if _, err := records.NonRequests(func(l record.Line) error {
		if l.Header != nil {
			start = l.Header.Start
		}
		if l.Stage != nil && l.Stage.Stage == stage && l.Stage.Worker == 0 {
			begin = l.Stage.WarmupEnd
		}
		return nil
	}); err != nil || begin != record.Never {
		return start, begin, err
	}
	err = records.Requests(func(rec *record.Record) error {
		if rec.Stage == stage && rec.Phase == record.Measured && (begin == record.Never || rec.Sent < begin) {
			begin = rec.Sent
		}
		return nil
	})
	return start, max(begin, 0), err
}

func unix(t time.Time) float64 { return float64(t.UnixNano()) / 1e9 }

// rateChanges are when a rising rate had come to each whole number.
func rateChanges(all []dialect.Request, s *args.Settings, start time.Time) []report.RateChange {
	at := func(r *dialect.Request) string {
		return start.Add(time.Duration((r.Start - r.Queue) * float64(time.Second))).Local().Format("2006-01-02T15:04:05.000000")
	}
	var list []report.RateChange
	last := s.RampFrom
	for i := range all {
		if i == 0 {
			list = append(list, report.RateChange{Rate: last, At: at(&all[0])})
		}
		share := float64(i) / float64(max(len(all)-1, 1))
		rate := float64(s.RampFrom) + float64(s.RampTo-s.RampFrom)*share
		if s.Ramp == "exponential" {
			rate = float64(s.RampFrom) * math.Pow(float64(s.RampTo)/float64(s.RampFrom), share)
		}
		for ; last < int(rate); last++ {
			list = append(list, report.RateChange{Rate: last + 1, At: at(&all[i])})
		}
	}
	return list
}

// save writes the result file.
func (b *bench) save(r *report.Report) error {
	s := b.set
	if !s.Save {
		return nil
	}
	text, err := report.JSON(r)
	if err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	file := cmp.Or(s.File, report.FileName(r))
	if s.Dir != "" {
		if err := os.MkdirAll(s.Dir, 0o755); err != nil {
			return fmt.Errorf("--result-dir: %w", err)
		}
		file = filepath.Join(s.Dir, file)
	}
	if err := write(file, text, s.Append); err != nil {
		return fmt.Errorf("writing the result: %w", err)
	}
	return nil
}

// write writes a result, behind those that are in the file if it is to be appended.
func write(file string, text []byte, appending bool) error {
	mode := os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	if appending {
		mode = os.O_WRONLY | os.O_CREATE | os.O_APPEND
	}
	f, err := os.OpenFile(file, mode, 0o644)
	if err != nil {
		return err
	}
	if info, err := f.Stat(); appending && err == nil && info.Size() > 0 {
		text = append([]byte("\n"), text...)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}
