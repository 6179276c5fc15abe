package chart

import (
	"image/color"
	"math"
)

// area is a rectangle in dots.
type area struct{ left, top, right, bottom float64 }

func rectangle(left, top, right, bottom float64) []Point {
	return []Point{{left, top}, {right, top}, {right, bottom}, {left, bottom}}
}

// axes are where the values of a panel lie, and their ticks.
type axes struct {
	area
	lowX, highX, lowY, highY float64
	logX                     bool
	ticksX, ticksY           []tick
}

// place is where a point lies.
func (a *axes) place(p Point) Point {
	share := func(v, low, high float64) float64 {
		s := v/(high-low) - low/(high-low)
		if math.IsInf(high-low, 0) {
			s = (v/2 - low/2) / (high/2 - low/2)
		}
		return math.Min(math.Max(s, -1), 2)
	}
	x := share(p.X, a.lowX, a.highX)
	if a.logX {
		x = share(math.Log(p.X), math.Log(a.lowX), math.Log(a.highX))
	}
	return Point{a.left + x*(a.right-a.left), a.bottom - share(p.Y, a.lowY, a.highY)*(a.bottom-a.top)}
}

// axes are those of the panel's values.
func (p Panel) axes() axes {
	switch {
	case len(p.Boxes) > 0:
		return p.boxAxes()
	case len(p.Heat) > 0:
		return p.heatAxes()
	case p.blank(): // axes without points still need a range
		return rounded(axes{highX: 1, highY: 1})
	}
	a := axes{lowX: math.Inf(1), highX: math.Inf(-1), logX: p.LogX}
	top := 0.0
	for _, l := range p.Lines {
		for _, part := range l.parts() {
			for _, at := range part {
				a.lowX, a.highX = math.Min(a.lowX, at.X), math.Max(a.highX, at.X)
				a.lowY, top = math.Min(a.lowY, at.Y), math.Max(top, at.Y)
			}
		}
	}
	a.highY = headroom(a.lowY, top, len(p.Lines))
	if x := a.lowX; x == a.highX {
		room := math.Max(math.Abs(x)*0.1, 1e-9)
		a.lowX, a.highX = x-room, x+room
	}
	a = rounded(a)
	if p.LogX {
		a.ticksX = ticksAt(p.xs())
	}
	return a
}

// rounded has ticks at round numbers.
func rounded(a axes) axes {
	a.ticksX, a.ticksY = roundTicks(a.lowX, a.highX), roundTicks(a.lowY, a.highY)
	return a
}

func (p Panel) draw(c canvas, face *typeface, room area) {
	a := p.axes()
	const gap = 4 * point
	a.area = room
	if p.Y != "" {
		a.left += axisText + gap
	}
	widest := 0.0
	for _, t := range a.ticksY {
		widest = math.Max(widest, face.width(t.label, tickText))
	}
	a.left += widest + 2*gap
	a.right -= 3 * gap // half of the last tick's label
	title := p.title()
	if title != "" {
		a.top += panelText + 2*gap
	}
	a.bottom -= tickText + 2*gap
	if p.X != "" {
		a.bottom -= axisText + gap
	}
	middle := (a.left + a.right) / 2
	if title != "" {
		title, size := fitTitle(face, title, room.right-room.left)
		c.write(text{string: title, at: Point{(room.left + room.right) / 2, room.top + panelText}, size: size, anchor: centre})
	}
	c.write(text{string: p.X, at: Point{middle, room.bottom - gap}, size: axisText, anchor: centre})
	c.write(text{string: p.Y, at: Point{room.left + axisText, (a.top + a.bottom) / 2}, size: axisText, anchor: centre, upward: true})
	a.draw(c)
	switch {
	case len(p.Boxes) > 0:
		p.drawBoxes(c, &a)
	case len(p.Heat) > 0:
		p.drawHeat(c, &a)
	default:
		p.drawLines(c, &a)
	}
	p.drawLegend(c, &a)
}

// draw draws the axes with a grid behind what comes.
func (a *axes) draw(c canvas) {
	const mark, gap = 4 * point, 4 * point
	grid := color.Gray{225}
	for _, t := range a.ticksX {
		at := a.place(Point{t.value, a.lowY}).X
		c.stroke(grid, 1, []Point{{at, a.top}, {at, a.bottom}})
		c.stroke(color.Black, 1, []Point{{at, a.bottom}, {at, a.bottom + mark}})
		c.write(text{string: t.label, at: Point{at, a.bottom + mark + tickText}, size: tickText, anchor: centre})
	}
	for _, t := range a.ticksY {
		at := a.place(Point{a.lowX, t.value}).Y
		c.stroke(grid, 1, []Point{{a.left, at}, {a.right, at}})
		c.stroke(color.Black, 1, []Point{{a.left - mark, at}, {a.left, at}})
		c.write(text{string: t.label, at: Point{a.left - mark - gap/2, at + tickText*0.36}, size: tickText, anchor: end})
	}
	c.stroke(color.Black, 1, []Point{{a.left, a.top}, {a.left, a.bottom}, {a.right, a.bottom}})
}

func (p Panel) drawLines(c canvas, a *axes) {
	for i, l := range p.Lines {
		shade, radius := colorOf(i), 2.6*point
		if l.Dots {
			shade, radius = clear(shade), 1.8*point
		}
		for _, part := range l.parts() {
			places := make([]Point, len(part))
			for k, at := range part {
				places[k] = a.place(at)
			}
			if !l.Dots {
				c.stroke(shade, 1.6*point, places)
			}
			for _, at := range places {
				c.fill(shade, circle(at, radius))
			}
		}
	}
}

// circle is one as a polygon.
func circle(at Point, radius float64) []Point {
	corners := make([]Point, 16)
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / float64(len(corners)))
		corners[i] = Point{at.X + radius*cos, at.Y + radius*sin}
	}
	return corners
}

// drawLegend names lines or boxes in the upper left corner.
func (p Panel) drawLegend(c canvas, a *axes) {
	const line, sample, gap = 1.25 * legendText, 20 * point, 5 * point
	y := a.top + line
	add := func(i int, name string) {
		if name == "" {
			return
		}
		c.stroke(colorOf(i), 2*point, []Point{{a.left + gap, y - 0.36*legendText}, {a.left + gap + sample, y - 0.36*legendText}})
		c.write(text{string: name, at: Point{a.left + sample + 2*gap, y}, size: legendText})
		y += line
	}
	for i, l := range p.Lines {
		add(i, l.Name)
	}
	for i, b := range p.Boxes {
		add(i, b.Name)
	}
}

// fitTitle makes the title of a panel no wider than its room: smaller, and where that is
// not enough, without its middle.
func fitTitle(face *typeface, title string, room float64) (string, float64) {
	size := panelText
	if wide := face.width(title, size); wide > room {
		size = math.Max(size*room/wide, leastText)
	}
	letters := []rune(title)
	for cut := 1; cut < len(letters)-2 && face.width(title, size) > room; cut++ {
		half := (len(letters) - cut) / 2
		title = string(letters[:half]) + "…" + string(letters[half+cut:])
	}
	return title, size
}
