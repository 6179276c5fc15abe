package inputdata

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
)

// rewrite is a JSON text as one writes it who has read it first: without spaces, with text as it
// is where JSON lets it be, and with numbers that are not whole in their shortest form. Members stay
// where they are, and those that come twice do.
func rewrite(text []byte) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	w := writer{out: make([]byte, 0, len(text))}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return w.out, nil
		}
		if err != nil {
			return nil, err
		}
		w.token(token)
	}
}

// writer puts tokens behind one another.
type writer struct {
	out   []byte
	depth []nesting
}

// nesting is an array or an object that has begun.
type nesting struct {
	object bool
	n      int // values in it so far, names of members included
}

func (w *writer) token(t json.Token) {
	if end, ok := t.(json.Delim); ok && (end == ']' || end == '}') {
		w.depth = w.depth[:len(w.depth)-1]
		w.out = append(w.out, byte(end))
		return
	}
	if len(w.depth) > 0 {
		in := &w.depth[len(w.depth)-1]
		switch {
		case in.object && in.n%2 == 1:
			w.out = append(w.out, ':')
		case in.n > 0:
			w.out = append(w.out, ',')
		}
		in.n++
	}
	switch v := t.(type) {
	case json.Delim:
		w.out = append(w.out, byte(v))
		w.depth = append(w.depth, nesting{object: v == '{'})
	case string:
		w.out = appendText(w.out, v)
	case json.Number:
		w.out = appendNumber(w.out, string(v))
	case bool:
		w.out = strconv.AppendBool(w.out, v)
	default:
		w.out = append(w.out, "null"...)
	}
}

// appendText writes a string, with nothing escaped that need not be.
func appendText(dst []byte, s string) []byte {
	const hex = "0123456789ABCDEF"
	short := map[byte]byte{'"': '"', '\\': '\\', '\b': 'b', '\f': 'f', '\n': 'n', '\r': 'r', '\t': 't'}
	dst = append(dst, '"')
	for i := range len(s) {
		c := s[i]
		switch {
		case short[c] != 0:
			dst = append(dst, '\\', short[c])
		case c < ' ':
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}

// most is how many digits a number has ahead of its point before it is written with an exponent,
// and least how many zeros it has behind it.
const (
	most  = 21
	least = 5
)

// appendNumber writes a number: one that is written as a whole one as it is, if it fits 64 bits.
func appendNumber(dst []byte, s string) []byte {
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return strconv.AppendInt(dst, n, 10)
	}
	if _, err := strconv.ParseUint(s, 10, 64); err == nil {
		return append(dst, s...)
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || math.IsInf(x, 0) {
		return append(dst, s...) // nothing else says it
	}
	short := strconv.FormatFloat(x, 'e', -1, 64)
	_, exponent, _ := strings.Cut(short, "e")
	at, err := strconv.Atoi(exponent)
	switch {
	case x == 0 || err == nil && at >= -least-1 && at < most:
		short = strconv.FormatFloat(x, 'f', -1, 64)
		if !strings.Contains(short, ".") {
			short += ".0"
		}
		return append(dst, short...)
	default:
		digits, _, _ := strings.Cut(short, "e")
		return strconv.AppendInt(append(append(dst, digits...), 'e'), int64(at), 10)
	}
}
