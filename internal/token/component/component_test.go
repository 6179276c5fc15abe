package component

import (
	"fmt"
	"slices"
	"testing"
)

// read reads components that are their types, in sequences of any depth.
func read(raw []byte) (string, error) {
	return Read("a letter", raw, map[string]func([]byte) (string, error){
		"Sequence": func(raw []byte) (string, error) {
			list, err := List(raw, "letters", read)
			return fmt.Sprint(list), err
		},
		"a": Plain(func() string { return "a" }),
		"b": Plain(func() string { return "b" }),
		"c": Plain(func() string { return "c" }),
	})
}

func TestRead(t *testing.T) {
	for text, want := range map[string]string{
		``:                                 "",
		` null `:                           "",
		`{"type":"a"}`:                     "a",
		`{"type":"Sequence","letters":[]}`: "[]",
		`{"type":"Sequence","letters":[{"type":"a"},{"type":"Sequence","letters":[{"type":"b"}]}]}`: "[a [b]]",
		`{`:                                    "error: reading a letter: unexpected end of JSON input",
		`{"type":5}`:                           "error: reading a letter: json: cannot unmarshal number into Go struct field .type of type string",
		`{}`:                                   "error: reading a letter: it has no type",
		`{"type":"x"}`:                         `error: reading a letter: unknown type x`,
		`{"type":"Sequence"}`:                  "error: reading a letter of type Sequence: it has no letters",
		`{"type":"Sequence","letters":null}`:   "error: reading a letter of type Sequence: it has no letters",
		`{"type":"Sequence","letters":[null]}`: "error: reading a letter of type Sequence: one of its letters is null",
		`{"type":"Sequence","letters":[{"type":"x"}]}`: `error: reading a letter of type Sequence: reading a letter: unknown type x`,
		`{"type":"Sequence","letters":{"type":"a"}}`:   "error: reading a letter of type Sequence: json: cannot unmarshal object into Go value of type []json.RawMessage",
	} {
		got, err := read([]byte(text))
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestListKeepsItsOrder(t *testing.T) {
	list, err := List([]byte(`{"letters":[{"type":"a"},{"type":"c"},{"type":"b"}]}`), "letters", read)
	if err != nil || !slices.Equal(list, []string{"a", "c", "b"}) {
		t.Errorf("%v, %v", list, err)
	}
}
