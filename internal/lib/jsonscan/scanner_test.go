package jsonscan

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// value builds what encoding/json builds, with nothing but the scanner's methods.
func value(s *Scanner) any {
	switch c := s.Peek(); {
	case c == '{':
		s.Object()
		m := map[string]any{}
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			k := string([]rune(string(key)))
			m[k] = value(s)
		}
		return m
	case c == '[':
		s.Array()
		list := []any{}
		for s.More() {
			list = append(list, value(s))
		}
		return list
	case c == '"':
		return string([]rune(string(s.Quoted())))
	case c == 't' || c == 'f':
		return s.Bool()
	case c == 'n':
		s.Null()
		return nil
	case s.IsNumber():
		return json.Number(s.Number())
	}
	s.Fail("a value")
	return nil
}

func scan(data []byte) (any, error) {
	var s Scanner
	s.Reset(data)
	v := value(&s)
	s.End()
	return v, s.Err()
}

func reference(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err == nil || err.Error() != "EOF" {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

var texts = []string{
	`{}`, `[]`, `null`, `true`, `false`, `0`, `-0`, `12`, `-3.5e+10`, `01`, `-`, `1.`, `1e`, `.5`, `+1`,
	`"x"`, `"a\u00e9\ud83d\ude00\n\/"`, `"\ud83d"`, `"\ud83dx"`, `"\ud83d\ud83d\ude00"`, `"\ude00\ud83d"`, `"\x"`, `"\u12g4"`, `"open`, "\"\x01\"", "\"\xff\xc3\"",
	`{"a":1,"b":[1,2,{"c":null}],"a":2}`, `{"a" : [ ] , "b" : { } }`, `{"a":1,}`, `[1,]`, `[,1]`, `{,}`, `{"a"}`, `{"a":}`, `{a:1}`, `[1 2]`,
	`{"\u0061":1}`, ` [1] `, `[1] x`, ``, ` `, `nul`, `truee`, `[[[[]]]]`, `[}`, `{]`, "\xef\xbb\xbf{}",
	`["a","b"]`, " [\n        \"a\",\n\t\"b\"\n] ", `["a","b","c"]`, `["a"]`, `["a","\n"]`, `["a",1]`, `["","\xc3"] x`, `["a" "b"]`, `["a","b"`, "\n            [\"a\",\"b\"]",
	`[1,22,-333,4444444,55555555,123456789,123456789012345,-123456789012345678,1234567890123456789]`, `[1,2,3]`, `[1,null,2.5,1e3, 7,8 ,-9]`,
	`[1,2,3,4,5,6,7,8,9,0,1,2,13,4,5,6,7,8,-1,0,0,0,0]`, `[1,2,3,:,5,6,7,8]`, `[1,2,/,4,5,6]`, `[1,2,3,4,]`, `[1,2,3 ,4,5,6]`, `[1,2,,4,5,6]`,
	`[1, 2, 34, 5678, 123456789012345678, -9]`, `[1, 2,  3]`, `[1, 2, 3, 4, 5, ]`, `[1,2,3, `, `[1, 2, :, 4]`,
	`[0,00]`, `[12345678]`, `[-]`, `[1,-]`, `[12,-,3]`, `[1;2]`, `[123:456]`, `[12/3]`, `[1,2,3`, `[00000001]`, `[99999999999999999999]`, `[-0,1]`,
	`18446744073709551616`, `9223372036854775807`, `1e400`, strings.Repeat("[", 10001), strings.Repeat("[", 9000) + strings.Repeat("]", 9000),
}

func TestScannerAgreesWithEncodingJSON(t *testing.T) {
	for _, text := range texts {
		compare(t, []byte(text))
	}
}

func FuzzScanner(f *testing.F) {
	for _, text := range texts {
		if len(text) < 1000 { // long ones keep the fuzzer busy making them shorter
			f.Add([]byte(text))
		}
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) { compare(t, data) })
}

func compare(t *testing.T, data []byte) {
	t.Helper()
	want, wantErr := reference(data)
	got, err := scan(data)
	if (err == nil) != (wantErr == nil) {
		t.Fatalf("%.200q: error %v, encoding/json says %v", data, err, wantErr)
	}
	if err == nil && !reflect.DeepEqual(got, want) {
		t.Fatalf("%.200q: got %v, want %v", data, got, want)
	}
	var s Scanner
	s.Reset(data)
	s.Skip()
	s.End()
	if (s.Err() == nil) != (wantErr == nil) {
		t.Fatalf("%.200q: Skip says %v, encoding/json says %v", data, s.Err(), wantErr)
	}
	comparePair(t, data, want)
	compareInts(t, data, want)
}

// compareInts looks at what Ints makes of data, which encoding/json reads as want.
func compareInts(t *testing.T, data []byte, want any) {
	t.Helper()
	list, ok := want.([]any)
	if !ok {
		return
	}
	var s Scanner
	s.Reset(data)
	s.Array()
	var got [5]int64
	for i := 0; ; {
		n, left := s.Ints(got[:])
		for _, v := range got[:n] {
			if w, err := list[i].(json.Number).Int64(); err != nil || w != v {
				t.Fatalf("%.200q: element %d is %d, encoding/json says %v", data, i, v, list[i])
			}
			i++
		}
		if left || n < len(got) && !s.More() {
			if !s.End() || i != len(list) {
				t.Fatalf("%.200q: %d elements, encoding/json says %d (%v)", data, i, len(list), s.Err())
			}
			return
		}
		if n < len(got) {
			s.Skip()
			i++
		}
	}
}

// What is no digit is no number of one digit.
func TestIntsOfOneDigit(t *testing.T) {
	for b := range 256 {
		if '0' <= b && b <= '9' || b == ' ' || b == '\t' || b == '\n' || b == '\r' || b == ']' {
			continue
		}
		var s Scanner
		s.Reset([]byte{'[', '1', ',', byte(b), ',', '3', ',', '4', ',', '5', ']'})
		s.Array()
		var got [4]int64
		if n, left := s.Ints(got[:]); n != 1 || left {
			t.Errorf("%q: %d numbers, %v", rune(b), n, got)
		}
	}
}

func TestIsPlain(t *testing.T) {
	for text, want := range map[string]bool{`"ab"`: true, `"ab" `: true, `"abc"`: false, `"a"`: false, `"ab`: false, `ab`: false, `"\u0061b"`: false, ``: false} {
		var s Scanner
		s.Reset([]byte(text))
		if got := s.IsPlain("ab"); got != want || got != (s.Pos() == 4) {
			t.Errorf("%s: %v, and %d bytes taken", text, got, s.Pos())
		}
	}
}

func TestKind(t *testing.T) {
	for first, want := range map[string]string{
		"{": "an object", "[": "an array", `"`: "a string", "tf": "a boolean", "n": "null", "-0123456789": "a number", "/:x}": "invalid JSON",
	} {
		for _, c := range []byte(first) {
			if got := Kind(c); got != want {
				t.Errorf("%c begins %s, not %s", c, got, want)
			}
		}
	}
}

// TestMembers reads objects one after the other, whose members come in an order and in others.
func TestMembers(t *testing.T) {
	type point struct{ x, y int64 }
	table := NewMembers(
		Member[point]{"x", func(s *Scanner, p *point) { p.x = s.Int() }},
		Member[point]{"y", func(s *Scanner, p *point) { p.y = s.Int() }},
	)
	var order Order
	for _, c := range []struct {
		text string
		want point
	}{
		{`{"x":1,"y":2}`, point{1, 2}},
		{`{"x":3,"y":4}`, point{3, 4}},
		{`{"y":5,"x":6}`, point{6, 5}},
		{`{"y":7}`, point{0, 7}},
		{`{}`, point{}},
		{`{"z":{"x":8},"x":9,"xy":[1,"y"],"y":10}`, point{9, 10}},
		{"{ \"x\" : 1 ,\n\"y\":2 }", point{1, 2}},
		{`{"\u0078":11,"y":12,"y":13}`, point{11, 13}},
	} {
		var s Scanner
		s.Reset([]byte(c.text))
		var got point
		table.Read(&s, &order, &got)
		if !s.End() || got != c.want {
			t.Errorf("%s: %+v, want %+v (%v)", c.text, got, c.want, s.Err())
		}
	}
	for _, text := range []string{`{"x":1"y":2}`, `{,"x":1}`, `{"x":1,}`, `{"x":1`, `[1]`, `{"x"1}`, `"x":1,"y":2}`} {
		var s Scanner
		s.Reset([]byte(text))
		table.Read(&s, &order, &point{})
		if s.End() {
			t.Errorf("%s was read", text)
		}
	}
}

// comparePair looks at what Pair makes of data, which encoding/json reads as want.
func comparePair(t *testing.T, data []byte, want any) {
	t.Helper()
	var s Scanner
	s.Reset(data)
	a, b, ok := s.Pair()
	if !ok {
		if s.Pos() != 0 || s.Err() != nil {
			t.Fatalf("%.200q: Pair took nothing and is at %d: %v", data, s.Pos(), s.Err())
		}
		list, _ := want.([]any)
		if len(list) == 2 && !bytes.ContainsRune(data, '\\') {
			_, first := list[0].(string)
			if _, second := list[1].(string); first && second {
				t.Fatalf("%.200q is a pair", data)
			}
		}
		return
	}
	if !s.End() {
		return // more follows, and what encoding/json says is about all of it
	}
	got := []any{string([]rune(string(a))), string([]rune(string(b)))}
	if !reflect.DeepEqual(any(got), want) {
		t.Fatalf("%.200q: the pair is %q, want %v", data, got, want)
	}
}

func TestInt(t *testing.T) {
	for _, c := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true}, {"-7", -7, true}, {"123456789012345678", 123456789012345678, true},
		{"9223372036854775807", 9223372036854775807, true}, {"-9223372036854775808", -9223372036854775808, true},
		{"9223372036854775808", 0, false}, {"4.9", 4, true}, {"1e3", 1000, true}, {"00", 0, false}, {"-", 0, false}, {"", 0, false},
		{`"1"`, 0, false}, {"1e30", 0, false}, {"-0", 0, true},
	} {
		var s Scanner
		s.Reset([]byte(c.text))
		got := s.Int()
		ok := s.End()
		if got != c.want && ok || ok != c.ok {
			t.Errorf("Int of %q = %d, %v; want %d, %v", c.text, got, ok, c.want, c.ok)
		}
	}
}

func TestErrorNamesTheByte(t *testing.T) {
	for text, offset := range map[string]int{`{"a":1 "b":2}`: 7, `[1,`: 3, `{"a":tru}`: 5, `["a`: 3, `{"a":-}`: 6} {
		_, err := scan([]byte(text))
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%s: %v, want a fault at byte %d", text, err, offset)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	data := []byte(`{"id":"chatcmpl-` + strconv.Itoa(1) + `","choices":[{"delta":{"content":"hello"},"index":0,"logprobs":null}],"created":1794703476,"x":[1.5,true]}`)
	var s Scanner
	if n := testing.AllocsPerRun(100, func() {
		s.Reset(data)
		s.Skip()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSkip(b *testing.B) {
	data := []byte(`{"id":"f75fbe95-2d58-4a53-b3df-8e99724eaf1a","choices":[{"delta":{"content":"getnode"},"index":0}],"created":1794703476,"model":"tiny-llama@main","object":"chat.completion.chunk","system_fingerprint":""}`)
	b.SetBytes(int64(len(data)))
	var s Scanner
	for b.Loop() {
		s.Reset(data)
		s.Skip()
	}
}
