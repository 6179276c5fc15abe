package args

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	perfanalyzer "github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// analyzer reads Perf Analyzer's command lines, with one file of intervals on its disk.
func analyzer(args []string) (*Passed, error) {
	a, err := perfanalyzer.Parse(args, perfanalyzer.Files{
		Read: func(string) ([]byte, error) { return []byte("1000\n3000\n"), nil },
		Kind: func(name string) string {
			if name == Inputs || name == "gaps.txt" {
				return "file"
			}
			return ""
		},
	})
	if err != nil {
		return nil, err
	}
	p := &Passed{Plan: a.Plan, Warnings: a.Warnings, DryRun: a.DryRun, Strict: a.Strict, Verbose: a.Verbose > 0}
	if a.CSV != "" {
		p.Files = append(p.Files, "-f")
	}
	return p, nil
}

func TestFlagsBehindDashes(t *testing.T) {
	const openai, triton = "profile -m m --endpoint-type chat ", "profile -m m --backend vllm --streaming "
	for _, tt := range []struct {
		args  string
		holds func(s *Settings, p *plan.Plan) bool
	}{
		{openai + "--request-rate 5 -- --request-distribution poisson", func(_ *Settings, p *plan.Plan) bool {
			return p.Stages[0].Rate == 5 && p.Stages[0].Arrival == plan.ArrivalPoisson && p.Stages[0].Draws == plan.DrawsMT19937
		}},
		{openai + "-- --request-count 77 --warmup-request-count 3", func(_ *Settings, p *plan.Plan) bool {
			return p.Stages[0].Requests == 10 && p.Stages[0].Warmup.Requests == 3
		}},
		{openai + "-p 1000 -- --request-count 77", func(_ *Settings, p *plan.Plan) bool {
			return p.Stages[0].Requests == 77 && p.Stages[0].Duration == 0
		}},
		{openai + "--warmup-request-count 3 -- --warmup-request-count 5", func(_ *Settings, p *plan.Plan) bool {
			return p.Stages[0].Warmup.Requests == 5
		}},
		{openai + "--warmup-request-count 3 -H X-A:1 -- --warmup-request-count 5 --stability-percentage 20 -H X-B:2 -v", func(s *Settings, _ *plan.Plan) bool {
			typed := s.Typed()
			return s.Warmup == 5 && s.AnalyzerVerbose && !s.Verbose && !s.Analyzed() &&
				len(s.Headers) == 2 && typed.Warmup == 3 && typed.Stability == 999 && len(typed.Headers) == 1 &&
				!typed.AnalyzerVerbose
		}},
		{openai + "-p 1000 -- --request-count 77", func(s *Settings, _ *plan.Plan) bool {
			return s.Typed().Interval == time.Second && s.Typed().Requests == 0
		}},
		{openai + "-p 1000 -- -p 2000", func(_ *Settings, p *plan.Plan) bool {
			return p.Stages[0].Duration == plan.Duration(6*time.Second) && p.Stages[0].Requests == 0
		}},
		{openai + "-- -p 2000", func(_ *Settings, p *plan.Plan) bool {
			return p.Stages[0].Duration == 0 && p.Stages[0].Requests == 10
		}},
		{openai + "-p 1000 -- --stability-percentage 20 --max-trials 6 --percentile 95", func(_ *Settings, p *plan.Plan) bool {
			m := p.Measurement
			return m.Mode == plan.WindowTime && m.Interval == plan.Duration(time.Second) && m.Stability == 0.2 && m.MaxTrials == 6 &&
				m.Percentile == 95
		}},
		{openai + "-- --measurement-mode count_windows --measurement-request-count 30", func(_ *Settings, p *plan.Plan) bool {
			return p.Measurement.Mode != plan.WindowCount && p.Stages[0].Requests == 10
		}},
		{openai + "-p 1000 -- --measurement-mode count_windows --measurement-request-count 30", func(_ *Settings, p *plan.Plan) bool {
			return p.Measurement.Mode == plan.WindowCount && p.Measurement.Requests == 30 && p.Stages[0].Requests == 0
		}},
		{openai + "-H X-A:1 -- -H X-B:2", func(_ *Settings, p *plan.Plan) bool {
			return p.Target.Headers["X-A"] == "1" && p.Target.Headers["X-B"] == "2"
		}},
		{triton + "-- --grpc-compression-algorithm gzip --request-parameter prio:7:int -x 3 -u there:9", func(_ *Settings, p *plan.Plan) bool {
			c := p.Target.Triton
			return c.Compression == "gzip" && fmt.Sprint(c.Parameters["prio"]) == "7" && c.Version == "3" && c.Convention == plan.ConventionVLLM && p.Target.URLs[0] == "grpc://there:9"
		}},
		{triton + "-- --collect-metrics --metrics-url http://there:1/metrics", func(_ *Settings, p *plan.Plan) bool {
			return p.Probes.Metrics == "http://there:1/metrics"
		}},
	} {
		a, err := Parser{Analyzer: analyzer}.Parse(strings.Fields(tt.args))
		if err != nil {
			t.Errorf("%s: %v", tt.args, err)
			continue
		}
		if !tt.holds(&a.Settings, a.Plan) {
			t.Errorf("%s: stage %+v, measurement %+v, target %+v, dir %s", tt.args, a.Plan.Stages[0], a.Plan.Measurement, a.Plan.Target, a.Settings.Dir)
		}
	}
}

