package run

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// TestRawIsCutAtItsLimit: of a response that is kept, what goes beyond the limit is left out;
// the report says so, and no figure changes by it.
func TestRawIsCutAtItsLimit(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 2, 20)
	p.Output.KeepRaw, p.Limits.Raw = true, 100
	p.Data.Output = plan.Length{Dist: plan.DistFixed, Mean: 16}
	res := mustRun(t, p)
	if notes := strings.Join(res.Notes, "\n"); !strings.Contains(notes, "beyond limits.raw") {
		t.Errorf("notes:\n%s", notes)
	}
	if st := res.Stages[0]; st.Counts.OK != 20 || st.Metrics["output_sequence_length"].Avg != 16 {
		t.Errorf("%d answers of %v tokens", st.Counts.OK, st.Metrics["output_sequence_length"].Avg)
	}
	for _, rec := range readKept(t, p.Output.Dir).recs {
		if len(rec.Body) > 100 || rec.Cut == 0 {
			t.Errorf("request %d: %d bytes are kept, %d left out", rec.Seq, len(rec.Body), rec.Cut)
		}
	}
}

// A run that keeps no texts has the figures of any other, and so has its report.
func TestNoTexts(t *testing.T) {
	p := closedPlan(t, serve(t, nil).url, 2, 6)
	p.Output.NoTexts = true
	res := mustRun(t, p)
	for _, rec := range readKept(t, p.Output.Dir).recs {
		if len(rec.Text) > 0 || rec.Out.N != 8 || len(rec.Events) < 8 || rec.Events[1].Text != 0 {
			t.Errorf("%q, %+v, %d events", rec.Text, rec.Out, len(rec.Events))
		}
	}
	again, err := saved.Report(p.Output.Dir)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := asJSON(t, res), asJSON(t, again); want != got {
		t.Errorf("the report differs: %s\n%s", want, got)
	}
	info, err := os.Stat(filepath.Join(p.Output.Dir, rundir.RecordsFile))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 && runtime.GOOS != "windows" {
		t.Errorf("the record file has mode %o", mode)
	}
}
