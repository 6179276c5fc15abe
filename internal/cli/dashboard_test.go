package cli

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/prometheus"
)

// dashboard gives the queries of examples/grafana, with the variables filled in as Grafana does.
func dashboard(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile("../../examples/grafana/inferometer.json")
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Panels []struct {
			Targets []struct{ Expr string }
		}
		Templating struct {
			List []struct{ Type, Query string }
		}
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	var queries []string
	for _, v := range d.Templating.List {
		if inner, ok := strings.CutPrefix(v.Query, "label_values("); ok && v.Type == "query" {
			queries = append(queries, inner[:strings.LastIndex(inner, ",")])
		}
	}
	for _, p := range d.Panels {
		for _, q := range p.Targets {
			queries = append(queries, q.Expr)
		}
	}
	fill := strings.NewReplacer("$run", ".*", "$stage", ".*", "$__rate_interval", "1m", "$__range", "1h")
	for i := range queries {
		queries[i] = fill.Replace(queries[i])
	}
	return queries
}

// The dashboard asks for nothing that the program does not export: on the page of --live, whose text
// internal/live keeps, or to a real Prometheus by remote-write, which also says that each query is one.
func dashboardFits(t *testing.T, server *prometheus.Server) {
	t.Helper()
	live, err := os.ReadFile("../live/testdata/metrics.txt")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range append(server.Names(t), regexp.MustCompile(`(?m)^inferometer_\w+`).FindAllString(string(live), -1)...) {
		known[name] = true
	}
	queries := dashboard(t)
	if len(queries) < 20 {
		t.Fatalf("%d queries", len(queries))
	}
	filled := 0
	for _, q := range queries {
		for _, name := range regexp.MustCompile(`inferometer_\w+`).FindAllString(q, -1) {
			if !known[name] {
				t.Errorf("nothing exports %s, which the dashboard asks for", name)
			}
		}
		series, err := server.Series(q)
		if err != nil {
			t.Errorf("%s: %v", q, err)
		}
		if series > 0 {
			filled++
		}
	}
	// Rates need two samples: of a run that is over at once, only some have any.
	if filled < 4 {
		t.Errorf("only %d of %d queries find anything", filled, len(queries))
	}
}
