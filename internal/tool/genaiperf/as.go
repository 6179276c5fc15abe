package genaiperf

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/report"
	"github.com/inferometer/inferometer/internal/tool/profileexport/export"
)

// as reports a saved run. GenAI-Perf measures one load at a time: each stage is a run of its
// own, in a directory of its own where there are several.
func as(env tool.Env, s *tool.ReportRequest) ([]string, error) {
	if s.Plan.Output.NoTexts {
		return nil, errors.New("the run kept no texts (--keep none), which the figures of GenAI-Perf are made of: choose another tool")
	}
	if !s.Plan.Output.KeepRaw {
		env.Warn("note", []string{"the run kept no bodies (--keep raw): profile_export.json has no request_inputs, which the original GenAI-Perf needs"})
	}
	var stages []int
	for i := range s.Result.Stages {
		if s.Result.Stages[i].Counts.Sent > 0 {
			stages = append(stages, i)
		}
	}
	var files, dirs []string
	for _, i := range stages {
		t := &job{env: env.Unwatched(), set: settingsOf(s.Plan, &s.Plan.Stages[i]), plan: s.Plan,
			records: export.Readable(s.Records, &s.Plan.Target), stage: i, saved: true}
		if t.set.Dir = s.Out; len(stages) > 1 {
			if t.set.Dir = filepath.Join(s.Out, t.set.Folder()); slices.Contains(dirs, t.set.Dir) {
				t.set.Dir += fmt.Sprintf("-stage%d", i+1)
			}
			dirs = append(dirs, t.set.Dir)
			if err := os.MkdirAll(t.set.Dir, 0o755); err != nil {
				return files, fmt.Errorf("creating the directory of the stage: %w", err)
			}
			fmt.Fprintln(env.Stdout, t.set.Dir)
		}
		err := t.reportSaved(env, s.Tokenizer)
		if files = append(files, t.files...); err != nil {
			return files, err
		}
	}
	return files, nil
}

// reportSaved writes the files of a stage and prints its table.
func (t *job) reportSaved(env tool.Env, tokenizer string) error {
	if tokenizer != "" {
		found, err := t.env.Kit.Tokenizers(context.Background(), tokenizer, "", t.plan.Limits)
		if err != nil {
			return fmt.Errorf("--tokenizer: %w", err)
		}
		t.tok = found.Tokenizer
	}
	sum, err := t.export()
	if sum == nil {
		return err
	}
	out := &Outcome{Summary: sum, Report: t.reportOptions(), Sessions: t.sessions}
	out.Report.Width = tableWidth(env)
	return errors.Join(err, t.reports(out), report.Console(env.Stdout, sum, out.Report))
}

// settingsOf are the settings that a plan's stage comes to.
func settingsOf(p *plan.Plan, st *plan.Stage) *args.Settings {
	t := &p.Target
	s := &args.Settings{
		Release: args.ReleaseLast, Shape: args.ReleaseLast, Models: []string{t.Model}, ServiceKind: "openai", EndpointType: t.Endpoint, Backend: "tensorrtllm",
		Endpoint: export.Endpoint(t), Streaming: t.Streaming,
		Concurrency: st.Concurrency, Rate: st.PerSecond(), Requests: int(st.Requests), RequestsGiven: st.Requests > 0,
		Warmup: int(st.Warmup.Requests), Stability: anyStability, FixedSchedule: st.Arrival == plan.ArrivalTrace,
		SessionConcurrency: st.Sessions.Concurrent,
		InputMean:          int(p.Data.Input.Mean), InputStddev: int(p.Data.Input.Stddev), OutputMean: int(p.Data.Output.Mean),
		OutputStddev: int(p.Data.Output.Stddev),
		Prompts:      p.Data.Prompts, Seed: int(p.Seed), InputFile: p.Data.File, Batch: max(p.Data.Batch, 1), DelayRatio: 1,
		TokenizerRevision: p.Tokenizer.Revision, CheckpointDir: "checkpoint", ExportFile: "profile_export.json",
	}
	if len(t.URLs) > 0 {
		s.URL = plan.SafeURL(t.URLs[0])
	}
	switch {
	case t.Protocol == plan.ProtocolTriton && t.Endpoint == plan.EndpointGenerate:
	case t.Protocol == plan.ProtocolTriton:
		s.ServiceKind, s.EndpointType = "triton", "kserve"
		if t.Triton.Convention == plan.ConventionVLLM {
			s.Backend = "vllm"
		}
	case t.Endpoint == plan.EndpointMessages, t.Endpoint == plan.EndpointResponses:
		s.EndpointType = "chat"
	case t.Ranks():
		s.EndpointType = "rankings"
	case t.Endpoint == plan.EndpointPredict:
		s.EndpointType = "template"
	}
	for _, slo := range p.Goodput {
		if name := slo.Metric; slices.Contains([]string{dialect.TimeToFirstToken, dialect.TimeToSecondToken, dialect.InterTokenLatency,
			dialect.RequestLatency}, name) {
			s.Goodput = append(s.Goodput, args.Objective{Metric: name, Value: float64(slo.Max) / float64(time.Millisecond)})
		}
	}
	return s
}
