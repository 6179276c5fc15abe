//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

const (
	// unknownFor is how long before a worker's end its answers may be unknown: docs/distributed.md says one second, in
	// which it ships them, and a busy machine takes longer.
	unknownFor = 2 * time.Second
	// stopFor is how long it may take until what must send no more does not.
	stopFor = time.Second
)

// What no process may say.
var (
	panics     = regexp.MustCompile(`(?m)^(panic: |fatal error: |goroutine \d+ \[)|runtime error: `)
	jumped     = regexp.MustCompile(`(?i)clocks? .*jumped`)
	sentNone   = regexp.MustCompile(`No request was sent`)
	givenUp    = regexp.MustCompile(`(?i)not heard for|is given up|the coordinator is gone`)
	workerGone = regexp.MustCompile(`(?i)not heard for|ended or was cut off|worker lost|left before`)
	workerTold = regexp.MustCompile(`(?i)told to stop`)
	natsGone   = regexp.MustCompile(`NATS`)
	leaderGone = regexp.MustCompile(`(?i)coordinator (is gone|was not heard|ended)|NATS`)
	stood      = regexp.MustCompile(`(?i)not heard|stood still|standstill|cut off|NATS`)
	stopping   = regexp.MustCompile(`(?i)stopping|stopped|interrupted`)
	diskFull   = regexp.MustCompile(`(?i)no space left|disk`)
)

// kept is what a record file holds.
type kept struct {
	ok     map[int64]bool // by number: whether the request succeeded
	failed map[int64]record.Class
	worker map[int64]int // who sent it, from 1
	twice  []int64
}

func (k *kept) has(seq int64) bool {
	_, failed := k.failed[seq]
	return k.ok[seq] || failed
}

// read reads a record file as far as it goes; what is not there is empty.
func read(dir string) (*kept, error) {
	k := &kept{ok: map[int64]bool{}, failed: map[int64]record.Class{}, worker: map[int64]int{}}
	name := filepath.Join(dir, "requests.jsonl.zst")
	if info, err := os.Stat(name); err != nil || info.Size() == 0 {
		return k, nil
	}
	_, err := record.File{Path: name}.Walk(func(l record.Line) error {
		q := l.Request
		if q == nil {
			return nil
		}
		if k.has(q.Seq) {
			k.twice = append(k.twice, q.Seq)
		}
		k.worker[q.Seq] = q.Worker
		if q.Failure != nil {
			k.failed[q.Seq] = q.Failure.Class
		} else {
			k.ok[q.Seq] = true
		}
		return nil
	})
	return k, err
}

type verdict struct {
	t      *trial
	r      *liveRun
	out    *outcome
	seen   []seen
	sums   *kept          // the coordinator's file
	own    map[int]*kept  // those of the workers, by place
	places map[string]int // of workers, by name
	hits   []hit          // that concern this run
}

func (v *verdict) fail(format string, args ...any) {
	v.out.Violations = append(v.out.Violations, runID(v.r.index)+": "+fmt.Sprintf(format, args...))
}

// judge holds what is on record against what the server saw, and against what was to happen.
func (t *trial) judge(out *outcome) {
	for _, h := range t.hits {
		if h.missed {
			out.Missed++
		}
	}
	for _, r := range t.runs {
		v := &verdict{t: t, r: r, out: out, seen: r.server.requests(), own: map[int]*kept{}, places: r.joined()}
		for _, h := range t.struck() {
			if h.Who != natsServer && h.Run != r.index {
				continue
			}
			if h.set() && h.Who == worker {
				h.Worker = t.place(r, workerName(r.index, h.Worker))
			}
			v.hits = append(v.hits, h)
		}
		out.Requests += len(v.seen)
		v.endings()
		v.records()
		v.doubles()
		v.losses()
		v.inventions()
		v.afterEnd()
		v.words()
	}
}

