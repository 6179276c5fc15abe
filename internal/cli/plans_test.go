package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/tool"
)

// TestExamplePlans runs every plan of examples/plans against the mock: with less load, and else as
// it stands. The searches are only checked: they take their time.
func TestExamplePlans(t *testing.T) {
	t.Chdir("../..")
	files, err := filepath.Glob("examples/plans/*.yaml")
	if err != nil || len(files) < 8 {
		t.Fatalf("%d plans found: %v", len(files), err)
	}
	readme, err := os.ReadFile("examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	server, temp := exampleServer(t), t.TempDir()
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(string(readme), "(plans/"+name+")") {
				t.Error("examples/README.md does not list it")
			}
			if code, out := call("plan", "check", file); code != tool.ExitOK {
				t.Fatalf("exit %d: %s", code, out)
			}
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			p, err := planfile.Decode(file, text)
			if err != nil {
				t.Fatal(err)
			}
			if p.Capacity.On() || p.Target.Protocol == plan.ProtocolTriton {
				return
			}
			light(p)
			p.Output.Dir = filepath.Join(temp, name)
			lighter := filepath.Join(temp, "light-"+name)
			if text, err = planfile.Encode(p); err == nil {
				err = os.WriteFile(lighter, text, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			// A verdict on a few requests may be anything, and so may gates.
			code, out := call("run", lighter, server, "--model", "mock", "--quiet")
			if _, err := os.Stat(filepath.Join(p.Output.Dir, "result.json")); err != nil || code == tool.ExitUsage || strings.Contains(strings.ReplaceAll(out, "none failed", ""), " failed") {
				t.Errorf("exit %d, %v: %s", code, err, out)
			}
		})
	}
}

// light makes a plan that says the same and is done sooner.
func light(p *plan.Plan) {
	for i := range p.Stages {
		s := &p.Stages[i]
		s.Warmup, s.Gap = plan.Warmup{}, 0
		if s.Duration > 0 || s.Requests > 0 || s.Arrival == plan.ArrivalTrace {
			s.Duration, s.Requests = 0, 4
		}
		if s.Rate > 0 {
			s.MaxInFlight = 4
		}
		s.Concurrency = min(s.Concurrency, 2)
	}
	if len(p.Levels.List) > 2 {
		p.Levels.List = p.Levels.List[:2]
	}
	if p.Data.Sessions.Count > 0 {
		p.Data.Sessions.Count, p.Data.Sessions.Delay = 2, plan.Length{}
	}
}
