package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"
)

// Box is a distribution: a box from the first to the third quartile with the median in it
// and whiskers, and all its values beside it.
type Box struct {
	Name   string
	Values []float64 // those that are not finite are left out
}

// boxAxes have a place for each box.
func (p Panel) boxAxes() axes {
	top, bottom := 0.0, 0.0
	for _, b := range p.Boxes {
		for _, v := range b.finite() {
			top, bottom = math.Max(top, v), math.Min(bottom, v)
		}
	}
	a := rounded(axes{lowX: -0.75, highX: float64(len(p.Boxes)) - 0.25, lowY: bottom, highY: headroom(bottom, top, len(p.Boxes))})
	a.ticksX = nil
	return a
}

// finite are the values that can be drawn.
func (b Box) finite() []float64 {
	return slices.DeleteFunc(slices.Clone(b.Values), func(v float64) bool { return !finite(v) })
}

// drawBoxes draws the panel's distributions, each at a place of its own.
func (p Panel) drawBoxes(c canvas, a *axes) {
	const half, cap, thin, thick = 17 * point, 8.5 * point, 1.4 * point, 2.2 * point
	for i, b := range p.Boxes {
		values := b.finite()
		if len(values) == 0 {
			continue
		}
		slices.Sort(values)
		q1, median, q3 := quartile(values, 1), quartile(values, 2), quartile(values, 3)
		low, high := whiskers(values, q1, q3)
		at := func(v float64) Point { return a.place(Point{float64(i), v}) }
		x, shade := at(median).X, colorOf(i)
		across := func(v, half, width float64) {
			c.stroke(shade, width, []Point{{x - half, at(v).Y}, {x + half, at(v).Y}})
		}
		box := rectangle(x-half, at(q3).Y, x+half, at(q1).Y)
		c.fill(pale(shade), box)
		c.stroke(shade, thin, append(box, box[0], box[1]))
		across(median, half, thick)
		for _, ends := range [][2]float64{{q3, high}, {q1, low}} {
			c.stroke(shade, thin, []Point{at(ends[0]), at(ends[1])})
			across(ends[1], cap, thin)
		}
		for _, v := range beside(i, values) {
			c.fill(clear(shade), circle(a.place(v), 1.4*point))
		}
	}
}

// quartile is one of sorted values, between two of them where it falls there.
func quartile(values []float64, n int) float64 {
	rank := float64(len(values)-1) * float64(n) / 4
	i := int(rank)
	if i+1 == len(values) {
		return values[i]
	}
	return values[i] + (values[i+1]-values[i])*(rank-float64(i))
}

