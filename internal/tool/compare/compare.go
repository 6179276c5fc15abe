// Package compare is the command that compares saved runs.
package compare

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/ci"
	"github.com/inferometer/inferometer/internal/report/html"
	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/compare/report"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

const name = "compare"

// The files of a comparison.
const (
	JSONFile     = "comparison.json"
	MarkdownFile = "comparison.md"
)

// Tool compares runs, also those that one of the tools has measured.
func Tool(tools []tool.Tool) tool.Tool {
	return tool.Tool{Name: name, Summary: "compare saved runs, with confidence", Manual: args.CompareManual, Run: func(env tool.Env, line []string) int {
		return runLine(env, line, tools)
	}}
}

func runLine(env tool.Env, line []string, tools []tool.Tool) int {
	action, err := args.Compare(line)
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	if action.Help {
		return env.PrintHelp(args.CompareManual(), true)
	}
	if _, err := tool.NewPages(action.HTML); err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	if env.Gates, err = tool.NewGates(name, action.Conditions, action.JUnit); err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	return env.Gates.Close(env, compared(env, action, tools))
}

func compared(env tool.Env, action *args.CompareAction, tools []tool.Tool) int {
	read := &reader{env: env, tools: tools, tokenizer: action.Tokenizer}
	defer read.close()
	metrics := compare.Metrics(action.All)
	for _, c := range action.Conditions.All() {
		if g, err := gate.Read(c); err == nil {
			metrics = append(metrics, g.Metric.ID)
		}
	}
	var sides []compare.Side
	var c *compare.Comparison
	err := env.Read(strings.Join(action.Sides, " "), func(by *record.Reading) (err error) {
		o := compare.OpenOptions{Draw: action.HTML != "", Foreign: read.foreign, Samples: metrics, Reading: by}
		if sides, err = compare.Open(action.Sides, o); err == nil {
			c, err = comparisonOf(env, action, sides)
		}
		return err
	})
	if err != nil {
		return env.Fail(name, err, tool.ExitUsage)
	}
	code, err := show(env, action, c, sides)
	if err != nil {
		return env.Fail(name, err, code)
	}
	return code
}

// Show compares sides, prints the comparison, writes its files and gives the exit code.
func Show(env tool.Env, action *args.CompareAction, sides []compare.Side) (code int, err error) {
	c, err := comparisonOf(env, action, sides)
	if err != nil {
		return tool.ExitUsage, err
	}
	return show(env, action, c, sides)
}

func comparisonOf(env tool.Env, action *args.CompareAction, sides []compare.Side) (*compare.Comparison, error) {
	o := compare.Options{Version: env.Version, Size: action.Size, Confidence: action.Confidence, All: action.All, Anyway: action.Anyway}
	gates, err := gatesOf(action, sides)
	if err != nil {
		return nil, err
	}
	for _, g := range gates {
		o.Figures = append(o.Figures, compare.Figured{Metric: g.Metric.ID, Stat: g.Stat})
	}
	c, err := compare.Make(sides, o)
	if err != nil {
		return nil, refused(err, sides)
	}
	if c.Gates = c.JudgeGates(sides, gates); len(gates) > 0 || action.JUnit != "" {
		env.Gates.AddSuite(suite(c))
	}
	return c, nil
}

func show(env tool.Env, action *args.CompareAction, c *compare.Comparison, sides []compare.Side) (code int, err error) {
	if err := write(env, action, c, sides); err != nil {
		return tool.ExitRun, err
	}
	switch {
	case len(c.Loads) == 0 && c.Capacity == nil: // a script must not take that for success
		return tool.ExitUsage, nil
	case !c.Trusted && undecided(sides):
		return tool.ExitInconclusive, nil
	case !c.Trusted:
		return tool.ExitRun, nil
	}
	return tool.ExitOK, nil
}

// undecided reports whether all that speaks against the runs of ours is that some are INCONCLUSIVE.
func undecided(sides []compare.Side) bool {
	for _, s := range sides {
		for _, r := range s.Runs {
			if r.Saved == nil || r.By != "" {
				continue
			}
			if res := r.Saved.Result; res.Interrupted || res.Incomplete || res.Verdict.Status == result.Invalid || !tool.Answered(res) {
				return false
			}
		}
	}
	return true
}

// gatesOf are the conditions under which a comparison fails.
func gatesOf(action *args.CompareAction, sides []compare.Side) ([]*gate.Gate, error) {
	var list []*gate.Gate
	for _, c := range action.Conditions.All() {
		g, err := gate.Read(c)
		if err == nil {
			err = compare.CheckGate(sides, g)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Flag(), err)
		}
		list = append(list, g)
	}
	return list, nil
}

