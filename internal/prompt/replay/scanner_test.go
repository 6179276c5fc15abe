package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// scanned are the values of a text with the lines that they begin in, and the fault that ends them.
func scanned(r io.Reader) (list []string, err error) {
	s := NewScanner(r)
	for {
		v, err := s.Next()
		if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return list, nil
		}
		if err != nil {
			return list, err
		}
		list = append(list, fmt.Sprintf("%d %s", v.Line(0), v.Raw))
	}
}

func TestScanner(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "",
		" \n":                           "",
		`{"a": 1}`:                      `1 {"a": 1}`,
		"{\"a\": [1, {}]}{}\n\n {\n}\n": "1 {\"a\": [1, {}]}; 1 {}; 3 {\n}",
		`{"a": "}]{\"\\"}{}`:            `1 {"a": "}]{\"\\"}; 1 {}`,
		"[{\"a\": 1},\n{}, 7 , \"x\"]":  `1 {"a": 1}; 2 {}; 2 7; 2 "x"`,
		"[]":                            "",
		"7 true\n\"a b\"{}":             `1 7; 1 true; 2 "a b"; 2 {}`,
		"}{}":                           "1 }; 1 {}",
		"{},{}":                         "1 {}; 1 ,; 1 {}",
		"{\n":                           "line 2: unexpected EOF",
		"{} \n{\"a":                     "1 {}; line 2: unexpected EOF",
		"[{}\n":                         "1 {}; line 2: unexpected EOF",
		"[{}\n,":                        "1 {}; line 2: unexpected EOF",
		"[{}\n{}]":                      "1 {}; line 2: '{' stands behind an element of a list, not a comma",
	} {
		for name, r := range map[string]io.Reader{"whole": strings.NewReader(text), "by byte": iotest.OneByteReader(strings.NewReader(text))} {
			list, err := scanned(r)
			if err != nil {
				list = append(list, err.Error())
			}
			if got := strings.Join(list, "; "); got != want {
				t.Errorf("%q, %s: %s, want %s", text, name, got, want)
			}
		}
	}
	v := RawValue{Raw: json.RawMessage("{\n\n\"a\": 1}"), line: 4}
	if got := []int{v.Line(-1), v.Line(0), v.Line(2), v.Line(99)}; fmt.Sprint(got) != "[4 4 5 6]" {
		t.Errorf("lines %v", got)
	}
}

// What encoding/json reads as one value after the other is read as those, in any portions.
func FuzzScanner(f *testing.F) {
	for _, text := range []string{`{"a": "}\"]"} {"b": [1, {"c": "\\"}]}`, "{}\n{\n}\n", `[{"a": [1, 2]}, {"b": ""}]`, `{"a": "é` + "\u2028" + `"}7 "x" null`} {
		f.Add(text)
	}
	mutate.Fuzz(f, func(t *testing.T, text string) {
		whole, err := scanned(strings.NewReader(text))
		parts, again := scanned(iotest.HalfReader(iotest.OneByteReader(strings.NewReader(text))))
		if fmt.Sprint(whole, err) != fmt.Sprint(parts, again) {
			t.Fatalf("%q: %q, %v; by byte %q, %v", text, whole, err, parts, again)
		}
		want, ok := decoded(text)
		if !ok {
			return
		}
		if err != nil || len(whole) != len(want) {
			t.Fatalf("%q: %q, %v, encoding/json reads %q", text, whole, err, want)
		}
		for i := range want {
			if _, raw, _ := strings.Cut(whole[i], " "); raw != want[i] {
				t.Fatalf("%q: %q, encoding/json reads %q", text, raw, want[i])
			}
		}
	})
}

// decoded are objects, one after the other or in a list, as encoding/json reads them; false: a text is something else.
func decoded(text string) (list []string, ok bool) {
	var all []json.RawMessage
	if json.Unmarshal([]byte(text), &all) != nil || all == nil {
		all = nil
		for dec := json.NewDecoder(strings.NewReader(text)); ; {
			var raw json.RawMessage
			if err := dec.Decode(&raw); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, false
			}
			all = append(all, raw)
		}
	}
	for _, raw := range all {
		if raw[0] != '{' {
			return nil, false
		}
		list = append(list, string(raw))
	}
	return list, true
}
