// Package saved reads the directory of a run and makes its result again. It also gives a run that has just
// ended its result, so that both come to the same.
package saved

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/search"
	"github.com/inferometer/inferometer/internal/sample"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/sweep"
)

// Run is a run as its output directory has it.
type Run struct {
	Plan    *plan.Plan  // as it was run: its levels are stages
	Records record.File // as the result sees them: what turned out to be warm-up is
	Facts   build.Inputs
	Result  *result.Result

	Document *pagedata.Document           // what a page draws, where that was asked for
	Samples  map[int]*sample.StageSamples // the single requests by stage, where metrics of them were named
}

// Options say what is made of a run besides its result.
type Options struct {
	// Names are what the users of a tool call what the result names; nil means our own.
	Names   func(*plan.Plan) message.Names
	Draw    bool            // what a page draws
	Samples []string        // metrics of which the single requests are kept
	Reading *record.Reading // is told how far the records are read; optional
}

// Report makes the result of a run again from its output directory.
func Report(dir string) (*result.Result, error) {
	s, err := Read(dir, Options{})
	if err != nil {
		return nil, err
	}
	return s.Result, nil
}

// Open reads what an output directory says besides figures: the plan and the facts. Result is
// nil, but for a run that leaves it to the figures how long a warm-up is, and for a search for the
// capacity. It works on what a killed run left behind.
func Open(dir string, reading *record.Reading) (*Run, error) {
	s, err := open(dir, reading)
	if err != nil || !findsWarmup(s.Plan) && !s.Plan.Capacity.On() {
		return s, err
	}
	return s, s.build(nil)
}

// Named gives the same names for every plan.
func Named(names message.Names) func(*plan.Plan) message.Names {
	return func(*plan.Plan) message.Names { return names }
}

// Read makes a run again from its output directory: plan and records, also of a killed run.
func Read(dir string, o Options) (*Run, error) {
	s, err := open(dir, o.Reading)
	if err != nil {
		return nil, err
	}
	if o.Names != nil {
		s.Facts.Names = o.Names(s.Plan)
	}
	b := besides{draw: o.Draw, metrics: o.Samples}
	err = s.build(&b)
	s.Document, s.Samples = b.document, b.samples
	return s, err
}

// open reads the plan of a run and its facts.
func open(dir string, reading *record.Reading) (*Run, error) {
	p, _, err := planIn(dir)
	if err != nil {
		return nil, err
	}
	return opened(p, record.File{Path: filepath.Join(dir, rundir.RecordsFile), Most: int64(p.Limits.Record), Reading: reading}, nil)
}

// planIn is the plan of a run, and its text.
func planIn(dir string) (*plan.Plan, []byte, error) {
	name := filepath.Join(dir, rundir.PlanFile)
	if err := limitio.Saved(name); err != nil {
		return nil, nil, fmt.Errorf("%s is not an output directory of a run: %w", dir, err)
	}
	text, err := limitio.Limit{Name: plan.LimitFile, Bytes: int64(plan.DefaultLimits().File)}.ReadFile(name)
	if err != nil {
		return nil, nil, fmt.Errorf("%s is not an output directory of a run: %w", dir, err)
	}
	// It was valid when it was run; its secrets have since been taken out.
	p, err := planfile.Decode(name, text)
	return p, text, err
}

// opened reads the facts of a run in its records, which may be those of some workers, from 1.
func opened(p *plan.Plan, records record.File, of []int) (_ *Run, err error) {
	s := &Run{Plan: p, Records: records}
	s.Records.Bounds = boundsOf(p)
	if s.Facts, err = readFacts(s.Records, p); err != nil {
		return nil, err
	}
	asked, facts := *p, &s.Facts
	if own := facts.Header.Worker; own > 0 {
		facts.Missing = missing(facts.Header.Workers, append(of, own))
	}
	facts.OriginalPlan = &asked
	p.Stages = search.Levels(p, facts.Edges)
	s.Records.Bounds = boundsBy(p, facts)
	if p.Saturation.On() {
		passages := new(sweep.StepLog)
		if err := s.Records.Requests(func(rec *record.Record) error { passages.Add(rec); return nil }); err != nil {
			return nil, err
		}
		facts.Saturation = search.ReplaySaturation(p, facts.Stages, passages)
		p.Stages = search.SaturationStages(p, facts.Saturation.Rates)
		s.Records.Bounds.Stages = len(p.Stages)
	}
	if p.Capacity.On() {
		if facts.Capacity, err = search.ReplayCapacity(&asked, p.Stages, facts.Stages, s.Records); err != nil {
			return nil, err
		}
	}
	facts.Incomplete = facts.Incomplete || LacksStages(facts, len(p.Stages))
	return s, nil
}

// sampleMemory is what samples may take of memory before they go to disk: more than during a run,
// whose client has better uses for it.
const sampleMemory = 128 << 20

