package cluster

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// hangs is how long a simulation may take, in its own time: runs, their waits for workers and all faults are far shorter.
const hangs = 5 * time.Minute

// play runs a scenario until all of its processes have ended.
func play(t *testing.T, s scenario) *world {
	w := &world{t: t, net: newNATS(s.weather), saw: map[request][]sent{}}
	w.took = func(seq int64) time.Duration {
		return time.Millisecond + s.slowest*time.Duration(uint64(seq)*0x9e3779b97f4a7c15>>40)/(1<<24)
	}
	var all sync.WaitGroup
	for i := range s.runs {
		p, err := s.decode()
		if err != nil {
			t.Fatal(err)
		}
		id, name := fmt.Sprint("run", i), func(who any) string { return fmt.Sprintf("r%d-%v", i, who) }
		c := w.spawn(name("c"), i, 0)
		all.Go(func() { w.coordinate(c, id, p, s.workers) })
		for n := range s.workers {
			worker := w.spawn(name(n), i, s.drifts[i*s.workers+n])
			all.Go(func() { w.work(worker, id) })
		}
	}
	for _, f := range s.faults {
		time.AfterFunc(f.at, func() { f.strike(w) })
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		close(done)
	}()
	select {
	case <-done:
	case <-time.After(hangs):
		stacks := make([]byte, 1<<20)
		for _, p := range w.procs {
			fmt.Printf("%s: ended %v, %v\n%s\n", p.name, !p.ended.IsZero(), p.err, &p.log)
		}
		panic(fmt.Sprintf("hung: INFEROMETER_SEEDS=%[1]d-%[1]d shows it again: %[2]v\n%[3]s", s.seed, s, stacks[:runtime.Stack(stacks, true)]))
	}
	time.Sleep(time.Minute) // what is late comes by then
	return w
}

// judge looks at one run of a simulation.
type judge struct {
	t           *testing.T
	s           scenario
	w           *world
	run         int
	coordinator *process
	workers     []*process
}

func (j *judge) judge() {
	j.sends()
	j.records()
	j.report()
}

// sends checks that each request was sent once, and none after the end.
func (j *judge) sends() {
	for r, list := range j.w.saw {
		if r.run != j.run {
			continue
		}
		if len(list) > 1 {
			j.t.Errorf("request %d of run %d was sent %d times: %v", r.seq, r.run, len(list), list)
		}
		end := j.coordinator.ended
		if j.coordinator.killed {
			end = j.killed().Add(leaseFor + time.Millisecond)
		}
		if at := list[0].at; at.After(end) {
			j.t.Errorf("request %d of run %d was sent by %s %v after the end", r.seq, r.run, list[0].worker, at.Sub(end))
		}
	}
}

// hurried reports whether the user asked for the end twice: who does not wait does not know.
func (j *judge) hurried() bool { return j.coordinator.ctx.Err() != nil }

// killed is when the coordinator was.
func (j *judge) killed() time.Time {
	for _, f := range j.s.faults {
		if f.does == "kill" && f.who == -1 {
			return j.coordinator.born.Add(f.at)
		}
	}
	return j.coordinator.ended
}

// natsGone reports whether it is for NATS alone that workers were given up.
func (j *judge) natsGone() bool {
	return len(j.s.faults) == 1 && j.s.faults[0].does == "nats kill" && strings.Contains(j.coordinator.log.String(), "is given up")
}

