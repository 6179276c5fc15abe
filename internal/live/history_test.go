package live

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// A history has a bin for each second at first, and never more than it may have: wider ones
// then, that have counted the same.
func TestHistory(t *testing.T) {
	c, h := newFake(t), NewHistory(8)
	for i := range 100 {
		c.At = time.Duration(i) * 250 * ms
		c.add(0, record.Measured, time.Duration(i+1)*ms)
		if i%10 == 0 {
			c.add(0, record.Measured, 0)
		}
		c.InFlight = int64(i)
		h.Add(&c.Progress)
		if i == 12 && len(h.Bins()) != 3 {
			t.Errorf("%d bins after 3 s", len(h.Bins()))
		}
	}
	bins := h.Bins()
	if len(bins) >= 8 {
		t.Errorf("%d bins, of at most 8", len(bins))
	}
	var ended, failed, samples int64
	for i := range bins {
		if i > 0 && bins[i].From != bins[i-1].To {
			t.Errorf("bin %d begins at %v, the one before ends at %v", i, bins[i].From, bins[i-1].To)
		}
		ended, failed, samples = ended+bins[i].Ended, failed+bins[i].Failed, samples+bins[i].TTFT.Count()
	}
	last := bins[len(bins)-1]
	through := int64(last.To/(250*ms)) + 1
	if ok := ended - failed; ok != through || samples != through {
		t.Errorf("%d ok and %d samples until %v, want %d", ok, samples, last.To, through)
	}
	if last.InFlight != through-1 {
		t.Errorf("%d in flight at the end", last.InFlight)
	}
	if rate := last.Rate(last.Ended - last.Failed); rate < 3.9 || rate > 4.1 {
		t.Errorf("%v requests a second", rate)
	}
}
