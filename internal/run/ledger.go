package run

import (
	"sync"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// journal takes down what a run comes to know besides its requests: for its result, and in
// its record file where there is one.
type journal struct {
	plan   *plan.Plan
	out    *output // nil: nothing is kept
	worker int     // whose ledger it is, from 1; 0: the run's own
	facts  result.Inputs

	several sync.Mutex // of what many goroutines note: sessions, the health of workers, readings of GPUs
}

// workers notes who sends.
func (l *journal) workers(list []record.WorkerInfo) {
	l.facts.Header.Workers = list
	keep(l, (*record.Writer).Workers, list)
}

// keep writes a line to the record file.
func keep[T any](l *journal, write func(*record.Writer, T) error, line T) {
	if l.out != nil {
		l.out.addError(write(l.out.writer, line))
	}
}

// stage notes how a stage went.
func (l *journal) stage(mark record.StageSummary) {
	l.facts.Stages = append(l.facts.Stages, mark)
	l.facts.Interrupted = l.facts.Interrupted || mark.Early()
	keep(l, (*record.Writer).Stage, mark)
}

// edge notes an edge of a window. The result has the windows themselves.
func (l *journal) edge(e record.Edge) { keep(l, (*record.Writer).Edge, e) }

// health notes the client's own condition.
func (l *journal) health(h record.Health) {
	h.Worker = l.worker
	l.workerHealth(h)
	keep(l, (*record.Writer).Health, h)
}

// workerHealth notes the condition of a worker, whose record it is in.
func (l *journal) workerHealth(h record.Health) {
	l.several.Lock()
	defer l.several.Unlock()
	l.facts.Health = append(l.facts.Health, h)
}

// probe notes what servers say of themselves.
func (l *journal) probe(p record.Probe) {
	keep(l, (*record.Writer).Probe, p)
	l.several.Lock()
	defer l.several.Unlock()
	l.facts.AddProbe(l.plan, p)
}

// figures notes what a Prometheus server has.
func (l *journal) figures(f record.Figures) {
	keep(l, (*record.Writer).Figures, f)
	l.facts.AddFigures(l.plan, f)
}

// power notes what was read of the power of GPUs.
func (l *journal) power(p record.Power) {
	keep(l, (*record.Writer).Power, p)
	l.several.Lock()
	defer l.several.Unlock()
	l.facts.AddPower(l.plan, &p)
}

// session notes how a recorded session was played, for many at once. The collector writes
// it to the record file.
func (l *journal) session(m record.SessionSummary) {
	l.several.Lock()
	defer l.several.Unlock()
	l.facts.AddSession(&m)
}
