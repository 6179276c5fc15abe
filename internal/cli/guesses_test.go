package cli

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool"
)

// What people type who know other tools leads to the line that does it.
func TestGuessedCommands(t *testing.T) {
	for line, want := range map[string]string{
		"bench":                      "inferometer run URL",
		"sweep http://h:1":           "--concurrency 1..64",
		"profile -m x":               "inferometer genai-perf profile",
		"serve":                      "inferometer mock",
		"http://localhost:8000":      "inferometer run http://localhost:8000",
		"localhost:8000 -c 4":        "inferometer run localhost:8000",
		"plan.yaml":                  "inferometer run plan.yaml",
		"--concurrency 4":            "inferometer run URL --concurrency",
		"ruun":                       "did you mean run?",
		"run h:1 --cacert":           "--cacert: needs a value",
		"run h:1 --metrics x":        "use --scrape",
		"run h:1 --dataset-name x":   "use --input-tokens N",
		"run h:1 --backend vllm":     "leave it out",
		"run h:1 --speedup 2":        "use --speed 2",
		"run h:1 --lora-name a":      "use --lora",
		"run h:1 --num-workers 2":    "--workers N",
		"run h:1 --save-result":      "--out DIR",
		"run testdata/foreign.yaml":  "this is an inference-perf config: inferometer inference-perf --config_file testdata/foreign.yaml",
		"run h:1 --token sk-geheim1": "--api-key-env",
	} {
		code, out := call(strings.Fields(line)...)
		if code != tool.ExitUsage || !strings.Contains(out, want) || strings.Contains(out, "geheim") {
			t.Errorf("%s: exit %d, %s; want %s", line, code, out, want)
		}
	}
	for _, line := range []string{"--qps 4", "--users 4", "-d 30 -c 2", "-k", "--max-tokens 9", "--model-name m", "--vus 2"} {
		if code, out := call(append([]string{"run", "h:1", "--dry-run"}, strings.Fields(line)...)...); code != tool.ExitOK {
			t.Errorf("%s: exit %d, %s", line, code, out)
		}
	}
}
