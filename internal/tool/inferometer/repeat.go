package inferometer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/tool"
)

// repeatsFile is the document of several runs.
const repeatsFile = "repeats.json"

// series is several runs of one plan, one after the other.
type series struct {
	*job
	began time.Time
	out   string // the directory that has one for each run; empty: none is kept
	ran   int    // runs that began
	// subject is what the last of them measured.
	subject string
	// unsent is why a run could not be sent on; the run itself is none the worse.
	unsent error
}

type turn struct {
	dir  string // of the run in that of the series
	of   string // which one it is, in words
	seed uint64 // added to the plan's
	url  string // what is measured in place of the plan's URLs; empty: those
}

// newSeries makes sure that there is a place for the runs.
func newSeries(j *job, began time.Time) (*series, error) {
	s := &series{job: j, began: began, out: j.action.Plan.Output.Dir}
	if err := rundir.Check(s.out, false); err != nil {
		return nil, err
	}
	if j.action.Repeat.Salted {
		fmt.Fprintln(j.session.Log, "salt run: prompts begin with a word that is another in each run, so that no prefix cache has seen them")
	}
	return s, nil
}

// errPart is that a run did not come to its end.
var errPart = errors.New("it did not come to its end")

// runNext makes a run, the next of the series, and gives its result where it is whole. look is
// given the directory of its records before those not to be kept are removed.
func (s *series) runNext(ctx context.Context, t turn, look func(dir string) error) (*result.Result, error) {
	if s.ran++; s.ran > 1 && !s.pause(ctx) {
		return nil, errPart
	}
	p := *s.action.Plan
	p.Stages, p.Target.URLs = slices.Clone(p.Stages), slices.Clone(p.Target.URLs)
	p.Seed += t.seed
	if t.url != "" {
		p.Target.URLs = []string{t.url}
	}
	if s.out != "" {
		p.Output.Dir = filepath.Join(s.out, t.dir)
	}
	s.session.Name = t.of
	held := holder{dir: p.Output.Dir}
	defer held.remove()
	res, err := s.run(ctx, &p, func(p *plan.Plan) string { return p.FilledDir(s.began) }, func(dir string) error {
		var err error
		if look != nil {
			err = look(dir)
		}
		if after := held.after(s.to, nil); after != nil {
			err = errors.Join(err, after(dir))
		}
		return err
	})
	s.subject = tool.Subject(&p)
	if s.out != "" {
		held.dir = p.Output.Dir
		p.Output.Dir = s.out
		s.out = p.FilledDir(s.began) // with the model's name
	}
	switch {
	case res == nil && s.stopped():
		return nil, errPart
	case res == nil:
		return nil, err
	case err != nil:
		return nil, tool.BesideResult(err)
	case res.Interrupted || res.Incomplete:
		return nil, errPart
	}
	fmt.Fprintf(s.session.Log, "%s: %s\n", t.of, oneLine(res))
	if err := held.send(ctx, s.env, s.to, s.session.Log); err != nil && s.unsent == nil {
		s.unsent = fmt.Errorf("%s: %w", t.of, err)
	}
	return res, nil
}

// pause lets a while pass between two runs, and reports whether there is to be another.
func (s *series) pause(ctx context.Context) bool {
	if s.stopped() || ctx.Err() != nil {
		return false
	}
	select {
	case <-time.After(s.action.Repeat.Pause):
		return true
	case <-s.session.Stop:
	case <-ctx.Done():
	}
	return false
}

// stopped reports whether the user wants no more.
func (s *series) stopped() bool {
	select {
	case <-s.session.Stop:
		return true
	default:
		return false
	}
}

// setAside takes the directory of a run that is not whole out of the row, and keeps it.
func (s *series) setAside(dir string) {
	from := filepath.Join(s.out, dir)
	if _, err := os.Stat(from); s.out == "" || err != nil {
		return
	}
	to := from + "-incomplete"
	if err := os.Rename(from, to); err != nil {
		s.session.Warn(s.env.Stderr, fmt.Sprintf("%s holds a run that is not whole, and could not be renamed: %v", from, err))
		return
	}
	fmt.Fprintf(s.session.Log, "The run that is not whole is in %s\n", to)
}

