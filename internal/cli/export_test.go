package cli

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	jsonreport "github.com/inferometer/inferometer/internal/report/jsonreport"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/testkit/schema"
	"github.com/inferometer/inferometer/internal/tool"
)

// Every kind of run has a result that its schema allows, and an export with the figures of it.
func TestExportOfEveryKindOfRun(t *testing.T) {
	published := schema.New(result.JSONSchema())
	for _, k := range keptRuns() {
		t.Run(k.name, func(t *testing.T) {
			dir := t.TempDir()
			k.make(t, dir)
			res, err := saved.Report(dir)
			if err != nil {
				t.Fatal(err)
			}
			var document bytes.Buffer
			if err := jsonreport.Write(&document, res); err != nil {
				t.Fatal(err)
			}
			if err := published.Check(t, document.Bytes()); err != nil {
				t.Errorf("the result does not fit its schema: %v", err)
			}
			if k.source != nil {
				dir = k.source(t, dir)
			}
			code, out, errs := here(t, "export", dir, "--format", "jsonl", "--out", "-")
			if code != tool.ExitOK {
				t.Fatalf("exit %d\n%s", code, errs)
			}
			got := latencies(t, out)
			for i := range res.Stages {
				s := &res.Stages[i]
				// What other tools write cuts times to microseconds.
				if g := got[i]; g.count != s.Counts.OK || g.count > 0 && math.Abs(g.avg/float64(g.count)-s.Metrics["request_latency"].Avg) > 0.002 {
					t.Errorf("stage %d: %+v, the result has %d and %v", i, g, s.Counts.OK, s.Metrics["request_latency"].Avg)
				}
			}
		})
	}
}

// latencies are the requests of each stage that succeeded, with the sum of their latencies.
func latencies(t *testing.T, lines string) map[int]figures {
	t.Helper()
	all := map[int]figures{}
	for line := range strings.Lines(lines) {
		var row struct {
			Stage   int
			Phase   string
			Status  string
			Latency *float64 `json:"request_latency_ms"`
		}
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatal(err)
		}
		if row.Phase != "measured" || row.Status != "ok" {
			continue
		}
		f := all[row.Stage]
		f.count++
		f.avg += *row.Latency
		all[row.Stage] = f
	}
	return all
}
