//go:build linux

package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
	"github.com/inferometer/inferometer/internal/record"
)

// afterRow measures how long one waits for what is made of many requests: after the run, and of its
// records.
func afterRow() row {
	return row{"many cores: after a run, and out of its records", withCanned(canned.Spec{Events: 16}, func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		dir, requests, wait, err := b.runWithPage(ctx, s, sp.client)
		if err != nil {
			l.Miss(table.NameOurs, err)
			return
		}
		l.Add("run --html", table.Show(wait.Seconds(), " s"), "from the last of %s responses to the program's end", table.Thousands(requests))
		speed := map[string]float64{}
		for _, w := range []struct {
			name    string
			records int64 // that are read
			cores   []int
			words   func(file string) []string
		}{
			{"report, one core", requests, sp.client[:1], func(string) []string { return []string{"report", dir} }},
			{"report", requests, sp.client, func(string) []string { return []string{"report", dir} }},
			{"report --html", requests, sp.client, func(file string) []string { return []string{"report", dir, "--html", file + ".html"} }},
			{"export", requests, sp.client, func(file string) []string { return []string{"export", dir, "--out", file + ".parquet"} }},
			{"compare", 2 * requests, sp.client, func(string) []string { return []string{"compare", dir, dir} }},
		} {
			took, peak, err := b.waitFor(ctx, w.cores, w.words)
			if err != nil {
				l.Miss(w.name, err)
				return
			}
			speed[w.name] = float64(w.records) / took.Seconds()
			l.AddAt(coreCount(len(w.cores)), w.name, table.Show(speed[w.name], " records/s"), "%s; peak memory %s", table.Show(took.Seconds(), " s"), table.Show(float64(peak)/1e6, " MB"))
		}
		if sp.judged(l, manyCores) {
			l.AtMost("wait for a run's page", wait.Seconds(), 1, " s")
			l.AtLeast("report, records/s on one core", speed["report, one core"], 400_000, "")
			l.AtLeast("report, records/s", speed["report"], 1_500_000, "")
			l.AtLeast("report --html ÷ report", speed["report --html"]/speed["report"], 0.9, "")
			l.AtLeast("export, rows/s", speed["export"], 500_000, "")
			l.AtLeast("compare, records/s", speed["compare"], 1_000_000, "")
		}
	})}
}

// runWithPage runs for a while with a page. It gives the run's directory, how many requests it had and
// how long after the last response the program ended.
func (b *bench) runWithPage(ctx context.Context, s *server, cores []int) (out string, requests int64, wait time.Duration, err error) {
	c := ours()
	w := work{inFlight: perCore * len(cores), events: 16, duration: 4 * b.load}
	a, err := b.attempt(ctx, s, cores, "after", func(dir string) (host.Command, error) {
		command, err := c.command(b, s, w, dir)
		command.Args = append(command.Args, "--html", filepath.Join(dir, "page.html"))
		return command, err
	})
	if err != nil {
		return "", 0, 0, err
	}
	var last time.Duration
	f, err := readRecords(a.dir, func(r *record.Record) {
		requests++
		last = max(last, r.End)
	})
	return outDir(a.dir), requests, a.child.Ended.Sub(f.start.Add(last)), err
}

// waitFor is how long the program takes for a command, which may write a file of that name, and what
// memory it takes meanwhile.
func (b *bench) waitFor(ctx context.Context, cores []int, words func(file string) []string) (time.Duration, int64, error) {
	var took []float64
	var peak int64
	for range b.reps {
		dir, err := b.dir("made")
		if err != nil {
			return 0, 0, err
		}
		p, err := host.Start(ctx, cores, host.Command{Args: append([]string{b.program}, words(filepath.Join(dir, "made"))...), OKCodes: []int{1}})
		if err != nil {
			return 0, 0, err
		}
		p.WatchPeak()
		if err := p.Wait(); err != nil {
			return 0, 0, err
		}
		took, peak = append(took, p.Ended.Sub(p.Started).Seconds()), max(peak, p.Peak)
	}
	return time.Duration(stats.Quantile(took, 0.5) * float64(time.Second)), peak, nil
}
