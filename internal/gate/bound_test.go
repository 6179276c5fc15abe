package gate

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/result"
)

// TestLowerBounds: a figure that is known only to be at least something decides a gate where all
// that it can be does, and is otherwise missed as one that is not known.
func TestLowerBounds(t *testing.T) {
	res := levels()
	s := res.Stages[0].Metrics["time_to_first_token"]
	s.AtLeast = []string{"p99"} // at least 100 ms
	res.Stages[0].Metrics["time_to_first_token"] = s
	for text, want := range map[string]struct {
		known, holds bool
	}{
		"ttft.p99 > 90ms":   {true, true},
		"ttft.p99 >= 100ms": {true, true},
		"ttft.p99 > 100ms":  {},
		"ttft.p99 > 1s":     {},
		"ttft.p99 < 90ms":   {true, false},
		"ttft.p99 < 100ms":  {true, false},
		"ttft.p99 <= 100ms": {},
		"ttft.p99 < 1s":     {},
		"ci(ttft.p99) > 1%": {},
		"ttft.p50 > 1s":     {true, false},
	} {
		g, err := Parse("at stage 1: " + text)
		if err != nil {
			t.Fatal(err)
		}
		o := g.Judge(res)[0]
		if o.Known != want.known || o.Holds != want.holds {
			t.Errorf("%s: %+v, want %+v", text, o, want)
		}
		missed := JudgeAll([]*Gate{g}, &result.Result{Stages: res.Stages[:1]})[0]
		if !want.known && (!missed.Failed || !missed.Absent || !strings.Contains(missed.Why, "known only to be at least 100 ms: requests did not end")) {
			t.Errorf("%s: %+v", text, missed)
		}
	}
}
