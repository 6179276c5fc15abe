package plan_test

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestLevelsDoNotDrift(t *testing.T) {
	l := plan.Levels{Start: 0.1, Step: 0.1, End: 10}
	for i, want := range map[int64]float64{0: 0.1, 2: 0.3, 6: 0.7, 99: 10} {
		if got := l.Value(i); got != want {
			t.Errorf("level %d is %v, want %v", i, got, want)
		}
	}
}

func TestStageAtALevel(t *testing.T) {
	if s := (plan.Stage{Concurrency: 1}).AtLevel(7); s.Concurrency != 7 || s.Rate != 0 || s.Level() != 7 {
		t.Errorf("got %+v", s)
	}
	if s := (plan.Stage{Rate: 1}).AtLevel(7.5); s.Concurrency != 0 || s.Rate != 7.5 || s.Level() != 7.5 {
		t.Errorf("got %+v", s)
	}
}

func TestFaithfulWindowsAreLonger(t *testing.T) {
	m := plan.DefaultMeasurement()
	if m.Window() != 5*time.Second {
		t.Errorf("a window lasts %v", m.Window())
	}
	m.Faithful = true
	if m.Window() != 6*time.Second {
		t.Errorf("a faithful window lasts %v", m.Window())
	}
}
