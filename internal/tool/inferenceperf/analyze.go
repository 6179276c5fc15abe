package inferenceperf

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/lib/orderedjson"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/report/chart"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/args"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf/reader"
)

// LegendFile says which directory each line of overlaid charts is about.
const LegendFile = "analyzed_reports_legend.json"

// Analyze draws the charts of directories of reports: each into its own directory and,
// where that is asked for, all of them over one another. It gives the files that it
// wrote; the error tells of every directory that could not be read.
func Analyze(a *args.Action, log io.Writer) ([]string, error) {
	an := &analysis{stats: wanted(a.Percentiles), log: log}
	var read []subject
	for _, dir := range a.Dirs {
		fmt.Fprintf(log, "INFO - Analyzing reports in %s\n", dir)
		r, err := reader.Read(os.DirFS(dir))
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New("there is no such directory")
		}
		if err != nil {
			an.errs = append(an.errs, fmt.Errorf("%s: %w", dir, err))
			continue
		}
		for _, f := range r.Faults {
			an.errs = append(an.errs, fmt.Errorf("%s: %w", dir, f))
		}
		if len(r.Stages) == 0 {
			continue
		}
		s := subject{dir: dir, stages: r.Stages}
		an.lacking(s)
		an.draw(dir, []subject{s})
		read = append(read, s)
	}
	if a.Unified != "" && len(read) > 0 {
		an.unified(a.Unified, read)
	}
	return an.files, errors.Join(an.errs...)
}

// analysis is the work of drawing charts.
type analysis struct {
	stats []statistic
	log   io.Writer
	files []string
	errs  []error
}

// subject is one directory of reports.
type subject struct {
	dir    string
	name   string // in legends; empty: it is alone
	stages []reader.StageReport
}

type statistic struct{ key, name string }

// wanted are the statistics that the user asks for: percentiles, or mean, min and max.
func wanted(names []string) []statistic {
	if len(names) == 0 {
		names = []string{"mean"}
	}
	named := map[string]statistic{
		"mean": {"mean", "Mean"}, "min": {"min", "Min"}, "max": {"max", "Max"}, "50": {"median", "Median"}, "median": {"median", "Median"},
	}
	var out []statistic
	for _, n := range names {
		out = append(out, cmp.Or(named[n], statistic{"p" + n, "p" + n}))
	}
	return out
}

// lacking tells of percentiles that a directory's reports do not have.
func (an *analysis) lacking(s subject) {
	have := map[string]float64{}
	for i := range s.stages {
		for _, values := range s.stages[i].Latency {
			maps.Copy(have, values)
		}
	}
	for _, st := range an.stats {
		if _, ok := have[st.key]; len(have) > 0 && !ok {
			an.errs = append(an.errs, fmt.Errorf("%s: no report has %s, only %s", s.dir, st.name, strings.Join(slices.Sorted(maps.Keys(have)), ", ")))
		}
	}
}

