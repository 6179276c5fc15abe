package genaiperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"inferometer/internal/dialect/genaiperf"
	frontend "inferometer/internal/frontend/genaiperf"
	"inferometer/internal/plan"
	"inferometer/internal/record"
	"inferometer/internal/report/chart"
)

// plotsDir is the directory of the charts within that of a run; compareDir that of the
// charts of several.
const (
	plotsDir   = "plots"
	compareDir = "compare"
)

// series are the values of one run that charts are drawn of.
type series struct {
	name    string
	values  map[string][]float64
	gaps    []chart.Point
	skipped int
}

// mostDots bounds the points of a chart: more cannot be told apart.
const mostDots = 4000

// gap takes the time to a token at a place of an answer. When there are too many, every
// second is dropped, and from then on taken.
func (s *series) gap(position int, ns float64) {
	every := 1
	for n := s.skipped; n > 0; n-- {
		every *= 2
	}
	if position%every != 0 {
		return
	}
	s.gaps = append(s.gaps, chart.Point{X: float64(position + 1), Y: ns / 1e6})
	if len(s.gaps) > mostDots {
		s.gaps = thinned(s.gaps, mostDots/2)
		s.skipped++
	}
}

// thinned are n of the points, evenly.
func thinned(points []chart.Point, n int) []chart.Point {
	if len(points) <= n {
		return points
	}
	out := make([]chart.Point, n)
	for i := range out {
		out[i] = points[i*len(points)/n]
	}
	return out
}

// take takes the values of all requests.
func (s *series) take(name string, f *genaiperf.Fold) {
	s.name, s.values = name, map[string][]float64{}
	for _, m := range []string{genaiperf.TimeToFirstToken, genaiperf.RequestLatency, genaiperf.InputSequenceLength, genaiperf.OutputSequenceLength} {
		s.values[m] = f.Samples(m)
	}
}

// spread is how large a share of the values is at most so large: a curve that says what
// a box plot says, and more.
func (s *series) spread(metric string) chart.Line {
	values := slices.Clone(s.values[metric])
	slices.Sort(values)
	var points []chart.Point
	for i, v := range values {
		points = append(points, chart.Point{X: v / 1e6, Y: float64(i+1) / float64(len(values)) * 100})
	}
	return chart.Line{Name: s.name, Points: thinned(points, 100)}
}

// against are two metrics of each request.
func (s *series) against(x, y string, unit float64) chart.Line {
	var points []chart.Point
	for i := range min(len(s.values[x]), len(s.values[y])) {
		points = append(points, chart.Point{X: s.values[x][i], Y: s.values[y][i] / unit})
	}
	return chart.Line{Name: s.name, Points: thinned(points, mostDots), Dots: true}
}

// picture is one chart, with the lines of each run.
type picture struct {
	title, x, y string
	line        func(s *series) chart.Line
}

// pictures are the charts of the original. Their files have its names.
func pictures() []picture {
	const ms = 1e6
	return []picture{
		{"Time to First Token", "Time to First Token (ms)", "Share of requests (%)", func(s *series) chart.Line { return s.spread(genaiperf.TimeToFirstToken) }},
		{"Request Latency", "Request Latency (ms)", "Share of requests (%)", func(s *series) chart.Line { return s.spread(genaiperf.RequestLatency) }},
		{
			"Distribution of Input Sequence Lengths to Output Sequence Lengths", "Input Sequence Length", "Output Sequence Length",
			func(s *series) chart.Line {
				return s.against(genaiperf.InputSequenceLength, genaiperf.OutputSequenceLength, 1)
			},
		},
		{
			"Time to First Token vs Input Sequence Lengths", "Input Sequence Length", "Time to First Token (ms)",
			func(s *series) chart.Line {
				return s.against(genaiperf.InputSequenceLength, genaiperf.TimeToFirstToken, ms)
			},
		},
		{
			"Token-to-Token Latency vs Output Token Position", "Output Token Position", "Token-to-Token Latency (ms)",
			func(s *series) chart.Line { return chart.Line{Name: s.name, Points: s.gaps, Dots: true} },
		},
	}
}

// plots draws the charts of one run or of several. A chart that no run has anything for
// is left out.
func (t *tool) plots(dir string, runs []series) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("drawing charts: %w", err)
	}
	var errs []error
	for _, p := range pictures() {
		panel := chart.Panel{X: p.x, Y: p.y}
		points := 0
		for i := range runs {
			line := p.line(&runs[i])
			points += len(line.Points)
			panel.Lines = append(panel.Lines, line)
		}
		if points == 0 {
			continue
		}
		figure := chart.Figure{Title: p.title, Panels: []chart.Panel{panel}}
		stem := filepath.Join(dir, strings.ReplaceAll(strings.ToLower(p.title), " ", "_"))
		for suffix, write := range map[string]func(io.Writer) error{".png": figure.PNG, ".svg": figure.SVG} {
			errs = append(errs, writeChart(stem+suffix, write))
			t.files = append(t.files, stem+suffix)
		}
	}
	return errors.Join(errs...)
}

func writeChart(path string, write func(io.Writer) error) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("drawing charts: %w", err)
	}
	return errors.Join(write(f), f.Close())
}

// Compare draws the charts of several runs side by side, and gives the files.
func Compare(ctx context.Context, a *frontend.Action, env Env) ([]string, error) {
	var runs []series
	for _, name := range a.Files {
		s, err := readSeries(ctx, name, a.Settings, env)
		if err != nil {
			return nil, &PrepareError{fmt.Errorf("compare: %w", err)}
		}
		runs = append(runs, s)
	}
	t := &tool{env: env, set: &a.Settings}
	err := t.plots(compareDir, runs)
	slices.Sort(t.files)
	return t.files, err
}

// readSeries reads one run: its profile export, or its directory.
func readSeries(ctx context.Context, name string, set frontend.Settings, env Env) (series, error) {
	var s series
	info, err := os.Stat(name)
	if err != nil {
		return s, err
	}
	f := folder{export: name}
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	label := filepath.Base(stem)
	if info.IsDir() {
		label = baseOf(name)
		if f, err = findFolder(name); err != nil {
			return s, err
		}
	} else if _, err := os.Stat(stem + reportSuffix); err == nil {
		f.report = stem + reportSuffix
	}
	if label == usualStem { // most are called so
		label = baseOf(filepath.Dir(name))
	}
	r := &reading{tool: tool{env: env, set: &set, plan: new(plan.Plan)}}
	if err := r.load(f); err != nil {
		return s, err
	}
	if err := r.settings(); err != nil {
		return s, err
	}
	if err := r.tokenizer(ctx); err != nil {
		return s, err
	}
	o := r.dialect(nil)
	o.Input = func(*record.Record) (int, bool) { return r.tok.Count(r.current), true }
	o.Pictures = func(*record.Record) int { return r.images }
	o.Gap = s.gap
	fold := genaiperf.NewFold(o)
	if err := r.each(fold.Add); err != nil {
		return s, err
	}
	s.take(label, fold)
	return s, nil
}

// usualStem is what profile exports are called where nobody says anything else.
const usualStem = "profile_export"

// baseOf is the name of a directory, of the working directory too.
func baseOf(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		dir = whole
	}
	return filepath.Base(dir)
}
