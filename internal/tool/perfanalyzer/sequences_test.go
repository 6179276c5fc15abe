package perfanalyzer

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
)

// A server may hold a sequence back until another has ended. Requests that wait for their turn in
// such a one must not take the threads that the other needs to end.
func TestThreadsOfSequences(t *testing.T) {
	for _, c := range []struct {
		threads, sequences int
		sync, serial       bool
		want               int
	}{
		{4, 4, true, true, 0}, {8, 4, true, true, 0}, {2, 4, true, true, 2}, {4, 4, false, true, 0}, {4, 4, false, false, 0},
	} {
		p := &plan.Plan{Stages: []plan.Stage{{MaxInFlight: c.threads}}}
		p.Data.Tensors.Sequences = plan.Sequences{Live: c.sequences, Serial: c.serial}
		j := job{action: &args.Action{Sync: c.sync}, plan: p}
		j.sequences()
		if got := p.Stages[0].MaxInFlight; got != c.want {
			t.Errorf("%+v: at most %d in flight", c, got)
		}
	}
}