func (v *verdict) endings() {
	for _, p := range append([]*process{v.r.coordinator}, v.r.workers...) {
		if p.hung {
			v.out.Hung++
			v.fail("%s did not end by itself", p.name)
		}
		if m := panics.FindString(p.said()); m != "" {
			v.fail("%s panics: %s", p.name, m)
		}
	}
	v.out.Ends = max(v.out.Ends, v.took().Seconds())
	v.out.Codes = append(v.out.Codes, v.r.coordinator.code)
	if v.killed() || v.r.coordinator.hung {
		return
	}
	if len(v.seen) == 0 && !v.t.scenario.unsent() && len(v.hits) == 0 {
		v.fail("no request was sent: %s", lastLine(v.r.coordinator.said()))
	}
	if _, err := os.Stat(filepath.Join(v.r.out, "result.json")); err != nil && len(v.seen) > 0 && !v.hit(coordinator, interruptTwice) && !v.hit(coordinator, fill) {
		v.fail("the coordinator has left no result.json")
	}
	if v.r.coordinator.code == 0 && v.harmed() {
		v.fail("the run was harmed, and the exit code is 0")
	}
}

func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return lines[len(lines)-1]
}

// took is how long after its planned end, or after the last fault where that was later, the last process ended.
func (v *verdict) took() time.Duration {
	due := v.r.started
	if began, ok := v.r.server.began(); ok {
		due = began.Add(v.t.scenario.Length)
	}
	for _, h := range v.hits {
		told := h.Who == coordinator && (h.Does == kill || h.Does == term || h.Does == interrupt || h.Does == interruptTwice)
		if h.to.After(due) || told {
			due = h.to
		}
	}
	last, _ := v.r.coordinator.over()
	for _, p := range v.r.workers {
		if end, _ := p.over(); end.After(last) {
			last = end
		}
	}
	return last.Sub(due)
}

// hit reports whether the run has met such a fault.
func (v *verdict) hit(who role, does action) bool {
	return slices.ContainsFunc(v.hits, func(h hit) bool { return h.Who == who && h.Does == does })
}

func (v *verdict) killed() bool { return v.hit(coordinator, kill) }

// harmed reports whether the run cannot have gone as it was planned: a fault that lasts, well before its end.
func (v *verdict) harmed() bool {
	began, ok := v.r.server.began()
	if !ok {
		return true
	}
	return slices.ContainsFunc(v.hits, func(h hit) bool {
		if h.Does == fill {
			return true
		}
		lasts := h.Does == kill || h.Does == freeze && h.For > lease || h.Who == worker && h.Does == term
		return lasts && h.takesEffect().Before(began.Add(v.t.scenario.Length-time.Second))
	})
}

// takesEffect is when a fault keeps requests from being sent. While a coordinator or NATS stands still workers go on until their leases run
// out, and they ship what they have when it is over.
func (h hit) takesEffect() time.Time {
	if h.Does == freeze && h.Who != worker {
		return h.from.Add(lease)
	}
	return h.from
}

func (v *verdict) records() {
	var err error
	if v.sums, err = read(v.r.out); err != nil && !v.hit(coordinator, fill) {
		v.fail("the coordinator's records cannot be read: %v", err)
	}
	for name, place := range v.places {
		dir := filepath.Join(v.t.dir, name)
		if v.t.scenario.Topology == local {
			dir = filepath.Join(v.r.out, "workers", name)
		}
		if v.own[place], err = read(dir); err != nil && !v.hit(worker, fill) && !v.hit(coordinator, fill) && !v.hit(worker, kill) {
			v.fail("the records of %s cannot be read: %v", name, err)
		}
	}
	v.out.Records += len(v.sums.ok) + len(v.sums.failed)
	for seq, n := range v.sums.worker {
		if v.place(seq) != n-1 {
			v.fail("request %d is on record as worker %d's, and is in the share of worker %d", seq, n, v.place(seq)+1)
			break
		}
	}
}

// place is that of the worker in whose share a request is: the loads of all cases can be shared out evenly.
func (v *verdict) place(seq int64) int { return int(seq % int64(v.t.scenario.Workers)) }

