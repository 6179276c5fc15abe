package prompt

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
)

// The expected values are those published for XXH64 with seed 0.
func TestHashTextIsXXH64(t *testing.T) {
	for text, want := range map[string]uint64{
		"":     0xef46db3751d8e999,
		"a":    0xd24ec4f1a98c6e5b,
		"as":   0x1c330fb2d66be179,
		"asd":  0x631c37ce72a97393,
		"asdf": 0x415872f599cea71e,
		"Call me Ishmael. Some years ago--never mind how long precisely-": 0x02a2e85470d6fd96,
	} {
		if got := HashText(text); got != want {
			t.Errorf("HashText(%q) = %#x, want %#x", text, got, want)
		}
	}
}

func TestHashMessagesSeesEveryPart(t *testing.T) {
	seen := map[uint64]string{}
	for name, m := range map[string][]Message{
		"empty":     {},
		"user hi":   {{Role: "user", Content: "hi"}},
		"system hi": {{Role: "system", Content: "hi"}},
		"user hi!":  {{Role: "user", Content: "hi!"}},
		"shifted":   {{Role: "userh", Content: "i"}},
		"two":       {{Role: "user", Content: "h"}, {Role: "user", Content: "i"}},
		"swapped":   {{Role: "user", Content: "i"}, {Role: "user", Content: "h"}},
		"blank":     {{Role: "user", Content: "hi"}, {Role: "", Content: ""}},
	} {
		h := HashMessages(m)
		if other, ok := seen[h]; ok {
			t.Errorf("%s and %s have the same hash", name, other)
		}
		seen[h] = name
		if again := HashMessages(append([]Message(nil), m...)); again != h {
			t.Errorf("%s: hash changes", name)
		}
	}
}

func TestLengthsFollowTheirDistribution(t *testing.T) {
	const n = 100_000
	for _, tc := range []struct {
		dist         plan.Length
		mean, stddev float64
		min, max     int // bounds that must be reached; 0: any
	}{
		{plan.Length{Dist: "fixed", Mean: 128}, 128, 0, 128, 128},
		{plan.Length{Dist: "normal", Mean: 500, Stddev: 50}, 500, 50, 0, 0},
		{plan.Length{Dist: "normal", Mean: 500, Stddev: 50, Min: 490, Max: 510}, 500, 9.457, 490, 510},
		{plan.Length{Dist: "normal", Mean: 2, Stddev: 10}, 5.508, 6.182, 1, 0},
		{plan.Length{Dist: "uniform", Min: 11, Max: 20}, 15.5, 2.87, 11, 20},
		{plan.Length{Dist: "uniform", Max: 3}, 2, 0.816, 1, 3},
		{plan.Length{Dist: "lognormal", Mean: 300, Stddev: 150}, 300, 150, 0, 0},
		{plan.Length{Dist: "lognormal", Mean: 300, Stddev: 150, Min: 100, Max: 1000}, 299.84, 147.05, 100, 1000},
		{plan.Length{Dist: "lognormal", Mean: 300, Stddev: 150, Min: 100, Shifted: true}, 300, 150, 0, 0},
		{plan.Length{Dist: "lognormal", Mean: 100, Stddev: 0, Min: 100, Shifted: true}, 101, 0, 101, 101},
		// The mean of a skewed length is location + scale × δ √(2/π), its standard
		// deviation scale × √(1 − 2 δ²/π).
		{plan.Length{Dist: "skew_normal", Mean: 500, Stddev: 100}, 500, 100, 0, 0},
		{plan.Length{Dist: "skew_normal", Mean: 500, Stddev: 100, Skew: 3}, 575.69, 65.35, 0, 0},
		{plan.Length{Dist: "skew_normal", Mean: 500, Stddev: 100, Skew: -3}, 424.31, 65.35, 0, 0},
		{plan.Length{Dist: "skew_normal", Mean: 500, Stddev: 100, Skew: 1e6, Max: 800}, 579.7, 60.1, 500, 800},
		{plan.Length{Dist: "poisson", Mean: 3}, 3.05, 1.65, 1, 0},
		{plan.Length{Dist: "poisson", Mean: 29.5}, 29.5, 5.431, 0, 0},
		{plan.Length{Dist: "poisson", Mean: 30}, 30, 5.477, 0, 0},
		{plan.Length{Dist: "poisson", Mean: 4000, Min: 3900, Max: 4100}, 4000, 57.5, 3900, 4100},
	} {
		l := NewLengths(tc.dist, 1)
		var sum, squares float64
		least, most := math.MaxInt, 0
		for i := range uint64(n) {
			x := l.At(i)
			sum += float64(x)
			squares += float64(x) * float64(x)
			least, most = min(least, x), max(most, x)
		}
		mean := sum / n
		stddev := math.Sqrt(max(squares/n-mean*mean, 0))
		if math.Abs(mean-tc.mean) > 0.02*tc.mean {
			t.Errorf("%+v: mean %.2f, want %v", tc.dist, mean, tc.mean)
		}
		if math.Abs(stddev-tc.stddev) > 0.03*tc.stddev {
			t.Errorf("%+v: standard deviation %.2f, want %v", tc.dist, stddev, tc.stddev)
		}
		if tc.min > 0 && least != tc.min || tc.max > 0 && most != tc.max {
			t.Errorf("%+v: from %d to %d, want %d to %d", tc.dist, least, most, tc.min, tc.max)
		}
	}
}

