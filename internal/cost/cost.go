// Package cost is what tokens cost in money and in energy: the formulas that InferenceX
// publishes, and the energy of GPUs out of readings of their power.
package cost

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// GPUUsage is what is known of a measurement's GPUs over its window; 0: not known.
type GPUUsage struct {
	GPUs   int
	Price  float64 // dollars for one GPU and hour
	Joules float64 // that all GPUs together used
	Peak   float64 // highest draw of one GPU, in watts
}

// The units that rates are turned into.
const (
	hour    = 3600
	million = 1e6
)

// PerMillion is how many dollars a million tokens cost which come at this rate, by the second
// and of all GPUs together: $/GPU/h × GPUs ÷ (tokens/s × 3600 ÷ 10⁶).
func (b *GPUUsage) PerMillion(perSecond float64) (dollars float64, known bool) {
	return over(b.Price*float64(b.GPUs), perSecond*hour/million)
}

// PerGPU is the share of one GPU in a rate.
func (b *GPUUsage) PerGPU(perSecond float64) (rate float64, known bool) {
	return perSecond / float64(max(b.GPUs, 1)), b.GPUs > 0
}

// PerMegawatt is the rate that a megawatt would give: tokens/s ÷ MW.
func (b *GPUUsage) PerMegawatt(perSecond, seconds float64) (rate float64, known bool) {
	megawatts, known := over(b.Joules/million, seconds)
	if !known {
		return 0, false
	}
	return perSecond / megawatts, true
}

// Watts is the mean draw of one GPU over so many seconds.
func (b *GPUUsage) Watts(seconds float64) (watts float64, known bool) {
	return over(b.Joules, seconds*float64(b.GPUs))
}

// JoulesPer is the energy of one of n tokens or requests, in joules.
func (b *GPUUsage) JoulesPer(n int64) (joules float64, known bool) { return over(b.Joules, float64(n)) }

// over is a ÷ b, where both are known.
func over(a, b float64) (float64, bool) {
	if a <= 0 || b <= 0 {
		return 0, false
	}
	return a / b, true
}

// What readings of power must be for their energy to be valid.
const (
	// MaxGap is how many seconds may lie between two readings.
	MaxGap = 3.0
	// MinReadings is how many readings of each GPU a window needs, with those around it.
	MinReadings = 5
)

// Point is a value at a given time, in seconds.
type Point struct{ At, Value float64 }

// GPU is what was read of one GPU.
type GPU struct {
	Name   string
	Power  []Point // watts
	Energy []Point // joules since some time of the past; none: the GPU does not count them
}

// Energy is what GPUs used in a window.
type Energy struct {
	Joules   float64 // of all GPUs
	Peak     float64 // highest draw of one GPU; 0: not known
	Counted  bool    // by the GPUs themselves; else it is the integral of their power
	Integral float64 // of their power, where they also counted; 0: not known
	Readings int     // fewest of a GPU
	Gap      float64 // longest between two readings
	Each     []Used  // by GPU
	// Reasons say why it is not valid; none: it is.
	Reasons []string
}

// Used is what one GPU used in a window.
type Used struct {
	Name   string
	Joules float64
	Peak   float64
}

// Integrate is what GPUs used from begin to end. want is how many there should be; 0: any.
func Integrate(all []GPU, begin, end float64, want int) Energy {
	var e Energy
	switch {
	case len(all) == 0:
		e.fault("no power was read of any GPU")
	case want > 0 && len(all) != want:
		e.fault("power was read of %d GPUs, and %d were expected", len(all), want)
	}
	if end <= begin {
		e.fault("the window is empty")
	}
	if len(e.Reasons) > 0 {
		return e
	}
	e.Counted, e.Readings = true, math.MaxInt
	for i := range all {
		e.Counted = e.Counted && counts(all[i].Energy, begin, end)
	}
	integrals := true
	for i := range all {
		g := &all[i]
		power := clean(g.Power)
		used := Used{Name: g.Name, Peak: peak(power, begin, end)}
		c := curve{points: power, begin: begin, end: end}
		sum, why := c.integral()
		if integrals = integrals && why == ""; integrals {
			e.Integral += sum
		}
		if e.Counted {
			c.points = moves(clean(g.Energy))
			sum, why = c.increase()
		}
		if why != "" {
			e.fault("%s: %s", g.Name, why)
		}
		used.Joules = sum
		e.Joules, e.Peak = e.Joules+sum, max(e.Peak, used.Peak)
		e.Readings, e.Gap = min(e.Readings, c.readings), max(e.Gap, c.gap)
		e.Each = append(e.Each, used)
	}
	if !e.Counted || !integrals {
		e.Integral = 0
	}
	if !e.Counted && stale(all, begin, end) {
		e.fault("no reading changed for more than %v s: whoever publishes them refreshes them too rarely", MaxGap)
	}
	return e
}

func (e *Energy) fault(format string, args ...any) {
	e.Reasons = append(e.Reasons, fmt.Sprintf(format, args...))
}

