package run

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"inferometer/internal/lib/bounded"
	"inferometer/internal/metric"
	"inferometer/internal/plan"
	"inferometer/internal/record"
	"inferometer/internal/result"
	"inferometer/internal/stat"
	"inferometer/internal/sweep"
)

// Report makes the result of a run again from its output directory: the plan and
// the records. It works on what a killed run left behind.
func Report(dir string) (*result.Result, error) {
	name := filepath.Join(dir, PlanFile)
	text, err := bounded.Limit{Name: plan.LimitFile, Bytes: int64(plan.DefaultLimits().File)}.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%s is no output directory of a run: %w", dir, err)
	}
	// It was valid when it was run; its secrets have since been taken out.
	p, err := plan.Decode(name, text)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, RecordsFile)
	facts, err := readFacts(path, p)
	if err != nil {
		return nil, err
	}
	pool := stat.NewPool("", metric.SampleMemory)
	defer pool.Close()
	asked := *p
	facts.Asked = &asked
	p.Stages = levelsOf(p, facts.Edges)
	if p.Saturation.On() {
		passages := new(sweep.Passages)
		if err := eachRequest(path, p.Limits.Record, passages.Add); err != nil {
			return nil, err
		}
		facts.Saturation = searchAgain(p, facts.Stages, passages)
		p.Stages = madeStages(p, facts.Saturation.Rates)
	}
	facts.Incomplete = facts.Incomplete || lacksStages(&facts, len(p.Stages))
	fold, err := metric.NewFold(foldOptions(p, result.Bounds(facts.Stages), pool, nil))
	if err != nil {
		return nil, err
	}
	defer fold.Close()
	samples := map[int][]sweep.Sample{}
	err = eachLine(path, p.Limits.Record, func(l record.Line) {
		if l.Request != nil {
			fold.Add(l.Request)
			if p.Measurement.On() && l.Request.Phase != record.Closing {
				samples[l.Request.Stage] = append(samples[l.Request.Stage], sweep.SampleOf(l.Request))
			}
		}
	})
	if err != nil && !errors.Is(err, record.ErrTruncated) {
		return nil, err
	}
	facts.Levels = result.Levels(p, &facts, samples)
	return build(p, facts, fold, path, pool)
}

// readFacts reads what the record file says besides requests.
func readFacts(path string, p *plan.Plan) (result.Facts, error) {
	var f result.Facts
	err := eachLine(path, p.Limits.Record, func(l record.Line) {
		switch {
		case l.Header != nil:
			f.Header = *l.Header
		case l.Stage != nil:
			f.Stages = append(f.Stages, *l.Stage)
			f.Interrupted = f.Interrupted || l.Stage.Early()
		case l.Health != nil:
			f.Health = append(f.Health, *l.Health)
		case l.Session != nil:
			f.AddSession(l.Session)
		case l.Edge != nil:
			f.Edges = append(f.Edges, *l.Edge)
		case l.Probe != nil:
			f.AddProbe(p, *l.Probe)
		case l.Figures != nil:
			f.AddFigures(p, *l.Figures)
		}
	})
	if errors.Is(err, record.ErrTruncated) && f.Header.Schema != "" {
		f.Incomplete = true
		err = nil
	}
	return f, err
}

// lacksStages reports whether a run ended without all of its stages, and not because
// someone or something stopped it.
func lacksStages(f *result.Facts, stages int) bool {
	n := 0
	for i := range f.Stages {
		if f.Stages[i].Stage >= 0 { // others are steps of a search
			n++
		}
	}
	return n < stages && !f.Interrupted
}

// eachRequest reads the requests of a record file, as far as they go.
func eachRequest(path string, most plan.Bytes, f func(*record.Record)) error {
	err := eachLine(path, most, func(l record.Line) {
		if l.Request != nil {
			f(l.Request)
		}
	})
	if errors.Is(err, record.ErrTruncated) {
		return nil
	}
	return err
}

// eachLine reads a record file, its header included.
func eachLine(path string, most plan.Bytes, f func(record.Line)) error {
	r, err := record.OpenWithin(path, int64(most))
	if err != nil {
		return err
	}
	defer r.Close()
	h := r.Header()
	f(record.Line{Header: &h})
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		f(line)
	}
}
