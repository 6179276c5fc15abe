package cli

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/testkit/binary"
	"github.com/inferometer/inferometer/internal/tool"
)

// fails is the name of a program with a run under way that then ends in a way of its own: the first
// argument. The second is the run's directory, the third the program as it is shipped.
const fails = "fails"

func failing() {
	env := System("", "", "")
	env.Program = os.Args[3]
	env.HungUp, env.OutlivePipes = hungUp, outlivePipes
	env.Terminal = func(w io.Writer) tool.Terminal { return terminalOf(w, env.Getenv) }
	Exit(carryOut(env, tool.Tool{Name: fails, Run: failRun}, os.Args[1:3]))
}

// failRun is a tool that fails.
func failRun(env tool.Env, line []string) int {
	_, session, err := env.Begin(progress.Quiet)
	if err != nil {
		return tool.ExitUsage
	}
	defer session.End()
	p := plan.Default()
	p.Output.Dir = line[1]
	session.Watch(func() run.Progress { return run.Progress{Plan: &p, Stages: p.Stages} })
	switch line[0] {
	case "panic":
		panic("on purpose")
	case "goroutine":
		go func() { panic("on purpose") }()
		select {}
	case "stack": // from which nobody can recover
		debug.SetMaxStack(1 << 20)
		return deeper(0)
	case "kill":
		self, err := os.FindProcess(os.Getpid())
		if err == nil {
			err = self.Kill()
		}
		if err == nil {
			select {}
		}
	}
	return tool.ExitRun
}

func deeper(n int) int {
	if n < 0 {
		return 0
	}
	return deeper(n+1) + 1
}

// However the program fails, its last line says where the records are and what makes the report of
// them; where it ends in order, there is nothing to say.
func TestLastWord(t *testing.T) {
	if testing.Short() {
		t.Skip("real processes")
	}
	program := binary.Program(t)
	for _, way := range []string{"panic", "goroutine", "stack", "kill", "order"} {
		t.Run(way, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "out")
			var errs bytes.Buffer
			cmd := exec.Command(os.Args[0])
			cmd.Args = []string{fails, way, dir, program}
			cmd.Stderr = &errs // until the last of both processes has closed it
			if err := cmd.Run(); err == nil {
				t.Error("it ended well")
			}
			lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
			last := lines[len(lines)-1]
			told := strings.Contains(last, "The records of the run are in "+dir) && strings.HasSuffix(last, ": inferometer report "+dir)
			if want := way != "order"; told != want || strings.Contains(errs.String(), "inferometer report") != want {
				t.Errorf("it says %s", errs.String())
			}
			if (way == "panic" || way == "goroutine") && !strings.Contains(errs.String(), "panic: on purpose") {
				t.Errorf("the panic itself is not shown: %s", errs.String())
			}
		})
	}
}

// A word is quoted where a shell would take it apart.
func TestQuoted(t *testing.T) {
	for word, want := range map[string]string{"results/a-1": "results/a-1", "my results": `"my results"`, "a;b": `"a;b"`} {
		if got := quoted(word); got != want {
			t.Errorf("%s: %s, want %s", word, got, want)
		}
	}
}