// whiskers end at the last values that lie within one and a half heights of the box.
func whiskers(values []float64, q1, q3 float64) (low, high float64) {
	low, high = q1, q3
	for _, v := range values {
		if reach := 1.5 * (q3 - q1); v >= q1-reach && v <= q3+reach {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	return low, high
}

// beside are the values of a box as points to its left, spread a little so that equal
// ones are seen to be many.
func beside(at int, values []float64) []Point {
	const middle, spread, golden = -0.36, 0.16, 0.6180339887498949
	out := make([]Point, len(values))
	for i, v := range values {
		_, part := math.Modf(float64(i) * golden)
		out[i] = Point{X: float64(at) + middle + (part-0.5)*spread, Y: v}
	}
	return out
}

// pale is a colour mixed with much white.
func pale(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	mix := func(v uint32) uint8 { return uint8((v>>8 + 3*255) / 4) }
	return color.RGBA{mix(r), mix(g), mix(b), 255}
}

// cells are how many of the points lie in each cell of a grid.
type cells struct {
	x, y   axis
	counts map[[2]int]int
	most   int
}

// axis is a range that is cut into cells.
type axis struct {
	low, step float64
	n         int
}

// mostCells is how many cells a range is cut into at most.
const mostCells = 20

// axisOf cuts the range of values into cells of a round size. A single value has one cell.
func axisOf(values []float64) axis {
	low, high := slices.Min(values), slices.Max(values)
	step := roundStep((high - low) / mostCells)
	for (high-low)/step > mostCells {
		step *= 2
	}
	if low == high {
		step = math.Max(math.Abs(low)*0.1, 1)
		return axis{low: low - step/2, step: step, n: 1}
	}
	start := math.Floor(low/step) * step
	return axis{low: start, step: step, n: int(math.Floor((high-start)/step)) + 1}
}

func (a axis) cell(v float64) int { return min(int((v-a.low)/a.step), a.n-1) }
func (a axis) high() float64      { return a.low + a.step*float64(a.n) }

// bounds are the ends of the axis; a single cell has some room on either side.
func (a axis) bounds() (low, high float64) {
	if a.n == 1 {
		return a.low - 2*a.step, a.high() + 2*a.step
	}
	return a.low, a.high()
}

func count(points []Point) *cells {
	var xs, ys []float64
	for _, p := range points {
		if finite(p.X) && finite(p.Y) {
			xs, ys = append(xs, p.X), append(ys, p.Y)
		}
	}
	if len(xs) == 0 {
		return nil
	}
	g := &cells{x: axisOf(xs), y: axisOf(ys), counts: map[[2]int]int{}}
	for i := range xs {
		at := [2]int{g.x.cell(xs[i]), g.y.cell(ys[i])}
		g.counts[at]++
		g.most = max(g.most, g.counts[at])
	}
	return g
}

// shade is a colour between pale and dark.
func shade(part float64) color.Color {
	mix := func(from, to float64) uint8 { return uint8(from + (to-from)*part) }
	return color.RGBA{mix(222, 8), mix(235, 48), mix(247, 107), 255}
}

// heatAxes have room for all points.
func (p Panel) heatAxes() axes {
	g := count(p.Heat)
	if g == nil {
		return rounded(axes{highX: 1, highY: 1})
	}
	var a axes
	a.lowX, a.highX = g.x.bounds()
	a.lowY, a.highY = g.y.bounds()
	return rounded(a)
}

// drawHeat draws how many points lie where: a cell is the darker, the more it has.
func (p Panel) drawHeat(c canvas, a *axes) {
	g := count(p.Heat)
	if g == nil {
		return
	}
	corner := func(x, y int) Point {
		return a.place(Point{g.x.low + g.x.step*float64(x), g.y.low + g.y.step*float64(y)})
	}
	for x := range g.x.n {
		for y := range g.y.n {
			if n := g.counts[[2]int{x, y}]; n > 0 {
				low, high := corner(x, y), corner(x+1, y+1)
				c.fill(shade(float64(n)/float64(g.most)), rectangle(low.X, high.Y, high.X, low.Y))
			}
		}
	}
}

// title says of points how many the darkest cell has.
func (p Panel) title() string {
	g := count(p.Heat)
	if g == nil {
		return p.Title
	}
	note := fmt.Sprintf("darkest: %d", g.most)
	if p.Title != "" {
		return p.Title + " (" + note + ")"
	}
	return note
}

// tick is a mark on an axis.
type tick struct {
	value float64
	label string
}

// ticksAt puts a tick at each value, which reads better on a logarithmic axis of few
// values than powers of ten.
func ticksAt(values []float64) []tick {
	var ticks []tick
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		ticks = append(ticks, tick{v, label(v)})
	}
	return ticks
}

// roundTicks puts a few ticks at round numbers.
func roundTicks(low, high float64) []tick {
	step := roundStep((high - low) / 4)
	var ticks []tick
	for i := math.Ceil(low / step); i*step <= high && len(ticks) < 20; i++ {
		ticks = append(ticks, tick{i * step, label(i * step)})
	}
	return ticks
}

// roundStep is the largest of 1, 2, 5, 10 … that is not more than x.
func roundStep(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{5, 2} {
		if m*unit <= x*(1+1e-9) {
			return m * unit
		}
	}
	return unit
}

// label writes a number shortly.
func label(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.4g", v)
}
