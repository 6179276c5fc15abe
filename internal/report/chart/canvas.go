package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// canvas is what a figure is drawn on. Places are in dots from its upper left corner.
type canvas interface {
	// fill fills a polygon.
	fill(c color.Color, corners []Point)
	// stroke draws a line through points.
	stroke(c color.Color, width float64, points []Point)
	// write writes a text of one line in black.
	write(t text)
}

// text is a line of text. Its baseline begins, is centred or ends at a place.
type text struct {
	string
	at     Point
	size   float64
	anchor anchor
	upward bool // turned by 90°
}

type anchor int

const (
	begin anchor = iota
	centre
	end
)

// typeface measures text, and draws it.
type typeface struct {
	font  *opentype.Font
	sizes map[float64]font.Face
}

func newTypeface() (*typeface, error) {
	f, err := opentype.Parse(goregular.TTF)
	return &typeface{font: f, sizes: map[float64]font.Face{}}, err
}

func (t *typeface) face(size float64) font.Face {
	if t.sizes[size] == nil {
		face, err := opentype.NewFace(t.font, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
		if err != nil { // there is no such error of a font that could be parsed
			panic(err)
		}
		t.sizes[size] = face
	}
	return t.sizes[size]
}

// width is that of a text of some size.
func (t *typeface) width(s string, size float64) float64 {
	return float64(font.MeasureString(t.face(size), s)) / 64
}

// picture is a canvas of dots.
type picture struct {
	*image.RGBA
	*typeface
	shapes vector.Rasterizer
}

func (p *picture) fill(c color.Color, corners []Point) { p.paint(c, [][]Point{corners}) }

func (p *picture) stroke(c color.Color, width float64, points []Point) {
	var bars [][]Point
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		dx, dy := b.X-a.X, b.Y-a.Y
		length := math.Hypot(dx, dy)
		if length == 0 {
			continue
		}
		x, y := -dy/length*width/2, dx/length*width/2
		bars = append(bars, []Point{{a.X + x, a.Y + y}, {b.X + x, b.Y + y}, {b.X - x, b.Y - y}, {a.X - x, a.Y - y}})
	}
	p.paint(c, bars)
}

// paint fills polygons that all turn the same way. Where they lie on one another, they are as one.
func (p *picture) paint(c color.Color, polygons [][]Point) {
	bounds := image.Rectangle{}
	for _, corners := range polygons {
		for _, at := range corners {
			x, y := int(math.Floor(at.X)), int(math.Floor(at.Y))
			bounds = bounds.Union(image.Rect(x-1, y-1, x+2, y+2))
		}
	}
	if bounds = bounds.Intersect(p.Rect); bounds.Empty() {
		return
	}
	p.shapes.Reset(bounds.Dx(), bounds.Dy())
	for _, corners := range polygons {
		for i, at := range corners {
			x, y := float32(at.X-float64(bounds.Min.X)), float32(at.Y-float64(bounds.Min.Y))
			if i == 0 {
				p.shapes.MoveTo(x, y)
			} else {
				p.shapes.LineTo(x, y)
			}
		}
		p.shapes.ClosePath()
	}
	p.shapes.Draw(p.RGBA, bounds, image.NewUniform(c), image.Point{})
}

func (p *picture) write(t text) {
	wide := p.width(t.string, t.size)
	back := wide * float64(t.anchor) / 2
	if !t.upward {
		p.print(p.RGBA, t, t.at.X-back, t.at.Y)
		return
	}
	// Upward it is printed beside, and turned.
	room := image.NewRGBA(image.Rect(0, 0, int(wide)+4, int(2*t.size)))
	p.print(room, t, 2, 1.5*t.size)
	left, bottom := int(t.at.X-1.5*t.size), int(t.at.Y+back)
	for y := range room.Rect.Dy() {
		for x := range room.Rect.Dx() {
			if c := room.RGBAAt(x, y); c.A > 0 {
				under := p.RGBAAt(left+y, bottom-x)
				shade := func(v uint8) uint8 { return uint8(int(v) * int(255-c.A) / 255) }
				p.SetRGBA(left+y, bottom-x, color.RGBA{shade(under.R), shade(under.G), shade(under.B), 255})
			}
		}
	}
}

func (p *picture) print(on *image.RGBA, t text, x, y float64) {
	at := fixed.Point26_6{X: fixed.Int26_6(x * 64), Y: fixed.Int26_6(y * 64)}
	d := font.Drawer{Dst: on, Src: image.Black, Face: p.face(t.size), Dot: at}
	d.DrawString(t.string)
}

// drawing is a canvas that is written as SVG.
type drawing struct{ shapes bytes.Buffer }

func (d *drawing) fill(c color.Color, corners []Point) {
	d.path(corners)
	fmt.Fprintf(&d.shapes, "Z\" %s/>\n", paintOf("fill", c))
}

func (d *drawing) stroke(c color.Color, width float64, points []Point) {
	d.path(points)
	fmt.Fprintf(&d.shapes, "\" fill=\"none\" stroke-width=\"%.2f\" stroke-linejoin=\"round\" %s/>\n", width, paintOf("stroke", c))
}

func (d *drawing) path(points []Point) {
	d.shapes.WriteString(`<path d="`)
	for i, at := range points {
		fmt.Fprintf(&d.shapes, "%c%.2f %.2f", "ML"[min(i, 1)], at.X, at.Y)
	}
}

func (d *drawing) write(t text) {
	turn := ""
	if t.upward {
		turn = fmt.Sprintf(` transform="rotate(-90 %.2f %.2f)"`, t.at.X, t.at.Y)
	}
	fmt.Fprintf(&d.shapes, `<text x="%.2f" y="%.2f" font-size="%.2f" text-anchor="%s"%s>`, t.at.X, t.at.Y, t.size, [...]string{"start", "middle", "end"}[t.anchor], turn)
	xml.EscapeText(&d.shapes, []byte(t.string)) // a buffer has no errors
	d.shapes.WriteString("</text>\n")
}

// paintOf is a colour as an attribute.
func paintOf(attribute string, c color.Color) string {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	out := fmt.Sprintf(`%s="#%02x%02x%02x"`, attribute, n.R, n.G, n.B)
	if n.A < 255 {
		out += fmt.Sprintf(` %s-opacity="%.2f"`, attribute, float64(n.A)/255)
	}
	return out
}

// writeTo writes the file, of a width and a height.
func (d *drawing) writeTo(w io.Writer, width, height float64) error {
	_, err := fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="Liberation Sans, Arial, sans-serif">
%s</svg>
`, width, height, width, height, d.shapes.Bytes())
	return err
}
