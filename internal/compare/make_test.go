package compare

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// made is a run that a test writes.
type made struct {
	requests int     // 0: 200
	slower   float64 // factor of every time
	tokens   int     // 0: 8
	edit     func(*plan.Plan)
	change   func(*record.Record)
	seed     uint64
}

// write writes the run: requests one after the other, with latencies that vary by a few
// per cent.
func (m made) write(t *testing.T, dir string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if m.requests == 0 {
		m.requests = 200
	}
	if m.tokens == 0 {
		m.tokens = 8
	}
	if m.slower == 0 {
		m.slower = 1
	}
	p := plan.Default()
	p.DrawSeed, p.Target.Model, p.Target.URLs, p.Output.Dir, p.Seed = false, "org/m", []string{"http://localhost:8000"}, dir, m.seed
	p.Stages = []plan.Stage{{Concurrency: 1, Requests: int64(m.requests)}}
	if m.edit != nil {
		m.edit(&p)
	}
	draw := rand.New(rand.NewPCG(m.seed, 1))
	err := saved.Create(&p, record.Header{Start: time.Unix(1_800_000_000, 0), Seed: m.seed}, func(add func(*record.Record) error) error {
		at := time.Duration(0)
		for stage := range p.Stages {
			for n := range m.requests {
				rec := m.request(stage, n, at, draw, p.Target.Streaming)
				if m.change != nil {
					m.change(rec)
				}
				at = rec.End + time.Millisecond
				if err := add(rec); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// request is one request, sent at a moment.
func (m made) request(stage, n int, sent time.Duration, draw *rand.Rand, streamed bool) *record.Record {
	rec := &record.Record{
		Seq: int64(stage*m.requests + n), Stage: stage, Due: sent, Ready: sent, Sent: sent, Written: sent,
		Status: 200, Conn: record.Conn{Reused: true}, Streamed: streamed, Cached: -1, Size: 10,
		In: record.Tokens{N: 7, Source: record.FromServer, Local: 7}, Out: record.Tokens{N: m.tokens, Source: record.FromServer, Local: -1},
	}
	vary := func(d time.Duration) time.Duration {
		return time.Duration(float64(d) * m.slower * (1 + 0.03*draw.NormFloat64()))
	}
	at := sent + vary(100*time.Millisecond)
	pieces := m.tokens
	if !streamed {
		pieces = 1
	}
	for i := range pieces {
		if i > 0 {
			at += vary(10 * time.Millisecond)
		}
		e := record.Event{Mark: i, Label: record.Content, Text: 3, Tokens: m.tokens / pieces}
		if !streamed {
			e.Label = record.Whole
		}
		rec.Marks = append(rec.Marks, record.Read{Kernel: at, User: at})
		rec.Events = append(rec.Events, e)
		rec.Text = append(rec.Text, "ab "...)
	}
	rec.End = at
	return rec
}

// compared opens and compares runs, and makes sure that the document fits its schema.
func compared(t *testing.T, o Options, arguments ...string) *Comparison {
	t.Helper()
	sides, err := Open(arguments, OpenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := Make(sides, o)
	if err != nil {
		t.Fatal(err)
	}
	published.Fits(t, c)
	return c
}

// only is the only row of a figure.
func only(t *testing.T, c *Comparison, metric, stat string) *Row {
	t.Helper()
	list := c.Find(metric, stat)
	if len(list) != 1 {
		t.Fatalf("%s %s: %d rows", metric, stat, len(list))
	}
	return list[0].Row
}

// A run that is like another shows no difference that stands, and one that is 5 % slower does.
func TestDifferenceIsFound(t *testing.T) {
	dir := t.TempDir()
	a := made{seed: 1}.write(t, filepath.Join(dir, "a"))
	b := made{seed: 2}.write(t, filepath.Join(dir, "b"))
	slow := made{seed: 5, slower: 1.05}.write(t, filepath.Join(dir, "slow"))
	same := compared(t, Options{}, a, b)
	if table := &same.Loads[0].Tables[0]; table.Firm > 0 || table.Compared < 10 || table.Method != ByRequests {
		t.Errorf("alike: %+v", table)
	}
	c := compared(t, Options{}, "before="+a, "after="+slow)
	for _, want := range []struct{ metric, stat, verdict string }{
		{"time_to_first_token", "avg", Worse}, {"request_latency", "p50", Worse}, {"inter_token_latency", "avg", Worse},
		{"output_sequence_length", "avg", NoneSeen},
	} {
		r := only(t, c, want.metric, want.stat)
		if r.Verdict != want.verdict || want.verdict == Worse && r.Chance {
			t.Errorf("%s %s: %s, %+v", want.metric, want.stat, r.Verdict, r.Delta)
		}
		if i := r.Delta.Interval; want.verdict == Worse && !(*i.RelativeLo < 0.05 && 0.05 < *i.RelativeHi) {
			t.Errorf("%s %s: 5 %% is outside %v to %v", want.metric, want.stat, *i.RelativeLo, *i.RelativeHi)
		}
	}
	// None of 200 failed: it may still be 1.9 % of them.
	if r := only(t, c, "error_rate", "avg"); r.Verdict != NoneSeen || math.Abs(r.Delta.Interval.Hi-0.019) > 0.0005 || r.Delta.Interval.Lo != -r.Delta.Interval.Hi {
		t.Errorf("%s %+v", r.Verdict, r.Delta.Interval)
	}
	if c.Sides[1].Name != "after" || !strings.Contains(c.Loads[0].Tables[0].Longer, "5 %") {
		t.Errorf("%+v, %q", c.Sides, c.Loads[0].Tables[0].Longer)
	}
}
