//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
	"github.com/inferometer/inferometer/internal/record"
)

// workersRow compares two workers with one process that has as many cores. The coordinator's own
// CPU counts.
func workersRow() row {
	const lasts = 10 * time.Second
	measure := func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		runs := map[bool][]attempt{}
		for range b.reps {
			for _, apart := range []bool{false, true} {
				w := work{inFlight: perCore * len(sp.client), events: 16, duration: lasts}
				a, err := b.checked(ctx, s, sp.client, "workers", func(dir string) (host.Command, error) {
					c, err := ours().command(b, s, w, dir)
					if apart {
						c.Args = append(c.Args, "--workers", "2")
					}
					return c, err
				})
				if err != nil {
					l.Miss(table.NameOurs, err)
					return
				}
				runs[apart] = append(runs[apart], a)
			}
		}
		for _, one := range []struct {
			name  string
			apart bool
		}{{"one process", false}, {"two workers", true}} {
			l.AddAt(one.name+" on "+coreCount(len(sp.client)), table.NameOurs, table.Show(stats.MedianOf(runs[one.apart], sustainedOn(len(sp.client))), "/s"),
				"client CPU per request %s, %s without start and end", table.Show(stats.MedianOf(runs[one.apart], cpuOf), " µs"),
				table.Show(stats.MedianOf(runs[one.apart], func(a attempt) float64 { return stats.Microseconds(a.cpu) }), " µs"))
		}
		l.AtMost("CPU per request, two workers ÷ one process", stats.MedianOf(runs[true], cpuOf)/stats.MedianOf(runs[false], cpuOf), 1.03, "")
	}
	return row{"many cores: two workers beside one process, not streamed, 16 tokens, 64 in flight per core", withCanned(canned.Spec{Events: 16}, measure)}
}

// coordinatorRow has eight workers send as fast as one coordinator on one core is to keep up with.
func coordinatorRow() row {
	const workers, rate, lasts, least = 8, 10_000, 10 * time.Second, 12
	return row{"many cores: 8 workers × 10,000 records/s into a coordinator on one core", func(ctx context.Context, b *bench) (l table.Line) {
		all := b.cores.All
		if len(all) < least {
			l.AddNote("%d cores here: there is no room for a server, eight workers and a coordinator", len(all))
			l.Must("not for this machine", "", "", true)
			return l
		}
		s, err := b.startCannedServer(ctx, canned.Spec{Events: 16}, all[:2])
		if err != nil {
			l.Miss("server", err)
			return l
		}
		defer s.Stop()
		before, err := s.counters(ctx)
		var f fed
		if err == nil {
			f, err = b.feed(ctx, s, workers, openLoop{rate: workers * rate, duration: lasts, inFlight: 4096, work: work{events: 16}}, all[2:3],
				all[3:])
		}
		if err != nil {
			l.Miss(table.NameOurs, err)
			return l
		}
		after, err := s.counters(ctx)
		if err != nil {
			l.Miss("server", err)
			return l
		}
		served := after.served - before.served
		l.Add(table.NameOurs, table.Show(stats.Microseconds(f.cpu)/float64(f.kept), " µs"), "CPU of the coordinator per record; %s requests of %d workers, %s answered by the server, %s records kept; the coordinator's core %.0f %% busy, done %s after its workers",
			table.Thousands(f.sent), workers, table.Thousands(served), table.Thousands(f.kept), 100*f.cpu.Seconds()/lasts.Seconds(), table.Show(f.behind.Seconds(), " s"))
		// One response more is that to the request which checks the server ahead of the run.
		l.Must("every response has its record", "", "", f.failed == 0 && f.kept == f.sent && (served == f.kept || served == f.kept+1))
		l.AtLeast("records/s", float64(f.kept)/lasts.Seconds(), 0.99*workers*rate, "")
		l.AtMost("coordinator done after its workers", f.behind.Seconds(), 5, " s")
		return l
	}}
}

// fed is what came of feeding a coordinator.
type fed struct {
	sent, kept, failed int64
	cpu                time.Duration // the coordinator's
	behind             time.Duration // from the end of the last worker's load to its own end
}

// feed runs a coordinator on its own core, and its workers on others.
func (b *bench) feed(ctx context.Context, s *server, workers int, o openLoop, core, others []int) (f fed, err error) {
	dir, err := b.dir("feed")
	if err != nil {
		return f, err
	}
	at, err := freeAddress()
	if err != nil {
		return f, err
	}
	c := o.command(b, s, dir)
	c.Args = append(c.Args, "--workers", strconv.Itoa(workers), "--join-at", at)
	coordinator, err := host.Start(ctx, core, c)
	if err != nil {
		return f, err
	}
	defer coordinator.Stop()
	var list []*host.Process
	for i := range workers {
		w, err := host.Start(ctx, others, host.Command{Args: []string{b.program, "worker", "--join", "nats://" + at, "--name", fmt.Sprint("w", i)}, Dir: dir})
		if err != nil {
			return f, err
		}
		defer w.Stop()
		list = append(list, w)
	}
	if err := coordinator.Wait(); err != nil {
		return f, err
	}
	for _, w := range list {
		err = errors.Join(err, w.Wait())
	}
	r, also := readResult(dir)
	if err = errors.Join(err, also); err != nil {
		return f, err
	}
	f.sent, f.failed, f.cpu = r.Stages[0].Counts.Sent, r.Stages[0].Counts.Failed, coordinator.CPU()
	last, err := s.lastCanned(ctx)
	f.behind = coordinator.Ended.Sub(last)
	return f, errors.Join(err, record.File{Path: outDir(dir) + "/requests.jsonl.zst"}.Requests(func(*record.Record) error { f.kept++; return nil }))
}
