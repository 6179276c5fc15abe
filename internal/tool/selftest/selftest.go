// Package selftest calibrates the instrument: it measures the built-in mock, which writes
// down what it really sent and when, and compares every figure with that.
package selftest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"time"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// Options say what is tried.
type Options struct {
	Plan   *plan.Plan    // whose load and lengths are taken; nil means the standard loads
	Levels int           // most loads that are tried, each twice the one before; 0: the usual number
	Time   time.Duration // how long each of them is measured; 0: the usual time
	TTFT   time.Duration // of the mock
	ITL    time.Duration
	Start  Starter // how the mock is started
	Kit    registry.Kit
	// Version is that of the program.
	Version string
	// Tell is called ahead of each load; optional.
	Tell func(text string)
	// Stop, when it yields, ends the test with what it has.
	Stop <-chan struct{}
}

// The usual extent of a test.
const (
	usualTime   = 4 * time.Second
	usualLevels = 5
	warmup      = 500 * time.Millisecond
)

// Report is what a test has found.
type Report struct {
	Version string      `json:"version"`
	Host    record.Host `json:"host"`
	Apart   bool        `json:"own_process"` // the mock ran as a process of its own
	Cores   []int       `json:"own_cores"`   // that the mock had to itself; empty: it shared them
	Levels  []Trial     `json:"levels"`
	Honest  string      `json:"honest"`           // the heaviest load that is measured honestly; empty: none that was tried
	Beyond  string      `json:"beyond,omitempty"` // why a heavier load could not be tried
	Summary string      `json:"summary"`          // all of it in words
}

// Trial is one load and how far its figures were from the truth.
type Trial struct {
	record.Calibration
	Requested RequestedLoad `json:"requested"`
	Honest    bool          `json:"honest"`
	Reasons   []string      `json:"reasons,omitempty"` // why it is not
}

// RequestedLoad is the load that was wanted.
type RequestedLoad struct {
	InFlight int     `json:"in_flight,omitempty"`
	Rate     float64 `json:"rate,omitempty"`
}

// Run tries the first load and then heavier ones, up to the first that is not measured
// honestly. Where that is the first one already, it tries lighter ones.
func Run(ctx context.Context, o Options) (*Report, error) {
	o = o.usual()
	up, down, err := o.loads()
	if err != nil {
		return nil, err
	}
	rep := &Report{Version: o.Version, Cores: []int{}, Levels: []Trial{}}
	honest, err := o.ladder(ctx, rep, up, func(l *Trial) bool { return l.Honest })
	if err == nil && honest == 0 && len(rep.Levels) > 0 {
		_, err = o.ladder(ctx, rep, down, func(l *Trial) bool { return !l.Honest })
	}
	if err != nil {
		return nil, err
	}
	if len(rep.Levels) == 0 {
		return nil, errors.New("stopped before the first load was measured")
	}
	for i := range rep.Levels {
		if rep.Levels[i].Honest {
			rep.Honest = rep.Levels[i].Load // heavier than those before it, or the first below the broken one
		}
	}
	rep.Summary = summary(rep)
	return rep, nil
}

// ladder tries loads as long as they go on, and gives how many were measured honestly.
func (o Options) ladder(ctx context.Context, rep *Report, loads []plan.Plan, goOn func(*Trial) bool) (honest int, err error) {
	for i := range loads {
		if o.Tell != nil {
			o.Tell(fmt.Sprintf("Load %d: %s for %v", len(rep.Levels)+1, result.Load(&loads[i].Stages[0]), time.Duration(loads[i].Stages[0].Duration)))
		}
		level, err := o.level(ctx, &loads[i], rep)
		switch {
		case errors.Is(err, errStopped):
			return honest, nil
		case err != nil && len(rep.Levels) == 0:
			return honest, err
		case err != nil:
			rep.Beyond = fmt.Sprintf("%s could not be tried: %v", result.Load(&loads[i].Stages[0]), err)
			return honest, nil
		}
		rep.Levels = append(rep.Levels, *level)
		if level.Honest {
			honest++
		}
		if !goOn(level) {
			break
		}
	}
	return honest, nil
}

// Calibrate measures the mock once at a plan's load.
func Calibrate(ctx context.Context, o Options) (*record.Calibration, error) {
	o = o.usual()
	o.Levels = 1
	loads, _, err := o.loads()
	if err != nil {
		return nil, err
	}
	level, err := o.level(ctx, &loads[0], new(Report))
	if err != nil {
		return nil, err
	}
	return &level.Calibration, nil
}

