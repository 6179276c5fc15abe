package gate

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/metric"
)

var update = flag.Bool("update", false, "write the table into docs/gates.md")

// TestNamesInTheDocs: the page lists every short name, as the table has them.
func TestNamesInTheDocs(t *testing.T) {
	const page, begin, end = "../../docs/gates.md", "<!-- names: written by go test ./internal/gate -update -->\n", "<!-- end of names -->\n"
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(text), begin)
	_, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatal("the page has no place for the table")
	}
	var b strings.Builder
	b.WriteString("| short name | metric | example |\n|---|---|---|\n")
	for _, m := range Metrics() {
		if m.Short == m.ID && m.ID != Capacity {
			continue
		}
		d, ok := metric.ByID(m.ID)
		if !ok {
			d.Name = "Highest load that meets the objectives of [`inferometer capacity`](capacity.md)"
		}
		names := "`" + strings.Join(append([]string{m.Short}, m.Also...), "`, `") + "`"
		fmt.Fprintf(&b, "| %s | `%s`: %s | `%s` |\n", names, m.ID, d.Name, sample(t, &m))
	}
	want := before + begin + b.String() + end + after
	if *update {
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if string(text) != want {
		t.Error("docs/gates.md does not list the names of gates: go test ./internal/gate -update writes them")
	}
}

// sample is a condition on a metric that can be read.
func sample(t *testing.T, m *Metric) string {
	figure, op, value := m.Short, ">", map[string]string{
		metric.Milliseconds: "200ms", Share: "95%", metric.RequestRate: "40/s", metric.TokenRate: "1000 tokens/s", metric.UserRate: "20/s",
		metric.TokenCount: "100", metric.PerMegatoken: "$2.10", metric.Watts: "700W", load: "20/s",
	}[m.Unit]
	if m.Spread {
		figure += ".p99"
	}
	if m.Higher {
		op = "<"
	}
	if m.ID == "error_rate" {
		value = "1%"
	}
	text := figure + " " + op + " " + value
	if _, err := Parse(text); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	return text
}
