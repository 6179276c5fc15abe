//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
)

// stampError is how far our stamps of one event lie after the server's write.
type stampError struct {
	kernel, user time.Duration
	coalesced    bool // a later event came out of the same read
}

// log reads the server's log of what it wrote. The mock writes it out every
// second, so that after a little more than that it is complete.
func (s *server) log(ctx context.Context) ([]truthfile.Request, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(1500 * time.Millisecond):
	}
	f, err := os.Open(s.truth)
	if err != nil {
		return nil, fmt.Errorf("reading the server's log: %w", err)
	}
	defer f.Close()
	return truthfile.Read(f)
}

// compareStamps joins the records of a run with the server's log, request by
// request and event by event.
func compareStamps(dir string, truth []truthfile.Request) ([]stampError, error) {
	bySeq := map[int64]truthfile.Request{}
	for _, t := range truth {
		if seq, ok := sequence(t.ID); ok {
			bySeq[seq] = t
		}
	}
	join := stampJoin{truth: bySeq}
	// The time of offset 0 stands in the header, which is read first.
	f, err := readRecords(dir, join.add)
	if err != nil {
		return nil, err
	}
	if join.unmatched > 0 {
		return nil, fmt.Errorf("%d of %d responses do not match the server's log: %s", join.unmatched, join.requests, join.example)
	}
	for i := range join.errors {
		join.errors[i].kernel += time.Duration(f.start.UnixNano())
		join.errors[i].user += time.Duration(f.start.UnixNano())
	}
	return join.errors, nil
}

// sequence is the number at the end of a request id.
func sequence(id string) (int64, bool) {
	seq, err := strconv.ParseInt(id[strings.LastIndexByte(id, '-')+1:], 10, 64)
	return seq, err == nil
}

// stampJoin collects stamp errors, short of the time of offset 0.
type stampJoin struct {
	truth     map[int64]truthfile.Request
	errors    []stampError
	requests  int
	unmatched int
	example   string
}

func (j *stampJoin) add(r *record.Record) {
	if r.Failure != nil {
		return
	}
	j.requests++
	t, ok := j.truth[r.Seq]
	if !ok || len(t.Events) != len(r.Events) {
		j.unmatched++
		j.example = fmt.Sprintf("request %d has %d events, the server wrote %d", r.Seq, len(r.Events), len(t.Events))
		return
	}
	for i, e := range r.Events {
		mark := r.Marks[e.Mark]
		written := time.Duration(t.Events[i].At)
		j.errors = append(j.errors, stampError{kernel: mark.Time() - written, user: mark.User - written, coalesced: e.Merged})
	}
}

// serverTTFT is the server's own time to first token: from the time it had read
// the head of a request to the write of the first event with a token, over the
// requests read in [from, to].
func serverTTFT(truth []truthfile.Request, from, to time.Time) []time.Duration {
	var out []time.Duration
	for _, t := range truth {
		if t.Read < from.UnixNano() || t.Read > to.UnixNano() {
			continue
		}
		i := slices.IndexFunc(t.Events, func(e truthfile.Event) bool { return e.Tokens > 0 })
		if i >= 0 {
			out = append(out, time.Duration(t.Events[i].At-t.Read))
		}
	}
	return out
}

// heldBy is the number of requests that the server had in hand, on average over
// the middle half of [from, to].
func heldBy(truth []truthfile.Request, from, to time.Time) float64 {
	quarter := to.Sub(from) / 4
	a, z := from.Add(quarter).UnixNano(), to.Add(-quarter).UnixNano()
	sum := int64(0)
	for _, t := range truth {
		sum += max(0, min(t.End, z)-max(t.Read, a))
	}
	return float64(sum) / float64(max(z-a, 1))
}