// unified draws all directories over one another.
func (an *analysis) unified(dir string, all []subject) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		an.errs = append(an.errs, fmt.Errorf("creating the directory for the overlaid charts: %w", err))
		return
	}
	var legend orderedjson.Object
	for i := range all {
		name := fmt.Sprintf("Report %d", i+1)
		legend.Set(name, all[i].dir)
		all[i].name = name + " (" + truncate.Fit(filepath.Base(filepath.Clean(all[i].dir)), 24) + ")"
	}
	an.save(filepath.Join(dir, LegendFile), func(w io.Writer) error {
		text, err := json.MarshalIndent(legend, "", "  ")
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	an.draw(dir, all)
}

func (an *analysis) save(path string, content func(io.Writer) error) {
	if err := atomicfile.Write(path, content); err != nil {
		an.errs = append(an.errs, fmt.Errorf("writing %s: %w", path, err))
		return
	}
	an.files = append(an.files, path)
	fmt.Fprintf(an.log, "INFO - Chart saved to %s\n", path)
}

func (an *analysis) draw(dir string, all []subject) {
	for _, c := range an.charts() {
		f := chart.Figure{Title: c.title}
		for _, p := range c.panels {
			if p := p.over(all); p != nil {
				f.Panels = append(f.Panels, *p)
			}
		}
		if len(f.Panels) == 0 {
			continue
		}
		path := filepath.Join(dir, c.file)
		an.save(path+".png", f.PNG)
		an.save(path+".svg", f.SVG)
	}
}

type picture struct {
	file, title string
	panels      []panel
}

// value is a number of a stage; false: the stage does not have it.
type value func(s *reader.StageReport) (float64, bool)

// panel is one pair of axes, with a line for each of its pairs of values.
type panel struct {
	title, x, y string
	lines       []line
}

type line struct {
	name string // empty: there is one line alone
	x, y value
}

// over is the panel with the lines of every subject; nil means there is nothing to draw.
func (p *panel) over(all []subject) *chart.Panel {
	out := &chart.Panel{Title: p.title, X: p.x, Y: p.y}
	for _, s := range all {
		for _, l := range p.lines {
			var points []chart.Point
			for i := range s.stages {
				x, okX := l.x(&s.stages[i])
				y, okY := l.y(&s.stages[i])
				if okX && okY {
					points = append(points, chart.Point{X: x, Y: y})
				}
			}
			if len(points) == 0 {
				continue
			}
			slices.SortStableFunc(points, func(a, b chart.Point) int { return cmp.Compare(a.X, b.X) })
			out.Lines = append(out.Lines, chart.Line{Name: strings.TrimSpace(s.name + " " + l.name), Points: points})
		}
	}
	if len(out.Lines) == 0 {
		return nil
	}
	return out
}

func rate(s *reader.StageReport) (float64, bool) { return s.Achieved, s.Concurrency == 0 }

// concurrency is that of a closed loop.
func concurrency(s *reader.StageReport) (float64, bool) { return s.Concurrency, s.Concurrency > 0 }

func latency(metric, key string) value {
	return func(s *reader.StageReport) (float64, bool) {
		v, ok := s.Latency[metric][key]
		return v * 1e3, ok && !math.IsNaN(v)
	}
}

func throughput(name string) value {
	return func(s *reader.StageReport) (float64, bool) {
		v, ok := s.Throughput[name]
		return v, ok
	}
}

func given(pick func(*reader.StageReport) *float64) value {
	return func(s *reader.StageReport) (float64, bool) {
		if v := pick(s); v != nil {
			return *v, true
		}
		return 0, false
	}
}

// charts are all charts, in the order they are written.
func (an *analysis) charts() []picture {
	const qps, level = "QPS (achieved rate)", "Concurrency"
	of := func(pick func(*reader.StageReport) *float64) []line { return []line{{x: rate, y: given(pick)}} }
	return []picture{
		{"latency_vs_concurrency", "Latency vs Concurrency", an.latencies(level, level, concurrency)},
		{"throughput_vs_concurrency", "Throughput vs Concurrency", throughputs(level, level, concurrency)},
		{"latency_vs_qps", "Latency vs Request Rate", an.latencies(qps, "QPS", rate)},
		{"throughput_vs_qps", "Throughput vs Request Rate", throughputs(qps, "QPS", rate)},
		{"goodput_vs_qps", "Goodput vs Request Rate", []panel{
			{"Goodput % vs. QPS", qps, "Goodput (%)", of(func(s *reader.StageReport) *float64 { return s.Goodput })},
			{"Request Goodput Rate vs. QPS", qps, "Goodput Rate (req/s)", of(func(s *reader.StageReport) *float64 { return s.GoodRate })},
		}},
		{"throughput_vs_latency", "Latency vs Throughput", an.tradeoffs()},
	}
}

// times are the latencies that charts are about.
func times() []struct{ metric, title, label string } {
	return []struct{ metric, title, label string }{
		{reader.TimeToFirstToken, "Time to First Token", "TTFT (ms)"},
		{reader.NormalizedTime, "Norm. Time per Output Token", "Norm. Time (ms/token)"},
		{reader.InterToken, "Inter-Token Latency", "ITL (ms)"},
	}
}

// statistics draws a line for each statistic of a latency, which names it, or the axis a single
// one.
func (an *analysis) statistics(metric, label string, draw func(latency value) line) (axis string, lines []line) {
	for _, s := range an.stats {
		l := draw(latency(metric, s.key))
		if len(an.stats) > 1 {
			l.name = s.name
		}
		lines = append(lines, l)
	}
	if len(an.stats) == 1 {
		label = an.stats[0].name + " " + label
	}
	return label, lines
}

func (an *analysis) latencies(x, against string, at value) []panel {
	var out []panel
	for _, t := range times() {
		axis, lines := an.statistics(t.metric, t.label, func(latency value) line { return line{x: at, y: latency} })
		out = append(out, panel{t.title + " vs. " + against, x, axis, lines})
	}
	return out
}

func throughputs(x, against string, at value) []panel {
	var out []panel
	for _, t := range []struct{ name, title string }{
		{reader.InputRate, "Input"}, {reader.OutputRate, "Output"}, {reader.TotalRate, "Total"},
	} {
		out = append(out, panel{t.title + " Tokens/sec vs. " + against, x, "Tokens/sec", []line{{"", at, throughput(t.name)}}})
	}
	return out
}

// tradeoffs set throughput against each latency.
func (an *analysis) tradeoffs() []panel {
	list := times()
	list[0], list[1] = list[1], list[0]
	var out []panel
	for _, t := range list {
		axis, lines := an.statistics(t.metric, t.label, func(latency value) line { return line{x: latency, y: throughput(reader.OutputRate)} })
		out = append(out, panel{"Throughput vs. " + t.title, axis, "Output Tokens/sec", lines})
	}
	return out
}