// doubles looks for requests that were sent or recorded twice.
func (v *verdict) doubles() {
	ids := map[int64][]string{}
	twice := 0
	for _, q := range v.seen {
		if q.seq < 0 {
			v.fail("the server got a request with the id %q, which has no number", q.id)
		}
		if ids[q.seq] = append(ids[q.seq], q.id); len(ids[q.seq]) == 1 {
			continue
		}
		if twice++; twice == 1 {
			v.fail("the server got request %d more than once, as %s", q.seq, strings.Join(ids[q.seq], " and as "))
		}
	}
	v.out.Doubled += twice
	if n := len(v.sums.twice); n > 0 {
		v.out.Doubled += n
		v.fail("%d requests are on record twice, such as %d", n, v.sums.twice[0])
	}
}

// losses looks for requests that the server got and nobody has on record.
func (v *verdict) losses() {
	lost, nowhere, missing, kept := 0, 0, 0, 0
	for _, q := range v.seen {
		if v.sums.has(q.seq) {
			continue
		}
		missing++
		place := v.place(q.seq)
		here, anywhere := v.allowed(place)
		if here.IsZero() || q.received.Before(here) {
			if lost++; lost == 1 {
				v.fail("request %d of worker %d, received %s, is not in the coordinator's file", q.seq, place+1, v.moment(q.received))
			}
			continue
		}
		if own := v.own[place]; own != nil && own.has(q.seq) {
			kept++
			continue
		}
		if anywhere.IsZero() || q.received.Before(anywhere) {
			if nowhere++; nowhere == 1 {
				v.fail("request %d of worker %d, received %s, is neither in the coordinator's file nor in the worker's", q.seq, place+1, v.moment(q.received))
			}
		}
	}
	v.out.Lost += lost + nowhere
	v.out.Kept += kept
	v.out.Unknown += missing - lost - nowhere - kept
	if lost+nowhere > 1 {
		v.fail("%d requests in all are lost beyond what docs/distributed.md says", lost+nowhere)
	}
	if missing > 0 && v.r.coordinator.code == 0 {
		v.fail("%d requests are not on record, and the exit code is 0", missing)
	}
}

func (v *verdict) moment(at time.Time) string {
	began, _ := v.r.server.began()
	text := fmt.Sprintf("%.2f s after the first", at.Sub(began).Seconds())
	for _, h := range v.hits {
		text += fmt.Sprintf(", %+.2f s from %s %s", at.Sub(h.from).Seconds(), h.Who, h.Does)
	}
	return text
}

// allowed is from when on requests of a worker may be missing: in the coordinator's file, and in the worker's own,
// too. Zero: never.
func (v *verdict) allowed(place int) (here, anywhere time.Time) {
	earlier := func(t *time.Time, at time.Time) {
		if t.IsZero() || at.Before(*t) {
			*t = at
		}
	}
	for _, h := range v.hits {
		mine := h.Who != worker || h.Worker == place
		from := h.from.Add(-unknownFor)
		switch {
		case h.Does == fill && mine:
			earlier(&here, v.r.started)
			if h.Who == worker || v.t.scenario.Topology == local {
				earlier(&anywhere, v.r.started)
			}
		case mine && h.Who == worker && h.Does == kill:
			earlier(&here, from)
			earlier(&anywhere, from)
		case mine && (h.lasting() || h.Does == interruptTwice):
			earlier(&here, from)
		}
	}
	return here, anywhere
}

// inventions looks for requests on record that cannot be.
func (v *verdict) inventions() {
	ended := map[int64]bool{}
	for _, q := range v.seen {
		ended[q.seq] = q.done
	}
	n := 0
	for seq := range v.sums.ok {
		if done, got := ended[seq]; !got || !done {
			if n++; n == 1 {
				v.fail("request %d is said to have succeeded, and the server did not answer it (received: %v)", seq, got)
			}
		}
	}
	v.out.Invented += n
}

