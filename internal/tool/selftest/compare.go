package selftest

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/result/build"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// ownMetrics are about this client alone, or the plan's objectives: a server knows nothing
// of them.
func ownMetrics() []string {
	return []string{"lag", "slot_wait", "dispatch_delay", "read_delay", "request_goodput", "slo_attainment", "cached_prompt_tokens", "stall_share", "longest_gap"}
}

// compare works the figures of a run out twice, from its own records and from what the mock
// says that it sent, and gives how far they lie apart.
func compare(p *plan.Plan, res *result.Result, truth []truthfile.Request) (*record.Calibration, error) {
	join, err := newJoin(p, truth)
	if err != nil {
		return nil, err
	}
	defer join.fold.Close()
	if err := join.read(rundir.Records(p)); err != nil {
		return nil, err
	}
	is, err := build.Stage(p, join.marks, 0, join.fold)
	if err != nil {
		return nil, err
	}
	said := &res.Stages[0]
	held := result.HeldBy(said)
	c := &record.Calibration{
		Load: said.Load, Verdict: res.Verdict.Status, Requests: said.Counts.OK, Lost: join.lost,
		Rate: held.Rate, InFlight: held.InFlight, Events: held.Events,
	}
	for _, d := range metric.Defs() {
		if slices.Contains(ownMetrics(), d.ID) {
			continue
		}
		if b, ok := bar(&d, said.Metrics, is.Metrics); ok {
			c.Bars = append(c.Bars, b)
		}
	}
	return c, nil
}

// bar is how far one metric is off: the most of its average and of the percentiles that
// have enough samples.
func bar(d *metric.Def, said, is map[string]result.Stat) (record.Bar, bool) {
	s, ok := said[d.ID]
	t, known := is[d.ID]
	if !ok || !known {
		return record.Bar{}, false
	}
	b := record.Bar{Metric: d.ID, Name: d.Name, Unit: d.Unit, Samples: s.Count, True: t.Avg, Avg: s.Avg - t.Avg}
	b.Stated, b.StatedP99 = s.Off("avg"), s.Off("p99")
	b.Error = math.Abs(b.Avg)
	if s.Distribution == nil || t.Distribution == nil {
		return b, true
	}
	b.P50, b.P90, b.P99 = s.P50-t.P50, s.P90-t.P90, s.P99-t.P99
	for _, q := range []struct {
		name string
		off  float64
	}{{"p50", b.P50}, {"p90", b.P90}, {"p99", b.P99}} {
		if !slices.Contains(s.LowSamples, q.name) {
			b.Error = max(b.Error, math.Abs(q.off))
		}
	}
	b.StatedP99 = max(b.Stated, b.StatedP99)
	return b, true
}

// join reads the records of a run and makes others of them, as they would be if this side
// were perfect: what the mock wrote, when it wrote it.
type join struct {
	truth map[int64]*truthfile.Request
	start int64 // moment of offset 0
	fold  *metric.Aggregator
	marks []record.StageSummary
	lost  int64 // answers that are not what the mock sent
}

func newJoin(p *plan.Plan, truth []truthfile.Request) (*join, error) {
	fold, err := metric.NewFold(metric.OptionsFor(p))
	if err != nil {
		return nil, err
	}
	j := &join{truth: make(map[int64]*truthfile.Request, len(truth)), fold: fold}
	for i := range truth {
		t := &truth[i]
		if seq, err := strconv.ParseInt(t.ID[strings.LastIndexByte(t.ID, '-')+1:], 10, 64); err == nil {
			j.truth[seq] = t
		}
	}
	return j, nil
}

func (j *join) read(records record.File) error {
	whole, err := records.Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			j.start = l.Header.Start.UnixNano()
		case l.Stage != nil:
			j.marks = append(j.marks, *l.Stage)
		case l.Request != nil:
			j.add(l.Request)
		}
		return nil
	})
	if err == nil && !whole {
		err = fmt.Errorf("%s: %w", records.Path, record.ErrTruncated)
	}
	return err
}

// add takes a record as it would be without this client's delays. One that failed, or whose
// answer is not what was sent, stays as it is.
func (j *join) add(rec *record.Record) {
	t, ok := j.truth[rec.Seq]
	if !ok || rec.Failure != nil || len(t.Events) != len(rec.Events) || rec.Out.N != t.Tokens {
		if rec.Phase == record.Measured && rec.Failure == nil {
			j.lost++
		}
		j.fold.Add(rec)
		return
	}
	real := *rec
	// The request was with the server when it had read its head, and at the latest when
	// write(2) had returned here: from then on it is the server that is late.
	real.Sent = min(j.offset(t.Read), rec.Written)
	real.Marks, real.Events = make([]record.Read, len(t.Events)), slices.Clone(rec.Events)
	bytes := 0
	for i, e := range t.Events {
		bytes += e.Bytes
		at := j.offset(e.At)
		real.Marks[i] = record.Read{Off: bytes, Kernel: at, User: at}
		real.Events[i].Mark, real.Events[i].Merged = i, false
		real.End = at
	}
	j.fold.Add(&real)
}

func (j *join) offset(at int64) time.Duration { return time.Duration(at - j.start) }
