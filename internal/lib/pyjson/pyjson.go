// Package pyjson reads JSON as Python programs write it, front to back, one value at a time.
//
// Python writes NaN, Infinity and -Infinity, which JSON does not have: they are read as null,
// outside of strings.
package pyjson

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// Decoder reads one value after another.
type Decoder struct{ *json.Decoder }

// NewDecoder gives the values in r.
func NewDecoder(r io.Reader) *Decoder {
	return &Decoder{json.NewDecoder(&filter{in: bufio.NewReaderSize(r, 64<<10)})}
}

// Object reads an object: f is called for each of its keys and reads the value.
func (d *Decoder) Object(f func(key string) error) error {
	if err := d.open('{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return cut(err)
		}
		if err := f(key.(string)); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return cut(err)
}

// Array reads an array: f is called for each of its elements and reads it.
func (d *Decoder) Array(f func() error) error {
	if err := d.open('['); err != nil {
		return err
	}
	for d.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return cut(err)
}

// Value reads a value.
func (d *Decoder) Value(v any) error { return cut(d.Decode(v)) }

// Skip passes a value over, however long it is.
func (d *Decoder) Skip() error {
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return cut(err)
		}
		switch t {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}

// Number reads a number; false: it was something else, and is passed over.
func (d *Decoder) Number() (float64, bool, error) {
	t, err := d.Token()
	if err != nil {
		return 0, false, cut(err)
	}
	switch v := t.(type) {
	case float64:
		return v, true, nil
	case json.Delim:
		return 0, false, d.rest()
	}
	return 0, false, nil
}

// rest passes over what is left of a value that was opened.
func (d *Decoder) rest() error {
	for d.More() {
		if err := d.Skip(); err != nil {
			return err
		}
	}
	_, err := d.Token()
	return cut(err)
}

// open reads the beginning of an object or an array.
func (d *Decoder) open(want json.Delim) error {
	t, err := d.Token()
	if err != nil {
		return cut(err)
	}
	if t != want {
		return fmt.Errorf("%v where %v should be", t, want)
	}
	return nil
}

// ErrCut is the error of a file that ends in the middle of a value.
var ErrCut = errors.New("it ends in the middle: it was cut off, or is still being written")

// cut names the error of an end that comes too early.
func cut(err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return ErrCut
	}
	return err
}

// filter replaces what is no JSON.
type filter struct {
	in      *bufio.Reader
	text    bool // in a string
	escaped bool // behind a backslash there
	left    string
}

// Read implements io.Reader.
func (f *filter) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		if f.left != "" {
			k := copy(p[n:], f.left)
			f.left = f.left[k:]
			n += k
			continue
		}
		c, err := f.in.ReadByte()
		if err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, err
		}
		switch {
		case f.escaped:
			f.escaped = false
		case f.text:
			f.escaped, f.text = c == '\\', c != '"'
		case c == '"':
			f.text = true
		case c == 'N' && f.next("aN"), c == 'I' && f.next("nfinity"), c == '-' && f.next("Infinity"):
			f.left = "null"
			continue
		}
		p[n] = c
		n++
	}
	return n, nil
}

func (f *filter) next(text string) bool {
	if got, _ := f.in.Peek(len(text)); string(got) != text {
		return false
	}
	_, _ = f.in.Discard(len(text)) // it was there
	return true
}
