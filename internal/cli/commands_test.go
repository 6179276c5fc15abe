package cli

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/binary"
	"github.com/inferometer/inferometer/internal/tool"
)

// deferring has a test do what a script does at its end.
type deferring struct{ testing.TB }

func (d deferring) Defer(f func()) { d.Cleanup(f) }

// linked is a directory with the program as it is shipped, under the names of all tools.
func linked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"inferometer", "genai-perf", "inference-perf", "perf_analyzer", "llm_perf"} {
		if err := os.Symlink(binary.Program(t), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// shell runs a script in a directory, where all tools are found, and gives its exit code.
func shell(t *testing.T, tools, dir, script string, env ...string) (int, string) {
	t.Helper()
	cmd := exec.Command("sh", "-e", "-c", script)
	cmd.Dir = dir
	cmd.Env = append(env, "HF_HUB_OFFLINE=1", "HOME="+dir, "PATH="+tools+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestExampleScripts runs the scripts of examples/scripts with less load. What a verdict on a few
// requests is depends on the machine; bad usage does not.
func TestExampleScripts(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("they are written for a Unix shell")
	}
	files, err := filepath.Glob("../../examples/scripts/*.sh")
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../examples/README.md")
	if err != nil {
		t.Fatal(err)
	}
	tools := linked(t)
	web, grpc, err := startMock(deferring{t})
	if err != nil {
		t.Fatal(err)
	}
	small := []string{"REQUESTS=4", "CONCURRENCY=2", "OUTPUT=4", "MODEL=mock", "URL=" + web}
	cases := map[string]struct {
		env    []string
		leaves string // the file that says it is done; empty: what it prints does
	}{
		"ab.sh":             {[]string{"A=" + web, "B=" + web, "ROUNDS=2", "PAUSE=0s", "OUT=out"}, "out/comparison.json"},
		"workers.sh":        {[]string{"WORKERS=2", "OUT=out"}, "out/result.json"},
		"genai-perf.sh":     {[]string{"OUT=out"}, "out/*/profile_export_genai_perf.json"},
		"inference-perf.sh": {[]string{"RATE=8", "SECONDS_EACH=1", "INTERVAL=0", "OUT=out"}, "out/summary_lifecycle_metrics.json"},
		"perf_analyzer.sh":  {[]string{"MODEL=simple", "URL=" + strings.TrimPrefix(grpc, "grpc://"), "OUT=perf.csv"}, "perf.csv"},
		"llm_perf.sh":       {[]string{"MODEL=ensemble", "URL=" + strings.TrimPrefix(grpc, "grpc://"), "PROMPTS=prompts.jsonl"}, "profiling_results.json"},
	}
	for _, file := range files {
		name := filepath.Base(file)
		c, known := cases[name]
		if !known || !strings.Contains(string(readme), "(scripts/"+name+")") {
			t.Errorf("%s is not in this test, or not in examples/README.md", name)
			continue
		}
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "prompts.jsonl"), []byte(`{"input": "What is a token?", "output": ""}`+"\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			code, out := shell(t, tools, dir, file, append(small[:len(small):len(small)], c.env...)...)
			if left, _ := filepath.Glob(filepath.Join(dir, c.leaves)); len(left) != 1 || code == tool.ExitUsage || code > tool.ExitInconclusive {
				t.Errorf("exit code %d, %q: %s", code, left, out)
			}
		})
	}
}
