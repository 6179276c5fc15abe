package compare

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// Side is one of what is compared: a run, or several of the same.
type Side struct {
	Name string
	Runs []Run
}

// Run is one run of a side.
type Run struct {
	Path  string     // as it was named, or where it was found
	By    string     // the tool that measured it; empty: this program
	Notes []string   // where its definitions differ from ours
	Plan  *plan.Plan // as run
	// Saved is the run with its records; nil means there are figures alone.
	Saved    *saved.Run
	Levels   []MeasuredLoad     // by stage of the plan
	Document *pagedata.Document // what a page draws; optional

	sampled []string // metrics that Saved has the single requests of
}

// MeasuredLoad is what a run has at one load.
type MeasuredLoad struct {
	OK, Failed, UserCancelled int64
	Seconds                   float64 // 0: not known
	Metrics                   map[string]Stats
}

// Stats are the figures of a metric by statistic: avg, p50, p99.9 and so on.
type Stats struct {
	Unit   string
	Values map[string]float64
	// Error is between what the truth of each statistic lies, whatever the client did; one that is
	// not there is not known.
	Error map[string]result.ErrorBar
	// AtLeast are the statistics that are lower bounds, because requests did not end; Censored is
	// how many did not.
	AtLeast  []string
	Censored int64
}

// Foreign is what another tool measured.
type Foreign struct {
	By    string
	Notes []string
	// Dir is an output directory that was made of its single requests; empty: there are
	// figures alone, which are Plan and Levels.
	Dir    string
	Plan   *plan.Plan
	Levels []MeasuredLoad
}

// OpenOptions say how sides are opened.
type OpenOptions struct {
	Draw bool // make what a page draws, too
	// Samples are metrics of which the single requests are kept, where a side is one run and not the third
	// or a later one: those that turn out to be needed of others are read again.
	Samples []string
	Reading *record.Reading // is told how far the records are read; optional
	// Foreign reads what another tool wrote; optional.
	Foreign func(path string) (*Foreign, error)
}

// Open opens the sides that arguments name: NAME=PATH or PATH, which is an output directory,
// a directory of several, a list of those between commas, or what another tool wrote. A
// single directory that an A/B run wrote is both sides.
func Open(arguments []string, o OpenOptions) ([]Side, error) {
	if len(arguments) == 1 {
		if a, b := Rounds(arguments[0]); a != nil {
			arguments = []string{"A=" + strings.Join(a, ","), "B=" + strings.Join(b, ",")}
		}
	}
	sides, errs := make([]Side, len(arguments)), make([]error, len(arguments))
	var working sync.WaitGroup
	for i, argument := range arguments {
		each := o
		if i > 1 {
			each.Samples = nil
		}
		open := func() { sides[i], errs[i] = openSide(argument, each) }
		if len(arguments) == 2 && namesRun(argument) {
			working.Go(open) // neither keeps all cores busy all the time
		} else if open(); errs[i] != nil {
			break
		}
	}
	working.Wait()
	if i := slices.IndexFunc(errs, func(err error) bool { return err != nil }); i >= 0 {
		return nil, errs[i]
	}
	nameSides(sides, arguments)
	return sides, nil
}

// namesRun reports whether an argument is a single run of ours.
func namesRun(argument string) bool {
	_, paths := split(argument)
	return len(paths) == 1 && isRun(paths[0])
}

func openSide(argument string, o OpenOptions) (Side, error) {
	name, paths := split(argument)
	if len(paths) == 0 {
		return Side{}, fmt.Errorf("%q names no path: give the output directory of a run", argument)
	}
	if len(paths) > 1 {
		o.Samples = nil
	}
	s := Side{Name: name}
	for _, path := range paths {
		runs, err := open(path, o)
		if err != nil {
			return Side{}, err
		}
		s.Runs = append(s.Runs, runs...)
	}
	return s, nil
}

// split takes an argument apart. One that is a path as it stands is that.
func split(argument string) (name string, paths []string) {
	if exists(argument) {
		return "", []string{argument}
	}
	rest := argument
	if before, after, ok := strings.Cut(argument, "="); ok && before != "" {
		name, rest = before, after
	}
	if exists(rest) {
		return name, []string{rest}
	}
	for path := range strings.SplitSeq(rest, ",") {
		if path = strings.TrimSpace(path); path != "" {
			paths = append(paths, path)
		}
	}
	return name, paths
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// isRun reports whether a directory is the output directory of a run.
func isRun(dir string) bool { return exists(filepath.Join(dir, rundir.PlanFile)) }

func open(path string, o OpenOptions) ([]Run, error) {
	dirs := []string{path}
	if !isRun(path) {
		dirs = Repeats(path)
	}
	if len(dirs) == 0 {
		if dir, ours := rundir.Locate(path); ours {
			dirs = []string{dir}
		}
	}
	if len(dirs) == 0 {
		r, err := foreign(path, o)
		if err != nil {
			return nil, err
		}
		return []Run{*r}, nil
	}
	if len(dirs) > 1 {
		o.Samples = nil
	}
	var runs []Run
	for _, dir := range dirs {
		r, err := openDir(dir, o)
		if err != nil {
			return nil, err
		}
		r.Path = dir
		runs = append(runs, *r)
	}
	return runs, nil
}

func openDir(dir string, o OpenOptions) (*Run, error) {
	var r Run
	var err error
	r.Saved, err = saved.Read(dir, saved.Options{Draw: o.Draw, Samples: o.Samples, Reading: o.Reading})
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", dir, err)
	}
	r.Plan, r.Document, r.sampled = r.Saved.Plan, r.Saved.Document, o.Samples
	for i := range r.Saved.Result.Stages {
		r.Levels = append(r.Levels, levelOf(&r.Saved.Result.Stages[i]))
	}
	return &r, nil
}

