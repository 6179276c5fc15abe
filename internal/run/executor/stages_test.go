package executor

import (
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/search"
)

// looker looks at the run whenever something is said of it, as one who shows both does.
type looker struct {
	t     *testing.T
	queue *Queue
	said  int
}

func (l *looker) Write(text []byte) (int, error) {
	l.said++
	if !l.queue.mu.TryLock() {
		l.t.Errorf("who shows %q waits for the queue, and the queue for it", text)
		return len(text), nil
	}
	l.queue.mu.Unlock()
	return len(text), nil
}

// A search says what it does. Who shows that may be about to look at the run, and both would wait
// for each other for ever if the queue were locked meanwhile.
func TestSearchSpeaksWhileOthersLook(t *testing.T) {
	p := plan.Default()
	p.Stages = []plan.Stage{{Rate: 1, Arrival: plan.ArrivalPoisson}}
	p.Capacity = plan.DefaultCapacity()
	p.Capacity.Objectives = []string{"ttft.p90 < 1s"}
	l := &looker{t: t}
	found, err := search.NewCapacity(&p, func() time.Duration { return 0 }, nil, l)
	if err != nil {
		t.Fatal(err)
	}
	q := NewQueue(&p, found)
	l.queue = q
	if i, s, ok := q.next(); !ok || i != 0 || s.Rate != 1 {
		t.Errorf("the first level is %d, %+v, %v", i, s, ok)
	}
	if l.said == 0 {
		t.Error("the search said nothing")
	}
	if n := len(q.Stages()); n != 1 || q.Current() != 0 {
		t.Errorf("%d stages, number %d is under way", n, q.Current())
	}
}

// Levels of a list are known before they begin, so that one can say how far a run is.
func TestLevelsToCome(t *testing.T) {
	p := plan.Default()
	p.Stages = []plan.Stage{{Concurrency: 1, Requests: 1}}
	p.Levels = plan.Levels{List: []float64{1, 4, 8}}
	q := NewQueue(&p, nil)
	for begun := range 4 {
		if begun > 0 {
			q.next()
		}
		if n := len(q.Stages()) + len(q.Coming()); n != 3 {
			t.Errorf("with %d begun, %d levels of 3", begun, n)
		}
	}
	if last := q.Stages()[2]; last.Concurrency != 8 {
		t.Errorf("the last is %+v", last)
	}
}
