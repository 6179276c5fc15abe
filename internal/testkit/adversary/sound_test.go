//go:build linux

package adversary

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/testkit/binary"
)

// busyNeighbours is how many processes compete with a sound run for the cores.
const busyNeighbours = 8

// TestSound plays sound runs of about five seconds, each of another load, server and wire: as
// many alone as beside busy neighbours. Alone all of them are VALID, in company 95 in a
// hundred, and the bars of all of them hold, VALID or not. INFEROMETER_SOUND is how many.
// Of a shard only the bars are judged: how many may not be VALID is a matter of all shards.
func TestSound(t *testing.T) {
	seeds, whole := shard(t, "INFEROMETER_SOUND")
	n := len(seeds)
	binary.Program(t)
	for _, with := range []struct{ neighbours, spared int }{{0, 0}, {busyNeighbours, n / 20}} {
		end := neighbours(with.neighbours)
		all := make([]judged, n)
		for i, seed := range seeds {
			s := soundRun(uint64(seed))
			all[i] = judgeOne(t, &s)
		}
		end()
		valid, held := summary(t, seeds, all)
		t.Logf("beside %d neighbours: %d of %d VALID, the bars of %d hold", with.neighbours, valid, n, held)
		if whole && n-valid > with.spared {
			t.Errorf("beside %d neighbours %d of %d sound runs are not VALID; at most %d may be", with.neighbours, n-valid, n, with.spared)
		}
		if held < n {
			t.Errorf("beside %d neighbours the bars of %d of %d sound runs exclude the truth", with.neighbours, n-held, n)
		}
	}
}

// TestStarved measures a server twice, with a client that is starved and one that is not. The
// bars of each figure overlap, whatever the verdicts are. INFEROMETER_STARVED is how often.
func TestStarved(t *testing.T) {
	seeds, _ := shard(t, "INFEROMETER_STARVED")
	n := len(seeds)
	binary.Program(t)
	agree := 0
	var b strings.Builder
	for _, i := range seeds {
		fed, hungry := soundRun(uint64(i)), soundRun(uint64(i))
		how := starve(&hungry, i)
		a, z := judgeOne(t, &fed), judgeOne(t, &hungry)
		figures, apart, worst := disagree(&a, &z)
		if apart == 0 && figures > 0 {
			agree++
		}
		fmt.Fprintf(&b, "%3d  %-52s %-34s %-13s %-13s %3d of %3d figures apart  %s\n", i, fed.name, how, a.verdict, z.verdict, apart, figures, worst)
	}
	t.Logf("%d of %d pairs agree\n%s", agree, n, b.String())
	if agree < n {
		t.Errorf("in %d of %d pairs of a starved and an unstarved client, bars of the same figure do not overlap", n-agree, n)
	}
}

// shard returns every seed below the number in a variable of the environment, without which
// there is no test; with INFEROMETER_SHARD=2/8 every eighth of them, from the third on.
func shard(t *testing.T, name string) (seeds []int, whole bool) {
	first, step := 0, 1
	if text := os.Getenv("INFEROMETER_SHARD"); text != "" {
		if _, err := fmt.Sscanf(text, "%d/%d", &first, &step); err != nil || first < 0 || step <= first {
			t.Fatalf("INFEROMETER_SHARD=%s: set it to I/N, with I from 0 to N-1", text)
		}
	}
	for i := first; i < times(t, name); i += step {
		seeds = append(seeds, i)
	}
	return seeds, step == 1
}

// times is the number in a variable of the environment, without which there is no test.
func times(t *testing.T, name string) int {
	text := os.Getenv(name)
	if text == "" {
		t.Skip("make conformance-sound plays them, for half an hour")
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s=%s: set it to a number of runs", name, text)
	}
	return n
}

// soundRun is a run of about five seconds in which nothing is wrong, by its seed. Enough
// requests are in it to tell whether the server was steady.
func soundRun(seed uint64) situation {
	r := rand.New(rand.NewPCG(seed, 31))
	ttft := time.Duration(20+r.IntN(80)) * ms
	itl := time.Duration(8+r.IntN(20)) * ms
	writes, events := 2+r.IntN(6), 1+r.IntN(4)*r.IntN(2)
	how := [][]wire{nil, nil, {overH2}, {overTLS}, {overH2, overTLS}}[r.IntN(5)]
	load := fmt.Sprintf("--concurrency %d", 4+r.IntN(13))
	if r.IntN(2) == 0 {
		load = fmt.Sprintf("--rate %d", 20+r.IntN(60))
	}
	s := situation{lie: "nothing", healthy: true, anyway: true, args: flags(load + " --duration 5s --seed " + strconv.FormatUint(seed+1, 10)), server: always(func(c *call) {
		due := c.read.Add(ttft)
		for i := range writes {
			c.wait(time.Until(due))
			due = due.Add(itl)
			texts := make([]string, events)
			for k := range texts {
				texts[k] = word(i + k)
			}
			c.send(events, texts...)
		}
		c.end()
	})}
	s.name = fmt.Sprintf("%s, %v, %d × %d every %v", strings.TrimPrefix(load, "--"), ttft, writes, events, itl)
	if len(how) > 0 {
		s = s.with(strings.Trim(fmt.Sprint(how), "[]"), how...)
	}
	return s
}

// starve makes the client of a situation one that is starved, in one of several ways.
func starve(s *situation, nth int) (how string) {
	switch nth % 5 {
	case 0:
		s.during, how = flicker(1900*ms, 100*ms), "paused 100 ms every 2 s"
	case 1:
		s.during, how = flicker(70*ms, 30*ms), "paused 30 ms ten times a second"
	case 2:
		s.during, how = paused(2*time.Second, time.Second, 1), "paused once for a second"
	case 3:
		s.before, s.during = throttled(0.05)
		how = "a quota of 5 ms in 100"
	default:
		s.before, s.during = throttled(0.15)
		how = "a quota of 15 ms in 100"
	}
	s.host = true
	return how
}

// disagree compares the figures of two runs of the same server. It was not the same to a
// microsecond: what it did differently by its own log is not held against them.
func disagree(a, z *judged) (figures, apart int, worst string) {
	most := 0.0
	for _, f := range a.checked {
		i := slices.IndexFunc(z.checked, func(g finding) bool { return g.what == f.what })
		if f.text != "" || i < 0 || !f.sure {
			continue
		}
		g := z.checked[i]
		figures++
		gap := max(f.said-f.down-(g.said+g.up), g.said-g.down-(f.said+f.up))
		differs := max(f.high, g.high) - min(f.low, g.low)
		if off := gap - differs - f.stated - g.stated; off > 0 {
			apart++
			if share := off / max(f.said, g.said); share > most {
				most = share
				worst = fmt.Sprintf("%s %.4g to %.4g, starved %.4g to %.4g", f.what, f.said-f.down, f.said+f.up, g.said-g.down, g.said+g.up)
			}
		}
	}
	return figures, apart, worst
}

// summary prints a table of plays, each with its seed, and counts those that are VALID and those whose bars hold.
func summary(t *testing.T, seeds []int, all []judged) (valid, held int) {
	var b strings.Builder
	for i := range all {
		j := &all[i]
		if j.verdict == "VALID" {
			valid++
		}
		if j.result != isLie {
			held++
		}
		fmt.Fprintf(&b, "%3d  %-52s %-13s %-8s %4d figures  %s\n", seeds[i], j.play.name, j.verdict, j.result, len(j.checked), j.detail())
	}
	t.Log("\n" + b.String())
	return valid, held
}
