package estimate

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/inferometer/inferometer/internal/stat"
)

// twins is a way in which two sides answer the same prompts: prompts is drawn from for what they
// have in common, side for what each has of its own.
type twins struct {
	name string
	draw func(prompts, side *rand.Rand, n int) *Samples
	// other is how the second side does where that is not the first's way; nil: it is.
	other func(prompts, side *rand.Rand, n int) *Samples
}

// families of pairs: what a prompt makes of a latency is much, nothing, or the same queue for both.
var pairFamilies = []twins{
	{name: "strong prompts", draw: promptsAnd(0.6, 0.05, 0)},
	{name: "weak prompts", draw: promptsAnd(0.3, 0.5, 0)},
	{name: "no prompts", draw: promptsAnd(0, 0.5, 0)},
	{name: "strong, memory", draw: promptsAnd(0.6, 0.2, 0.8)},
	{name: "no prompts, memory", draw: promptsAnd(0, 0.5, 0.7)},
	{name: "sorted prompts", draw: sortedPrompts},
	{name: "rare slow answers", draw: hiccups},
	{name: "slow on one side", draw: promptsAnd(0.4, 0.1, 0), other: hiccups},
	{name: "same queue", draw: sameQueue},
	{name: "gaps", draw: twinGaps},
}

// promptsAnd are latencies of which the prompt explains so much of the logarithm, and the side's own
// noise, which remembers by phi, the rest.
func promptsAnd(ofPrompt, own, phi float64) func(prompts, side *rand.Rand, n int) *Samples {
	return func(prompts, side *rand.Rand, n int) *Samples {
		s := &Samples{Values: make([]float64, n)}
		level := side.NormFloat64()
		for i := range s.Values {
			s.Values[i] = 50 * math.Exp(ofPrompt*prompts.NormFloat64()+own*level)
			level = phi*level + math.Sqrt(1-phi*phi)*side.NormFloat64()
		}
		return s
	}
}

// sortedPrompts come in runs of like length, as from a file that is sorted by topic.
func sortedPrompts(prompts, side *rand.Rand, n int) *Samples {
	s := &Samples{Values: make([]float64, n)}
	level := prompts.NormFloat64()
	for i := range s.Values {
		level = 0.9*level + math.Sqrt(1-0.81)*prompts.NormFloat64()
		s.Values[i] = 50 * math.Exp(0.4*level+0.1*side.NormFloat64())
	}
	return s
}

// hiccups are of each side alone: one answer in twenty is several times as slow.
func hiccups(prompts, side *rand.Rand, n int) *Samples {
	s := promptsAnd(0.4, 0.1, 0)(prompts, side, n)
	for i := range s.Values {
		if side.Float64() < 0.05 {
			s.Values[i] *= 2 + 3*side.ExpFloat64()
		}
	}
	return s
}

// sameQueue is an open loop of the same arrivals on both sides, whose service times are those of
// the prompts and a little of the side's own: a prompt delays those behind it on both.
func sameQueue(prompts, side *rand.Rand, n int) *Samples {
	s := &Samples{Values: make([]float64, n)}
	var now, free float64
	for i := -1000; i < n; i++ {
		now += prompts.ExpFloat64() / 0.6
		free = max(free, now) + math.Exp(0.3*prompts.NormFloat64()-0.045)*math.Exp(0.1*side.NormFloat64()-0.005)
		if i >= 0 {
			s.Values[i] = free - now
		}
	}
	return s
}

// twinGaps are those between tokens: how many, and how long they are, is the prompt's doing.
func twinGaps(prompts, side *rand.Rand, n int) *Samples {
	s := &Samples{}
	for range n {
		level, own := 0.4*prompts.NormFloat64(), 0.1*side.NormFloat64()
		for range 5 + prompts.IntN(30) {
			s.Values = append(s.Values, 10*math.Exp(level+own+0.2*side.NormFloat64()))
		}
		s.Ends = append(s.Ends, len(s.Values))
	}
	return s
}

