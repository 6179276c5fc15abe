//go:build linux

package table

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write the page out of the saved runs")

// TestPage: the page is what the saved runs say.
func TestPage(t *testing.T) {
	const page = "../performance.md"
	got, err := makePage("../results")
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(page, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s is not what bench/results says: run make bench-page", page)
	}
}

// TestSavedRun: what a run has measured comes back from its file, in a table of figures with the
// rest in a list.
func TestSavedRun(t *testing.T) {
	var speed, missed, late Line
	speed.Name = "requests/s"
	speed.Add(NameOurs, "31,602/s", "server %d %% busy", 74)
	speed.AddAt("client CPU", NameOurs, "32.5 µs", "")
	speed.Add(NameBare, "16,414/s", "")
	speed.Add("server", "44,873/s", "ceiling")
	speed.Add("AIPerf", "lost", "it lost the run: a | b\nc")
	speed.AtLeast("ratio", 2.91, 1.2, "")
	missed.Name = "memory"
	missed.Add(NameOurs, "120 MB", "")
	missed.AtMost("peak", 120, 100, " MB")
	missed.Miss(NamePA, errors.New("not installed"))
	missed.AddNote("the machine was not quiet")
	late.Name = "late"
	late.Add(NameOurs, "2 ms", "")
	late.AtMost("p50", 1, 1, " ms")
	late.AtMost("p99", 2, 1, " ms")
	dir := t.TempDir()
	if err := Save(filepath.Join(dir, "a.json"), []Line{speed, missed, late}, "Here", "a machine", time.Minute); err != nil {
		t.Fatal(err)
	}
	page := filepath.Join(dir, "page.md")
	if err := PageMain([]string{dir, page}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\n## Here\na machine; ", "; took 1m0s.\n",
		"| case | Inferometer | Reference | AIPerf | bounds |\n|---|---|---|---|---|\n",
		"| requests/s | 31,602/s | 16,414/s | lost | met |\n",
		"| … client CPU | 32.5 µs |  |  |  |\n",
		"| memory | 120 MB |  |  | **not measured** |\n",
		"| late | 2 ms |  |  | **1 of 2 missed** |\n",
		"### Here: bounds\n| case | what | measured | bound |  |\n|---|---|---|---|---|\n| requests/s | ratio | 2.91 | ≥ 1.20 | met |\n",
		"| memory | peak | 120 MB | ≤ 100 MB | **missed** |\n| … | Perf Analyzer: not installed |  |  | **not measured** |\n",
		"\n**requests/s**\n\n- Inferometer: server 74 % busy\n- server: 44,873/s ceiling\n- AIPerf: it lost the run: a | b c\n",
		"\n**memory**\n\n- the machine was not quiet\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the page lacks %q:\n%s", want, text)
		}
	}
	if err := PageMain([]string{t.TempDir(), page}); err == nil {
		t.Error("a page was made out of nothing")
	}
}