// afterEnd looks for requests that were sent when that was over.
func (v *verdict) afterEnd() {
	n := 0
	for _, q := range v.seen {
		place := v.place(q.seq)
		limit, why := v.deadline(place)
		if limit.IsZero() || !q.received.After(limit) {
			continue
		}
		if n++; n == 1 {
			v.fail("request %d of worker %d came %.2f s after %s", q.seq, place+1, q.received.Sub(limit).Seconds(), why)
		}
	}
	v.out.AfterEnd += n
}

// deadline is when a worker must send no more, and why.
func (v *verdict) deadline(place int) (limit time.Time, why string) {
	end, _ := v.r.coordinator.over()
	if !v.killed() && !v.r.coordinator.hung {
		limit, why = end.Add(stopFor), "the end of the coordinator"
		for _, h := range v.hits { // which a worker that is cut off cannot know
			if after := h.from.Add(lease + stopFor); h.lasting() && after.After(limit) {
				limit, why = after, "the lease"
			}
		}
	}
	earlier := func(at time.Time, reason string) {
		if limit.IsZero() || at.Before(limit) {
			limit, why = at, reason
		}
	}
	alone := len(v.hits) == 1
	for _, h := range v.hits {
		mine := h.Who != worker || h.Worker == place
		switch {
		case !mine:
		case h.Who == worker && h.Does == kill:
			earlier(h.from.Add(stopFor/2), "it was killed")
		case h.Does == kill || (h.Does == freeze || h.Does == restart) && h.For > lease+stopFor/2:
			earlier(h.from.Add(lease+stopFor), "the lease")
		case alone && h.Does == term && h.Who == worker:
			earlier(h.from.Add(stopFor), "it was told to stop")
		case alone && (h.Does == term || h.Does == interrupt || h.Does == interruptTwice):
			earlier(h.from.Add(2*stopFor), "the coordinator was told to stop")
		}
	}
	return limit, why
}

// words judges what the processes say.
func (v *verdict) words() {
	said := v.r.coordinator.said()
	frozen := slices.ContainsFunc(v.hits, func(h hit) bool { return h.Does == freeze })
	if len(v.seen) > 0 && sentNone.MatchString(said) {
		v.fail("the report says that no request was sent, and the server got %d", len(v.seen))
	}
	if m := jumped.FindString(said); m != "" && !frozen {
		v.fail("the report says %q, and no clock has jumped", m)
	}
	if m := givenUp.FindString(said); m != "" && len(v.hits) == 0 {
		v.fail("the coordinator says %q, and nothing was wrong", m)
	}
	if len(v.hits) != 1 || v.r.coordinator.hung {
		return
	}
	h := v.hits[0]
	began, ok := v.r.server.began()
	if ok && h.takesEffect().After(began.Add(v.t.scenario.Length-time.Second)) {
		return // it may have come too late to matter
	}
	if want := expected(h); want != nil && !v.killed() && !want.MatchString(said) {
		v.fail("the coordinator does not say what happened: no %v in its output", want)
	}
	if h.Who == natsServer && h.Does == kill || h.Who == coordinator && (h.Does == kill || h.Does == freeze && h.For > lease) {
		for _, w := range v.r.workers {
			if _, in := v.places[w.name]; in && w.log != "" && !w.hung && !leaderGone.MatchString(w.said()) {
				v.fail("%s does not say that its coordinator is gone", w.name)
			}
		}
	}
}

// expected is what the coordinator must say of a fault; nil means nothing.
func expected(h hit) *regexp.Regexp {
	long := h.Does == freeze && h.For > lease
	switch {
	case h.Does == fill:
		return diskFull
	case h.Who == worker && (h.Does == kill || long):
		return workerGone
	case h.Who == worker && h.Does == term:
		return workerTold
	case h.Who == natsServer && h.Does == kill:
		return natsGone
	case h.Who != worker && long: // who stands still, it or NATS, cannot be told for sure
		return stood
	case h.Does == term || h.Does == interrupt:
		return stopping
	}
	return nil
}