// pair is a comparison of a family: the second side is the other one and so much slower, or alike.
func (f *twins) pair(round, n int, slower float64) (a, b *Samples) {
	h := fnv.New64a()
	h.Write([]byte(f.name))
	sum := h.Sum64()
	prompts := func() *rand.Rand { return rand.New(rand.NewPCG(sum+uint64(round), uint64(n))) }
	own := func(side uint64) *rand.Rand { return rand.New(rand.NewPCG(sum^uint64(round)<<20, uint64(n)<<8+side)) }
	draw := f.draw
	if slower != 1 && f.other != nil {
		draw = f.other
	}
	a, b = f.draw(prompts(), own(1), n), draw(prompts(), own(2), n)
	for i := range b.Values {
		b.Values[i] *= slower
	}
	return a, b
}

// slower is by which factor the second side is.
const slower = 1.05

// truth are the differences of the figures of a family.
func (f *twins) truth(figures []Statistic) []float64 {
	a := figuresOf(f.draw, figures)
	b := a
	if f.other != nil {
		b = figuresOf(f.other, figures)
	}
	out := make([]float64, len(a))
	for i := range out {
		out[i] = slower*b[i] - a[i]
	}
	return out
}

// figuresOf are the figures of one side, by a simulation so long that its own error does not matter.
func figuresOf(draw func(prompts, side *rand.Rand, n int) *Samples, figures []Statistic) []float64 {
	const parts, size = 40, 50_000
	sums := make([]float64, len(figures))
	for p := range parts {
		s := draw(rand.New(rand.NewPCG(uint64(p), 1<<41)), rand.New(rand.NewPCG(uint64(p), 1<<42)), size)
		var mean float64
		for _, v := range s.Values {
			mean += v / float64(len(s.Values))
		}
		slices.Sort(s.Values)
		for i, g := range figures {
			if g.Kind == Mean {
				sums[i] += mean / parts
			} else {
				sums[i] += stat.Linear.QuantileOf(s.Values, g.Q) / parts
			}
		}
	}
	return sums
}

// twinTally is what pairs of one size have come to, by figure.
type twinTally struct {
	pairs, known, holds, alarms, found int
	width, unpaired                    float64 // sums of half widths
}

func (f *twins) simulate(rounds, n int, figures []Statistic, truth []float64) []twinTally {
	out := make([]twinTally, len(figures))
	for round := range rounds {
		a, b := f.pair(round, n, slower)
		differ, apart := BetweenPrompts(a, b, figures, Confidence), Diff(a, b, figures, Confidence)
		a, b = f.pair(rounds+round, n, 1)
		alike := BetweenPrompts(a, b, figures, Confidence)
		for i := range figures {
			c := &out[i]
			c.pairs++
			if alike[i].Known && alike[i].P < 1-Confidence {
				c.alarms++
			}
			if d := &differ[i]; d.Known {
				c.known++
				if d.Lo <= truth[i] && truth[i] <= d.Hi {
					c.holds++
				}
				if d.P < 1-Confidence {
					c.found++
				}
				if apart[i].Known {
					c.width, c.unpaired = c.width+d.Hi-d.Lo, c.unpaired+apart[i].Hi-apart[i].Lo
				}
			}
		}
	}
	return out
}

// TestPromptsSlice: what TestPromptSimulations shows at length holds for a few pairs, and pairs of
// prompts that differ much are told apart by far less.
func TestPromptsSlice(t *testing.T) {
	figures := usual[:3]
	for i := range pairFamilies[:4] {
		f := &pairFamilies[i]
		for k, c := range f.simulate(40, 300, figures, f.truth(figures)) {
			if f.name != "strong, memory" && c.known < 30 || float64(c.holds) < 0.85*float64(c.known) || c.alarms > 6 {
				t.Errorf("%s: %s: %+v", f.name, titles[k], c)
			}
			if f.name == "strong prompts" && c.width > 0.5*c.unpaired {
				t.Errorf("%s: %s: intervals by prompt are %.2f times as wide as those without", f.name, titles[k], c.width/c.unpaired)
			}
		}
	}
}

