package build

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// talk is a load of sessions: so many, so many of them under way, each of some turns with a
// while between a response and the next turn.
type talk struct {
	count, concurrent int
	turns, spread     float64
	think             time.Duration
}

func (l talk) String() string {
	return fmt.Sprintf("%d sessions, %d under way, %v±%v turns, %v to think", l.count, l.concurrent, l.turns, l.spread, l.think)
}

// turn is the next request of a session.
type turn struct {
	at            time.Duration
	session, turn int
}

type agenda []turn

func (a agenda) Len() int           { return len(a) }
func (a agenda) Less(i, j int) bool { return a[i].at < a[j].at }
func (a agenda) Swap(i, j int)      { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(v any)        { *a = append(*a, v.(turn)) }
func (a *agenda) Pop() any {
	old := *a
	v := old[len(old)-1]
	*a = old[:len(old)-1]
	return v
}

// play gives the records of sessions on a server, which slows down by crowd for every other
// request in flight.
func play(r *rand.Rand, s server, crowd float64, l talk) ([]*record.Record, record.StageSummary) {
	lengths := make([]int, l.count)
	for i := range lengths {
		lengths[i] = max(1, int(l.turns+l.spread*r.NormFloat64()+0.5))
	}
	var next agenda
	begun := min(l.concurrent, l.count)
	for i := range begun {
		heap.Push(&next, turn{session: i})
	}
	var recs []*record.Record
	shared := map[time.Duration]float64{}
	mark := record.StageSummary{Reason: record.StopData}
	const patience = 30 * time.Second
	for len(next) > 0 {
		t := heap.Pop(&next).(turn)
		flight := 0
		for _, rec := range recs {
			if rec.End > t.at {
				flight++
			}
		}
		busy := s
		busy.ttft += time.Duration(float64(s.ttft) * crowd * float64(flight))
		busy.tpot += time.Duration(float64(s.tpot) * crowd * float64(flight))
		rec := busy.answer(r, len(recs), t.at, t.at, t.at, shared)
		rec.Session, rec.Turn = fmt.Sprint("s", t.session), t.turn
		if rec.End > t.at+patience {
			rec.End = t.at + patience
			rec.Marks, rec.Events, rec.Out = nil, nil, record.Tokens{}
			rec.Failure = &record.Failure{Class: record.TimedOut, At: rec.End}
			lengths[t.session] = 0 // it ends with it
		}
		recs = append(recs, rec)
		mark.SendEnd = t.at + 1
		mark.DrainEnd = max(mark.DrainEnd, rec.End)
		switch {
		case t.turn+1 < lengths[t.session]:
			heap.Push(&next, turn{rec.End + l.think, t.session, t.turn + 1})
		case begun < l.count:
			heap.Push(&next, turn{at: rec.End, session: begun})
			begun++
		}
	}
	return recs, mark
}

// judgeTalk is what the verdict says of the steadiness of such a run.
func judgeTalk(t *testing.T, seed uint64, s server, crowd float64, l talk) (word string, said []string) {
	t.Helper()
	recs, mark := play(rand.New(rand.NewPCG(seed, 7)), s, crowd, l)
	return driftOf(talkWorld(recs, mark, l).build(t))
}

// talkWorld is the run of such a load.
func talkWorld(recs []*record.Record, mark record.StageSummary, l talk) *world {
	w := &world{plan: plan.Default(), recs: recs}
	w.plan.Target.URLs = []string{"http://example.test"}
	w.plan.Tokenizer.Name = "test-tokenizer"
	w.plan.Stages = []plan.Stage{{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Concurrent: l.concurrent}}}
	w.facts = Inputs{Header: record.Header{Schema: record.Schema, Kernel: true}, Stages: []record.StageSummary{mark}}
	return w
}

// TestSessionsThatRunOut: conversations end, and that fewer and fewer are under way is no
// change of the server, whether it is faster then or not. At most 1 in 20 runs is not valid.
func TestSessionsThatRunOut(t *testing.T) {
	const runs = 2
	all, wrong := 0, 0
	for name, s := range steadyServers() {
		if s.slots > 0 {
			continue
		}
		for _, crowd := range []float64{0, 0.1} {
			for _, l := range []talk{
				{20, 5, 4, 1, 500 * ms}, {20, 5, 4, 1, 0}, {100, 16, 3, 1, 200 * ms}, {40, 40, 5, 2, 300 * ms},
				{12, 12, 6, 2, 100 * ms}, {10, 2, 12, 6, time.Second}, {64, 32, 4, 2, 0}, {30, 1, 3, 1, 100 * ms},
			} {
				bad := 0
				for seed := range runs {
					if word, said := judgeTalk(t, uint64(seed), s, crowd, l); word != result.Valid {
						bad++
						t.Logf("%s, crowd %v, %v: %s: %v", name, crowd, l, word, said)
					}
				}
				all, wrong = all+runs, wrong+bad
			}
		}
	}
	t.Logf("%d of %d not valid", wrong, all)
	if wrong*20 > all {
		t.Errorf("%d of %d steady runs are not valid", wrong, all)
	}
}

