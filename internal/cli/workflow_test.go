package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/tool"
)

// workflow is what the test looks at of a workflow of GitHub.
type workflow struct {
	Env  map[string]string
	Jobs map[string]struct {
		Steps []struct {
			Uses, Run string
			With      map[string]string
		}
	}
}

// TestExampleWorkflow plays two nights of examples/github/nightly.yaml against the mock: every
// command in it is run, and the action has every input that it is given.
func TestExampleWorkflow(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("its steps are written for a Unix shell")
	}
	var w workflow
	readYAMLFile(t, "../../examples/github/nightly.yaml", &w)
	var action struct{ Inputs map[string]any }
	readYAMLFile(t, "../../action.yml", &action)
	tools, server, dir := linked(t), exampleServer(t), t.TempDir()
	env := map[string]string{"TARGET": server, "RATE": "50", "REQUESTS": "4"}
	for name := range w.Env {
		if env[name] == "" {
			t.Errorf("the test does not know %s", name)
		}
	}
	variable := regexp.MustCompile(`\$\{\{ env\.(\w+) \}\}`)
	ran := 0
	for range 2 {
		for _, step := range w.Jobs["benchmark"].Steps {
			script := step.Run
			if strings.HasPrefix(step.Uses, "inferometer/inferometer@") {
				args := variable.ReplaceAllStringFunc(step.With["args"], func(s string) string { return env[variable.FindStringSubmatch(s)[1]] })
				for gate := range strings.Lines(step.With["fail-if"]) {
					args += " --fail-if '" + strings.TrimSpace(gate) + "'"
				}
				script = "inferometer run " + args + " --out " + step.With["out"] + "/run --quiet"
				for name := range step.With {
					if _, has := action.Inputs[name]; !has {
						t.Errorf("the action has no input %s", name)
					}
				}
			}
			if script == "" {
				continue
			}
			ran++
			// What a few requests come to may be anything, and a step that fails on it does its work.
			if code, out := shell(t, tools, dir, script, "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "summary.md")); code == tool.ExitUsage || code > tool.ExitInconclusive {
				t.Fatalf("%s\nexit code %d: %s", script, code, out)
			}
		}
	}
	summary, _ := os.ReadFile(filepath.Join(dir, "summary.md"))
	if _, err := os.Stat(filepath.Join(dir, "compare.html")); err != nil || ran != 6 || !strings.Contains(string(summary), "### Comparison") {
		t.Errorf("%d steps were run, %v: %s", ran, err, summary)
	}
}

func readYAMLFile(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}
