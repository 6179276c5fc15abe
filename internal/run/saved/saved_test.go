package saved

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/run/rundir"
)

func TestReportOfWhatIsNoRun(t *testing.T) {
	dir := t.TempDir()
	check := func(what, want string) {
		t.Helper()
		if _, err := Report(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want an error with %q", what, err, want)
		}
	}
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	check("an empty directory", "is not an output directory of a run")
	write(rundir.PlanFile, "stages: [")
	check("half a plan", rundir.PlanFile)
	write(rundir.PlanFile, "stages: [{concurrency: 1, duration: 1s}]")
	check("no records", rundir.RecordsFile)
	write(rundir.RecordsFile, "")
	check("an empty file", "ends in the middle")
	write(rundir.RecordsFile, "hello\n")
	check("another file", "line 1")
	write(rundir.RecordsFile, `{"kind":"header","schema":"inferometer.records/99"}`+"\n")
	check("a file of another version", "inferometer.records/99")
	write(rundir.RecordsFile, `{"kind":"header","schema":"inferometer.records/1"}`+"\n{}\n")
	check("a line of no kind", rundir.RecordsFile+": line 2")
	if _, err := Report(filepath.Join(dir, "not", "there")); err == nil {
		t.Error("a directory that is not there: no error")
	}
}
