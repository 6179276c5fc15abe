package rundir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// makeDir makes a directory with files.
func makeDir(t *testing.T, files ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestCheck(t *testing.T) {
	for _, tt := range []struct {
		name    string
		dir     string
		replace bool
		err     string
	}{
		{"none", "", false, ""},
		{"not there", filepath.Join(t.TempDir(), "new"), false, ""},
		{"empty", t.TempDir(), false, ""},
		{"a run", makeDir(t, rundir.Files()...), false, "already contains a run"},
		{"a run to replace", makeDir(t, rundir.Files()...), true, ""},
		{"something else", makeDir(t, "notes.txt"), true, "it holds notes.txt"},
	} {
		err := rundir.Check(tt.dir, tt.replace)
		if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.err)
		}
	}
}

func TestLocate(t *testing.T) {
	run, above := makeDir(t, rundir.PlanFile), makeDir(t, "a/"+rundir.PlanFile, "b/notes.txt")
	several := makeDir(t, "a/"+rundir.PlanFile, "b/"+rundir.PlanFile)
	for dir, want := range map[string]string{run: run, above: filepath.Join(above, "a"), several: ""} {
		if found, ours := rundir.Locate(dir); ours != (want != "") || ours && found != want {
			t.Errorf("%s: %s %v, want %q", dir, found, ours, want)
		}
	}
}

// A run's directory may be closed more than once, and where nothing is kept.
func TestCloseTwice(t *testing.T) {
	var none *rundir.Writer
	none.Close()
	p := plan.Default()
	p.Output.Dir = filepath.Join(t.TempDir(), "run")
	w, err := rundir.Create(&p, record.Header{}, rundir.Options{})
	if err != nil {
		t.Fatal(err)
	}
	w.Close()
	w.Close()
	if err := w.Finish(&result.Result{}); err != nil {
		t.Errorf("closed twice: %v", err)
	}
}
