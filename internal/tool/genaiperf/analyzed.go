package genaiperf

import (
	"bufio"
	"io"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/tool/analyzerreport"
)

// Analysis is what Perf Analyzer says of a run.
type Analysis struct {
	settings analyzerreport.Settings
	options  analyzerreport.Options
	load     analyzerreport.LevelLoad
	// sessions are a load of whose measurement nothing is said.
	sessions   bool
	begin, end time.Duration // of the measurement
	pass       time.Duration // of one window; 0: there is one
	samples    []sweep.Sample
}

// analyzed is the analysis of the run so far, without its requests.
func (t *job) analyzed(w *window) *Analysis {
	s := t.set
	a := &Analysis{
		settings: analyzerreport.Settings{
			Streams: 1, Steps: len(t.entries), Service: strings.ToUpper(s.ServiceKind),
			Warmup: int64(s.Warmup), Requests: int64(max(s.Requests, s.ToldRequests)),
			WindowMS: s.Interval.Milliseconds(), Async: true, Rate: s.Rate > 0, ConcurrencyEnd: 1, RateEnd: 1,
		},
		options:  analyzerreport.Options{Verbose: s.AnalyzerVerbose, GRPC: s.ServiceKind == "triton", Library: true},
		load:     analyzerreport.LevelLoad{Rate: s.Rate > 0, Value: max(s.Rate, float64(s.Concurrency))},
		sessions: s.SessionConcurrency > 0,
		begin:    w.mark.WarmupEnd, end: w.mark.DrainEnd, pass: s.Interval,
	}
	if len(t.plan.Stages) > t.stage {
		a.settings.Poisson = t.plan.Stages[t.stage].Arrival == plan.ArrivalPoisson
	}
	if s.Interval > 0 || !w.ended {
		a.end = w.mark.SendEnd
	}
	return a
}

func (a *Analysis) add(rec *record.Record) {
	if rec.Failure == nil {
		a.samples = append(a.samples, sweep.SampleOf(rec))
	}
}

// Print writes the analysis as Perf Analyzer does.
func (a *Analysis) Print(w io.Writer) error {
	out := bufio.NewWriter(w) // which keeps the first error
	_ = analyzerreport.WriteSettings(out, &a.settings)
	if !a.sessions {
		a.print(out)
	}
	return out.Flush()
}

func (a *Analysis) print(out *bufio.Writer) {
	if n := a.settings.Warmup; n > 0 { // a measurement of its own, of which nothing else is said
		warming := a.load
		if !warming.Rate && warming.Value > float64(n) {
			_, _ = out.WriteString("WARNING: The number of concurrent requests exceeds the warmup request count. Adjusting warmup concurrency to match the warmup request count.\n")
			warming.Value = float64(n)
		}
		_ = analyzerreport.WriteLoad(out, warming)
	}
	_ = analyzerreport.WriteLoad(out, a.load)
	if a.options.Verbose {
		for i, pass := range a.passes() {
			_ = analyzerreport.WritePass(out, i+1, &pass, 0)
		}
	}
	levels := []analyzerreport.LevelReport{{Load: a.load, Client: a.between(a.begin, a.end)}}
	if levels[0].Client.Requests > 0 {
		_ = analyzerreport.WriteLevel(out, &levels[0], a.options)
		_ = analyzerreport.WriteSummary(out, levels, 0)
	}
}

// between is what was measured in a part of the run, with the figures that the original has.
func (a *Analysis) between(begin, end time.Duration) sweep.Window {
	w := sweep.WindowBetween(a.samples, begin, end, 0)
	w.First, w.FromDue, w.Delayed = nil, sweep.LatencyStats{}, 0
	return w
}

// passes are the windows, the last of which ends with the measurement.
func (a *Analysis) passes() (all []sweep.Window) {
	from := a.begin
	for a.pass > 0 && from+a.pass+a.pass/2 < a.end {
		all = append(all, a.between(from, from+a.pass))
		from += a.pass
	}
	return append(all, a.between(from, a.end))
}
