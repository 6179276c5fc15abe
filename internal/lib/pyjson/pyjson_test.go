package pyjson

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestValuesThatJSONLacks(t *testing.T) {
	for in, want := range map[string]string{
		`{"a": NaN, "b": [Infinity, -Infinity, -1]}`: `{"a": null, "b": [null, null, -1]}`,
		`{"NaN": "NaN \" -Infinity"}`:                `{"NaN": "NaN \" -Infinity"}`,
		`["\\", NaN]`:                                `["\\", null]`,
		`Na`:                                         `Na`, `-I`: `-I`, ``: ``, `"N`: `"N`,
	} {
		got, err := io.ReadAll(iotest.OneByteReader(&filter{in: bufio.NewReader(iotest.OneByteReader(strings.NewReader(in)))}))
		if err != nil || string(got) != want {
			t.Errorf("%s became %s, %v; want %s", in, got, err, want)
		}
	}
}

func TestWalk(t *testing.T) {
	d := NewDecoder(strings.NewReader(`{"a":1,"b":[1,NaN,"x",[2]],"c":{"d":[{}]},"e":true} {"a":2}`))
	var keys, numbers []string
	read := func(key string) error {
		keys = append(keys, key)
		if key != "b" {
			return d.Skip()
		}
		return d.Array(func() error {
			v, ok, err := d.Number()
			if ok && v == 1 {
				numbers = append(numbers, "one")
			}
			return err
		})
	}
	if err := errors.Join(d.Object(read), d.Object(read)); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(keys, " ") + " " + strings.Join(numbers, " "); got != "a b c e a one" {
		t.Error(got)
	}
	if err := d.Object(read); !errors.Is(err, ErrCut) {
		t.Errorf("behind the end: %v", err)
	}
	for _, broken := range []string{`{"a":`, `{"a":[1,`, `{"a":1`, `{`, `{"b":[1`} {
		d = NewDecoder(strings.NewReader(broken))
		if err := d.Object(read); !errors.Is(err, ErrCut) {
			t.Errorf("%s: %v", broken, err)
		}
	}
	d = NewDecoder(strings.NewReader(`[1]`))
	if err := d.Object(read); err == nil || errors.Is(err, ErrCut) {
		t.Errorf("an array: %v", err)
	}
}

func TestStyle(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":[1,2.0,"x,y:\" \\"],"b":null}`: `{"a": [1, 2.0, "x,y:\" \\"], "b": null}`,
		`{"é":"日本 😀\n"}`:                     `{"\u00e9": "\u65e5\u672c \ud83d\ude00\n"}`,
		`[]`:                                 `[]`,
	} {
		if got := string(Style([]byte(in))); got != want {
			t.Errorf("%s became %s, want %s", in, got, want)
		}
	}
}
