//go:build linux

package adversary

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/binary"
)

// nothing is the signal that only asks whether a process is there; interrupt is that of Ctrl-C.
const (
	nothing   = syscall.Signal(0)
	interrupt = syscall.SIGINT
)

// situations are all of them.
func situations() []situation {
	return slices.Concat(healthy(), drops(), trends(), loads(), failures(), counts(), streams(), bombs(), inputs(), fronts(), others(),
		forms(), ends(), wires(), starved(), late(), usages(), reasons(), thoughts(), protocols(), fleets())
}

// TestNoLie plays the quick situations, several side by side, and asserts that none of them
// ends VALID on a figure that is further from the truth than the error that it states. That
// a sound run is VALID is not asserted here: it depends on the machine.
func TestNoLie(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes")
	}
	all := slices.DeleteFunc(situations(), func(s situation) bool { return !s.quick })
	report(t, playAll(t, all, 6))
}

// TestEveryLie plays all situations, the sound ones five times, two at a time. It is
// asserted that nothing lies, and that at most one sound run in twenty is not VALID.
// INFEROMETER_ADVERSARY is "all", or parts of the names of those to play, with a | between; with
// INFEROMETER_ADVERSARY_FIGURES set, every figure is printed beside its truth.
func TestEveryLie(t *testing.T) {
	which := os.Getenv("INFEROMETER_ADVERSARY")
	if which == "" {
		t.Skip("make conformance-truth plays all situations, for minutes")
	}
	var sound, bad, heavy []situation
	for _, s := range situations() {
		switch {
		case which != "all" && !slices.ContainsFunc(strings.Split(which, "|"), func(part string) bool { return strings.Contains(s.name, part) }):
		case s.alone:
			heavy = append(heavy, s)
		case s.healthy:
			sound = append(sound, s, s, s, s, s)
		default:
			bad = append(bad, s)
		}
	}
	played := playAll(t, sound, 2)
	valid := 0
	for _, j := range played {
		if j.verdict == "VALID" {
			valid++
		}
	}
	played = append(played, playAll(t, bad, 2)...)
	played = append(played, playAll(t, heavy, 1)...)
	report(t, played)
	t.Logf("%d of %d sound runs are VALID", valid, len(sound))
	if 20*(len(sound)-valid) > len(sound) {
		t.Errorf("%d of %d sound runs are not VALID; at most one in twenty may be", len(sound)-valid, len(sound))
	}
}

// TestTable makes sure that the table is worth its name.
func TestTable(t *testing.T) {
	names := map[string]bool{}
	for _, s := range situations() {
		if names[s.name] {
			t.Errorf("two situations are called %q", s.name)
		}
		names[s.name] = true
		if s.name == "" || s.lie == "" || s.server == nil {
			t.Errorf("%q: a situation has a name, a lie and a server", s.name)
		}
	}
	if len(names) < 150 {
		t.Errorf("%d situations; there were 150 at least", len(names))
	}
}

// playAll plays situations, so many side by side. A lie that was told in company is heard
// again alone where a starved machine could have made it one.
func playAll(t *testing.T, all []situation, beside int) []judged {
	binary.Program(t)
	played := make([]judged, len(all))
	room := make(chan struct{}, beside)
	var wait sync.WaitGroup
	for i := range all {
		room <- struct{}{}
		wait.Go(func() {
			played[i] = judgeOne(t, &all[i])
			<-room
		})
	}
	wait.Wait()
	for i := range played {
		for again := 0; played[i].result == isLie && !played[i].sure && again < 3; again++ {
			t.Logf("%s: %s; once more, alone", all[i].name, played[i].worst)
			played[i] = judgeOne(t, &all[i])
		}
	}
	return played
}

// report prints the table of verdicts and fails for each lie.
func report(t *testing.T, played []judged) {
	t.Helper()
	var b strings.Builder
	lies := 0
	for _, j := range played {
		verdict := j.verdict
		if verdict == "" {
			verdict = fmt.Sprintf("exit %d", j.play.code)
		}
		fmt.Fprintf(&b, "%-38s %-13s %-8s %5.1f s  %s\n", j.play.name, verdict, j.result, j.play.took.Seconds(), j.detail())
		if j.result == isLie {
			lies++
			t.Errorf("%s (%s): %s", j.play.name, j.play.lie, j.worst)
		}
	}
	t.Logf("%d situations, %d lies\n%s", len(played), lies, b.String())
}

// detail is what a row of the table ends with.
func (j *judged) detail() string {
	text := j.worst
	if d := j.play.result; text == "" && d != nil {
		for _, c := range d.Verdict.Checks {
			if c.Undecided {
				text += c.Name + "? "
			} else if !c.OK {
				text += c.Name + " "
			}
		}
		text += strings.Join(slices.Concat(d.Verdict.Reasons, d.Verdict.Undecided), " ")
	} else if text == "" {
		text = lastLine(j.play.stderr)
	}
	if r := []rune(text); len(r) > 150 {
		text = string(r[:150]) + "…"
	}
	return text
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