// TestSessionsOnUnsteadyServers: a server that changes is found, whatever the load does.
func TestSessionsOnUnsteadyServers(t *testing.T) {
	loads := []talk{{20, 5, 4, 1, 500 * ms}, {100, 16, 3, 1, 200 * ms}, {40, 40, 5, 2, 300 * ms}, {12, 12, 6, 2, 100 * ms}}
	for _, l := range loads {
		base := server{ttft: 50 * ms, tpot: 10 * ms, tokens: 20, jitter: 0.1}
		whole := base.ttft + 20*base.tpot + l.think
		half := time.Duration(float64(whole) * l.turns * float64(l.count) / float64(l.concurrent) / 2)
		for name, slow := range map[string]func(n int, at time.Duration) (float64, float64){
			"slower at half time": func(_ int, at time.Duration) (float64, float64) {
				if at > half {
					return 3, 3
				}
				return 1, 1
			},
			"hangs at half time": func(_ int, at time.Duration) (float64, float64) {
				if at > half {
					return 1000, 1000
				}
				return 1, 1
			},
			"slow first third": func(n int, _ time.Duration) (float64, float64) {
				if float64(n) < l.turns*float64(l.count)/3 {
					return 5, 5
				}
				return 1, 1
			},
		} {
			s := base
			s.slow = slow
			for seed := range uint64(3) {
				word, said := judgeTalk(t, seed, s, 0, l)
				if word == result.Valid {
					t.Errorf("%v, %s: valid", l, name)
				}
				if text := strings.Join(said, " "); seed == 0 {
					t.Logf("%v, %s: %s %s", l, name, word, text)
				}
				if slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "lower it") }) {
					t.Errorf("%v, %s: a closed loop has no load to lower: %q", l, name, said)
				}
			}
		}
	}
}

// growing gives every turn a prompt that is longer than the one before, and a first token that
// takes longer by as much for each of its tokens.
func growing(recs []*record.Record, perToken time.Duration) {
	later := map[string]time.Duration{} // by how much the turns of a session move
	for _, rec := range recs {
		rec.In = record.Tokens{N: 200 + 300*rec.Turn, Source: record.FromServer, Local: 200 + 300*rec.Turn}
		add := perToken * time.Duration(rec.In.N)
		before := later[rec.Session]
		rec.Due, rec.Ready, rec.Sent, rec.Written = rec.Due+before, rec.Ready+before, rec.Sent+before, rec.Written+before
		for i := range rec.Marks {
			rec.Marks[i].Kernel += before + add
			rec.Marks[i].User += before + add
		}
		rec.End += before + add
		later[rec.Session] = before + add
	}
}

// TestPromptsThatGrow: where all sessions begin together, all prompts grow as the run goes on. A
// first token that takes longer by that is no change of the server; one that takes longer for the
// same prompt is. Some servers take no longer for longer prompts.
func TestPromptsThatGrow(t *testing.T) {
	const runs = 5
	for _, l := range []talk{{12, 12, 6, 2, 100 * ms}, {40, 40, 5, 2, 300 * ms}, {20, 5, 6, 1, 100 * ms}} {
		for _, perToken := range []time.Duration{0, 50 * time.Microsecond} {
			for _, slower := range []float64{1, 3} {
				bad := 0
				for seed := range uint64(runs) {
					word, said := judgeGrowing(t, seed, perToken, slower, l)
					if word != result.Valid {
						bad++
						t.Logf("%v, %v a token, %vx: %s %q", l, perToken, slower, word, said)
					}
				}
				if slower == 1 && bad > 1 || slower > 1 && bad < runs {
					t.Errorf("%v, %v a token, %v times slower: %d of %d are not valid", l, perToken, slower, bad, runs)
				}
			}
		}
	}
}

// judgeGrowing is what the verdict says of the steadiness of sessions whose prompts grow, on a
// server whose first tokens take so many times as long from half time on.
func judgeGrowing(t *testing.T, seed uint64, perToken time.Duration, slower float64, l talk) (word string, said []string) {
	t.Helper()
	s := server{ttft: 50 * ms, tpot: 10 * ms, tokens: 20, jitter: 0.1, shared: 0.1}
	recs, mark := play(rand.New(rand.NewPCG(seed, 7)), s, 0, l)
	growing(recs, perToken)
	mark.SendEnd, mark.DrainEnd = 0, 0
	for _, rec := range recs {
		mark.SendEnd, mark.DrainEnd = max(mark.SendEnd, rec.Sent+1), max(mark.DrainEnd, rec.End)
	}
	for _, rec := range recs {
		if slower > 1 && rec.Sent > mark.SendEnd/2 {
			first := rec.Marks[0].Kernel - rec.Sent
			rec.Marks[0].Kernel = min(rec.Sent+time.Duration(slower*float64(first)), rec.Marks[1].Kernel-1)
			rec.Marks[0].User = rec.Marks[0].Kernel
		}
	}
	return driftOf(talkWorld(recs, mark, l).build(t))
}
