package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"image/color"
	"io"
)

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