// clean puts readings in order, averages those of one time, and leaves out what is none.
func clean(points []Point) []Point {
	sorted := slices.DeleteFunc(slices.Clone(points), func(p Point) bool {
		return !(p.Value >= 0) || math.IsInf(p.Value, 1)
	})
	slices.SortStableFunc(sorted, func(a, b Point) int { return cmp.Compare(a.At, b.At) })
	var out []Point
	same := 0.0
	for _, p := range sorted {
		if n := len(out); n > 0 && out[n-1].At == p.At {
			same++
			out[n-1].Value += (p.Value - out[n-1].Value) / same
			continue
		}
		out, same = append(out, p), 1
	}
	return out
}

// curve is readings, and the window that they are about.
type curve struct {
	points     []Point
	begin, end float64
	readings   int     // that the window has
	gap        float64 // longest between two of them
}

// cut leaves the readings that the window needs: those in it, and those right before and after.
func (c *curve) cut() (why string) {
	n := len(c.points)
	switch {
	case n == 0:
		return "there are no readings"
	case c.points[0].At > c.begin:
		return fmt.Sprintf("the first reading came %s s after the window began", short(c.points[0].At-c.begin))
	case c.points[n-1].At < c.end:
		return fmt.Sprintf("the last reading came %s s before the window ended", short(c.end-c.points[n-1].At))
	}
	first, found := slices.BinarySearchFunc(c.points, c.begin, byTime)
	if !found {
		first--
	}
	last, _ := slices.BinarySearchFunc(c.points, c.end, byTime)
	c.points = c.points[first : last+1]
	c.readings = len(c.points)
	for i, p := range c.points[1:] {
		c.gap = max(c.gap, p.At-c.points[i].At)
	}
	return ""
}

// integral is the energy of readings of power, by the trapezoid rule. Between two readings the
// power is taken to go straight from one to the other, at the edges of the window too.
func (c *curve) integral() (joules float64, why string) {
	if why := c.cut(); why != "" {
		return 0, why
	}
	for i, b := range c.points[1:] {
		a := c.points[i]
		from, to := max(a.At, c.begin), min(b.At, c.end)
		joules += (to - from) * (between(a, b, from) + between(a, b, to)) / 2
	}
	switch {
	case c.readings < MinReadings:
		why = fmt.Sprintf("%d readings for the window, at least %d are needed", c.readings, MinReadings)
	case c.gap > MaxGap:
		why = fmt.Sprintf("%s s between two readings, at most %v s are allowed", short(c.gap), MaxGap)
	}
	return joules, why
}

// increase is by how much a counter of energy rose. What lies between two of its values is
// exact, so gaps matter at the edges of the window alone. One that is not refreshed as often as it
// is read may owe its last value: it is taken to go on as before.
func (c *curve) increase() (joules float64, why string) {
	if n := len(c.points); n > 1 && c.points[n-1].At < c.end && c.end-c.points[n-1].At <= MaxGap {
		a, b := c.points[n-2], c.points[n-1]
		c.points = append(slices.Clone(c.points), Point{c.end, between(a, b, c.end)})
	}
	if why := c.cut(); why != "" {
		return 0, why
	}
	n := len(c.points)
	if n < 2 {
		return 0, "its energy counter did not move"
	}
	edges := max(c.points[1].At-c.points[0].At, c.points[n-1].At-c.points[n-2].At)
	if edges > MaxGap {
		why = fmt.Sprintf("%s s between two values of its energy counter, at most %v s are allowed: have the exporter refresh it more often", short(edges), MaxGap)
	}
	return between(c.points[n-2], c.points[n-1], c.end) - between(c.points[0], c.points[1], c.begin), why
}

// counts reports whether a window can use a counter: it has two values or more, and never falls.
func counts(points []Point, begin, end float64) bool {
	near := slices.DeleteFunc(clean(points), func(p Point) bool { return p.At < begin-MaxGap || p.At > end+MaxGap })
	return len(moves(near)) > 1 && slices.IsSortedFunc(near, func(a, b Point) int { return cmp.Compare(a.Value, b.Value) })
}

// moves are a counter's values where each was first seen: a GPU always uses energy, so a repeat
// is old.
func moves(points []Point) []Point {
	return slices.CompactFunc(slices.Clone(points), func(a, b Point) bool { return a.Value == b.Value })
}

// peak is the highest reading in a window.
func peak(points []Point, begin, end float64) (most float64) {
	for _, p := range points {
		if p.At >= begin && p.At <= end {
			most = max(most, p.Value)
		}
	}
	return most
}

// stale reports whether no GPU's power changed for longer than MaxGap within a window.
// Power in whole watts may well stay the same; a reading with decimals does not.
func stale(all []GPU, begin, end float64) bool {
	for i := range all {
		since, last := math.Inf(1), math.NaN()
		old := false
		for _, p := range clean(all[i].Power) {
			if p.At < begin || p.At > end {
				continue
			}
			if p.Value != last {
				since, last = p.At, p.Value
			}
			old = old || p.At-since > MaxGap && p.Value != math.Trunc(p.Value)
		}
		if !old {
			return false
		}
	}
	return len(all) > 0
}

func byTime(p Point, at float64) int { return cmp.Compare(p.At, at) }

// between is the value at a given time on the straight line through two points.
func between(a, b Point, at float64) float64 {
	if b.At == a.At {
		return b.Value
	}
	return a.Value + (b.Value-a.Value)*(at-a.At)/(b.At-a.At)
}

func short(seconds float64) string { return strconv.FormatFloat(seconds, 'f', 1, 64) }
