package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/tool"
)

// here runs the program in a directory of its own.
func here(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	getenv := func(name string) string {
		return map[string]string{"HF_HUB_OFFLINE": "1", "HF_HOME": os.TempDir() + "/nowhere"}[name]
	}
	code = Main(tool.Env{Args: args, Stdout: &out, Stderr: &errs, Getenv: getenv, Restore: func() {}})
	return code, out.String(), errs.String()
}

func TestGenAIPerf(t *testing.T) {
	url := serve(t)
	dir := t.TempDir()
	t.Chdir(dir)
	line := []string{"genai-perf", "profile", "-m", "mock", "--endpoint-type", "chat", "--streaming", "--isl", "10", "--osl", "4", "--num-prompts", "3", "--tokenizer", "builtin:gpt2", "-u", strings.TrimPrefix(url, "http://")}
	code, out, errs := here(t, line...)
	if code != tool.ExitOK || !strings.Contains(out, "NVIDIA GenAI-Perf | LLM Metrics") || !strings.Contains(errs, "Verdict: ") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	made := filepath.Join("artifacts", "mock-openai-chat-concurrency1")
	for _, name := range []string{"inputs.json", "profile_export.json", "profile_export_genai_perf.csv", "profile_export_genai_perf.json", "profile_export_inferometer/requests.jsonl.zst"} {
		if _, err := os.Stat(filepath.Join(made, name)); err != nil {
			t.Error(err)
		}
	}
	// Our own report of the same run, and the tool's table from its files alone.
	if code, out, errs := here(t, "report", made); code == tool.ExitUsage || !strings.Contains(out, "mock") {
		t.Errorf("exit %d\n%s%s", code, out, errs)
	}
	if err := os.RemoveAll(filepath.Join(made, "profile_export_inferometer")); err != nil {
		t.Fatal(err)
	}
	code, again, errs := here(t, "report", made)
	if code != tool.ExitOK || again != out {
		t.Errorf("exit %d\n%s%s\nwant\n%s", code, again, errs, out)
	}
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"genai-perf", "--help"}, tool.ExitOK, "usage: genai-perf"},
		{[]string{"genai-perf"}, tool.ExitOK, "usage: genai-perf"},
		{[]string{"genai-perf", "--version"}, tool.ExitOK, "genai-perf of inferometer"},
		{[]string{"genai-perf", "-m", "m", "--service-kind", "openai"}, tool.ExitRun, "needs --endpoint"},
		{[]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "--isl", "-1", "--wrong"}, tool.ExitUsage, "2 errors"},
		{[]string{"genai-perf", "profil", "-m", "m"}, tool.ExitUsage, `unknown command "profil" (did you mean profile?)`},
		{[]string{"genai-perf", "serve"}, tool.ExitUsage, "one of profile, analyze, config"},
		{[]string{"report", made, "--format", "json"}, tool.ExitOK, `"input_config": {`},
		{[]string{"report", made, "--format", "csv,console"}, tool.ExitOK, "Metric,avg,min,max,p99"},
		{[]string{"report", made, "--tokenizer", "./missing"}, tool.ExitUsage, "./missing"},
		{append(line, "--dry-run"), tool.ExitOK, "protocol: openai"},
		{append(line, "--tokenizer", "no/such"), tool.ExitRun, "--tokenizer: "},
		{[]string{"genai-perf", "process-export-files", "-d", "artifacts", "--artifact-dir", "merged"}, tool.ExitOK, "Request Count"},
		{[]string{"genai-perf", "analyze", "-m", "mock", "--endpoint-type", "chat", "--sweep-list", "1,2", "--dry-run"}, tool.ExitOK, "concurrency: 2"},
	} {
		code, out, errs := here(t, tt.args...)
		if code != tt.code || !strings.Contains(out+errs, tt.want) {
			t.Errorf("%q: exit %d, want %d and %s\n%s%s", tt.args, code, tt.code, tt.want, out, errs)
		}
	}
}

// A link to the program by a front end's name is that tool.
func TestLinks(t *testing.T) {
	for program, want := range map[string]string{
		"/usr/bin/genai-perf": "genai-perf -m x", "genai-perf.exe": "genai-perf -m x", "/opt/inferometer": "-m x",
	} {
		if got := strings.Join(byName(program, []string{"-m", "x"}), " "); got != want {
			t.Errorf("%s: %s, want %s", program, got, want)
		}
	}
}
