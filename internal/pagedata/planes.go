package pagedata

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// Planes are the bytes of columns: of each column the lowest bytes of all its numbers, then
// the next ones, and so on. Bytes of the same weight are alike, so that they compress well.
type Planes struct{ bytes []byte }

// Column says where a column lies in the planes and how to read it.
type Column struct {
	Offset int    `json:"o"`
	Count  int    `json:"n"`
	Type   string `json:"t"` // u8, u16, u32, i32, f32 or f64, the low byte first
	// Deltas: each number is what is added to the one before, the first to 0.
	Deltas bool `json:"d,omitempty"`
	// Step is what the numbers are multiplied by, the sums of deltas too; 0: by 1.
	Step int64 `json:"s,omitempty"`
}

// Ints adds a column of integers. Those beyond 32 bits are rounded to a step.
func (p *Planes) Ints(values []int64) Column {
	c := Column{Offset: len(p.bytes), Count: len(values), Type: "u8"}
	if len(values) == 0 {
		return c
	}
	deltas := make([]int64, len(values))
	before := int64(0)
	for i, v := range values {
		deltas[i], before = v-before, v
	}
	lo, hi := slices.Min(values), slices.Max(values)
	dlo, dhi := slices.Min(deltas), slices.Max(deltas)
	_, plain := intType(lo, hi)
	if _, fits := intType(dlo, dhi); fits && (!plain || (dhi-dlo) < (hi-lo)/4) {
		values, lo, hi, c.Deltas = deltas, dlo, dhi, true
	} else if !plain {
		c.Step = max(hi, -lo)/math.MaxInt32 + 1
		values = slices.Clone(values)
		for i := range values {
			values[i] = int64(math.Round(float64(values[i]) / float64(c.Step)))
		}
		lo, hi = slices.Min(values), slices.Max(values)
	}
	c.Type, _ = intType(lo, hi)
	p.add(len(values), width(c.Type), func(i int) uint64 { return uint64(values[i]) })
	return c
}

// intType is the narrowest type for numbers from lo to hi.
func intType(lo, hi int64) (name string, fits bool) {
	switch {
	case lo >= 0 && hi <= math.MaxUint8:
		return "u8", true
	case lo >= 0 && hi <= math.MaxUint16:
		return "u16", true
	case lo >= 0 && hi <= math.MaxUint32:
		return "u32", true
	}
	return "i32", lo >= math.MinInt32 && hi <= math.MaxInt32
}

// Floats adds a column of numbers with seven digits.
func (p *Planes) Floats(values []float64) Column {
	c := Column{Offset: len(p.bytes), Count: len(values), Type: "f32"}
	p.add(len(values), 4, func(i int) uint64 { return uint64(math.Float32bits(float32(values[i]))) })
	return c
}

// add appends the planes of n numbers of so many bytes.
func (p *Planes) add(n, size int, bits func(i int) uint64) {
	at := len(p.bytes)
	p.bytes = append(p.bytes, make([]byte, n*size)...)
	for i := range n {
		v := bits(i)
		for b := range size {
			p.bytes[at+b*n+i] = byte(v >> (8 * b))
		}
	}
}

// appendColumn adds a column of other planes, as it is.
func (p *Planes) appendColumn(from *Planes, c Column) Column {
	begin := c.Offset
	c.Offset = len(p.bytes)
	p.bytes = append(p.bytes, from.bytes[begin:begin+c.Count*width(c.Type)]...)
	return c
}

// width is how many bytes a number of a type has.
func width(name string) int {
	return map[string]int{"u8": 1, "u16": 2, "u32": 4, "i32": 4, "f32": 4, "f64": 8}[name]
}

// MarshalJSON implements json.Marshaler: a document says how long its planes are.
func (p Planes) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Length int `json:"length"`
	}{len(p.bytes)})
}

// Text is the planes as text: gzip, then base64.
func (p *Planes) Text() (string, error) {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	_, err := w.Write(p.bytes)
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		return "", fmt.Errorf("compress the columns: %w", err)
	}
	return base64.StdEncoding.EncodeToString(out.Bytes()), nil
}
