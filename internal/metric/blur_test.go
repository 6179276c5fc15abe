package metric

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
)

// onlooker is a client that looks at its sockets now and then, and stands still for a while now and
// then.
type onlooker struct {
	*rand.Rand
	longest time.Duration // pause
	unsure  bool          // it takes reads to have come earlier than they can
}

// pause is how long it is until the client looks again.
func (c *onlooker) pause() time.Duration {
	d := time.Duration(c.IntN(200)) * time.Microsecond
	if c.IntN(20) == 0 {
		d = time.Duration(c.IntN(150)) * time.Millisecond
	}
	c.longest = max(c.longest, d)
	return d
}

// request makes a request as it was and as this client saw it.
func (c *onlooker) request(seq int64) (truth, seen *record.Record) {
	begin := time.Duration(seq) * time.Second
	truth = &record.Record{Seq: seq, Due: begin, Ready: begin, Sent: begin + c.pause(), Streamed: true, Status: 200, Cached: -1}
	truth.Written = truth.Sent
	seen = &record.Record{Seq: seq, Due: begin, Ready: begin, Streamed: true, Status: 200, Cached: -1}
	seen.Sent = begin + time.Duration(c.Int64N(int64(truth.Sent-begin)+1))
	seen.Written = truth.Sent + c.pause()
	at := truth.Sent
	var came []time.Duration // when each event did
	for n := 2 + c.IntN(40); len(came) < n; {
		at += time.Duration(1+c.IntN(40_000)) * time.Microsecond
		for range 1 + c.IntN(3)/2 { // some are written together
			came = append(came, at)
		}
	}
	for i, t := range came {
		truth.Marks = append(truth.Marks, record.Read{Off: i + 1, Kernel: t, User: t})
		truth.Events = append(truth.Events, record.Event{Mark: i, Label: record.Content, Tokens: 1})
	}
	truth.End = at
	truth.Out = record.Tokens{N: len(came), Source: record.FromServer, Local: -1}
	seen.Out = truth.Out
	c.see(seen, came)
	return truth, seen
}

// see reads the events as the client does that looks now and then.
func (c *onlooker) see(rec *record.Record, came []time.Duration) {
	now, last := rec.Sent, rec.Sent
	for next := 0; next < len(came); {
		looked := now
		if now += c.pause(); c.IntN(3) > 0 && came[next] > now { // it sleeps until something comes
			looked = max(looked, came[next]-time.Duration(c.IntN(1000))*time.Microsecond)
			now = came[next] + c.pause()
		}
		first := next
		for next < len(came) && came[next] <= now {
			next++
		}
		if next == first {
			continue
		}
		m := record.Read{Off: next, Kernel: came[next-1], User: now}
		if came[first] != came[next-1] { // more than one segment
			m.Blur = m.Kernel - max(looked, last)
		}
		if c.IntN(30) == 0 { // the kernel gave no stamp
			m.Blur, m.Kernel, m.Loose = now-max(looked, last), record.Never, true
		}
		if c.unsure && c.IntN(5) == 0 {
			m.Blur, m.Loose = m.Blur+time.Duration(c.IntN(300))*time.Millisecond, true
		}
		rec.Marks = append(rec.Marks, m)
		for i := first; i < next; i++ {
			rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks) - 1, Label: record.Content, Tokens: 1, Merged: i < next-1})
		}
		last = came[next-1]
		rec.End = m.Time()
	}
}

func summarized(t *testing.T, records []*record.Record) map[string]Stat {
	t.Helper()
	f, err := NewFold(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	half, err := NewFold(Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	for i, r := range records {
		if i%2 == 0 {
			half.Add(r)
		} else {
			f.Add(r)
		}
	}
	if err := f.Merge(half); err != nil {
		t.Fatal(err)
	}
	stages, err := f.Summarize(stat.Linear)
	if err != nil {
		t.Fatal(err)
	}
	return stages[0].Whole.Stats
}

// TestEnclosure looks whether the truth lies between the ends of every figure, whatever the client
// did, and whether those are no further apart than the client was away.
func TestEnclosure(t *testing.T) {
	for seed := range uint64(90) {
		c := &onlooker{Rand: rand.New(rand.NewPCG(seed, 31)), unsure: seed%3 == 0}
		var truth, seen []*record.Record
		for i := range int64(1 + c.IntN(300)) {
			a, b := c.request(i)
			truth, seen = append(truth, a), append(seen, b)
		}
		want, got := summarized(t, truth), summarized(t, seen)
		bounded := 0
		for id, w := range want {
			g := got[id]
			if g.Least == nil || g.N != w.N && id == "output_token_throughput_per_user" { // of a stream that came at once there is none
				continue
			}
			bounded++
			within := func(name string, true, taken, least, most float64) {
				const rounding = 1e-6
				if true < least-rounding || true > most+rounding || taken < least-rounding || taken > most+rounding {
					t.Errorf("seed %d: %s %s is %g and was taken to be %g, between %g and %g", seed, id, name, true, taken, least, most)
				}
				if least < 0 || taken < 0 {
					t.Errorf("seed %d: %s %s is %g, from %g on", seed, id, name, taken, least)
				}
				if width := most - least; !c.unsure && g.Def.Unit == Milliseconds && width > 4*c.longest.Seconds()*1000 {
					t.Errorf("seed %d: %s %s lies between %g and %g, and the longest pause was %v", seed, id, name, least, most, c.longest)
				}
			}
			within("avg", w.Avg, g.Avg, g.Least.Avg, g.Most.Avg)
			within("min", w.Min, g.Min, g.Least.Min, g.Most.Min)
			within("max", w.Max, g.Max, g.Least.Max, g.Most.Max)
			for i, p := range Percentiles() {
				within(p.Name, w.Quantiles[i], g.Quantiles[i], g.Least.Quantiles[i], g.Most.Quantiles[i])
			}
		}
		if bounded < 11 {
			t.Errorf("seed %d: only %d metrics have ends", seed, bounded)
		}
	}
}
