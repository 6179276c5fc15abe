package search

import (
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

func TestObjectives(t *testing.T) {
	open, closed := plan.Stage{Rate: 1}, plan.Stage{Concurrency: 1}
	for _, c := range []struct {
		text  string
		stage plan.Stage
		want  string // the metric, or what is wrong
	}{
		{"ttft.p99 < 200ms", open, "time_to_first_token_from_due"},
		{"ttft.p99 < 200ms", closed, "time_to_first_token"},
		{"latency.avg <= 2s", open, "request_latency_from_due"},
		{"itl.p99 < 30ms", open, "inter_token_latency"},
		{"tps_user.p10 > 20", open, "output_token_throughput_per_user"},
		{"errors < 1%", open, "error_rate"},
		{"goodput >= 95%", open, "there are no objectives that a request must meet"},
		{"rps > 40", open, "is a load metric"},
		{"ttft.p99 > 200ms", open, "does not get harder"},
		{"ttft.max < 200ms", open, "depends on how many requests there are"},
		{"errors > 1%", open, "every load that is low enough misses it"},
		{"ttft.p99 < +5%", open, "about a difference"},
		{"at rate 5: ttft.p99 < 1s", open, "it names a level"},
		{"tfft.p99 < 1s", open, "did you mean ttft"},
	} {
		p := plan.Default()
		p.Stages, p.Capacity.Objectives = []plan.Stage{c.stage}, []string{c.text}
		list, err := objectivesOf(&p)
		switch {
		case err != nil:
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", c.text, err, c.want)
			}
		case list[0].id != c.want:
			t.Errorf("%s is held against %s, want %s", c.text, list[0].id, c.want)
		case c.text != "errors < 1%" && (len(list) != 2 || list[1].id != failedShare || list[1].Allowed != 0.01):
			t.Errorf("%s: nothing is said of failures: %+v", c.text, list)
		}
	}
}

// A level is told from its records: shares by parts of its time, what was cut off, and a backlog
// that grows.
func TestTally(t *testing.T) {
	p := plan.Default()
	p.Stages, p.Capacity.Objectives = []plan.Stage{{Rate: 10}}, []string{"latency.p90 < 100ms"}
	objectives, err := objectivesOf(&p)
	if err != nil {
		t.Fatal(err)
	}
	const ms = time.Millisecond
	mark := &record.StageSummary{StageTimes: record.StageTimes{WarmupEnd: time.Second, SendEnd: 11 * time.Second}, Reason: record.StopDuration}
	fill := func(took func(i int) time.Duration) capacity.Trial {
		all := newTallies(&p, objectives)
		for i := range 1100 {
			due := time.Duration(i) * 10 * ms
			rec := &record.Record{Due: due, Sent: due, End: due + took(i)}
			if i < 100 {
				rec.Phase = record.Warmup
			}
			if i == 1099 {
				rec.Failure = &record.Failure{Class: record.CutOff}
			}
			all.Add(rec)
		}
		return all.level(0, 100, true, mark)
	}
	l := fill(func(i int) time.Duration {
		if i%10 == 9 {
			return 150 * ms
		}
		return 50 * ms
	})
	if s := &l.Seen[0]; l.Requests != 1000 || l.Over != "" || s.Batches[3].N != 100 || s.Batches[3].Bad != 10 || *s.Value < 49 || *s.Value > 151 {
		t.Errorf("%+v", l)
	}
	if l.Answered < 98 || l.Answered > 101 {
		t.Errorf("%v answered per second, want about 100", l.Answered)
	}
	if l := fill(func(i int) time.Duration { return 50*ms + time.Duration(i)*ms }); l.Over == "" {
		t.Errorf("a backlog that grows is not seen: %+v", l)
	}
}

// The requests of levels that have ended are not kept: neither of a search under way nor where it
// is made again from its records. Both come to the same.
func TestTalliesForget(t *testing.T) {
	p := plan.Default()
	p.Stages, p.Capacity.Objectives = []plan.Stage{{Rate: 10}}, []string{"latency.p90 < 100ms"}
	objectives, err := objectivesOf(&p)
	if err != nil {
		t.Fatal(err)
	}
	const levels, each = 20, 20_000
	mark := func(stage int) *record.StageSummary {
		return &record.StageSummary{Stage: stage, StageTimes: record.StageTimes{WarmupEnd: time.Second, SendEnd: 21 * time.Second},
			Reason: record.StopDuration}
	}
	add := func(all *objectiveTracker, stage, i int) {
		due := time.Duration(i) * time.Millisecond
		all.Add(&record.Record{Stage: stage, Due: due, Sent: due, End: due + time.Duration(i%200)*time.Millisecond})
	}
	grown := func(fill func()) int64 {
		before := liveHeap()
		fill()
		return liveHeap() - before
	}
	under, again := newTallies(&p, objectives), newTallies(&p, objectives)
	again.mark = mark
	var found, made []capacity.Trial
	kept := grown(func() {
		for stage := range levels {
			for i := range each {
				add(under, stage, i)
			}
			found = append(found, under.level(stage, 10, true, mark(stage)))
			add(under, stage, 1) // too late
		}
	})
	kept += grown(func() {
		for i := range levels * each {
			add(again, i%levels, i/levels)
		}
	})
	for stage := range levels {
		made = append(made, again.level(stage, 10, true, mark(stage)))
	}
	runtime.KeepAlive(under)
	if !reflect.DeepEqual(found, made) || found[0].Requests != each {
		t.Errorf("made again: %+v\nwant %+v", made[0], found[0])
	}
	if most := int64(4 << 20); kept > most {
		t.Errorf("%d bytes are kept of %d requests, want %d at most", kept, 2*levels*each, most)
	}
}

// liveHeap is what is in use of the memory.
func liveHeap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
