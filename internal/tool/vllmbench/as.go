package vllmbench

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/vllmbench/args"
	"github.com/inferometer/inferometer/internal/tool/vllmbench/report"
)

// as reports a saved run: each of its stages is a run of the benchmark, with a file of its own.
func as(env tool.Env, s *tool.ReportRequest) ([]string, error) {
	if s.Tokenizer != "" {
		env.Warn("note", []string{"--tokenizer has no effect: the figures of vllm bench serve use the token counts saved with the run"})
	}
	if !slices.ContainsFunc(s.Result.Stages, func(st result.Stage) bool { return st.Counts.OK > 0 }) {
		return nil, errors.New("no request succeeded: there are no figures")
	}
	var files []string
	for i := range s.Result.Stages {
		if s.Result.Stages[i].Counts.Sent == 0 || s.Plan.Data.VLLM.Rehearsed && i == 0 {
			continue
		}
		set := settingsOf(s.Plan, i)
		set.Detailed = !s.Plan.Output.NoTexts
		set.Prompts = int(s.Result.Stages[i].Counts.Sent)
		rep, err := summarize(s.Records, s.Plan, set)
		if err != nil {
			return files, err
		}
		text, err := report.JSON(rep)
		if err != nil {
			return files, err
		}
		file := filepath.Join(s.Out, fmt.Sprintf("stage%d-%s", i+1, report.FileName(rep)))
		if len(s.Result.Stages) == 1 {
			file = filepath.Join(s.Out, report.FileName(rep))
		}
		if err := errors.Join(write(file, text, false), report.Print(env.Stdout, rep)); err != nil {
			return files, err
		}
		files = append(files, file)
	}
	return files, nil
}

// settingsOf are the settings that a plan's stage comes to.
func settingsOf(p *plan.Plan, stage int) *args.Settings {
	st := &p.Stages[stage]
	s := &args.Settings{
		Backend: "openai-chat", Model: p.Target.Model, Tokenizer: p.Tokenizer.Name, Main: stage, Rate: math.Inf(1), Burstiness: 1,
		MaxConcurrency: max(st.Concurrency, st.MaxInFlight), Metrics: []string{"ttft", "tpot", "itl", "e2el"}, Percentiles: []float64{50, 90, 95, 99},
		Goodput: map[string]float64{},
	}
	switch p.Target.Endpoint {
	case plan.EndpointCompletions:
		s.Backend = "openai"
	case plan.EndpointEmbeddings:
		s.Backend = "openai-embeddings"
	}
	a := &p.Data.VLLM.Arrivals
	if rate := max(st.Rate, a.Rate); rate > 0 {
		s.Rate = rate
	}
	switch {
	case st.Arrival == plan.ArrivalGamma && st.CV > 0:
		s.Burstiness = 1 / (st.CV * st.CV)
	case st.Rate > 0 && (st.Arrival == plan.ArrivalConstant || st.Arrival == ""):
		s.Burstiness = math.Inf(1)
	case a.Burstiness > 0:
		s.Burstiness = a.Burstiness
	}
	for _, slo := range p.Goodput {
		if name := map[string]string{"time_to_first_token": "ttft", "time_per_output_token": "tpot", "request_latency": "e2el"}[slo.Metric]; name != "" {
			s.Goodput[name] = float64(slo.Max) / float64(time.Millisecond)
		}
	}
	return s
}
