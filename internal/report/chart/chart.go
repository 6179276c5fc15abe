// Package chart draws figures: lines over a number, side by side, as PNG, as SVG and
// as text for a terminal. It knows nothing of what the numbers mean.
package chart

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"io"
	"math"
)

// Figure is panels side by side under one title.
type Figure struct {
	Title  string
	Panels []Panel

	Width, Height int // of the picture, in dots; 0: as the panels need
	PerRow        int // how many panels are side by side; 0: all
}

// Panel is one pair of axes.
type Panel struct {
	Title, X, Y string // the axes' labels have the unit in them
	Lines       []Line
	LogX        bool // the x axis is logarithmic; all x are more than 0

	// In place of lines: distributions, or how many of these points lie where.
	Boxes []Box
	Heat  []Point
}

// Line is a row of points, in order of their x.
type Line struct {
	Name   string // in the legend; empty: it is not in it
	Points []Point
	Dots   bool // the points alone, with no line between them
}

// Point is one point. One that is not finite is left out, and the line has a gap.
type Point struct{ X, Y float64 }

// Sizes in dots, of which an inch has 110; a panel of a figure is this large.
const (
	panelWidth  = 550
	panelHeight = 418
	titleHeight = 50
	point       = 110.0 / 72
)

// Sizes of text.
const (
	figureText = 15 * point
	panelText  = 12 * point
	axisText   = 10.5 * point
	legendText = 10 * point
	tickText   = 9.5 * point
	leastText  = 7.5 * point // of a panel's title
)

// PNG writes the figure as a picture.
func (f Figure) PNG(w io.Writer) error {
	face, err := newTypeface()
	if err != nil {
		return f.failed("drawing", err)
	}
	width, height := f.size()
	p := &picture{RGBA: image.NewRGBA(image.Rect(0, 0, width, height)), typeface: face}
	draw.Draw(p, p.Rect, image.White, image.Point{}, draw.Src)
	if err := f.draw(p, face); err != nil {
		return f.failed("drawing", err)
	}
	return f.failed("writing", png.Encode(w, p.RGBA))
}

// SVG writes the figure as SVG.
func (f Figure) SVG(w io.Writer) error {
	face, err := newTypeface()
	if err != nil {
		return f.failed("drawing", err)
	}
	w0, h0 := f.size()
	width, height := float64(w0), float64(h0)
	var d drawing
	d.fill(color.White, rectangle(0, 0, width, height)) // pages may be dark
	if err := f.draw(&d, face); err != nil {
		return f.failed("drawing", err)
	}
	buffered := bufio.NewWriter(w)
	if err := d.writeTo(buffered, width, height); err != nil {
		return f.failed("writing", err)
	}
	return f.failed("writing", buffered.Flush())
}

// failed is an error of doing something with the figure, or nil.
func (f Figure) failed(doing string, err error) error {
	if err != nil {
		return fmt.Errorf("%s the chart %q: %w", doing, f.Title, err)
	}
	return nil
}

// size is that of the picture, in dots.
func (f Figure) size() (width, height int) {
	columns, rows := f.grid()
	if width = f.Width; width <= 0 {
		width = panelWidth * columns
	}
	if height = f.Height; height <= 0 {
		height = panelHeight*rows + titleHeight
	}
	return width, height
}

// grid is how many panels are side by side, and below each other.
func (f Figure) grid() (columns, rows int) {
	n := max(len(f.Panels), 1)
	columns = n
	if f.PerRow > 0 {
		columns = min(n, f.PerRow)
	}
	return columns, (n + columns - 1) / columns
}

// errEmpty is a figure without anything to draw.
var errEmpty = errors.New("there is nothing to draw")

func (f Figure) draw(c canvas, face *typeface) error {
	if len(f.Panels) == 0 {
		return errEmpty
	}
	w, h := f.size()
	width, height := float64(w), float64(h)
	c.write(text{string: f.Title, at: Point{width / 2, 8*point + figureText}, size: figureText, anchor: centre})
	columns, rows := f.grid()
	wide, tall := width/float64(columns), (height-titleHeight)/float64(rows)
	for i, p := range f.Panels {
		left, top := wide*float64(i%columns), titleHeight+tall*float64(i/columns)
		p.draw(c, face, area{left + 6*point, top + 4*point, left + wide - 6*point, top + tall - 4*point})
	}
	return nil
}

// clear is a colour that lets others through: where many dots lie on one another, it is
// the darker.
func clear(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 115}
}

// headroom is the upper end of an axis that leaves a legend of n lines some room.
func headroom(low, top float64, n int) float64 {
	if top <= low {
		return low + 1
	}
	return math.Min(top+(top-low)*(0.12+0.07*float64(n)), math.MaxFloat64)
}

func (p Panel) blank() bool { return len(p.xs()) == 0 }

func (p Panel) xs() []float64 {
	var out []float64
	for _, l := range p.Lines {
		for _, part := range l.parts() {
			for _, xy := range part {
				out = append(out, xy.X)
			}
		}
	}
	return out
}

// parts are the points of a line between its gaps.
func (l Line) parts() [][]Point {
	var out [][]Point
	open := false
	for _, p := range l.Points {
		if !finite(p.X) || !finite(p.Y) {
			open = false
			continue
		}
		if !open {
			out = append(out, nil)
			open = true
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// colorOf is a colour that is told from its neighbours, also by most of those who do
// not see all colours (the palette of Okabe and Ito).
func colorOf(i int) color.Color {
	palette := []color.RGBA{
		{0, 114, 178, 255}, {213, 94, 0, 255}, {0, 158, 115, 255}, {204, 121, 167, 255},
		{230, 159, 0, 255}, {86, 180, 233, 255}, {90, 90, 90, 255},
	}
	return palette[i%len(palette)]
}
