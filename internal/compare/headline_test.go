package compare

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
)

func TestHeadline(t *testing.T) {
	known := func(verdict string) Row { return Row{Name: "Known", Stat: average, Verdict: verdict} }
	few := Row{Name: "Requests/s", Stat: average, Verdict: NotKnown, Why: fewRequests, Delta: &Difference{Relative: finite(0.37)}}
	small := Row{Name: "Small", Stat: "p99", Verdict: NotKnown, Why: fewRequests, Delta: &Difference{Relative: finite(0.01)}}
	missing := Row{Verdict: NotKnown, Why: notOnOther}
	for _, c := range []struct {
		name                  string
		rows                  []Row
		compared, found, firm int
		want                  string
	}{
		{"none", nil, 0, 0, 0, ""},
		{"all, no difference", []Row{known(NoneSeen), known(NoneSeen)}, 2, 0, 0, "2 figures compared: no difference found."},
		{"one", []Row{known(Worse)}, 1, 1, 1, "1 figure compared: 1 difference found, which stands with Holm's correction for so many comparisons."},
		{"two firm", []Row{known(Worse), known(Worse)}, 2, 2, 2, "2 figures compared: 2 differences found, which stand with Holm's correction for so many comparisons."},
		{"chance", []Row{known(Worse)}, 1, 1, 0, "1 figure compared: 1 difference found, which may be chance, which alone finds 0.1 in so many comparisons: it does not stand with Holm's correction."},
		{"one of two", []Row{known(Worse), known(Worse)}, 2, 2, 1, "2 figures compared: 2 differences found, 1 of them firm. The one with a question mark may be chance, which alone finds 0.1 in so many comparisons: it does not stand with Holm's correction."},
		{"none of two", []Row{known(Worse), known(Worse)}, 2, 2, 0, "2 figures compared: 2 differences found, none of them firm. Those with a question mark may be chance, which alone finds 0.1 in so many comparisons: they do not stand with Holm's correction."},
		{"some not known", []Row{known(NoneSeen), few, small}, 1, 0, 0, "1 of 3 figures compared, 2 not known (too few requests): no difference found. The largest difference that is not known to be more than chance is that of Requests/s: +37 %."},
		{"a large one", []Row{{Name: "R", Stat: "p99", Verdict: NotKnown, Why: fewRequests, Delta: &Difference{Relative: finite(13.9)}}}, 0, 0, 0, "None of 1 figure compared, 1 not known (too few requests): whether differences are more than chance cannot be said. The largest difference that is not known to be more than chance is that of R p99: +1390 %."},
		{"for several reasons", []Row{known(NoneSeen), small, small, missing}, 1, 0, 0, "1 of 4 figures compared, 3 not known (2 too few requests, 1 measured on one side only): no difference found."},
		{"nothing known", []Row{small}, 0, 0, 0, "None of 1 figure compared, 1 not known (too few requests): whether differences are more than chance cannot be said."},
	} {
		table := Table{Rows: c.rows, Compared: c.compared, Found: c.found, Firm: c.firm, Unknown: len(c.rows) - c.compared}
		if got := table.headline(0.95, 0.05); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// Too few requests: the headline counts what they cannot tell.
func TestHeadlineOfShortRuns(t *testing.T) {
	dir := t.TempDir()
	c := compared(t, Options{}, made{seed: 1, requests: 30}.write(t, filepath.Join(dir, "a")), made{seed: 2, requests: 30}.write(t, filepath.Join(dir, "b")))
	table := &c.Loads[0].Tables[0]
	if table.Unknown == 0 || table.Compared+table.Unknown != len(table.Rows) || !strings.Contains(table.Headline, " not known (too few requests") {
		t.Errorf("%d compared, %d not known of %d: %s", table.Compared, table.Unknown, len(table.Rows), table.Headline)
	}
}

// That loads differ stands ahead of everything else that speaks against a comparison.
func TestOtherLoadsAreFirst(t *testing.T) {
	dir := t.TempDir()
	a := made{seed: 1}.write(t, filepath.Join(dir, "a"))
	b := made{seed: 1, edit: func(p *plan.Plan) { p.Stages[0].Concurrency = 2 }}.write(t, filepath.Join(dir, "b"))
	if c := compared(t, Options{}, a, b); c.SameLoads() || len(c.Doubts) < 2 || !strings.HasPrefix(c.Doubts[0], "The loads differ: 1 in flight on a, 2 in flight on b.") {
		t.Errorf("doubts: %q", c.Doubts)
	}
	if c := compared(t, Options{}, a, a); !c.SameLoads() || strings.Contains(c.Doubts[0], "loads") {
		t.Errorf("doubts: %q", c.Doubts)
	}
}

// A difference is held against the error bars of its own statistic, on the side where they matter.
func TestErrorBarsOfTheStatistic(t *testing.T) {
	level := func(value float64, bars map[string]result.ErrorBar) *opened {
		values := map[string]float64{average: value, "p90": value}
		return &opened{side: &Side{Runs: []Run{{Levels: []MeasuredLoad{{Metrics: map[string]Stats{"request_latency": {Unit: "ms", Values: values, Error: bars}}}}}}}}
	}
	for _, c := range []struct {
		name string
		a, b map[string]result.ErrorBar // of figures of 100 and 110 ms
		stat string
		want string
	}{
		{"none known", nil, nil, "p90", Worse},
		{"too small", map[string]result.ErrorBar{"p90": {Lo: 98, Hi: 103}}, map[string]result.ErrorBar{"p90": {Lo: 106, Hi: 111}}, "p90", Worse},
		{"they overlap", map[string]result.ErrorBar{"p90": {Lo: 98, Hi: 105}}, map[string]result.ErrorBar{"p90": {Lo: 104, Hi: 111}}, "p90", NoneSeen},
		{"on the other side", map[string]result.ErrorBar{"p90": {Lo: 50, Hi: 101}}, map[string]result.ErrorBar{"p90": {Lo: 109, Hi: 200}}, "p90", Worse},
		{"of the average", map[string]result.ErrorBar{average: {Lo: 90, Hi: 120}}, map[string]result.ErrorBar{average: {Lo: 90, Hi: 120}}, "p90", Worse},
		{"of the 99th", map[string]result.ErrorBar{"p99": {Lo: 90, Hi: 120}}, map[string]result.ErrorBar{"p99": {Lo: 90, Hi: 120}}, "p90", Worse},
		{"the average's own", map[string]result.ErrorBar{average: {Lo: 90, Hi: 120}}, nil, average, NoneSeen},
	} {
		p := &pair{first: level(100, c.a), other: level(110, c.b), a: []int{0}, b: []int{0}}
		r := Row{Unit: "ms", Verdict: Worse, Delta: &Difference{Value: 10}}
		if r.doubt(p, figure{"request_latency", c.stat}); r.Verdict != c.want || r.Client != (c.want == NoneSeen) || r.Client != (r.Why != "") {
			t.Errorf("%s: %s, %v, %q", c.name, r.Verdict, r.Client, r.Why)
		}
	}
}
