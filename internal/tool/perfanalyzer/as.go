package perfanalyzer

import (
	"cmp"
	"path/filepath"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool"
	report "github.com/inferometer/inferometer/internal/tool/analyzerreport"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	"github.com/inferometer/inferometer/internal/tool/profileexport/export"
)

// The files of a saved run that is reported.
const (
	levelsFile = "perf_analyzer.csv"
	exportFile = "profile_export.json"
)

// as reports a saved run: each of its stages is a level. One that was not measured in
// windows is one window, from its first request to its last answer.
func as(env tool.Env, s *tool.ReportRequest) ([]string, error) {
	p := s.Plan
	t := &job{env: env.Unwatched(), plan: p, records: export.Readable(s.Records, &p.Target), loads: p.Stages, action: &args.Action{
		Plan: p, Service: export.ServiceOf(&p.Target), Load: args.LoadConcurrency, GRPC: p.Target.Transport == plan.TransportGRPC,
		Streaming: p.Target.Streaming,
		Batch:     p.Data.Tensors.Batch, Percentile: p.Measurement.Percentile, Endpoint: export.Endpoint(&p.Target),
		CSV: filepath.Join(s.Out, levelsFile), Export: filepath.Join(s.Out, exportFile), VerboseCSV: true,
	}}
	a := t.action
	if len(p.Stages) > 0 && p.Stages[0].Concurrency == 0 {
		a.Load = args.LoadRate
	}
	levels, err := t.measuredAgain(s.Result)
	if err != nil {
		return nil, err
	}
	t.setup.Target = p.Target
	for _, l := range levels {
		t.setup.Decoupled = t.setup.Decoupled || a.Service == args.Triton && l.Merged.First != nil
		t.setup.Sequences = t.setup.Sequences || l.Merged.Sequences > 0
		a.Metrics = a.Metrics || len(l.GPUs) > 0
	}
	t.addError(report.WriteSettings(env.Stdout, t.settingsAgain(s.Result)))
	unseen := false
	for i, l := range levels {
		st := &s.Result.Stages[i]
		if l.Merged.Requests == 0 {
			if st.Counts.Sent > 0 {
				t.printf("%s: no request succeeded within a window, so the level is not reported.", st.Load)
			}
			continue
		}
		level := t.level(p.Stages[i], l)
		if level.Server == nil && st.Server != nil && len(st.Server.Models) > 0 {
			level.Server = inOrder(modelAgain(&st.Server.Models[0]))
		}
		unseen = unseen || a.Service == args.Triton && level.Server == nil
		if level.Load.Value == 0 { // it went by a trace or by sessions
			level.Load.Value = l.Merged.SendRate
		}
		t.levels = append(t.levels, level)
		t.addError(report.WriteLoad(env.Stdout, level.Load))
		t.addError(report.WriteLevel(env.Stdout, &level, t.options()))
	}
	t.addError(report.WriteSummary(env.Stdout, t.levels, a.Percentile))
	if unseen {
		env.Warn("note", []string{"the run recorded no server statistics: their columns are left out"})
	}
	if !p.Output.KeepRaw {
		env.Warn("note", []string{"the run kept no bodies (--keep raw): " + exportFile + " has no request_inputs, which the original GenAI-Perf needs"})
	}
	files := []string{a.CSV, a.Export}
	if len(t.levels) == 0 {
		files = files[1:]
	}
	t.addError(t.files())
	t.addError(t.export())
	return files, t.err
}

// settingsAgain are the first lines of the report. What was not measured in windows was a
// number of requests.
func (t *job) settingsAgain(res *result.Result) *report.Settings {
	m := &t.plan.Measurement
	set := &report.Settings{
		Service: strings.ToUpper(t.action.Service), Percentile: m.Percentile, Async: true, Decoupled: t.setup.Decoupled,
		Rate: t.action.Load == args.LoadRate, ConcurrencyEnd: 1, RateEnd: 1,
		CountWindows: m.Mode == plan.WindowCount, WindowMS: time.Duration(m.Interval).Milliseconds(), WindowRequests: m.Requests,
	}
	for i := range res.Stages {
		set.Warmup += res.Stages[i].Counts.Warmup
		set.Poisson = set.Poisson || t.plan.Stages[i].Arrival == plan.ArrivalPoisson
		if !m.On() {
			set.Requests += res.Stages[i].Counts.Sent
		}
	}
	return set
}

// measuredAgain are the levels of the stages. Their merged windows are always there.
func (t *job) measuredAgain(res *result.Result) ([]*sweep.Level, error) {
	samples := make([][]sweep.Sample, len(t.plan.Stages))
	marks := map[int]*record.StageSummary{}
	_, err := t.records.Walk(func(l record.Line) error {
		if l.Stage != nil {
			marks[l.Stage.Stage] = l.Stage
		}
		if r := l.Request; r != nil && r.Stage >= 0 && r.Stage < len(samples) && r.Phase != record.Closing {
			samples[r.Stage] = append(samples[r.Stage], sweep.SampleOf(r))
		}
		return nil
	})
	levels := make([]*sweep.Level, len(samples))
	for i := range samples {
		if l := res.Stages[i].Level; l != nil && l.Merged != nil {
			levels[i] = l.Level
			continue
		}
		m := cmp.Or(marks[i], &record.StageSummary{})
		if marks[i] == nil { // it was killed
			for _, s := range samples[i] {
				m.DrainEnd = max(m.DrainEnd, s.Closed)
			}
		}
		w := sweep.WindowBetween(samples[i], m.WarmupEnd-1, m.DrainEnd, t.plan.Measurement.Percentile)
		levels[i] = &sweep.Level{Merged: &w}
	}
	return levels, err
}

func modelAgain(m *result.ServerModel) record.ModelStats {
	sum := func(t result.ServerTime) record.CountTime { return record.CountTime{Count: t.Count, NS: t.NS} }
	out := record.ModelStats{
		Name: m.Name, Version: m.Version, Inferences: m.Inferences, Executions: m.Executions,
		Success: sum(m.Success), Queue: sum(m.Queue), ComputeInput: sum(m.ComputeInput), ComputeInfer: sum(m.ComputeInfer),
		ComputeOutput: sum(m.ComputeOutput), CacheHit: sum(m.CacheHit), CacheMiss: sum(m.CacheMiss),
	}
	for i := range m.Composing {
		out.Composing = append(out.Composing, modelAgain(&m.Composing[i]))
	}
	return out
}