// suite is a comparison as systems for continuous integration see it.
func suite(c *compare.Comparison) ci.Suite {
	var names []string
	for i := range c.Sides {
		names = append(names, c.Sides[i].Name)
	}
	s := ci.Suite{Name: strings.Join(names, " and "), Gates: c.Gates}
	if !c.Trusted {
		s.Verdict = &result.Verdict{Status: result.Invalid, Reasons: append([]string{"a run that is compared is not valid"}, c.Doubts...)}
	}
	return s
}

// refused lists the fields in which plans differ that cannot be compared.
func refused(err error, sides []compare.Side) error {
	var r *compare.RefusedError
	if !errors.As(err, &r) {
		return err
	}
	text := err.Error()
	for _, c := range r.Clashes {
		text += fmt.Sprintf("\n%s: %s for %s, %s for %s", c.Field, c.First, sides[0].Name, c.Other, sides[c.Side].Name)
	}
	return errors.New(text + "\nCompare runs of one plan, or add --anyway")
}

func write(env tool.Env, action *args.CompareAction, c *compare.Comparison, sides []compare.Side) error {
	for _, format := range action.Formats {
		var err error
		switch format {
		case "json":
			err = writeJSON(env.Stdout, c)
		case "md":
			err = writeMarkdown(env.Stdout, c)
		default:
			screen := env.Terminal(env.Stdout)
			err = report.Console(env.Stdout, c,
				report.Options{Width: min(screen.Width(), 160), Color: screen.Color, ASCII: screen.TTY && screen.ASCII})
		}
		if err != nil {
			return err
		}
	}
	if action.Out != "" {
		if err := writeFiles(action.Out, c); err != nil {
			return err
		}
	}
	if action.HTML == "" {
		return nil
	}
	return writePage(action.HTML, c, sides)
}

func writeJSON(w io.Writer, c *compare.Comparison) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(c)
}

// writeMarkdown writes the comparison and what came of its gates.
func writeMarkdown(w io.Writer, c *compare.Comparison) error {
	if err := report.Markdown(w, c); err != nil || len(c.Gates) == 0 {
		return err
	}
	return md.Gates(w, "Gates", "", c.Gates)
}

// writeFiles writes the files of a comparison into a directory.
func writeFiles(dir string, c *compare.Comparison) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("creating the directory for the comparison: %w: choose another with --out", err)
	}
	return errors.Join(
		atomicfile.Write(filepath.Join(dir, JSONFile), func(w io.Writer) error { return writeJSON(w, c) }),
		atomicfile.Write(filepath.Join(dir, MarkdownFile), func(w io.Writer) error { return writeMarkdown(w, c) }))
}

// writePage writes the page that draws the sides over one another.
func writePage(file string, c *compare.Comparison, sides []compare.Side) error {
	var drawn []html.Side
	for i := range sides {
		s := html.Side{Name: sides[i].Name}
		for k := range sides[i].Runs {
			s.Runs = append(s.Runs, sides[i].Runs[k].Document)
		}
		drawn = append(drawn, s)
	}
	if err := atomicfile.Write(file, func(w io.Writer) error { return html.WriteComparison(w, c, drawn) }); err != nil {
		return fmt.Errorf("writing the page of the comparison: %w", err)
	}
	return nil
}

type reader struct {
	env       tool.Env
	tools     []tool.Tool
	tokenizer string
	dirs      []string // that were made for it
}

// close takes away what was made.
func (r *reader) close() {
	for _, dir := range r.dirs {
		os.RemoveAll(dir)
	}
}

func (r *reader) foreign(path string) (*compare.Foreign, error) {
	dir, err := os.MkdirTemp("", "inferometer-import-*")
	if err != nil {
		return nil, fmt.Errorf("creating a temporary directory: %w", err)
	}
	r.dirs = append(r.dirs, dir)
	read, figures, err := tool.Foreign(r.env, tool.From{Path: path, Tokenizer: r.tokenizer}, r.tools, dir)
	if err != nil {
		return nil, err
	}
	if figures == nil {
		return &compare.Foreign{By: read.By, Notes: read.Notes, Dir: dir}, nil
	}
	f := &compare.Foreign{By: figures.By, Notes: figures.Notes, Plan: figures.Plan}
	for _, l := range figures.Loads {
		level := compare.MeasuredLoad{OK: l.OK, Failed: l.Failed, Seconds: l.Seconds, Metrics: map[string]compare.Stats{}}
		for id, values := range l.Metrics {
			if d, ok := metric.ByID(id); ok {
				level.Metrics[id] = compare.Stats{Unit: d.Unit, Values: values}
			}
		}
		f.Levels = append(f.Levels, level)
	}
	return f, nil
}
