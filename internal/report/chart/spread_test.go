package chart

import (
	"bytes"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"
)

func spreads() Figure {
	var box, other []float64
	var heat []Point
	for i := range 60 {
		v := math.Sin(float64(i)) * float64(i%17)
		box, other = append(box, 40+v), append(other, 60+2*v)
		heat = append(heat, Point{X: float64(i % 23), Y: v})
	}
	return Figure{Title: "Spreads", Width: 600, Height: 450, PerRow: 2, Panels: []Panel{
		{X: "Latency (ms)", Boxes: []Box{{Name: "one", Values: append(box, math.NaN())}, {Name: "two", Values: other}}},
		{Title: "one", X: "input", Y: "output", Heat: heat},
		{Title: "two", Heat: []Point{{5, 5}, {5, 5}}},
	}}
}

// Boxes and grids are drawn, in a picture of the size asked for, in rows.
func TestSpreads(t *testing.T) {
	f := spreads()
	var b bytes.Buffer
	if err := f.PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	if size := img.Bounds().Size(); size.X != 600 || size.Y != 450 {
		t.Errorf("the picture is %v", size)
	}
	b.Reset()
	if err := f.SVG(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Spreads", "one (darkest: ", "two (darkest: 2)", "Latency (ms)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the chart does not say %q", want)
		}
	}
}

// Every point is in one cell, and cells have round sizes.
func TestCount(t *testing.T) {
	var points []Point
	for i := range 1000 {
		points = append(points, Point{X: float64(i), Y: float64(i % 7)})
	}
	g := count(append(points, Point{X: math.NaN(), Y: 1}))
	sum := 0
	for at, n := range g.counts {
		sum += n
		if at[0] < 0 || at[0] >= g.x.n || at[1] < 0 || at[1] >= g.y.n {
			t.Errorf("a point is in cell %v of %d by %d", at, g.x.n, g.y.n)
		}
	}
	if sum != 1000 || g.x.n > mostCells+1 || g.y.n > mostCells+1 || g.x.low > 0 || g.x.high() < 999 {
		t.Errorf("%d points in %d by %d cells, from %v to %v", sum, g.x.n, g.y.n, g.x.low, g.x.high())
	}
	if count([]Point{{math.Inf(1), 1}}) != nil {
		t.Error("a point that is not finite is counted")
	}
}

func TestOddSpreads(t *testing.T) {
	for name, p := range map[string]Panel{
		"no values": {Boxes: []Box{{Name: "x"}}}, "one value": {Boxes: []Box{{Name: "x", Values: []float64{5}}}}, "nothing finite": {Heat: []Point{{math.NaN(), 1}}},
		"huge": {Heat: []Point{{1e300, 0}, {-1e300, 1e-300}}}, "below zero": {Boxes: []Box{{Name: "x", Values: []float64{-3, -2, -1}}}},
	} {
		f := Figure{Title: name, Width: 240, Height: 160, Panels: []Panel{p}}
		for _, draw := range []func(io.Writer) error{f.PNG, f.SVG} {
			if err := draw(io.Discard); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Titles of panels stay within their panels.
func TestTitlesFit(t *testing.T) {
	for _, title := range []string{"short", strings.Repeat("a long name of a model, ", 3), strings.Repeat("a very long name of a model, ", 40)} {
		face, err := newTypeface()
		if err != nil {
			t.Fatal(err)
		}
		got, size := fitTitle(face, Panel{Title: title, Heat: []Point{{X: 1, Y: 1}}}.title(), 300)
		if wide := face.width(got, size); wide > 300 || size < leastText {
			t.Errorf("%q is %v wide in letters of %v", got, wide, size)
		}
		if title == "short" && got != "short (darkest: 1)" {
			t.Errorf("%q is changed", got)
		}
	}
}