// oneLine says in a few words what came of a run.
func oneLine(res *result.Result) string {
	var ok, failed int64
	for i := range res.Stages {
		ok, failed = ok+res.Stages[i].Counts.OK, failed+res.Stages[i].Counts.Failed
	}
	text := fmt.Sprintf("%s ok", number.Count(ok))
	if failed > 0 {
		text += fmt.Sprintf(", %s failed", number.Count(failed))
	}
	return text + ", " + res.Verdict.Status
}

// repeat runs the plan several times and prints what the runs have in common.
func (j *job) repeat(ctx context.Context, began time.Time) int {
	env, rep := j.env, &j.action.Repeat
	s, err := newSeries(j, began)
	if err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	goal, err := newGoal(rep, j.action.Plan)
	if err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	var runs []repeat.Run
	var failed error
	ended := ""
	for n := 1; n <= rep.Most && ended == ""; n++ {
		if rep.Until != "" && n > 1 && time.Since(began) > rep.Time {
			ended = repeat.EndedTime
			break
		}
		t := turn{dir: strconv.Itoa(n), of: fmt.Sprintf("run %d of %d", n, rep.Most), seed: uint64(n - 1)}
		if rep.Until != "" {
			t.of = fmt.Sprintf("run %d of at most %d", n, rep.Most)
		}
		one := repeat.Run{}
		if s.out != "" {
			one.Dir = t.dir
		}
		one.Result, err = s.runNext(ctx, t, func(dir string) (err error) { one.Within, err = within(dir); return err })
		switch {
		case err == nil:
			runs = append(runs, one)
			if goal.met(repeat.Make(runs, rep.Most, env.Version), runs) {
				ended = repeat.EndedUntil
			}
			goal.print(s.session.Log)
		case errors.Is(err, errPart):
			ended = repeat.EndedInterrupted
			s.setAside(t.dir)
		default:
			ended, failed = repeat.EndedFailed, fmt.Errorf("%s: %w", t.of, err)
			s.setAside(t.dir)
		}
	}
	if len(runs) == 0 && failed != nil {
		return env.Fail("run", failed, tool.ExitCode(failed))
	}
	d := repeat.Make(runs, rep.Most, env.Version)
	if ended == repeat.EndedUntil && len(runs) == rep.Most {
		ended = ""
	}
	d.Ended, d.Until = ended, goal.found()
	return s.conclude(ctx, d, failed)
}

// conclude writes and prints the document of the runs, and gives the exit code.
func (s *series) conclude(ctx context.Context, d *repeat.Document, failed error) int {
	env := s.env
	err := errors.Join(failed, s.unsent)
	if s.out != "" && len(d.Runs) > 0 {
		err = errors.Join(err, s.write(repeatsFile, d))
	}
	err = errors.Join(err, s.copy(ctx))
	format := "console"
	if s.action.JSON {
		format = "json"
	}
	if err := printRepeats(env, d, format, s.action.All, s.out, s.subject); err != nil {
		return env.Fail("run", err, tool.ExitRun)
	}
	if err != nil {
		return env.Fail("run", err, tool.ExitRun)
	}
	return repeatsCode(d)
}

// copy copies the directory of the series to the buckets that the plan names.
func (s *series) copy(ctx context.Context) error {
	out := s.action.Plan.Output
	out.Dir = s.out
	return copyOutput(ctx, s.env, &out, s.session.Log)
}

// write writes a document into the directory of the series.
func (s *series) write(name string, d any) error {
	err := atomicfile.Write(filepath.Join(s.out, name), func(w io.Writer) error { return encode(w, d) })
	if err != nil {
		return fmt.Errorf("writing %s: %w", name, err)
	}
	return nil
}

func encode(w io.Writer, d any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}
