package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"flag"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

func figure() Figure {
	return Figure{Title: "Rate against latency", Panels: []Panel{
		{Title: "Time to first token", X: "requests/s", Y: "ms", Lines: []Line{
			{Name: "mean", Points: []Point{{1, 50}, {2, 52}, {4, 60}, {8, 120}}},
			{Name: "p99", Points: []Point{{1, 70}, {2, math.NaN()}, {4, 160}, {8, 520}}},
		}},
		{Title: "Prefill", X: "prompt tokens", Y: "s", LogX: true, Lines: []Line{{Points: []Point{{16, 0.01}, {64, 0.011}, {256, 0.02}, {4096, 0.31}}}}},
		{X: "nothing", Y: "at all"},
	}}
}

func TestPNG(t *testing.T) {
	var b bytes.Buffer
	if err := figure().PNG(&b); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	size := img.Bounds().Size()
	if size.X < 1500 || size.Y < 400 {
		t.Errorf("a picture of three panels is %v", size)
	}
	// Each line's colour is there, in the panel that it belongs to.
	want := map[color.Color]int{colorOf(0): 0, colorOf(1): 0}
	for y := range size.Y {
		for x := range size.X / 3 {
			c := color.RGBAModel.Convert(img.At(x, y))
			if _, ok := want[c]; ok {
				want[c]++
			}
		}
	}
	for c, n := range want {
		if n < 200 {
			t.Errorf("%v has %d dots", c, n)
		}
	}
}

func TestSVG(t *testing.T) {
	var b bytes.Buffer
	if err := figure().SVG(&b); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []string{"Rate against latency", "Time to first token", "requests/s", "p99", "4096"} {
		if !strings.Contains(text, want) {
			t.Errorf("the chart does not say %q", want)
		}
	}
}

// An axis is marked at a few round numbers, whatever it spans.
func TestRoundTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
	}{
		{20.5, 80.4, "30 40 50 60 70 80"}, {0, 26, "0 5 10 15 20 25"}, {2, 16, "2 4 6 8 10 12 14 16"}, {0, 1, "0 0.2 0.4 0.6 0.8 1"},
		{0, 7000, "0 1000 2000 3000 4000 5000 6000 7000"}, {-3, 3, "-3 -2 -1 0 1 2 3"}, {0.0003, 0.0011, "0.0004 0.0006 0.0008 0.001"},
		{5, 5, "5"}, {0, math.Inf(1), "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19"}, {math.NaN(), 1, ""},
	} {
		var labels []string
		for _, tick := range roundTicks(c.low, c.high) {
			labels = append(labels, tick.label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("from %v to %v: %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	var b bytes.Buffer
	for _, width := range []int{100, 0} {
		if err := figure().Text(&b, width); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n\n")
	}
	const golden = "testdata/text.golden"
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(golden, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), b.String()); diff != "" {
		t.Error(diff)
	}
}

// The scale of a chart in text is round, and below it stands every place that has room,
// each once.
func TestTextAxes(t *testing.T) {
	many := make([]Point, 100)
	for i := range many {
		many[i] = Point{X: float64(1000 + i), Y: 1}
	}
	for name, tc := range map[string]struct {
		points []Point
		log    bool
		y, x   []string
	}{
		"one":       {[]Point{{64, 20.3}}, true, []string{"24", "16", "8", "0"}, []string{"64"}},
		"lengths":   {[]Point{{16, 42.4}, {64, 1}, {256, 2}, {1024, 3}}, true, []string{"45", "30", "15", "0"}, []string{"16", "64", "256", "1024"}},
		"close":     {[]Point{{1000, 0.31}, {1001, 0.2}, {1002, 0.1}}, false, []string{"0.36", "0.24", "0.12", "0"}, []string{"1000", "1001", "1002"}},
		"too close": {[]Point{{1, 3}, {2, 3}, {1000, 3}}, false, []string{"3", "2", "1", "0"}, []string{"1", "1000"}},
		"many":      {many, false, []string{"1.2", "0.8", "0.4", "0"}, []string{"1000", "1027", "1048", "1069", "1099"}},
	} {
		var b strings.Builder
		if err := (Figure{Title: "t", Panels: []Panel{{LogX: tc.log, Lines: []Line{{Points: tc.points}}}}}).Text(&b, 40); err != nil {
			t.Fatal(err)
		}
		scale, below, _ := strings.Cut(b.String(), " +-")
		_, below, _ = strings.Cut(below, "\n")
		var y []string
		for line := range strings.Lines(scale) {
			if left, _, ok := strings.Cut(line, " |"); ok && strings.TrimSpace(left) != "" {
				y = append(y, strings.TrimSpace(left))
			}
		}
		if diff := cmp.Diff(tc.y, y); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, b.String())
		}
		if diff := cmp.Diff(tc.x, strings.Fields(below)); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, b.String())
		}
		for line := range strings.Lines(b.String()) {
			if len(line) > 40+1 {
				t.Errorf("%s: %q is wider than asked", name, line)
			}
		}
	}
}

func TestOddFigures(t *testing.T) {
	if err := (Figure{Title: "x"}).PNG(io.Discard); !errors.Is(err, errEmpty) {
		t.Errorf("no panels: %v", err)
	}
	for name, points := range map[string][]Point{
		"one point": {{5, 5}}, "zeros": {{0, 0}, {0, 0}}, "below zero": {{1, -5}, {2, -1}},
		"infinite": {{math.Inf(1), 1}, {1, math.Inf(-1)}}, "huge": {{1e300, 1e300}, {2e300, 1}}, "most": {{1, math.MaxFloat64}}, "tiny": {{1, 5e-324}, {2, 0}},
	} {
		f := Figure{Title: name, Panels: []Panel{{Lines: []Line{{Name: "l", Points: points}}}}}
		for _, draw := range []func(io.Writer) error{f.PNG, f.SVG, func(w io.Writer) error { return f.Text(w, 60) }} {
			if err := draw(io.Discard); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
