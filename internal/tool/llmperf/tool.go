// Package llmperf carries out llm_perf's command lines: it runs the plan and prints levels as that
// tool.
package llmperf

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/llmperf/args"
	"github.com/inferometer/inferometer/internal/tool/llmperf/report"
)

// Run carries out a command. The result is nil where nothing was measured.
func Run(ctx context.Context, a *args.Action, env *tool.Session) (*result.Result, error) {
	if err := report.WriteHeader(env.Out, a.URI, a.Protocol, a.Model); err != nil {
		return nil, err
	}
	if a.Plan.Output.Dir == "" {
		dir, err := os.MkdirTemp("", "inferometer-llm-perf-")
		if err != nil {
			return nil, fmt.Errorf("creating a temporary directory for the records: %w", err)
		}
		defer os.RemoveAll(dir)
		a.Plan.Output.Dir = dir
	}
	sent := &order{hashes: make([]uint64, a.Prompts)}
	p := &printer{out: env.Out, stages: a.Plan.Stages, faithful: a.Faithful}
	res, err := env.Run(ctx, a.Plan, run.Options{Names: args.Names(a.Plan), Prompt: sent.add, Stage: p.print})
	if res == nil {
		return nil, err
	}
	for i := p.printed; i < len(res.Stages); i++ { // one that was aborted, and those behind it
		if res.Stages[i].Counts.Sent > 0 {
			p.print(&res.Stages[i])
		}
	}
	errs := []error{err, p.err}
	if len(p.levels) > 0 {
		errs = append(errs, writeResults(a.Results, p.levels, rundir.Records(a.Plan), sent, a.Faithful))
	}
	return res, errors.Join(errs...)
}

// as reports a saved run: each of its stages is a level.
func as(env tool.Env, s *tool.ReportRequest) ([]string, error) {
	target := &s.Plan.Target
	var urls []string
	for _, u := range target.URLs {
		urls = append(urls, plan.SafeURL(u))
	}
	if err := report.WriteHeader(env.Stdout, strings.Join(urls, ","), cmp.Or(target.Transport, plan.TransportHTTP), target.Model); err != nil {
		return nil, err
	}
	p := &printer{out: env.Stdout, stages: s.Plan.Stages, alone: true}
	for i := range s.Result.Stages {
		if s.Result.Stages[i].Counts.Sent > 0 {
			p.print(&s.Result.Stages[i])
			tool.PrintFailures(env.Stderr, s.Result.Stages[i].Load+": ", &s.Result.Stages[i])
		}
	}
	if s.Tokenizer != "" {
		env.Warn("note", []string{"--tokenizer has no effect: llm_perf's figures use the token counts saved with the run"})
	}
	name := filepath.Join(s.Out, args.DefaultResults)
	if err := errors.Join(p.err, writeResults(name, p.levels, s.Records, nil, false)); err != nil {
		return nil, err
	}
	return []string{name}, nil
}

type printer struct {
	out      io.Writer
	stages   []plan.Stage
	faithful bool
	alone    bool                 // of levels with one load, each stands by itself
	printed  int                  // stages
	levels   []report.LevelReport // that were printed
	err      error                // the first thing that could not be printed
}

func (p *printer) print(s *result.Stage) {
	l := level(s, p.stages[s.Index].Concurrency)
	if l.Concurrency == 0 || p.alone && slices.ContainsFunc(p.levels,
		func(o report.LevelReport) bool { return o.Concurrency == l.Concurrency }) {
		l.Load = fmt.Sprintf("%s, stage %d", s.Load, s.Index+1)
	}
	if _, streamed := s.Metrics["time_to_first_event"]; p.faithful && !streamed {
		l.TTFT = report.Mean{Avg: -1, P99: -1} // as the original, which takes none of a whole response
	}
	if err := report.Write(p.out, &l); p.err == nil {
		p.err = err
	}
	p.levels = append(p.levels, l)
	p.printed = s.Index + 1
}

func level(s *result.Stage, concurrency int) report.LevelReport {
	l := report.LevelReport{
		Stage: s.Index, Concurrency: concurrency, Payloads: s.Counts.Sent, Results: s.Counts.OK,
		InputTokens: total(s, "input_sequence_length"), OutputTokens: total(s, "output_sequence_length"),
		Latency: mean(s, "request_latency"), Wall: s.Window.End - s.Window.Begin,
	}
	// The first response counts even when it is empty; a whole response is its own first.
	l.TTFT = mean(s, "time_to_first_event")
	if _, streamed := s.Metrics["time_to_first_event"]; !streamed {
		l.TTFT = l.Latency
	}
	return l
}

// total is the sum of a metric's samples.
func total(s *result.Stage, id string) int64 {
	m := s.Metrics[id]
	return int64(math.Round(m.Avg * float64(m.Count)))
}

// mean is a time's mean and 99th percentile, in seconds.
func mean(s *result.Stage, id string) report.Mean {
	m := s.Metrics[id]
	out := report.Mean{Avg: m.Avg / 1000}
	if m.Distribution != nil {
		out.P99 = m.P99 / 1000
	}
	return out
}