func (o Options) usual() Options {
	o.Time, o.Levels = cmp.Or(o.Time, usualTime), cmp.Or(o.Levels, usualLevels)
	if o.Start == nil {
		o.Start = InProcess()
	}
	return o
}

var errStopped = errors.New("stopped")

// level measures one load on a mock of its own. What it ran on goes to the report.
func (o Options) level(ctx context.Context, p *plan.Plan, rep *Report) (*Trial, error) {
	dir, err := os.MkdirTemp("", "inferometer-selftest")
	if err != nil {
		return nil, fmt.Errorf("creating a temporary directory for the self-test: %w", err)
	}
	defer os.RemoveAll(dir)
	s, err := o.Start(ctx, o.mock(p), filepath.Join(dir, "truth.jsonl"))
	if err != nil {
		return nil, fmt.Errorf("starting the mock: %w", err)
	}
	defer s.Stop()
	rep.Apart, rep.Cores = s.Apart, append([]int{}, s.Cores...)
	p.Target.URLs = []string{s.URL}
	p.Output.Dir = filepath.Join(dir, "run")
	res, err := run.Run(ctx, p, run.Options{Kit: o.Kit, Version: o.Version, Log: io.Discard, Stop: o.Stop})
	if err != nil {
		return nil, fmt.Errorf("measuring the mock: %w", err)
	}
	if res.Interrupted {
		return nil, errStopped
	}
	truth, err := s.Truth()
	if err != nil {
		return nil, err
	}
	c, err := compare(p, res, truth)
	if err != nil {
		return nil, err
	}
	rep.Host = res.Host
	level := &Trial{Calibration: *c, Requested: RequestedLoad{InFlight: p.Stages[0].Concurrency, Rate: p.Stages[0].PerSecond()}}
	level.judge(res)
	return level, nil
}

// mock is the server for a plan. It answers at the pace that it is told, so that only this
// side can be late.
func (o Options) mock(p *plan.Plan) config.Server {
	c := config.Default()
	c.Latency.TTFT, c.Latency.ITL = o.pace()
	c.HTTP2 = p.Target.HTTP2
	c.Models = []string{p.Target.Model}
	return c
}

// judge says whether a load is measured honestly: the result is not called invalid, nothing
// is missing, and no figure is further off than it states.
func (l *Trial) judge(res *result.Result) {
	if res.Verdict.Status == result.Invalid {
		l.Reasons = append(l.Reasons, res.Verdict.Reasons...)
	}
	if l.Lost > 0 {
		l.Reasons = append(l.Reasons, fmt.Sprintf("%d of %d responses differ from what the mock sent.", l.Lost, l.Requests))
	}
	for _, b := range l.Bars {
		if off := math.Abs(b.Avg); off > max(b.Stated, floor(b)) {
			l.Reasons = append(l.Reasons, fmt.Sprintf("The average of %s is off by %s; the result states an error of %s.", b.Name, value(off, b.Unit), value(b.Stated, b.Unit)))
		} else if b.Error > max(b.StatedP99, floor(b)) {
			l.Reasons = append(l.Reasons, fmt.Sprintf("A percentile of %s is off by %s; the result states an error of %s.", b.Name, value(b.Error, b.Unit), value(b.StatedP99, b.Unit)))
		}
	}
	l.Honest = len(l.Reasons) == 0
}

// floor is the error that is not reported: a millisecond, or a hundredth.
func floor(b record.Bar) float64 {
	if b.Unit == "ms" {
		return max(1, b.True/100)
	}
	return b.True / 100
}

// summary says up to which load the host can be trusted.
func summary(r *Report) string {
	text := "This host measures none of the loads tried accurately."
	var worst *Trial
	for i := range r.Levels {
		switch l := &r.Levels[i]; {
		case l.Load == r.Honest:
			text = fmt.Sprintf("This host measures %s accurately: %s requests/s, %s events/s.", l.Load, count(l.Rate), count(l.Events))
		case !l.Honest:
			worst = l // the last one is the lightest, or the only one
		}
	}
	switch {
	case worst != nil:
		return text + fmt.Sprintf(" It does not measure %s accurately: %s", worst.Load, worst.Reasons[0])
	case r.Beyond != "":
		return text + " " + r.Beyond
	}
	return text + " No heavier load was tried."
}
