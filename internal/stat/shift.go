package stat

import "math"

// Shift is where a series of block values changes its level, if it does. Blocks are means
// or medians of as many neighbours as depend on one another, so that they themselves
// hardly do.
type Shift struct {
	At            int     // blocks before the change that stands out most
	Before, After float64 // level of the blocks before and after it
	Noise         float64 // how much of After − Before chance explains
	Least         float64 // the smallest change at half time that would stand out
}

const (
	// shiftChance is how often a series without a change is taken for one with a change.
	shiftChance = 0.005
	// habitWeight is as how many blocks the habitual spread counts. Without it two or
	// three blocks that happen to be alike would make any third one stand out.
	habitWeight = 4
	// leastSloped is how many blocks it takes to tell a slope from noise.
	leastSloped = 6
	// leastSerial is how many blocks it takes to see whether they depend on one another.
	leastSerial = 8
	// mostSerial bounds the correlation of a block with the next that is allowed for.
	mostSerial = 0.6
)

// FindShift looks for a change of level in at least two blocks. habit is the standard
// deviation that blocks of a steady series habitually have: it is weighed against theirs.
func FindShift(blocks []float64, habit float64) Shift {
	n := len(blocks)
	bound := StudentBound(shiftChance/float64(n-1), float64(freedom(n)+habitWeight))
	best := Shift{}
	stands := -1.0
	least := math.Inf(1) // residual variance at the best of splits
	for k := 1; k < n; k++ {
		a, b := mean(blocks[:k]), mean(blocks[k:])
		variance := residual(blocks, k, a, b, habit)
		noise := bound * math.Sqrt(variance*(1/float64(k)+1/float64(n-k)))
		if t := math.Abs(b-a) / noise; t > stands {
			stands = t
			best = Shift{At: k, Before: a, After: b, Noise: noise}
		}
		least = min(least, variance)
	}
	half := n / 2
	best.Least = bound * math.Sqrt(least*(1/float64(half)+1/float64(n-half)))
	return best
}

// residual is the variance of blocks around two levels, before and after a split, and a
// slope: a slow change is no noise. It is more where neighbours lean the same way.
func residual(blocks []float64, k int, before, after, habit float64) float64 {
	n := len(blocks)
	left := make([]float64, n)
	for i, v := range blocks {
		left[i] = v - before
		if i >= k {
			left[i] = v - after
		}
	}
	if n >= leastSloped {
		level(left[:k], left[k:])
	}
	var squares, pairs float64
	for i, r := range left {
		squares += r * r
		if i > 0 {
			pairs += r * left[i-1]
		}
	}
	if n >= leastSerial && squares > 0 {
		// What is taken out of few blocks makes them look less alike than they are.
		if serial := min(mostSerial, pairs/squares+2/float64(n)); serial > 0 {
			squares *= (1 + serial) / (1 - serial)
		}
	}
	return (habitWeight*habit*habit + squares) / float64(habitWeight+freedom(n))
}

// freedom is how many of n blocks are left over after their levels and slope.
func freedom(n int) int {
	if n >= leastSloped {
		return n - 3
	}
	return n - 2
}

// level takes the slope that parts have in common out of them. Each has the mean 0.
func level(parts ...[]float64) {
	var up, run float64
	for _, p := range parts {
		for i, v := range p {
			x := float64(i) - float64(len(p)-1)/2
			up += x * v
			run += x * x
		}
	}
	if run == 0 {
		return
	}
	for _, p := range parts {
		for i := range p {
			p[i] -= up / run * (float64(i) - float64(len(p)-1)/2)
		}
	}
}

func mean(vals []float64) float64 {
	sum := 0.0
	for _, v := range vals {
		sum += v
	}
	return sum / float64(len(vals))
}

// Kendall says how far values rise, 1, or fall, -1: how many more pairs are in order than out of
// it.
func Kendall(vals []float64) float64 {
	n, order := len(vals), 0
	for i, v := range vals {
		for _, w := range vals[i+1:] {
			switch {
			case w > v:
				order++
			case w < v:
				order--
			}
		}
	}
	if n < 2 {
		return 0
	}
	return float64(order) / (float64(n) * float64(n-1) / 2)
}