func TestFlagsBehindDashesThatAreRefused(t *testing.T) {
	for args, want := range map[string]string{
		"-- --concurrency-range 8":                        "-- --concurrency-range: genai-perf names the load itself",
		"--concurrency 8 -- --concurrency-range=8":        "-- --concurrency-range: genai-perf names the load itself",
		"-- --request-intervals gaps.txt":                 "-- --request-intervals: genai-perf names the load itself",
		"-- --concurency-range 8":                         "did you mean '--concurrency-range'",
		"--concurrency 2 -- --request-rate-range 3":       "names the load itself",
		"-- -f out.csv":                                   "are not written here",
		"-- -m other":                                     "-- -m: must go before --",
		"-- --input-data gaps.txt":                        "give --input-file",
		"-- --fixed-schedule":                             "before --",
		"-- --percentile 300":                             "percentile",
		"-- --service-kind triton":                        "must go before --",
		"-- --grpc-compression-algorithm gzip -i http -v": "gRPC",
	} {
		_, err := Parser{Analyzer: analyzer}.Parse(append(strings.Fields("profile -m m --endpoint-type chat"), strings.Fields(args)...))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", args, err, want)
		}
	}
}

// What is said behind the dashes has an effect, or is told to have none.
func TestFlagsBehindDashesAreNotSwallowed(t *testing.T) {
	for _, tt := range []struct {
		line                    string
		dryRun, strict, verbose bool
		notes                   string
	}{
		{"--dry-run", true, false, false, ""},
		{"--strict -v", false, true, true, ""},
		{"--dry-run --max-threads 8 --request-count 20 --log-frequency=5", true, false, false, "-- the trace options have no effect with --service-kind openai; -- --max-threads has no effect here; -- --request-count has no effect here"},
		{"--warmup-request-count 2 -p 3000", false, false, false, "-- --measurement-interval has no effect: 10 requests are the end"},
	} {
		args := append(strings.Fields("profile -m m --endpoint-type chat --"), strings.Fields(tt.line)...)
		a, err := Parser{Analyzer: analyzer}.Parse(args)
		if err != nil {
			t.Errorf("%s: %v", tt.line, err)
			continue
		}
		if got := strings.Join(a.Notes, "; "); a.DryRun != tt.dryRun || a.Strict != tt.strict || a.Settings.AnalyzerVerbose != tt.verbose || got != tt.notes {
			t.Errorf("%s: dry run %t, strict %t, verbose %t, notes %s", tt.line, a.DryRun, a.Strict, a.Settings.AnalyzerVerbose, got)
		}
	}
}