// foreign opens what another tool wrote.
func foreign(path string, o OpenOptions) (*Run, error) {
	if o.Foreign == nil || !exists(path) {
		return nil, fmt.Errorf("%s is not an output directory of a run: there is no %s in it", path, rundir.PlanFile)
	}
	f, err := o.Foreign(path)
	if err != nil {
		return nil, err
	}
	r := &Run{Plan: f.Plan, Levels: f.Levels}
	if f.Dir != "" {
		if r, err = openDir(f.Dir, o); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	r.Path, r.By, r.Notes = path, f.By, f.Notes
	if r.Document != nil {
		r.Document.Plan, r.Document.Runs = "", "" // what its load comes to, not what was run
	}
	return r, nil
}

// levelOf is a stage of a result as a comparison sees it.
func levelOf(s *result.Stage) MeasuredLoad {
	l := MeasuredLoad{
		OK: s.Counts.OK, Failed: s.Counts.Failed, UserCancelled: s.Counts.UserCancelled,
		Seconds: s.Window.End - s.Window.Begin, Metrics: map[string]Stats{},
	}
	for id, m := range s.Metrics {
		st := Stats{Unit: m.Unit, Values: map[string]float64{average: m.Avg}, Error: m.Error, AtLeast: m.AtLeast, Censored: m.Censored}
		if m.Distribution != nil {
			for _, name := range percentiles() {
				st.Values[name] = m.Distribution.Quantile(name)
			}
		}
		l.Metrics[id] = st
	}
	return l
}

// Repeats are the runs of a directory that holds those of a repeated run: 1, 2 and so on.
func Repeats(dir string) []string {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var numbers []int
	for _, e := range list {
		if n, err := strconv.Atoi(e.Name()); err == nil && n > 0 && strconv.Itoa(n) == e.Name() && isRun(filepath.Join(dir, e.Name())) {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var dirs []string
	for _, n := range numbers {
		dirs = append(dirs, filepath.Join(dir, strconv.Itoa(n)))
	}
	return dirs
}

// The directories of the sides of an A/B run.
const (
	SideA = "a"
	SideB = "b"
)

// Rounds are the runs of an A/B run by side, in the order of its rounds; nil means the directory
// is not one.
func Rounds(dir string) (a, b []string) {
	a, b = Repeats(filepath.Join(dir, SideA)), Repeats(filepath.Join(dir, SideB))
	if len(a) == 0 || len(b) == 0 {
		return nil, nil
	}
	return a, b
}

// Pairs reports whether the runs of two sides are the rounds of one A/B run, so that the n-th
// of both were measured side by side: DIR/a/N and DIR/b/N.
func Pairs(a, b []string) bool {
	if len(a) != len(b) || len(a) == 0 {
		return false
	}
	for i := range a {
		sideA, sideB := filepath.Dir(filepath.Clean(a[i])), filepath.Dir(filepath.Clean(b[i]))
		if filepath.Base(a[i]) != filepath.Base(b[i]) || filepath.Dir(sideA) != filepath.Dir(sideB) ||
			filepath.Base(sideA) != SideA || filepath.Base(sideB) != SideB {
			return false
		}
	}
	return true
}

func (s *Side) paths() []string {
	var list []string
	for i := range s.Runs {
		list = append(list, s.Runs[i].Path)
	}
	return list
}

// nameSides gives sides without a name the last part of their path, and as many parts before
// it as it takes to tell them apart.
func nameSides(sides []Side, arguments []string) {
	var unnamed []int
	for i := range sides {
		if sides[i].Name == "" {
			unnamed = append(unnamed, i)
		}
	}
	distinct := func() bool {
		seen := map[string]bool{}
		for i := range sides {
			seen[sides[i].Name] = true
		}
		return len(seen) == len(sides)
	}
	for parts := 1; parts <= 4; parts++ {
		for _, i := range unnamed {
			sides[i].Name = lastParts(arguments[i], parts)
		}
		if distinct() {
			return
		}
	}
	for i := range sides {
		for name, n := sides[i].Name, 2; slices.ContainsFunc(sides[:i], func(s Side) bool { return s.Name == sides[i].Name }); n++ {
			sides[i].Name = fmt.Sprintf("%s (%d)", name, n)
		}
	}
}

func lastParts(path string, n int) string {
	parts := strings.Split(filepath.ToSlash(filepath.Clean(path)), "/")
	return strings.Join(parts[max(0, len(parts)-n):], "/")
}
