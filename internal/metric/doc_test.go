package metric

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/stat"
)

var update = flag.Bool("update", false, "write the generated parts of docs/metrics.md")

const docFile = "../../docs/metrics.md"

// TestDoc keeps the tables of docs/metrics.md equal to the one that the figures are
// computed from.
func TestDoc(t *testing.T) {
	data, err := os.ReadFile(docFile)
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	for name, table := range map[string]string{"metrics": metricTables(), "samples": sampleTable()} {
		want = splice(t, want, name, table)
	}
	if want == string(data) {
		return
	}
	if !*update {
		t.Fatalf("%s is not what the table of metrics says: run go test ./internal/metric -update", docFile)
	}
	if err := os.WriteFile(docFile, []byte(want), 0o644); err != nil {
		t.Fatal(err)
	}
}

// splice puts text between the markers called name.
func splice(t *testing.T, doc, name, text string) string {
	t.Helper()
	open, end := "<!-- "+name+": generated -->\n", "<!-- end -->\n"
	before, rest, ok := strings.Cut(doc, open)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for %s", docFile, name)
	}
	return before + open + text + end + after
}

func metricTables() string {
	var b strings.Builder
	for _, part := range []struct {
		title string
		defs  []Def
	}{
		{"How soon", firsts()}, {"How steadily", gapDefs()}, {"From end to end", requestMetrics()},
		{"How long", lengths()}, {"How much", rates()}, {"At what cost", costs()}, {"This client, and the way to the server", client()},
	} {
		fmt.Fprintf(&b, "\n### %s\n\n| name | unit | formula | meaning |\n|---|---|---|---|\n", part.title)
		for _, d := range part.defs {
			unit := d.Unit
			if d.Many != nil {
				unit += ", pooled"
			}
			fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", d.ID, unit, d.Formula, d.Help)
		}
	}
	b.WriteString("\n")
	return b.String()
}

func sampleTable() string {
	head, line, row := "| percentile |", "|---|", "| samples needed |"
	for _, p := range Percentiles() {
		head += " " + p.Name + " |"
		line += "---|"
		row += fmt.Sprintf(" %d |", stat.MinSamples(p.Quantile))
	}
	return "\n" + head + "\n" + line + "\n" + row + "\n\n"
}

func TestDefsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, d := range Defs() {
		if seen[d.ID] {
			t.Errorf("%s is defined twice", d.ID)
		}
		seen[d.ID] = true
		kinds := 0
		for _, set := range []bool{d.Sample != nil, d.Many != nil, d.Rate != nil} {
			if set {
				kinds++
			}
		}
		if kinds != 1 {
			t.Errorf("%s has %d ways to be computed", d.ID, kinds)
		}
		if d.Name == "" || d.Unit == "" || d.Formula == "" || d.Help == "" {
			t.Errorf("%s lacks a name, a unit, a formula or a meaning", d.ID)
		}
		if (d.Rate == nil) != (d.Scale > 0) {
			t.Errorf("%s: scale %v", d.ID, d.Scale)
		}
		if strings.Contains(d.Formula+d.Help, "|") {
			t.Errorf("%s breaks the table of its documentation", d.ID)
		}
	}
	if _, ok := ByID("request_latency"); !ok {
		t.Error("request_latency is not found")
	}
	if !slices.Contains(Objectives(), "inter_token_latency") || slices.Contains(Objectives(), "lag") {
		t.Errorf("objectives: %v", Objectives())
	}
}
