package inferenceperf

import (
	"errors"
	"time"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
)

// usual is a config with the reports that are made by default, and that of single requests.
const usual = `server: {type: mock, base_url: http://localhost}
data: {type: mock}
load: {stages: [{rate: 1, duration: 1}]}
report: {request_lifecycle: {per_request: true}}
`

func usualAction() (*args.Action, error) {
	return args.Parse([]string{"--config_file", args.UsualFile}, args.World{
		ReadFile: func(string) ([]byte, error) { return []byte(usual), nil }, Now: time.Now(),
	})
}

// usualNames are those of such a config.
func usualNames(*plan.Plan) message.Names {
	a, err := usualAction()
	if err != nil {
		return message.Names{}
	}
	return a.Names()
}

// as reports a saved run with the usual reports, and that of single requests.
func as(env tool.Env, s *tool.ReportRequest) ([]string, error) {
	a, err := usualAction()
	if err != nil {
		return nil, err
	}
	o := &a.Options
	a.Plan, o.Dir, o.Prefix, o.TokenizerGiven = s.Plan, s.Out, "", !s.Plan.Tokenizer.StandIn()
	o.UserSessions = s.Plan.Data.SharedPrefix.MultiTurn || s.Plan.Data.Source == plan.SourceConversationReplay
	for name, metric := range args.Objectives() {
		for _, slo := range s.Plan.Goodput {
			if slo.Metric == metric {
				if o.Goodput == nil {
					o.Goodput = map[string]float64{}
				}
				o.Goodput[name] = time.Duration(slo.Max).Seconds()
			}
		}
	}
	t := &job{action: a, env: env.Unwatched(), records: s.Records}
	if s.Tokenizer != "" {
		env.Warn("note", []string{"--tokenizer has no effect: inference-perf's figures use the token counts saved with the run"})
	}
	if !s.Plan.Output.KeepRaw {
		env.Warn("note", []string{"request, response and response_chunks of single requests are empty: the run kept no bodies (--keep raw)"})
	}
	o.Configured = len(s.Plan.Stages)
	loads := stages{}
	for i, stage := range s.Plan.Stages {
		loads[i] = stage
	}
	err = errors.Join(t.writeReports(loads, s.Result), printTables(env, a, s.Result))
	return t.files, err
}
