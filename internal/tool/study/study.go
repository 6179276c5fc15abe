// Package study measures how a language model's latency changes with the length of its
// prompts: a run for each length, one request at a time.
package study

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/chart"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
	"github.com/inferometer/inferometer/internal/tool/study/report"
)

// Outcome is what came of a study.
type Outcome struct {
	Rows    []report.Row
	Results []*result.Result // of each length that was measured
	Charts  []string         // files
	Left    []int            // lengths that were not come to
}

// Run carries out a study. What was measured before an error is in the outcome, and
// printed.
func Run(ctx context.Context, a *args.StudyAction, env *tool.Session) (*Outcome, error) {
	kind, metric := report.Prefill(), "time_to_first_token"
	if a.Kind == args.StudyGeneration {
		kind, metric = report.Generation(), "inter_token_latency"
	}
	out := new(Outcome)
	if err := vacant(a); err != nil {
		return out, err
	}
	var failed error
	for i, r := range a.Runs {
		if err := report.WriteLength(env.Out, r.Length); err != nil {
			return out, err
		}
		res, err := env.Run(ctx, r.Plan, run.Options{})
		if res == nil {
			failed = fmt.Errorf("measuring prompts of %d tokens: %w", r.Length, err)
			break
		}
		row := rowOf(r.Length, &res.Stages[0], metric)
		out.Rows, out.Results = append(out.Rows, row), append(out.Results, res)
		if err := errors.Join(err, average(env.Out, kind, &row)); err != nil {
			return out, err
		}
		if res.Interrupted {
			for _, left := range a.Runs[i+1:] {
				out.Left = append(out.Left, left.Length)
			}
			break
		}
	}
	if len(out.Rows) == 0 {
		return out, failed
	}
	return out, errors.Join(failed, out.finish(a, env, kind))
}

// vacant looks whether there is room for what all lengths keep, so that a study does not
// find out half-way, nor put its charts among the records of another.
func vacant(a *args.StudyAction) error {
	var faults plan.Faults
	for _, r := range a.Runs {
		dir := r.Plan.Output.Dir
		if entries, err := os.ReadDir(dir); dir != "" && err == nil && len(entries) > 0 {
			faults = append(faults, plan.Fault{Where: "--out", Text: dir + " holds another study", Hint: "choose another directory, or remove that one"})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// average prints the closing line of a length.
func average(w io.Writer, kind report.Subject, row *report.Row) error {
	switch {
	case row.Requests+row.Failed == 0:
		return report.WriteNone(w, kind, "no request was answered")
	case row.Requests == 0:
		return report.WriteNone(w, kind, fmt.Sprintf("all %d requests failed", row.Failed))
	case row.Samples == 0:
		return report.WriteNone(w, kind, "no response had a second token")
	}
	return report.WriteAverage(w, kind, row.Avg/1000)
}

func rowOf(length int, s *result.Stage, metric string) report.Row {
	r := report.Row{
		Requested: length, Requests: s.Counts.OK, Failed: s.Counts.Failed,
		Input: s.Metrics["input_sequence_length"].Avg, Output: s.Metrics["output_sequence_length"].Avg,
	}
	if m := s.Metrics[metric]; m.Count > 0 && m.Distribution != nil {
		r.Samples, r.Avg, r.P50, r.P90, r.P99, r.Thin, r.AtLeast = m.Count, m.Avg, m.P50, m.P90, m.P99, m.LowSamples, m.AtLeast
	}
	return r
}

// finish prints the table and the chart and writes the pictures.
func (o *Outcome) finish(a *args.StudyAction, env *tool.Session, kind report.Subject) error {
	figure := Figure(kind, a.Runs[0].Plan.Target.Model, o.Rows)
	var b bytes.Buffer
	b.WriteByte('\n')
	err := report.WriteTable(&b, kind, o.Rows)
	b.WriteByte('\n')
	err = errors.Join(err, figure.Text(&b, env.Width))
	if _, failed := b.WriteTo(env.Out); err != nil || failed != nil || a.NoChart {
		return errors.Join(err, failed)
	}
	for _, form := range []struct {
		ending string
		write  func(io.Writer) error
	}{{".png", figure.PNG}, {".svg", figure.SVG}} {
		name := filepath.Join(a.Out, "avg_"+strings.ReplaceAll(kind.Line, "-", "_")+"_latency_chart"+form.ending)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return fmt.Errorf("creating the chart directory: %w", err)
		}
		if err := atomicfile.Write(name, form.write); err != nil {
			return fmt.Errorf("writing the chart: %w", err)
		}
		o.Charts = append(o.Charts, name)
	}
	_, err = fmt.Fprintf(env.Out, "\nCharts: %s\n", strings.Join(o.Charts, ", "))
	return err
}

// Figure draws latency over length of prompt.
func Figure(kind report.Subject, model string, rows []report.Row) chart.Figure {
	panel := chart.Panel{X: "prompt length (tokens)", Y: "latency (ms)", LogX: true}
	for _, l := range []struct {
		name string
		of   func(*report.Row) float64
	}{
		{"p90", func(r *report.Row) float64 { return r.P90 }},
		{"average", func(r *report.Row) float64 { return r.Avg }},
	} {
		line := chart.Line{Name: l.name}
		for i := range rows {
			y := math.NaN()
			if rows[i].Samples > 0 {
				y = l.of(&rows[i])
			}
			line.Points = append(line.Points, chart.Point{X: float64(rows[i].Requested), Y: y})
		}
		panel.Lines = append(panel.Lines, line)
	}
	return chart.Figure{Title: kind.What + " of " + model, Panels: []chart.Panel{panel}}
}
