// Package chart draws figures: lines over a number, side by side, as PNG, as SVG and
// as text for a terminal. It knows nothing of what the numbers mean.
package chart

import (
	"errors"
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
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

// Sizes in points; a panel of a figure is this large.
const (
	panelWidth  = 5 * vg.Inch
	panelHeight = 3.8 * vg.Inch
	titleHeight = 0.45 * vg.Inch
	dotsPerInch = 110
)

// PNG writes the figure as a picture.
func (f Figure) PNG(w io.Writer) error {
	canvas := vgimg.NewWith(vgimg.UseWH(f.width(), f.height()), vgimg.UseDPI(dotsPerInch), vgimg.UseBackgroundColor(color.White))
	if err := f.draw(draw.New(canvas)); err != nil {
		return err
	}
	return f.wrote(vgimg.PngCanvas{Canvas: canvas}.WriteTo(w))
}

// SVG writes the figure as SVG.
func (f Figure) SVG(w io.Writer) error {
	canvas := vgsvg.New(f.width(), f.height())
	c := draw.New(canvas)
	c.SetColor(color.White) // pages may be dark
	c.Fill(c.Rectangle.Path())
	if err := f.draw(c); err != nil {
		return err
	}
	return f.wrote(canvas.WriteTo(w))
}

func (f Figure) wrote(_ int64, err error) error {
	if err != nil {
		return fmt.Errorf("writing the chart %q: %w", f.Title, err)
	}
	return nil
}

func (f Figure) width() vg.Length {
	if f.Width > 0 {
		return dots(f.Width)
	}
	columns, _ := f.grid()
	return panelWidth * vg.Length(columns)
}

func (f Figure) height() vg.Length {
	if f.Height > 0 {
		return dots(f.Height)
	}
	_, rows := f.grid()
	return panelHeight*vg.Length(rows) + titleHeight
}

// dots is the length of so many dots.
func dots(n int) vg.Length { return vg.Length(n) * vg.Inch / dotsPerInch }

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

func (f Figure) draw(c draw.Canvas) error {
	if len(f.Panels) == 0 {
		return fmt.Errorf("drawing the chart %q: %w", f.Title, errEmpty)
	}
	style := draw.TextStyle{
		Color: color.Black, Font: font.From(sans(), 15),
		XAlign: draw.XCenter, YAlign: draw.YTop, Handler: plot.DefaultTextHandler,
	}
	c.FillText(style, vg.Point{X: c.Center().X, Y: c.Max.Y - vg.Points(8)}, f.Title)
	below := draw.Crop(c, 0, 0, 0, -titleHeight)
	columns, rows := f.grid()
	wide, tall := below.Size().X/vg.Length(columns), below.Size().Y/vg.Length(rows)
	for i, p := range f.Panels {
		drawn, err := p.plot()
		if err != nil {
			return fmt.Errorf("drawing the chart %q: %w", f.Title, err)
		}
		fitTitle(drawn, wide-vg.Points(12))
		left, under := wide*vg.Length(i%columns), tall*vg.Length(rows-1-i/columns)
		drawn.Draw(draw.Crop(below, left+vg.Points(6), left+wide-below.Size().X-vg.Points(6), under+vg.Points(4),
			under+tall-below.Size().Y-vg.Points(4)))
	}
	return nil
}

// leastTitle is the smallest size of a panel's title, in points.
const leastTitle = 7.5

// fitTitle makes the title of a panel no wider than its room: smaller, and where that is
// not enough, without its middle.
func fitTitle(p *plot.Plot, room vg.Length) {
	style := &p.Title.TextStyle
	if wide := style.Width(p.Title.Text); wide > room {
		style.Font.Size = max(style.Font.Size*(room/wide), vg.Points(leastTitle))
	}
	text := []rune(p.Title.Text)
	for cut := 1; cut < len(text)-2 && style.Width(p.Title.Text) > room; cut++ {
		half := (len(text) - cut) / 2
		p.Title.Text = string(text[:half]) + "…" + string(text[half+cut:])
	}
}

// clear is a colour that lets others through: where many dots lie on one another, it is
// the darker.
func clear(c color.Color) color.Color {
	r, g, b, _ := c.RGBA()
	return color.NRGBA{uint8(r >> 8), uint8(g >> 8), uint8(b >> 8), 115}
}

func (p Panel) plot() (*plot.Plot, error) {
	out := plot.New()
	out.Title.Text, out.X.Label.Text, out.Y.Label.Text = p.Title, p.X, p.Y
	out.Title.TextStyle.Font = font.From(sans(), 12)
	for _, axis := range []*plot.Axis{&out.X, &out.Y} {
		axis.Label.TextStyle.Font = font.From(sans(), 10.5)
		axis.Tick.Label.Font = font.From(sans(), 9.5)
		axis.Tick.Marker = roundTicks{}
	}
	out.Legend.Top, out.Legend.Left = true, true
	out.Legend.TextStyle.Font = font.From(sans(), 10)
	out.Legend.Padding = vg.Points(3)
	grid := plotter.NewGrid()
	grid.Vertical.Color, grid.Horizontal.Color = color.Gray{225}, color.Gray{225}
	out.Add(grid)
	if p.LogX {
		out.X.Scale, out.X.Tick.Marker = plot.LogScale{}, ticksAt(p.xs())
	}
	top := 0.0
	for i, l := range p.Lines {
		for _, part := range l.parts() {
			line, dots, err := plotter.NewLinePoints(part)
			if err != nil {
				return nil, fmt.Errorf("line %q: %w", l.Name, err)
			}
			line.Color, line.Width = colorOf(i), vg.Points(1.6)
			dots.Color, dots.Shape, dots.Radius = colorOf(i), draw.CircleGlyph{}, vg.Points(2.6)
			if l.Dots {
				dots.Color, dots.Radius = clear(colorOf(i)), vg.Points(1.8)
				out.Add(dots)
			} else {
				out.Add(line, dots)
			}
			for _, xy := range part {
				top = math.Max(top, xy.Y)
			}
		}
		if l.Name != "" {
			out.Legend.Add(l.Name, swatch{colorOf(i)})
		}
	}
	out.Y.Min = math.Min(out.Y.Min, 0)
	out.Y.Max = headroom(out.Y.Min, top, len(p.Lines))
	switch {
	case len(p.Boxes) > 0:
		return out, p.addBoxes(out)
	case len(p.Heat) > 0:
		p.addHeat(out)
		return out, nil
	}
	if x := out.X.Min; x == out.X.Max {
		room := math.Max(math.Abs(x)*0.1, 1e-9)
		out.X.Min, out.X.Max = x-room, x+room
	}
	if p.blank() { // axes without points still need a range
		out.X.Min, out.X.Max, out.Y.Min, out.Y.Max = 0, 1, 0, 1
		out.X.Scale, out.X.Tick.Marker = plot.LinearScale{}, roundTicks{}
	}
	return out, nil
}

func sans() font.Font { return font.Font{Typeface: "Liberation", Variant: "Sans"} }

// headroom is the upper end of an axis that leaves a legend of n lines some room.
func headroom(low, top float64, n int) float64 {
	if top <= low {
		return low + 1
	}
	return top + (top-low)*(0.12+0.07*float64(n))
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

func (l Line) parts() []plotter.XYs {
	var out []plotter.XYs
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
		out[len(out)-1] = append(out[len(out)-1], plotter.XY{X: p.X, Y: p.Y})
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

// swatch is a line's mark in the legend.
type swatch struct{ color color.Color }

// Thumbnail implements plot.Thumbnailer.
func (s swatch) Thumbnail(c *draw.Canvas) {
	y := c.Center().Y
	c.StrokeLine2(draw.LineStyle{Color: s.color, Width: vg.Points(2)}, c.Min.X, y, c.Max.X, y)
}

// ticksAt puts a tick at each value, which reads better on a logarithmic axis of few
// values than powers of ten.
func ticksAt(values []float64) plot.Ticker {
	var ticks []plot.Tick
	for _, v := range slices.Compact(slices.Sorted(slices.Values(values))) {
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
	}
	return plot.ConstantTicks(ticks)
}

// roundTicks puts a few ticks at round numbers.
type roundTicks struct{}

// Ticks implements plot.Ticker.
func (roundTicks) Ticks(low, high float64) []plot.Tick {
	step := roundStep((high - low) / 4)
	var ticks []plot.Tick
	for i := math.Ceil(low / step); i*step <= high && len(ticks) < 20; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: label(i * step)})
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