func TestLengthsDependOnNumberAndSeedAlone(t *testing.T) {
	dist := plan.Length{Dist: "normal", Mean: 500, Stddev: 50}
	a, b, other := NewLengths(dist, 1), NewLengths(dist, 1), NewLengths(dist, 2)
	var forward [100]int
	same := 0
	for i := range forward {
		forward[i] = a.At(uint64(i))
		if forward[i] == other.At(uint64(i)) {
			same++
		}
	}
	for i := len(forward) - 1; i >= 0; i-- {
		if got := b.At(uint64(i)); got != forward[i] {
			t.Errorf("length %d is %d drawn backwards, %d forwards", i, got, forward[i])
		}
	}
	if same > 20 {
		t.Errorf("%d of 100 lengths are the same with another seed", same)
	}
}

func TestLengthsTakeAnyDistribution(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	odd := []float64{0, -1, 1, 1e300, math.Inf(1), math.NaN()}
	for range 2000 {
		l := plan.Length{
			Dist: []string{"", "fixed", "normal", "uniform", "lognormal", "skew_normal", "poisson"}[rng.IntN(7)],
			Skew: odd[rng.IntN(len(odd))], Shifted: rng.IntN(2) == 0,
			Mean: odd[rng.IntN(len(odd))], Stddev: odd[rng.IntN(len(odd))],
			Min: rng.IntN(7) - 2, Max: rng.IntN(7) - 2,
		}
		NewLengths(l, 1).At(rng.Uint64()) // does not panic
	}
	if got := NewLengths(plan.Length{}, 1).At(7); got != 0 {
		t.Errorf("no distribution draws %d, want 0", got)
	}
}

// TestSaltOfRun: one word for all of a run, and another for the next, whatever the seed.
func TestSaltOfRun(t *testing.T) {
	a, b := NewSalt(plan.SaltRun, 7), NewSalt(plan.SaltRun, 7)
	first := string(a.Append(nil, Position{}))
	if again := string(a.Append(nil, Position{Stage: 3, I: 99})); again != first || len(first) != 14 || a.None() {
		t.Errorf("%q and %q in one run", first, again)
	}
	if other := string(b.Append(nil, Position{})); other == first {
		t.Errorf("two runs have the same word %q", first)
	}
}

func TestSalt(t *testing.T) {
	word := func(kind string, seed, stage, i uint64) string {
		return string(NewSalt(kind, seed).Append(nil, Position{stage, i}))
	}
	if got := word("", 1, 0, 0); got != "" || !NewSalt("", 1).None() {
		t.Errorf("no salt is %q", got)
	}
	seen := map[string]bool{}
	for stage := range uint64(5) {
		for i := range uint64(2000) {
			w := word("request", 1, stage, i)
			if seen[w] || len(w) != 14 || strings.Count(w, " ") != 1 || !strings.HasSuffix(w, " ") {
				t.Fatalf("salt of request %d of stage %d is %q, or was there before", i, stage, w)
			}
			seen[w] = true
		}
	}
	if word("stage", 1, 2, 0) != word("stage", 1, 2, 99) {
		t.Error("the salt changes within a stage")
	}
	if word("stage", 1, 2, 0) == word("stage", 1, 3, 0) || word("stage", 1, 2, 0) == word("stage", 2, 2, 0) {
		t.Error("two stages or two seeds share their salt")
	}
}

func BenchmarkHashText(b *testing.B) {
	text := strings.Repeat("Light is propagated in time. ", 25)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		HashText(text)
	}
}
