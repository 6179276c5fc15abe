package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
)

// pageData is what a test looks at in the data of a page.
type pageData struct {
	Result struct {
		Stages []struct {
			Counts  struct{ Sent, OK int64 }
			Metrics map[string]struct {
				Avg float64
				P99 float64
			}
		}
	}
	Stages   []struct{ Begin, End float64 }
	Series   []struct{ Name string }
	Requests struct{ Count, Kept int64 }
	Plan     string
}

// dataOf are the data of a page.
func dataOf(t *testing.T, page string) (d pageData) {
	t.Helper()
	_, text, found := strings.Cut(page, `<script type="application/json" id="document">`)
	text, _, ended := strings.Cut(text, "</script>")
	if !found || !ended {
		t.Fatalf("no data in a page of %d bytes", len(page))
	}
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// Every kind of run has a page, with the figures of its result.
func TestReportPage(t *testing.T) {
	for _, k := range keptRuns() {
		t.Run(k.name, func(t *testing.T) {
			dir := t.TempDir()
			k.make(t, dir)
			res, err := saved.Report(dir)
			if err != nil {
				t.Fatal(err)
			}
			from := dir
			if k.source != nil {
				from = k.source(t, dir)
			}
			code, page, errs := here(t, "report", from, "--format", "html")
			if code == tool.ExitUsage || errs != "" {
				t.Fatalf("exit %d: %s", code, errs)
			}
			d := dataOf(t, page)
			if len(d.Result.Stages) != len(res.Stages) || len(d.Stages) != len(res.Stages) {
				t.Fatalf("%d stages, %d drawn, want %d", len(d.Result.Stages), len(d.Stages), len(res.Stages))
			}
			if d.Requests.Count == 0 || d.Requests.Kept != d.Requests.Count || len(d.Series) < 4 {
				t.Errorf("%d of %d requests, %d series", d.Requests.Kept, d.Requests.Count, len(d.Series))
			}
			for i, s := range d.Result.Stages {
				if k.source == nil && (s.Counts.OK != res.Stages[i].Counts.OK || s.Metrics["request_latency"].Avg != res.Stages[i].Metrics["request_latency"].Avg) {
					t.Errorf("stage %d: %+v, want %+v", i, s.Counts, res.Stages[i].Counts)
				}
				if d.Stages[i].End <= d.Stages[i].Begin {
					t.Errorf("stage %d goes from %v to %v", i, d.Stages[i].Begin, d.Stages[i].End)
				}
			}
			if (d.Plan == "") == (k.source == nil) {
				t.Errorf("the plan to run it again is %q", d.Plan)
			}
		})
	}
}

// A page goes to a file too, which is never half a page, and says where it cannot.
func TestReportPageFile(t *testing.T) {
	dir := t.TempDir()
	(&kept{}).make(t, dir)
	name := filepath.Join(t.TempDir(), "page.html")
	code, screen, errs := here(t, "report", dir, "--html", name)
	if code != tool.ExitOK || errs != "" || !strings.Contains(screen, "Time to first token") {
		t.Errorf("exit %d: %s%s", code, screen, errs)
	}
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if dataOf(t, string(text)).Requests.Count != requestsEach {
		t.Error("requests are missing")
	}
	for place, says := range map[string]string{dir: "is a directory", filepath.Join(dir, "no", "page.html"): "there is no directory"} {
		if code, _, errs := here(t, "report", dir, "--html", place); code != tool.ExitUsage || !strings.Contains(errs, says) {
			t.Errorf("exit %d: %s", code, errs)
		}
	}
}
