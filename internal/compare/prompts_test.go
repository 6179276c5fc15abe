package compare

import (
	"math"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// asks gives a request the prompt of a number: its hash, and how long responses to it take.
func asks(rec *record.Record, n int64) {
	rec.Prompt = uint64(n) + 1
	by := math.Exp(0.6 * rand.New(rand.NewPCG(uint64(n), 7)).NormFloat64())
	stretch := func(at time.Duration) time.Duration { return rec.Sent + time.Duration(float64(at-rec.Sent)*by) }
	for i := range rec.Marks {
		rec.Marks[i].Kernel, rec.Marks[i].User = stretch(rec.Marks[i].Kernel), stretch(rec.Marks[i].User)
	}
	rec.End = stretch(rec.End)
}

// failed makes a request one that failed.
func failed(rec *record.Record) {
	rec.Failure, rec.Status = &record.Failure{Class: record.HTTPStatus, Status: 500, At: rec.End}, 500
	rec.Marks, rec.Events, rec.Text = nil, nil, nil
}

// Runs that sent the same prompts are compared prompt by prompt, where the load allows it.
func TestPrompts(t *testing.T) {
	prompt := func(rec *record.Record) { asks(rec, rec.Seq) }
	both := func(f func(rec *record.Record)) func(*record.Record) {
		return func(rec *record.Record) { prompt(rec); f(rec) }
	}
	for _, c := range []struct {
		name    string
		a, b    made // b is 5 % slower
		prompts int  // 0: they are not compared by prompt
	}{
		{name: "the same prompts", a: made{change: prompt}, b: made{change: prompt}, prompts: 200},
		{name: "no hashes", a: made{change: both(func(r *record.Record) { r.Prompt = 0 })}, b: made{change: both(func(r *record.Record) { r.Prompt = 0 })}},
		{name: "other prompts", a: made{change: prompt}, b: made{change: func(r *record.Record) { asks(r, r.Seq+1000) }}},
		{name: "the same prompts at other places", a: made{change: prompt}, b: made{change: func(r *record.Record) { asks(r, (r.Seq*77)%200) }}},
		{name: "another load", a: made{change: prompt}, b: made{change: prompt, edit: func(p *plan.Plan) { p.Stages[0].Concurrency = 2 }}},
		{name: "somewhat shorter", a: made{change: prompt}, b: made{change: prompt, requests: 170}, prompts: 170},
		{name: "much shorter", a: made{change: prompt}, b: made{change: prompt, requests: 100}},
		{name: "some failed", a: made{change: prompt}, b: made{change: both(func(r *record.Record) {
			if r.Seq%10 == 3 {
				failed(r)
			}
		})}, prompts: 180},
		{name: "repeated prompts", a: made{change: func(r *record.Record) { asks(r, r.Seq%50) }}, b: made{change: func(r *record.Record) { asks(r, r.Seq%50) }}, prompts: 200},
		{name: "numbered from another place", a: made{change: prompt}, b: made{change: both(func(r *record.Record) { r.Seq += 5000 })}, prompts: 200},
		{name: "conversations", a: made{change: turns}, b: made{change: turns}, prompts: 200},
		{name: "workers", a: made{change: prompt}, b: made{change: both(func(r *record.Record) { r.Slot = int(r.Seq % 2) })}, prompts: 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			c.a.seed, c.b.seed, c.b.slower = 1, 2, 1.05
			got := compared(t, Options{}, c.a.write(t, filepath.Join(dir, "a")), c.b.write(t, filepath.Join(dir, "b")))
			table := &got.Loads[0].Tables[0]
			if want := map[bool]string{true: ByPrompts, false: ByRequests}[c.prompts > 0]; table.Method != want || table.Prompts != c.prompts {
				t.Fatalf("by %s, %d prompts: want %s, %d", table.Method, table.Prompts, want, c.prompts)
			}
			r := only(t, got, "request_latency", "avg")
			i := r.Delta.Interval
			if i == nil || *i.RelativeLo > 0.05 || *i.RelativeHi < 0.05 {
				t.Fatalf("5 %% is outside %+v", i)
			}
			if found := r.Verdict == Worse; found != (c.prompts > 0) {
				t.Errorf("%s, %.1f to %.1f %%", r.Verdict, 100**i.RelativeLo, 100**i.RelativeHi)
			}
			// Rates have no pairs.
			if rate := only(t, got, "request_throughput", "avg"); rate.Delta.Method == ByPrompts {
				t.Error("a rate by prompt")
			}
		})
	}
}

// turns are those of conversations of four: later turns are numbered behind all first ones.
func turns(rec *record.Record) {
	n := rec.Seq
	asks(rec, n)
	rec.Session, rec.Turn = "s", int(n%4)
	rec.Seq = n/4 + int64(rec.Turn)<<40
}

// A side without a successful request has nothing to pair, and is said to.
func TestPromptsWithoutAnswers(t *testing.T) {
	dir := t.TempDir()
	prompt := func(rec *record.Record) { asks(rec, rec.Seq) }
	a := made{seed: 1, change: prompt}.write(t, filepath.Join(dir, "a"))
	b := made{seed: 2, change: func(rec *record.Record) { prompt(rec); failed(rec) }}.write(t, filepath.Join(dir, "b"))
	for _, sides := range [][]string{{a, b}, {b, a}, {b, b}} {
		c := compared(t, Options{}, sides...)
		table := &c.Loads[0].Tables[0]
		if table.Method != ByRequests || len(table.Doubts) == 0 {
			t.Errorf("by %s, %q", table.Method, table.Doubts)
		}
	}
}

// Later stages are paired too, also where an earlier one was longer in one of the runs.
func TestPromptsOfStages(t *testing.T) {
	dir := t.TempDir()
	two := func(p *plan.Plan) {
		p.Stages = []plan.Stage{{Concurrency: 1, Requests: 200}, {Concurrency: 2, Requests: 200}}
	}
	write := func(name string, before int64, slower float64) string {
		return made{seed: uint64(before), slower: slower, edit: two, change: func(rec *record.Record) {
			asks(rec, rec.Seq)
			if rec.Stage == 1 {
				rec.Seq += before
			}
		}}.write(t, filepath.Join(dir, name))
	}
	c := compared(t, Options{}, write("a", 0, 1), write("b", 37, 1.05))
	for i := range c.Loads {
		if table := &c.Loads[i].Tables[0]; table.Method != ByPrompts || table.Prompts != 200 {
			t.Errorf("%s: by %s, %d prompts", c.Loads[i].Name, table.Method, table.Prompts)
		}
	}
}
