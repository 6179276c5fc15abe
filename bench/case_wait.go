//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
)

// drain is a run of which the time after the last response is measured.
type drain struct {
	cores, inFlight int
	requests        int // in place of a time; 0: as long as one load
	stream          bool
}

// drained is how long after the last response the program ended.
type drained struct {
	attempt
	wait time.Duration
}

// waitRow measures how long one waits after the last response: on one core and on many,
// with few in flight and with many.
func waitRow() row {
	measure := func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		var all []drain
		for _, cores := range slices.Compact([]int{1, len(sp.client)}) {
			for _, inFlight := range []int{64, 512, 4096} {
				all = append(all, drain{cores: cores, inFlight: inFlight, stream: true})
			}
		}
		b.waits(ctx, s, sp, l, all, b.reps)
	}
	return row{"many cores: last response → end of the program, 16 streamed events", withCanned(canned.Spec{Events: 16}, measure)}
}

// millionWaitRow is the same after a million requests.
func millionWaitRow() row {
	measure := func(ctx context.Context, b *bench, s *server, sp split, l *table.Line) {
		var all []drain
		for _, cores := range slices.Compact([]int{1, len(sp.client)}) {
			all = append(all, drain{cores: cores, inFlight: 512, requests: 1_000_000})
		}
		b.waits(ctx, s, sp, l, all, 1)
	}
	return row{"many cores: last response → end of the program, 1,000,000 requests, not streamed", withCanned(canned.Spec{Events: 16}, measure)}
}

func (b *bench) waits(ctx context.Context, s *server, sp split, l *table.Line, all []drain, reps int) {
	longest := 0.0
	for _, d := range all {
		var runs []drained
		for range reps {
			r, err := b.drain(ctx, s, sp.client[:d.cores], d)
			if err != nil {
				l.Miss(table.NameOurs, fmt.Errorf("%d core(s), %d in flight: %w", d.cores, d.inFlight, err))
				return
			}
			runs = append(runs, r)
		}
		wait := stats.MedianOf(runs, func(r drained) float64 { return r.wait.Seconds() })
		longest = max(longest, wait)
		l.AddAt(coreCount(d.cores)+", "+table.Thousands(int64(d.inFlight))+" in flight", table.NameOurs, table.Show(wait, " s"), "after %s requests; peak memory %s",
			table.Thousands(stats.MedianOf(runs, func(r drained) int64 { return r.requests })), table.Show(stats.MedianOf(runs, func(r drained) float64 { return peakMB(r.attempt) }), " MB"))
	}
	if len(sp.client) < manyCores {
		l.AddNote("the bound is for %d client cores too; this machine has %d beside the server's", manyCores, len(sp.client))
	}
	l.AtMost("longest wait", longest, 0.5, " s")
}

// drain makes one run and takes the time from the server's last response to the end of
// the program. A closed loop sends nothing after that answer.
func (b *bench) drain(ctx context.Context, s *server, cores []int, d drain) (drained, error) {
	w := work{inFlight: d.inFlight, events: 16, stream: d.stream}
	a, err := b.checked(ctx, s, cores, "wait", func(dir string) (host.Command, error) {
		argv := []string{b.program, "run", s.url, "--model", "mock", "--concurrency", strconv.Itoa(d.inFlight)}
		if d.requests > 0 {
			argv = append(argv, "--requests", strconv.Itoa(d.requests))
		} else {
			argv = append(argv, "--duration", b.load.String())
		}
		return host.Command{Args: append(argv, commonFlags(w, dir)...), OKCodes: []int{1}}, nil
	})
	if err != nil {
		return drained{}, err
	}
	last, err := s.lastCanned(ctx)
	return drained{attempt: a, wait: a.child.Ended.Sub(last)}, err
}

// lastCanned is when a canned server had written its last response.
func (s *server) lastCanned(ctx context.Context) (time.Time, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return time.Time{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return time.Time{}, fmt.Errorf("asking the server when it answered last: %w", err)
	}
	defer resp.Body.Close()
	scan := bufio.NewScanner(resp.Body)
	for scan.Scan() {
		if value, ok := strings.CutPrefix(scan.Text(), canned.LastResponseMetric+" "); ok {
			ns, err := strconv.ParseInt(value, 10, 64)
			return time.Unix(0, ns), err
		}
	}
	return time.Time{}, fmt.Errorf("the server does not say when it answered last: %w", scan.Err())
}
