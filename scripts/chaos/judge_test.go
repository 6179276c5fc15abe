//go:build linux

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// The judge finds what is wrong, and nothing where nothing is. Two workers sent requests 0 and 1, 2 s apart from 2 and 3;
// the coordinator ended 5 s after the first.
func TestJudge(t *testing.T) {
	start := time.Now()
	at := func(s float64) time.Time { return start.Add(time.Duration(s * float64(time.Second))) }
	type world struct {
		seen []seen
		sums []int64         // on record as a success
		own  map[int][]int64 // in the workers' own files
		hits []hit
		code int
		said string
	}
	healthy := func() world {
		return world{seen: []seen{
			{id: "x-0", seq: 0, received: at(0), done: true}, {id: "x-1", seq: 1, received: at(0), done: true},
			{id: "x-2", seq: 2, received: at(2), done: true}, {id: "x-3", seq: 3, received: at(2), done: true},
		}, sums: []int64{0, 1, 2, 3}, own: map[int][]int64{}}
	}
	at2 := func(who role, does action, place int, lasts time.Duration) hit {
		return hit{fault: fault{Who: who, Does: does, Worker: place, For: lasts}, from: at(2.5), to: at(2.5).Add(lasts)}
	}
	for name, tt := range map[string]struct {
		change func(*world)
		want   string // in the violations; empty: there are none
	}{
		"healthy":          {func(*world) {}, ""},
		"sent twice":       {func(w *world) { w.seen = append(w.seen, w.seen[0]) }, "more than once, as x-0 and as x-0"},
		"no number":        {func(w *world) { w.seen = append(w.seen, seen{id: "x", seq: -1, received: at(1)}) }, "no number"},
		"recorded twice":   {func(w *world) { w.sums = append(w.sums, 3) }, "on record twice"},
		"lost":             {func(w *world) { w.sums = w.sums[:3] }, "request 3 of worker 2, received 2.00 s after the first, is not in"},
		"lost, called ok":  {func(w *world) { w.sums = w.sums[:3] }, "the exit code is 0"},
		"never received":   {func(w *world) { w.sums = append(w.sums, 4) }, "request 4 is said to have succeeded"},
		"never ended":      {func(w *world) { w.seen[3].done = false }, "request 3 is said to have succeeded"},
		"after the end":    {func(w *world) { w.seen[3].received = at(6.5) }, "0.50 s after the end of the coordinator"},
		"said to be none":  {func(w *world) { w.said = "No request was sent: the run was stopped before" }, "says that no request was sent"},
		"said to jump":     {func(w *world) { w.said = "the clock of w-1 jumped" }, "no clock has jumped"},
		"said to be gone":  {func(w *world) { w.said = "worker w-1 was not heard for 5s" }, "nothing was wrong"},
		"killed and known": {func(w *world) { w.hits, w.code, w.said = []hit{at2(worker, kill, 1, 0)}, 1, "not heard for 5s" }, ""},
		"killed, the last second is unknown": {func(w *world) {
			w.hits, w.code, w.said, w.sums = []hit{at2(worker, kill, 1, 0)}, 1, "not heard for 5s", []int64{0, 1, 2}
		}, ""},
		"killed, and what was before is unknown": {func(w *world) {
			w.hits, w.code, w.said, w.sums = []hit{at2(worker, kill, 1, 0)}, 1, "not heard for 5s", []int64{0, 2, 3}
		}, "request 1 of worker 2"},
		"killed, and the other's are unknown": {func(w *world) {
			w.hits, w.code, w.said, w.sums = []hit{at2(worker, kill, 0, 0)}, 1, "not heard for 5s", []int64{0, 1, 2}
		}, "request 3 of worker 2"},
		"killed, and nobody says so": {func(w *world) { w.hits, w.code = []hit{at2(worker, kill, 1, 0)}, 1 }, "does not say what happened"},
		"killed, and it sends":       {func(w *world) { w.hits, w.code, w.seen[3].received = []hit{at2(worker, kill, 1, 0)}, 1, at(4) }, "it was killed"},
		"cut off, kept by the worker": {func(w *world) {
			w.hits, w.code, w.said, w.sums, w.own[1] = []hit{at2(natsServer, kill, 0, 0)}, 1, "NATS is gone", []int64{0, 1, 2}, []int64{3}
		}, ""},
		"cut off, kept by nobody": {func(w *world) {
			w.hits, w.code, w.said, w.sums = []hit{at2(natsServer, kill, 0, 0)}, 1, "NATS is gone", []int64{0, 1, 2}
		}, "neither in the coordinator's file nor"},
		"sent after a freeze": {func(w *world) {
			w.hits, w.code, w.said = []hit{at2(worker, freeze, 1, 9*time.Second)}, 1, "not heard for 5s"
			w.seen[3].received = at(11.6)
		}, "after the lease"},
		"told to stop, and sends": {func(w *world) {
			w.hits, w.code, w.said = []hit{at2(coordinator, interrupt, 0, 0)}, 1, "Stopping"
			w.seen[3].received = at(4.9)
		}, "was told to stop"},
	} {
		t.Run(name, func(t *testing.T) {
			w := healthy()
			tt.change(&w)
			log := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(log, []byte(w.said), 0o644); err != nil {
				t.Fatal(err)
			}
			s := &server{}
			for _, q := range w.seen {
				s.log = append(s.log, &q)
			}
			tr := &trial{scenario: scenario{Workers: 2, Length: 4 * time.Second}}
			r := &liveRun{server: s, started: at(-1), coordinator: &process{log: log, ended: at(5), code: w.code}}
			v := &verdict{t: tr, r: r, out: &outcome{}, seen: w.seen, sums: of(w.sums), own: map[int]*kept{}, hits: w.hits}
			for place, list := range w.own {
				v.own[place] = of(list)
			}
			v.doubles()
			v.losses()
			v.inventions()
			v.afterEnd()
			v.words()
			all := strings.Join(v.out.Violations, "\n")
			if !strings.Contains(all, tt.want) || tt.want == "" && all != "" {
				t.Errorf("violations:\n%s\nwant: %q", all, tt.want)
			}
		})
	}
}

// of is a file with these requests.
func of(list []int64) *kept {
	k := &kept{ok: map[int64]bool{}, failed: map[int64]record.Class{}}
	for _, seq := range list {
		if k.has(seq) {
			k.twice = append(k.twice, seq)
		}
		k.ok[seq] = true
	}
	return k
}

// The same seed gives the same case, and the names of kinds can be given to -only.
func TestKinds(t *testing.T) {
	for _, k := range kinds() {
		o, err := parse([]string{"-only", "^" + k.name + "$", "-seed", "7", "a", "b"})
		if err != nil {
			t.Fatal(err)
		}
		found := o.chosen()
		if len(found) == 0 || found[0].name != k.name {
			t.Errorf("-only %s finds %d kinds", k.name, len(found))
		}
		for seed := range uint64(50) {
			a, b := k.scenario(seed), k.scenario(seed)
			if a.Length != b.Length || len(a.Faults) != len(b.Faults) || len(a.Faults) > 0 && a.Faults[0] != b.Faults[0] {
				t.Errorf("%s: seed %d gives %+v and %+v", k.name, seed, a, b)
			}
		}
	}
}
