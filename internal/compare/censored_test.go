package compare

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/record"
)

// TestRequestsThatDidNotEnd: a figure that is a lower bound on a side is not compared, and one whose
// interval misses those requests is not believed.
func TestRequestsThatDidNotEnd(t *testing.T) {
	dir := t.TempDir()
	hang := func(every int64, age time.Duration) func(*record.Record) {
		return func(r *record.Record) {
			if r.Seq%every == 0 {
				r.Marks, r.Events, r.Text, r.Out = nil, nil, nil, record.Tokens{Local: -1}
				r.End = r.Sent + age
				r.Failure = &record.Failure{Class: record.CutOff, Message: "drain timeout exceeded", At: r.End}
			}
		}
	}
	a := made{seed: 1}.write(t, filepath.Join(dir, "a"))
	b := made{seed: 2, change: hang(12, 30*time.Second)}.write(t, filepath.Join(dir, "b"))
	c := compared(t, Options{}, a, b)
	for _, stat := range []string{"avg", "p99"} {
		if r := only(t, c, "time_to_first_token", stat); r.Verdict != NotKnown || r.A.AtLeast || !r.B.AtLeast || !strings.Contains(r.Why, "at least that on the other side") {
			t.Errorf("%s: %+v", stat, r)
		}
	}
	if r := only(t, c, "time_to_first_token", "p50"); r.Verdict == NotKnown || r.B.AtLeast {
		t.Errorf("p50: %+v", r)
	}
	sides, err := Open([]string{a, b}, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"ttft.avg > 1s": false, "ttft.avg > 10s": true, "ttft.p50 > 1s": false} { // whether it is not known
		g, err := gate.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if o := c.JudgeGates(sides, []*gate.Gate{g})[0]; o.Absent != want || o.Failed == strings.HasPrefix(text, "ttft.p50") {
			t.Errorf("%s: %+v", text, o)
		}
	}
	// Half of the requests are cut off before most others of them end: the estimate knows more than
	// those that ended.
	early := made{seed: 2, change: func(r *record.Record) {
		switch r.Seq % 4 {
		case 0:
			hang(1, 200*time.Millisecond)(r)
		case 1:
			shift := 400 * time.Millisecond
			for i := range r.Marks {
				r.Marks[i].Kernel, r.Marks[i].User = r.Marks[i].Kernel+shift, r.Marks[i].User+shift
			}
			r.End += shift
		}
	}}.write(t, filepath.Join(dir, "early"))
	r := only(t, compared(t, Options{}, a, early), "time_to_first_token", "avg")
	if r.Verdict != NotKnown || r.B.AtLeast || r.Delta == nil || r.Delta.Interval != nil || !strings.Contains(r.Why, "requests did not end") {
		t.Errorf("%+v, %+v", r, r.Delta)
	}
}
