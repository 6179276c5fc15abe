package genaiperf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/chart"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/dialect"
)

// plotsDir is the directory of the charts within that of a run.
const plotsDir = "plots"

// series are the values of one run that charts are drawn of.
type series struct {
	name    string
	columns map[string][]float64 // by metric, a value for each request; NaN: it has none
	gaps    []chart.Point
	skipped int
}

// drawable are the metrics that charts are drawn of, and what one of their units is in
// that of the chart.
func drawable() map[string]float64 {
	const ms = 1e-6
	return map[string]float64{
		dialect.TimeToFirstToken: ms, dialect.TimeToSecondToken: ms, dialect.InterTokenLatency: ms, dialect.RequestLatency: ms,
		dialect.OutputThroughputRequest: 1, dialect.OutputThroughputUser: 1, dialect.OutputSequenceLength: 1, dialect.InputSequenceLength: 1,
	}
}

func (s *series) add(values map[string]float64) {
	if s.columns == nil {
		s.columns = map[string][]float64{}
	}
	for metric, unit := range drawable() {
		v, ok := values[metric]
		if !ok {
			v = math.NaN()
		}
		s.columns[metric] = append(s.columns[metric], v*unit)
	}
}

// mostDots bounds the points of a chart: more cannot be told apart.
const mostDots = 4000

// gap takes the time to a token at a place of an answer. When there are too many, every
// second is dropped, and from then on taken.
func (s *series) gap(position int, ns float64) {
	if position%(1<<s.skipped) != 0 {
		return
	}
	s.gaps = append(s.gaps, chart.Point{X: float64(position + 1), Y: ns / 1e6})
	if len(s.gaps) > mostDots {
		s.gaps = thinned(s.gaps, mostDots/2)
		s.skipped++
	}
}

func thinned[T any](values []T, n int) []T {
	if len(values) <= n {
		return values
	}
	out := make([]T, n)
	for i := range out {
		out[i] = values[i*len(values)/n]
	}
	return out
}

// points are two metrics of each request that has both.
func (s *series) points(c *args.Chart) []chart.Point {
	if c.XMetric == args.TokenPositions {
		return s.gaps
	}
	metrics := args.ChartMetrics()
	xs, ys := s.columns[metrics[c.XMetric]], s.columns[metrics[c.YMetric]]
	var points []chart.Point
	for i := range min(len(xs), len(ys)) {
		if !math.IsNaN(xs[i]) && !math.IsNaN(ys[i]) {
			points = append(points, chart.Point{X: xs[i], Y: ys[i]})
		}
	}
	return points
}

func (s *series) values(c *args.Chart) []float64 {
	all := s.columns[args.ChartMetrics()[c.YMetric]]
	return slices.DeleteFunc(slices.Clone(all), math.IsNaN)
}

// mapsInRow is how many grids of a heat map are side by side.
const mapsInRow = 3

// figure is a chart of runs; false: none of them has anything for it.
func figure(c *args.Chart, runs []*series) (chart.Figure, bool) {
	f := chart.Figure{Title: c.Title, Width: c.Width, Height: c.Height, PerRow: mapsInRow}
	found := false
	panel := chart.Panel{X: c.XLabel, Y: c.YLabel}
	for _, s := range runs {
		switch c.Type {
		case args.ChartBox:
			values := s.values(c)
			found = found || len(values) > 0
			panel.Boxes = append(panel.Boxes, chart.Box{Name: s.name, Values: thinned(values, mostDots)})
		case args.ChartHeat:
			points := s.points(c)
			found = found || len(points) > 0
			f.Panels = append(f.Panels, chart.Panel{Title: s.name, X: c.XLabel, Y: c.YLabel, Heat: points})
		default:
			points := s.points(c)
			found = found || len(points) > 0
			panel.Lines = append(panel.Lines, chart.Line{Name: s.name, Points: thinned(points, mostDots), Dots: true})
		}
	}
	if c.Type != args.ChartHeat {
		f.Panels = []chart.Panel{panel}
	}
	return f, found
}

