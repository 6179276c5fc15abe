//go:build unix

package power

import (
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// All GPUs have been read since the reading of the one that was read longest ago.
func TestLatestReading(t *testing.T) {
	m := &Process{seen: map[string]time.Duration{}, news: make(chan struct{})}
	p := &readingBuffer{meter: m}
	for _, c := range []struct {
		gpu      string
		at, want time.Duration
	}{{"0", 5, 5}, {"1", 3, 3}, {"0", 9, 3}, {"1", 7, 7}, {"1", 12, 9}} {
		if p.add(record.GPUPower{Index: c.gpu}, c.at*time.Second, 100); m.latest != c.want*time.Second {
			t.Errorf("after GPU %s at %d s: %v, want %d s", c.gpu, c.at, m.latest, c.want)
		}
	}
	if p.readings != 5 || len(p.gpus) != 2 || len(p.gpus[1].At) != 3 {
		t.Errorf("%d readings: %+v", p.readings, p.gpus)
	}
}

// Of what the tool prints besides readings, the first lines are kept: they say why there are none.
func TestComplaints(t *testing.T) {
	p := &readingBuffer{meter: &Process{opt: Options{Now: func() time.Duration { return 0 }}}, complaints: new(head)}
	p.read(strings.NewReader("one\ntwo\nthree\nfour\n"))
	if got := p.complaints.String(); !strings.Contains(got, "three") || strings.Contains(got, "four") || p.given != nil {
		t.Errorf("kept %q, given up: %v", got, p.given)
	}
}
