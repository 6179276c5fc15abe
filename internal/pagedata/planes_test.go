package pagedata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// reader reads columns as a page does.
type reader struct {
	t     *testing.T
	bytes []byte
}

// readerOf takes planes through their text.
func readerOf(t *testing.T, p *Planes) *reader {
	t.Helper()
	text, err := p.Text()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t, all}
}

// column gives the numbers of a column.
func (r *reader) column(c Column) []float64 {
	r.t.Helper()
	size := map[string]int{"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f32": 4}[c.Type]
	if size == 0 || c.Offset+c.Count*size > len(r.bytes) {
		r.t.Fatalf("column %+v does not lie in %d bytes", c, len(r.bytes))
	}
	out := make([]float64, c.Count)
	var sum float64
	for i := range out {
		var word [4]byte
		for b := range size {
			word[b] = r.bytes[c.Offset+b*c.Count+i]
		}
		bits := binary.LittleEndian.Uint32(word[:])
		v := float64(bits)
		switch c.Type {
		case "i32":
			v = float64(int32(bits))
		case "f32":
			v = float64(math.Float32frombits(bits))
		}
		if c.Deltas {
			sum += v
			v = sum
		}
		if c.Step > 0 {
			v *= float64(c.Step)
		}
		out[i] = v
	}
	return out
}

func TestPlanesKeepNumbers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rising := make([]int64, 1000)
	for i := range rising {
		rising[i] = int64(i)*40_000_000 + r.Int64N(1000) // far beyond 32 bits
	}
	for name, c := range map[string]struct {
		values []int64
		kind   string
		deltas bool
	}{
		"nothing":    {nil, "u8", false},
		"bytes":      {[]int64{0, 255, 3}, "u8", false},
		"two bytes":  {[]int64{0, 65535}, "u16", false},
		"four bytes": {[]int64{1 << 31, 0, 5}, "u32", false},
		"signed":     {[]int64{-1, 3, -70000}, "i32", false},
		"moments":    {rising, "u32", true},
		"steady":     {[]int64{1000, 1010, 1020, 1030, 1041, 9000, 9010}, "u16", false},
	} {
		var p Planes
		p.Ints([]int64{7})
		col := p.Ints(c.values)
		if col.Type != c.kind || col.Deltas != c.deltas || col.Step != 0 {
			t.Errorf("%s: %+v, want %s", name, col, c.kind)
		}
		var got []int64
		for _, v := range readerOf(t, &p).column(col) {
			got = append(got, int64(v))
		}
		if !slices.Equal(got, c.values) {
			t.Errorf("%s: read %v, want %v", name, got[:min(len(got), 5)], c.values[:min(len(c.values), 5)])
		}
	}
}

func TestPlanesRoundWhatIsTooLarge(t *testing.T) {
	var p Planes
	values := []int64{-1, 36_000_000_000, 5, 12_345_678_901}
	col := p.Ints(values)
	for i, v := range readerOf(t, &p).column(col) {
		if math.Abs(v-float64(values[i])) > float64(col.Step) || math.Signbit(v) != (values[i] < 0) && values[i] > 100 {
			t.Errorf("%d was read as %v", values[i], v)
		}
	}
	if col.Step < 2 || col.Step > 20 {
		t.Errorf("step %d", col.Step)
	}
}

func TestPlanesKeepFloats(t *testing.T) {
	var p Planes
	col := p.Floats([]float64{0.5, math.NaN(), math.Inf(1), -3e9})
	got := readerOf(t, &p)
	v := got.column(col)
	if v[0] != 0.5 || !math.IsNaN(v[1]) || !math.IsInf(v[2], 1) || v[3] != -3e9 {
		t.Errorf("read %v", v)
	}
}
