package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool"
)

// keepRun writes a run that is known to the last stamp.
func keepRun(t *testing.T, k kept) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	k.make(t, dir)
	return dir
}

// Runs are compared with one another and with what the tools wrote of them; the exit code says
// whether they can be trusted.
func TestCompare(t *testing.T) {
	a, b := keepRun(t, kept{}), keepRun(t, kept{edit: func(p *plan.Plan) { p.Name = "b" }})
	unstreamed := keepRun(t, kept{edit: func(p *plan.Plan) { p.Target.Streaming = false }})
	levels := keepRun(t, kept{edit: stages(plan.Stage{Concurrency: 1}, plan.Stage{Concurrency: 2})})
	failing := keepRun(t, kept{change: fail})
	exported := filepath.Join(madeBy("perf_analyzer")(t, a), "profile_export.json")
	out := filepath.Join(t.TempDir(), "new", "dir")
	page := filepath.Join(t.TempDir(), "page.html")
	for _, tt := range []struct {
		line string
		code int
		want []string // printed, on either stream
	}{
		{"compare x=" + a + " y=" + b, tool.ExitOK, []string{"8 in flight", "Time to first token", "? not known"}},
		{"compare x=" + a + " y=" + b + " --size 2% --confidence 99", tool.ExitOK, []string{"99 % interval"}},
		{"compare x=" + a + " y=" + b + " --all", tool.ExitOK, []string{"Longest gap", "p99.9"}},
		{"compare x=" + a + " y=" + b + " --format md --out " + out + " --html " + page, tool.ExitOK, []string{"### Comparison: x against y", "| Time to first token, ms | avg |"}},
		{"compare " + a + " " + a, tool.ExitOK, []string{"are the same run"}},
		{"compare x=" + a + " y=" + exported, tool.ExitOK, []string{"y was measured by"}},
		{"compare x=" + a + " y=" + failing, tool.ExitRun, []string{"y is INVALID", "0 % of the requests of x failed and 20 % of those of y"}},
		{"compare x=" + exported + " y=" + exported, tool.ExitOK, []string{"x was measured by"}},
		{"compare " + a + " " + levels, tool.ExitUsage, []string{"no load in common", "Not compared: 1 in flight"}},
		{"compare x=" + a + " y=" + unstreamed, tool.ExitUsage, []string{"target.streaming: true for x, false for y", "--anyway"}},
		{"compare x=" + a + " y=" + unstreamed + " --anyway", tool.ExitOK, []string{"target.streaming", "Request latency"}},
		{"compare", tool.ExitUsage, []string{"name two or more runs"}},
		{"compare " + a, tool.ExitUsage, []string{"need at least two runs to compare"}},
		{"compare " + a + " /nowhere", tool.ExitUsage, []string{"/nowhere is not an output directory"}},
		{"compare " + a + " " + b + " --size 0 --confidence 101% --format xml --formt md", tool.ExitUsage, []string{"4 errors", `"0" is not a percentage`, `"101%"`, `unknown format "xml"`, "did you mean --format?"}},
		{"compare " + a + " " + b + " --html /nowhere/x.html", tool.ExitUsage, []string{"there is no directory /nowhere"}},
		{"compare --help", tool.ExitOK, []string{"inferometer compare A B"}},
		{"report " + a + " " + b, tool.ExitUsage, []string{"To compare runs: inferometer compare A B"}},
	} {
		code, screen, errs := here(t, strings.Fields(tt.line)...)
		if code != tt.code {
			t.Errorf("%s: exit %d, want %d\n%s%s", tt.line, code, tt.code, screen, errs)
		}
		for _, want := range tt.want {
			if !strings.Contains(screen+errs, want) {
				t.Errorf("%s: no %q in\n%s%s", tt.line, want, screen, errs)
			}
		}
	}
	for _, name := range []string{page, filepath.Join(out, "comparison.md")} {
		if text, err := os.ReadFile(name); err != nil || !strings.Contains(string(text), "in flight") {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, screen, _ := here(t, "compare", "x="+a, "y="+b, "--format", "json")
	file, err := os.ReadFile(filepath.Join(out, "comparison.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc compare.Comparison
	if err := json.Unmarshal(file, &doc); err != nil || doc.Schema != compare.Schema || screen != string(file) {
		t.Errorf("%v: %+v", err, doc)
	}
}