// plots draws charts of runs, which are known by their paths. A chart that no run has
// anything for is left out.
func (t *job) plots(charts []args.Chart, run func(path string) (*series, error)) error {
	var errs []error
	for i := range charts {
		c := &charts[i]
		var runs []*series
		for _, path := range c.Paths {
			s, err := run(path)
			if err != nil {
				return err
			}
			runs = append(runs, s)
		}
		tellApart(c.Paths, runs)
		f, found := figure(c, runs)
		if !found {
			t.warn("No chart for %s: no request has both of its metrics.", c.Title)
			continue
		}
		if err := os.MkdirAll(c.Output, 0o755); err != nil {
			return fmt.Errorf("drawing charts: %w", err)
		}
		stem := filepath.Join(c.Output, c.Stem())
		for suffix, write := range map[string]func(io.Writer) error{".png": f.PNG, ".svg": f.SVG} {
			errs = append(errs, atomicfile.Write(stem+suffix, write))
			t.files = append(t.files, stem+suffix)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("drawing charts: %w", err)
	}
	return nil
}

// tellApart gives runs of the same name the directories above them as well, as many as it
// takes.
func tellApart(paths []string, runs []*series) {
	same := func(i int) bool {
		return slices.ContainsFunc(runs, func(s *series) bool { return s != runs[i] && s.name == runs[i].name })
	}
	above := make([]string, len(runs))
	for i, path := range paths {
		above[i] = path
		if whole, err := filepath.Abs(path); err == nil {
			above[i] = whole
		}
		for range strings.Count(runs[i].name, "/") + 1 {
			above[i] = filepath.Dir(above[i])
		}
	}
	for more := true; more; {
		more = false
		var longer []int
		for i := range runs {
			if same(i) && above[i] != filepath.Dir(above[i]) {
				longer = append(longer, i)
			}
		}
		for _, i := range longer {
			runs[i].name = filepath.Base(above[i]) + "/" + runs[i].name
			above[i], more = filepath.Dir(above[i]), true
		}
	}
}

// writeCharts writes the config file of charts, to be changed and given to compare.
func (t *job) writeCharts(path string, charts []args.Chart) error {
	text, err := args.ChartsText(charts)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("drawing charts: %w", err)
	}
	t.files = append(t.files, path)
	return atomicfile.Bytes(path, []byte(text))
}

// plotsOfRun draws the usual charts of the run that has just ended.
func (t *job) plotsOfRun() error {
	dir := filepath.Join(t.set.Dir, plotsDir)
	charts := args.UsualCharts([]string{filepath.Join(t.set.Dir, t.set.ExportFile)}, dir)
	t.drawn.name = t.set.Folder()
	err := t.plots(charts, func(string) (*series, error) { return &t.drawn, nil })
	return errors.Join(err, t.writeCharts(filepath.Join(dir, args.ChartsFile), charts))
}

// Compare draws charts of several runs, and gives the files.
func Compare(ctx context.Context, a *args.Action, env *tool.Session) ([]string, error) {
	t := &job{env: env, set: &a.Settings}
	known := map[string]*series{}
	err := t.plots(a.Charts, func(path string) (*series, error) {
		if s := known[path]; s != nil {
			return s, nil
		}
		s, err := readSeries(ctx, path, a.Settings, env)
		if err != nil {
			return nil, tool.WrapPrepareError(fmt.Errorf("compare: %w", err))
		}
		known[path] = s
		return s, nil
	})
	if a.File != "" && err == nil {
		err = t.writeCharts(a.File, a.Charts)
	}
	slices.Sort(t.files)
	return t.files, err
}

// readSeries reads one run: its profile export, or its directory.
func readSeries(ctx context.Context, name string, set args.Settings, env *tool.Session) (*series, error) {
	s := new(series)
	info, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	f := folder{export: name}
	stem := strings.TrimSuffix(name, filepath.Ext(name))
	s.name = filepath.Base(stem)
	if parent := filepath.Base(filepath.Dir(name)); parent != "." {
		s.name = parent + "/" + s.name
	}
	if info.IsDir() {
		s.name = name
		if whole, err := filepath.Abs(name); err == nil { // of the working directory too
			s.name = whole
		}
		s.name = filepath.Base(s.name)
		if f, err = findFolder(name); err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(stem + reportSuffix); err == nil {
		f.report = stem + reportSuffix
	}
	r := &reading{job: job{env: env, set: &set, plan: new(plan.Plan)}}
	if err := r.load(f); err != nil {
		return nil, err
	}
	if err := r.settings(ctx); err != nil {
		return nil, err
	}
	o := r.options()
	o.Gap, o.Each = s.gap, s.add
	return s, r.fold(dialect.NewFold(o))
}