// build makes the result of the records, and what there is to be made besides.
func (s *Run) build(b *besides) error {
	p := s.Plan
	pool := stat.NewPool("", sampleMemory)
	defer pool.Close()
	samples := map[int][]sweep.Sample{}
	var sample func(*record.Record)
	if p.Measurement.On() {
		sample = func(rec *record.Record) {
			if rec.Phase != record.Closing {
				samples[rec.Stage] = append(samples[rec.Stage], sweep.SampleOf(rec))
			}
		}
	}
	fold, err := aggregate(p, &s.Facts, s.Facts.Stages, &s.Records, pool, b, sample)
	if err != nil {
		return err
	}
	defer fold.Close()
	s.Facts.Levels = build.Levels(p, &s.Facts, samples)
	s.Result, err = buildResult(p, &s.Facts, fold, &s.Records, pool, b)
	return err
}

func readFacts(records record.File, p *plan.Plan) (build.Inputs, error) {
	var f build.Inputs
	whole, err := records.NonRequests(func(l record.Line) error {
		switch {
		case l.Header != nil:
			f.Header = *l.Header
		case l.Workers != nil:
			f.Header.Workers = l.Workers.After(f.Header.Workers)
		case l.Stage != nil && len(records.Also) > 0:
			f.Stages = joinMark(f.Stages, *l.Stage)
			f.Interrupted = f.Interrupted || l.Stage.Early()
		case l.Stage != nil && l.Stage.Worker != f.Header.Worker: // a share of it
		case l.Stage != nil:
			f.Stages = append(f.Stages, *l.Stage)
			f.Interrupted = f.Interrupted || l.Stage.Early()
		case l.Health != nil:
			f.Health = append(f.Health, *l.Health)
		case l.Session != nil:
			f.AddSession(l.Session)
		case l.Edge != nil && l.Edge.Worker > 0 && f.Header.Worker == 0: // the run has its own
		case l.Edge != nil:
			f.Edges = append(f.Edges, *l.Edge)
		case l.Probe != nil:
			f.AddProbe(p, *l.Probe)
		case l.Figures != nil:
			f.AddFigures(p, *l.Figures)
		case l.Power != nil:
			f.AddPower(p, l.Power)
		}
		return nil
	})
	f.Incomplete = !whole
	return f, err
}

// Create writes an output directory of requests measured elsewhere: the plan that the load comes
// to, and the records that fill adds. A stage goes from its first request to its last response.
func Create(p *plan.Plan, h record.Header, fill func(add func(*record.Record) error) error) error {
	text, err := planfile.Encode(p)
	if err != nil {
		return err
	}
	if err := atomicfile.Bytes(filepath.Join(p.Output.Dir, rundir.PlanFile), text); err != nil {
		return fmt.Errorf("writing the plan: %w", err)
	}
	marks, measured := make([]record.StageSummary, len(p.Stages)), make([]bool, len(p.Stages))
	return atomicfile.Private(rundir.Records(p).Path, func(out io.Writer) error {
		w, err := record.NewWriter(out, h)
		if err != nil {
			return err
		}
		err = fill(func(rec *record.Record) error {
			m := &marks[rec.Stage]
			if m.DrainEnd == 0 || rec.Sent < m.Begin {
				m.Begin = rec.Sent
			}
			if rec.Phase == record.Measured && (!measured[rec.Stage] || rec.Sent < m.WarmupEnd) {
				m.WarmupEnd, measured[rec.Stage] = rec.Sent, true
			}
			m.SendEnd, m.DrainEnd = max(m.SendEnd, rec.Sent), max(m.DrainEnd, rec.End, 1)
			return w.Append(record.AppendJSON(nil, rec, true))
		})
		for i, m := range marks {
			m.Stage, m.Reason = i, record.StopRequests
			err = errors.Join(err, w.Stage(m))
		}
		return errors.Join(err, w.Close())
	})
}

// LacksStages reports whether a run ended without all of its stages though nothing stopped it.
func LacksStages(f *build.Inputs, stages int) bool {
	n := 0
	for i := range f.Stages {
		if f.Stages[i].Stage >= 0 { // others are steps of a search
			n++
		}
	}
	return n < stages && !f.Interrupted
}

// Judge judges a saved run by more gates than those of its plan.
func (s *Run) Judge(more plan.Conditions) error {
	var faults plan.Faults
	for _, c := range more.All() {
		g, err := gate.Read(c)
		if err == nil {
			err = g.Check(s.Plan)
		}
		var wrong *gate.Error
		if errors.As(err, &wrong) {
			faults = append(faults, plan.Fault{Where: c.Flag(), Text: wrong.Text, Hint: wrong.Hint})
			continue
		}
		s.Plan.Conditions.Add(c)
	}
	if len(faults) > 0 {
		return faults
	}
	var err error
	s.Result.Gates, err = judged(s.Plan, s.Facts.Stages, &s.Records, s.Result)
	return err
}

func judged(p *plan.Plan, marks []record.StageSummary, records *record.File, res *result.Result) ([]result.Gate, error) {
	if err := intervals(p, marks, records, res); err != nil {
		return nil, err
	}
	var list []result.Gate
	for _, c := range p.Conditions.All() {
		g, err := gate.Read(c)
		if err != nil { // of a plan file that was edited after the run
			list = append(list, result.Gate{Gate: c.Text, Unless: c.Unless, Stage: -1, Failed: true, Absent: true, Why: err.Error()})
			continue
		}
		list = append(list, gate.JudgeAll([]*gate.Gate{g}, res)...)
	}
	return list, nil
}
