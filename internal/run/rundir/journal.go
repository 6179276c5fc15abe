package rundir

import (
	"sync"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
)

// Journal takes down what a run finds out besides its requests, for its result and its record file.
type Journal struct {
	plan   *plan.Plan
	Writer *Writer // nil means nothing is kept
	worker int     // whose journal it is, from 1; 0: the run's own
	Facts  build.Inputs

	several sync.Mutex // of what many goroutines note: sessions, the health of workers, readings of GPUs
}

// NewJournal makes that of a run that knows some facts ahead.
func NewJournal(p *plan.Plan, out *Writer, facts build.Inputs) *Journal {
	return &Journal{plan: p, Writer: out, Facts: facts}
}

// NewWorkerJournal makes that of a worker, from 1, which writes its records itself.
func NewWorkerJournal(p *plan.Plan, w *record.Writer, worker int) *Journal {
	return &Journal{plan: p, Writer: &Writer{writer: w}, worker: worker}
}

// AddWorkers notes who sends.
func (l *Journal) AddWorkers(list []record.WorkerInfo) {
	l.Facts.Header.Workers = list
	keep(l, (*record.Writer).Workers, list)
}

func keep[T any](l *Journal, write func(*record.Writer, T) error, line T) {
	if l.Writer != nil {
		l.Writer.AddError(write(l.Writer.writer, line))
	}
}

// AddStage notes how a stage went.
func (l *Journal) AddStage(mark record.StageSummary) {
	l.Facts.Stages = append(l.Facts.Stages, mark)
	l.Facts.Interrupted = l.Facts.Interrupted || mark.Early()
	keep(l, (*record.Writer).Stage, mark)
}

// AddEdge notes an edge of a window. The result has the windows themselves.
func (l *Journal) AddEdge(e record.Edge) { keep(l, (*record.Writer).Edge, e) }

// AddHealth notes the client's own condition.
func (l *Journal) AddHealth(h record.Health) {
	h.Worker = l.worker
	l.AddWorkerHealth(h)
	keep(l, (*record.Writer).Health, h)
}

// AddWorkerHealth notes the condition of a worker, whose record it is in.
func (l *Journal) AddWorkerHealth(h record.Health) {
	l.several.Lock()
	defer l.several.Unlock()
	l.Facts.Health = append(l.Facts.Health, h)
}

// AddProbe notes what servers say of themselves.
func (l *Journal) AddProbe(p record.Probe) {
	keep(l, (*record.Writer).Probe, p)
	l.several.Lock()
	defer l.several.Unlock()
	l.Facts.AddProbe(l.plan, p)
}

// AddFigures notes what a Prometheus server has.
func (l *Journal) AddFigures(f record.Figures) {
	keep(l, (*record.Writer).Figures, f)
	l.Facts.AddFigures(l.plan, f)
}

// AddPower notes what was read of the power of GPUs.
func (l *Journal) AddPower(p record.Power) {
	keep(l, (*record.Writer).Power, p)
	l.several.Lock()
	defer l.several.Unlock()
	l.Facts.AddPower(l.plan, &p)
}

// AddSession notes how a recorded session was played, concurrently. The collector writes it down.
func (l *Journal) AddSession(m record.SessionSummary) {
	l.several.Lock()
	defer l.several.Unlock()
	l.Facts.AddSession(&m)
}
