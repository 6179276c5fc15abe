package chart

import (
	"fmt"
	"image/color"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Box is a distribution: a box from the first to the third quartile with the median in it
// and whiskers, and all its values beside it.
type Box struct {
	Name   string
	Values []float64 // those that are not finite are left out
}

// addBoxes draws the panel's distributions, each at a place of its own.
func (p Panel) addBoxes(out *plot.Plot) error {
	top, bottom := 0.0, 0.0
	for i, b := range p.Boxes {
		values := slices.DeleteFunc(slices.Clone(b.Values), func(v float64) bool { return !finite(v) })
		out.Legend.Add(b.Name, swatch{colorOf(i)})
		if len(values) == 0 {
			continue
		}
		box, err := plotter.NewBoxPlot(vg.Points(34), float64(i), plotter.Values(values))
		if err != nil {
			return fmt.Errorf("box %q: %w", b.Name, err)
		}
		style := draw.LineStyle{Color: colorOf(i), Width: vg.Points(1.4)}
		box.BoxStyle, box.WhiskerStyle, box.MedianStyle = style, style, draw.LineStyle{Color: colorOf(i), Width: vg.Points(2.2)}
		box.CapWidth = vg.Points(17)
		box.FillColor = pale(colorOf(i))
		box.GlyphStyle.Radius = 0 // all values are drawn below
		points, err := plotter.NewScatter(beside(i, values))
		if err != nil {
			return fmt.Errorf("box %q: %w", b.Name, err)
		}
		points.GlyphStyle = draw.GlyphStyle{Color: clear(colorOf(i)), Shape: draw.CircleGlyph{}, Radius: vg.Points(1.4)}
		out.Add(box, points)
		top, bottom = math.Max(top, slices.Max(values)), math.Min(bottom, slices.Min(values))
	}
	out.X.Tick.Marker = plot.ConstantTicks(nil)
	out.X.Min, out.X.Max = -0.75, float64(len(p.Boxes))-0.25
	out.Y.Min, out.Y.Max = bottom, headroom(bottom, top, len(p.Boxes))
	return nil
}

// beside are the values of a box as points to its left, spread a little so that equal
// ones are seen to be many.
func beside(at int, values []float64) plotter.XYs {
	const middle, spread, golden = -0.36, 0.16, 0.6180339887498949
	out := make(plotter.XYs, len(values))
	for i, v := range values {
		_, part := math.Modf(float64(i) * golden)
		out[i] = plotter.XY{X: float64(at) + middle + (part-0.5)*spread, Y: v}
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

// Plot implements plot.Plotter: a cell is the darker, the more points it has.
func (g *cells) Plot(c draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&c)
	for at, n := range g.counts {
		left, right := toX(g.x.low+g.x.step*float64(at[0])), toX(g.x.low+g.x.step*float64(at[0]+1))
		bottom, top := toY(g.y.low+g.y.step*float64(at[1])), toY(g.y.low+g.y.step*float64(at[1]+1))
		c.FillPolygon(shade(float64(n)/float64(g.most)),
			[]vg.Point{{X: left, Y: bottom}, {X: right, Y: bottom}, {X: right, Y: top}, {X: left, Y: top}})
	}
}

// shade is a colour between pale and dark.
func shade(part float64) color.Color {
	mix := func(from, to float64) uint8 { return uint8(from + (to-from)*part) }
	return color.RGBA{mix(222, 8), mix(235, 48), mix(247, 107), 255}
}

// addHeat draws how many points lie where, and says how many the darkest cell has.
func (p Panel) addHeat(out *plot.Plot) {
	g := count(p.Heat)
	if g == nil {
		out.X.Min, out.X.Max, out.Y.Min, out.Y.Max = 0, 1, 0, 1
		return
	}
	out.Add(g)
	out.X.Min, out.X.Max = g.x.bounds()
	out.Y.Min, out.Y.Max = g.y.bounds()
	note := fmt.Sprintf("darkest: %d", g.most)
	if out.Title.Text != "" {
		note = out.Title.Text + " (" + note + ")"
	}
	out.Title.Text = note
}
