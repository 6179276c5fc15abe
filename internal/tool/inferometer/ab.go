package inferometer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool"
	comparison "github.com/inferometer/inferometer/internal/tool/compare"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// sideNames are those of the two targets of an A/B run.
var sideNames = [2]string{"A", "B"}

// order says which side of a round is first: A B, then B A, so that a drift that goes on over
// two rounds is the same for both.
func order(round int) [2]int {
	if round%2 == 0 {
		return [2]int{1, 0}
	}
	return [2]int{0, 1}
}

// ab runs the plan by turns against two targets, and compares them.
func (j *job) ab(ctx context.Context, began time.Time) int {
	env, rep := j.env, &j.action.Repeat
	s, err := newSeries(j, began)
	if err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	if err := checkGates(rep.Conditions, j.action.Plan); err != nil {
		return env.Fail("run", err, tool.ExitUsage)
	}
	kept := s.out != ""
	if !kept { // until they are compared
		if s.out, err = os.MkdirTemp("", "inferometer-ab-*"); err != nil {
			return env.Fail("run", fmt.Errorf("creating the directory for A/B runs: %w", err), tool.ExitRun)
		}
		defer os.RemoveAll(s.out)
	}
	rounds := 0
	for n := 1; n <= rep.Most && err == nil; n++ {
		if err = s.round(ctx, n); err == nil {
			rounds++
		}
	}
	part := errors.Is(err, errPart)
	if part {
		err = nil
	}
	switch {
	case rounds == 0 && err != nil:
		return env.Fail("run", err, tool.ExitCode(err))
	case rounds == 0:
		return env.Fail("run", errors.New("interrupted before the first round was whole: there is nothing to compare"), tool.ExitRun)
	case rounds < rep.Most:
		env.Warn("warning", []string{fmt.Sprintf("%d of %d rounds are whole: the comparison is of those", rounds, rep.Most)})
	}
	code, failed := s.compare(rounds, kept)
	if kept {
		failed = errors.Join(failed, s.copy(ctx))
	}
	if err = errors.Join(err, failed, s.unsent); err != nil {
		return env.Fail("run", err, tool.ExitRun)
	}
	if part {
		return tool.ExitRun
	}
	return code
}

// checkGates finds what is wrong with the conditions of a comparison before anything is sent.
func checkGates(conditions plan.Conditions, p *plan.Plan) error {
	var faults plan.Faults
	for _, c := range conditions.All() {
		g, err := gate.Read(c)
		if err == nil {
			err = errors.Join(compare.Comparable(g), g.Measured(p), g.Level(p))
		}
		if err != nil {
			faults = append(faults, plan.Fault{Where: c.Flag(), Text: err.Error()})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// round makes a run against each side. What is not whole is set aside with the other half of
// the round.
func (s *series) round(ctx context.Context, n int) error {
	dirs := [2]string{filepath.Join(compare.SideA, strconv.Itoa(n)), filepath.Join(compare.SideB, strconv.Itoa(n))}
	for _, side := range order(n) {
		t := turn{
			dir: dirs[side], of: fmt.Sprintf("round %d of %d, side %s", n, s.action.Repeat.Most, sideNames[side]),
			seed: uint64(n - 1), url: s.action.Plan.Target.URLs[side],
		}
		if _, err := s.runNext(ctx, t, nil); err != nil {
			for _, dir := range dirs {
				s.setAside(dir)
			}
			if errors.Is(err, errPart) {
				return err
			}
			return fmt.Errorf("%s: %w", t.of, err)
		}
	}
	return nil
}

func (s *series) compare(rounds int, kept bool) (code int, err error) {
	action := &args.CompareAction{Formats: []string{"console"}, All: s.action.All, Anyway: true, HTML: s.action.HTML, Conditions: s.action.Repeat.Conditions}
	if s.action.JSON {
		action.Formats = []string{"json"}
	}
	if kept {
		action.Out = s.out
	}
	var sides []compare.Side
	for i, dir := range []string{compare.SideA, compare.SideB} {
		side := compare.Side{Name: sideNames[i]}
		for n := 1; n <= rounds; n++ {
			one, err := compare.Open([]string{filepath.Join(s.out, dir, strconv.Itoa(n))}, compare.OpenOptions{Draw: action.HTML != ""})
			if err != nil {
				return tool.ExitRun, err
			}
			side.Runs = append(side.Runs, one[0].Runs...)
		}
		sides = append(sides, side)
	}
	return comparison.Show(s.env, action, sides)
}

// plansOf are the plans that a command line stands for: one for each side, where it has two.
func plansOf(action *args.Action) []*plan.Plan {
	if !action.Repeat.AB {
		return []*plan.Plan{action.Plan}
	}
	var list []*plan.Plan
	for _, url := range action.Plan.Target.URLs {
		p := *action.Plan
		p.Target.URLs = []string{url}
		list = append(list, &p)
	}
	return list
}