// records checks that the coordinator has a record of each request, but for what workers had not shipped that are lost.
func (j *judge) records() {
	have := map[int64]int{}
	clocks := j.clocks()
	err := j.file().Requests(func(rec *record.Record) error {
		if have[rec.Seq]++; have[rec.Seq] > 1 {
			j.t.Errorf("request %d is recorded twice", rec.Seq)
		}
		switch saw := j.w.saw[request{j.run, rec.Seq}]; {
		case rec.Sent == record.Never:
		case saw == nil:
			j.t.Errorf("request %d is recorded and was not sent", rec.Seq)
		case clocks != nil:
			off := (saw[0].at.Sub(clocks.start) - rec.Sent).Abs()
			if bound := clocks.bounds[rec.Worker-1]; off > bound {
				j.t.Errorf("request %d was sent %v from where its record has it; the clock of worker %d is said to be right within %v", rec.Seq, off, rec.Worker, bound)
			}
		}
		return nil
	})
	if j.coordinator.killed {
		return
	}
	if err != nil && !errors.Is(err, record.ErrTruncated) && j.coordinator.prepped {
		j.t.Errorf("reading the records: %v", err)
	}
	lost, missing := j.lost(), map[string]bool{}
	for r, list := range j.w.saw {
		if r.run == j.run && have[r.seq] == 0 && !lost[list[0].worker] {
			j.t.Errorf("request %d, sent by %s at %v and over at %v, is not recorded, and the worker not lost", r.seq, list[0].worker,
				list[0].at.Sub(j.coordinator.born), list[0].ended.Sub(j.coordinator.born))
		}
		if r.run == j.run && have[r.seq] == 0 && j.coordinator.res != nil && !j.hurried() {
			missing[list[0].worker] = true
		}
	}
	for name := range missing {
		if text := fmt.Sprint(j.coordinator.res.Verdict, j.coordinator.err); !strings.Contains(text, name) {
			j.t.Errorf("requests of worker %s are missing, and the report does not name it: %s", name, text)
		}
	}
}

// file is the coordinator's record file.
func (j *judge) file() record.File {
	return record.File{Path: filepath.Join(j.coordinator.dir, rundir.RecordsFile)}
}

// clocks are how well those of the workers agreed with the run's, as the record file has it.
type clocks struct {
	start  time.Time
	bounds []time.Duration
}

// clocks reads them; nil: nobody was lost on the way, and said the last word on its clock.
func (j *judge) clocks() *clocks {
	c := &clocks{}
	var before []record.WorkerInfo
	_, err := j.file().Walk(func(l record.Line) error {
		switch {
		case l.Header != nil:
			c.start = l.Header.Start
		case l.Workers != nil:
			for i, w := range l.Workers.After(before) {
				if i == len(c.bounds) {
					c.bounds = append(c.bounds, 0)
				}
				c.bounds[i] = w.ClockBound
			}
			before = l.Workers.List
		}
		return nil
	})
	if err != nil || len(c.bounds) == 0 || len(j.lost()) > 0 || j.coordinator.killed {
		return nil
	}
	return c
}

// lost are the workers of which the report or the log says that records may be missing.
func (j *judge) lost() map[string]bool {
	lost := map[string]bool{}
	said := j.coordinator.log.String() + fmt.Sprint(j.coordinator.err)
	for _, p := range j.workers {
		if strings.Contains(said, "worker "+p.name+" was not heard") || strings.Contains(said, "the records of worker "+p.name) {
			lost[p.name] = true
		}
	}
	if j.hurried() {
		for _, p := range j.workers {
			lost[p.name] = true
		}
	}
	return lost
}

// report checks that a run that began has a result, which is not valid where requests are missing, and says who is.
func (j *judge) report() {
	c := j.coordinator
	if c.killed || !c.prepped {
		return
	}
	if c.res == nil {
		j.t.Errorf("the run began and has no result: %v", c.err)
		return
	}
	var ok int64
	gone := 0
	for _, st := range c.res.Stages {
		ok += st.Counts.OK + st.Counts.Warmup
	}
	text := fmt.Sprint(c.res.Verdict)
	for _, p := range j.workers {
		if strings.Contains(text, p.name+" at ") {
			gone++
		}
	}
	complete := j.s.planned > 0 && ok == j.s.planned
	if c.res.Verdict.Valid && (gone > 0 || j.s.planned > 0 && !complete) {
		j.t.Errorf("valid with %d of %d requests and %d workers gone", ok, j.s.planned, gone)
	}
	if len(j.s.faults) == 0 && j.s.planned > 0 && !complete {
		j.t.Errorf("nothing went wrong, and %d of %d requests are there: %s", ok, j.s.planned, text)
	}
	if j.natsGone() && !strings.Contains(c.log.String()+fmt.Sprint(c.err), "NATS is gone since") {
		j.t.Errorf("NATS is gone, and nothing says so: %v", c.err)
	}
}