// TestPromptSimulations: intervals of differences by prompt cover what they say, and like is seldom
// told from like.
func TestPromptSimulations(t *testing.T) {
	if !everything {
		t.Skip("INFEROMETER_SIMULATE=all runs it")
	}
	for i := range pairFamilies {
		f := &pairFamilies[i]
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			truth := f.truth(usual)
			for _, size := range []int{100, 300, 1000, 3000, 10_000} {
				rounds := 1000
				if size > 3000 {
					rounds = 300
				}
				for k, c := range f.simulate(rounds, size, usual, truth) {
					c.judge(t, f.name, size, titles[k])
				}
			}
		})
	}
}

// judge holds one figure's count against what is promised.
func (c *twinTally) judge(t *testing.T, name string, size int, title string) {
	share := float64(c.known) / float64(c.pairs)
	if share < 0.01 {
		return
	}
	holds, alarms := 100*float64(c.holds)/float64(c.known), 100*float64(c.alarms)/float64(c.pairs)
	t.Logf("%-18s %6d %-4s  known %3.0f %%  covers %5.1f %%  alarms %4.1f %%  width %.2f  finds %3.0f %%", name, size, title,
		100*share, holds, alarms, c.width/c.unpaired, 100*float64(c.found)/float64(c.pairs))
	least, most := 92.0, 6.5 // of 1,000: what is promised, and what chance adds
	if c.pairs < 1000 {
		least, most = 90, 8
	}
	if share > 0.75 && holds < least || alarms > most {
		t.Errorf("%d %s: covers %.1f %%, alarms %.1f %%", size, title, holds, alarms)
	}
}

// What cannot be compared is not known, and what is the same differs by nothing.
func TestPromptsAtTheEdges(t *testing.T) {
	line := func(n int, f func(i int) float64) *Samples {
		s := &Samples{Values: make([]float64, n)}
		for i := range s.Values {
			s.Values[i] = f(i)
		}
		return s
	}
	r := rand.New(rand.NewPCG(1, 2))
	random := line(400, func(int) float64 { return r.ExpFloat64() })
	seldom := line(400, func(i int) float64 { return float64(i % 100 / 99) })
	for _, c := range []struct {
		name    string
		a, b    *Samples
		figure  Statistic
		known   bool
		delta   float64
		nonzero bool // the interval has a width
	}{
		{name: "itself", a: random, b: random, figure: Statistic{Kind: Mean}, known: true},
		{name: "quantile of itself", a: random, b: random, figure: Statistic{Quantile, 0.9}, known: true, nonzero: true},
		{name: "shifted by as much", a: random, b: line(400, func(i int) float64 { return random.Values[i] + 1 }), figure: Statistic{Kind: Mean}, known: true, delta: 1},
		{name: "constant", a: line(400, func(int) float64 { return 3 }), b: line(400, func(int) float64 { return 4 }), figure: Statistic{Kind: Mean}, known: true, delta: 1},
		{name: "never", a: line(400, func(int) float64 { return 0 }), b: line(400, func(int) float64 { return 0 }), figure: Statistic{Kind: Share}, known: true, nonzero: true},
		{name: "the same few", a: seldom, b: seldom, figure: Statistic{Kind: Share}, known: true, nonzero: true},
		{name: "other lengths", a: random, b: line(300, func(int) float64 { return 1 }), figure: Statistic{Kind: Mean}},
		{name: "too few", a: line(20, func(i int) float64 { return float64(i) }), b: line(20, func(i int) float64 { return float64(i) }), figure: Statistic{Kind: Mean}},
		{name: "none", a: &Samples{}, b: &Samples{}, figure: Statistic{Kind: Mean}},
		{name: "no number", a: random, b: line(400, func(int) float64 { return math.NaN() }), figure: Statistic{Kind: Mean}},
	} {
		d := BetweenPrompts(c.a, c.b, []Statistic{c.figure}, Confidence)[0]
		if d.Known != c.known || d.Known && (math.Abs(d.Delta-c.delta) > 1e-9 || c.nonzero != (d.Hi-d.Lo > 1e-9)) {
			t.Errorf("%s: %+v", c.name, d)
		}
	}
}
