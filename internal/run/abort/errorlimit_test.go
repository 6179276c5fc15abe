package abort

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// A run with too many failures is stopped at the request that makes them too many. What this side cut off
// is no failure.
func TestErrorLimit(t *testing.T) {
	const ok, failed, cut, cancelled = record.Class(""), record.HTTPStatus, record.CutOff, record.Cancelled
	each := func(classes ...record.Class) func(i int) record.Class {
		return func(i int) record.Class { return classes[i%len(classes)] }
	}
	for _, c := range []struct {
		name string
		most plan.MaxErrors
		ends func(i int) record.Class
		want int // requests until the run is stopped; 0: it is not
	}{
		{"none fails", plan.MaxErrors{Count: 1, Share: 0.01}, each(ok), 0},
		{"the first failure", plan.MaxErrors{Count: 1}, each(ok, ok, failed), 3},
		{"the third failure", plan.MaxErrors{Count: 3}, each(ok, failed), 6},
		{"cut off and cancelled", plan.MaxErrors{Count: 1, Share: 0.01}, each(cut, cancelled), 0},
		{"all fail, and no limit", plan.MaxErrors{}, each(failed), 0},
		{"all fail", plan.MaxErrors{Share: 0.5}, each(failed), fewestEnded},
		{"more than a third, from the first request on", plan.MaxErrors{Share: 0.3}, each(failed, ok, ok), 22},
		{"as many as are allowed", plan.MaxErrors{Share: 0.5}, each(ok, failed), 0},
		{"one more than are allowed", plan.MaxErrors{Share: 0.5}, each(failed, ok), 21},
		{"either limit will do", plan.MaxErrors{Count: 30, Share: 0.4}, each(failed, ok), 21},
	} {
		stop, stopped := NewStopper(), 0
		limit := NewErrorLimit(c.most, stop)
		for i := range 100 {
			if limit.Count(c.ends(i)); len(stop) > 0 {
				stopped = i + 1
				break
			}
		}
		if stopped != c.want {
			t.Errorf("%s: stopped at request %d, want %d", c.name, stopped, c.want)
		}
		if stopped > 0 {
			if reason := <-stop; reason != record.StopErrors {
				t.Errorf("%s: stopped because of %q", c.name, reason)
			}
		}
	}
}
