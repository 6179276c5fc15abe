package tensor

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func specs() []Spec {
	return []Spec{
		{Name: "a", Datatype: Int8, Shape: []int64{2}},
		{Name: "b", Datatype: Bytes, Shape: []int64{-1}, Optional: true},
	}
}

func given(name, text string) Value {
	return Value{Name: name, Text: []byte(text), File: "d.json", Line: 3}
}

func TestBuild(t *testing.T) {
	in := Inputs{Items: []Item{
		{Values: []Value{given("b", `["x"]`), given("a", `[1,2]`), given("model", `"m"`)}},
		{Values: []Value{given("a", `[3,4]`), given("b", `["yz"]`)}},
	}}
	got, _, err := in.Build(specs(), nil, true)
	if err != nil {
		t.Fatal(err)
	}
	want := []Tensor{
		{Name: "a", Datatype: Int8, Shape: []int64{2, 2}, Data: []byte{1, 2, 3, 4}},
		{Name: "b", Datatype: Bytes, Shape: []int64{2, 1}, Data: []byte("\x01\x00\x00\x00x\x02\x00\x00\x00yz")},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	in.Items = []Item{{Values: []Value{given("a", `[1,2]`)}}}
	got, _, err = in.Build(specs(), nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Tensor{{Name: "a", Datatype: Int8, Shape: []int64{2}, Data: []byte{1, 2}}}, got); diff != "" {
		t.Error(diff)
	}
}

// What the request has from elsewhere is neither missing nor made up, and the data may
// still have it.
func TestBuildElsewhere(t *testing.T) {
	inputs := specs()
	inputs[0].Elsewhere = true
	for _, in := range []Inputs{{}, {Rules: &Rules{Fill: Fill{Kind: FillZero}, Shapes: map[string][]int64{"b": {1}}}}} {
		got, _, err := in.Build(inputs, nil, false)
		if err != nil || len(got) > 0 && got[0].Name == "a" {
			t.Errorf("got %v %v", got, err)
		}
	}
	in := Inputs{Items: []Item{{Values: []Value{given("a", `[1,2]`)}}}}
	if got, _, err := in.Build(inputs, nil, false); err != nil || len(got) != 1 {
		t.Errorf("got %v %v", got, err)
	}
}

// A tensor that holds a shape is the same for a whole batch.
func TestBuildShapeTensor(t *testing.T) {
	in := Inputs{Items: []Item{{Values: []Value{given("s", `[2,3]`)}}, {Values: []Value{given("s", `[2,3]`)}}}}
	got, _, err := in.Build([]Spec{{Name: "s", Datatype: Int32, Shape: []int64{2}, ShapeTensor: true}}, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{2}, got[0].Shape); diff != "" {
		t.Error(diff)
	}
}

func TestBuildRefuses(t *testing.T) {
	item := func(v ...Value) []Item { return []Item{{Values: v}} }
	for _, c := range []struct {
		in      Inputs
		batched bool
		want    string
	}{
		{Inputs{}, false, `the model needs input "a", INT8 of shape [2], and the data has none (nothing is given)`},
		{Inputs{Items: item(given("b", `["x"]`))}, false, `d.json:3: the model needs input "a", INT8 of shape [2], and the data has none (given is "b")`},
		{Inputs{Items: item(given("a", `[1,2]`), given("c", `[1]`))}, false, `d.json:3: the model has no input "c"; it has "a", "b"`},
		{Inputs{Items: item(given("a", `[1,"2"]`))}, false, `d.json:3: tensor "a": element 1 must be a whole number (INT8), is a string`},
		{Inputs{Items: []Item{{}, {}}}, false, `the model takes no batches, and a batch size of 2 is asked for; use 1`},
		{Inputs{Items: []Item{{Values: []Value{given("a", `[1,2]`), given("b", `["x"]`)}}, {Values: []Value{given("a", `[1,2]`)}}}}, true,
			`input "b" is given for 1 of the 2 items of a batch; give it for all or none`},
		{Inputs{Rules: &Rules{Shapes: map[string][]int64{"z": {1}}}}, false, `a shape is given for "z", and the model has no such input; it has "a", "b"`},
		{Inputs{Rules: &Rules{Shapes: map[string][]int64{"a": {3}}}}, false, `tensor "a": the given shape [3] does not fit the model's [2]`},
		{Inputs{Rules: &Rules{Fill: Fill{Kind: FillZero}}}, false,
			`input "b" has the shape [-1], which the model leaves open: state it with --shape b:D1,D2, or give the input in the data`},
	} {
		_, _, err := c.in.Build(specs(), nil, c.batched)
		if errText(err) != c.want {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestFiles(t *testing.T) {
	for _, c := range []struct {
		spec Spec
		text string
		want string
	}{
		{Spec{Name: "x", Datatype: Int16, Shape: []int64{2}}, "\x01\x00\x02\x00", "\x01\x00\x02\x00"},
		{Spec{Name: "x", Datatype: Bytes, Shape: []int64{2}}, "one\ntwo\n", "\x03\x00\x00\x00one\x03\x00\x00\x00two"},
		{Spec{Name: "x", Datatype: Bytes, Shape: []int64{-1}}, "one\n\ntwo", "\x03\x00\x00\x00one\x00\x00\x00\x00\x03\x00\x00\x00two"},
	} {
		v := Value{Name: "x", Form: FormFile, Text: []byte(c.text)}
		got, err := v.Tensor(&c.spec, nil)
		if err != nil || string(got.Data) != c.want {
			t.Errorf("%q: got %q (%v), want %q", c.text, got.Data, err, c.want)
		}
	}
	v := Value{Name: "x", Form: FormRaw, Text: []byte("abc"), File: "dir/x"}
	_, err := v.Tensor(&Spec{Name: "x", Datatype: Int16, Shape: []int64{-1}}, nil)
	if want := `dir/x: tensor "x": 3 bytes are not a whole number of INT16 elements of 2 bytes`; errText(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// differs: pa-random-values, pa-random-bools
func TestFill(t *testing.T) {
	for _, name := range Datatypes() {
		d, _ := ParseDatatype(name)
		spec := Spec{Name: "x", Datatype: d, Shape: []int64{50, 2}}
		random := Fill{Kind: FillRandom, Seed: 1}
		a, err := random.Tensor(&spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Check(); err != nil {
			t.Error(err)
		}
		if !a.Finite() {
			t.Errorf("%s: random values are not finite", d)
		}
		again, _ := random.Tensor(&spec, nil)
		if cmp.Diff(a, again) != "" {
			t.Errorf("%s: the same seed gives other values", d)
		}
		other := Fill{Kind: FillRandom, Seed: 2}
		if b, _ := other.Tensor(&spec, nil); string(b.Data) == string(a.Data) {
			t.Errorf("%s: another seed gives the same values", d)
		}
		zero := Fill{Kind: FillZero, String: "s"}
		z, err := zero.Tensor(&spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := z.Check(); err != nil {
			t.Error(err)
		}
		if d == Bytes {
			if string(z.Data) != strings.Repeat("\x01\x00\x00\x00s", 100) {
				t.Errorf("strings: %q", z.Data)
			}
		} else if strings.Trim(string(z.Data), "\x00") != "" {
			t.Errorf("%s: zeros are %x", d, z.Data)
		}
	}
	f := Fill{Kind: FillRandom, Length: 7}
	got, err := f.Tensor(&Spec{Name: "x", Datatype: Bytes, Shape: []int64{-1}}, []int64{3})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for s := range got.Strings() {
		n++
		if len(s) != 7 {
			t.Errorf("a string of %d characters", len(s))
		}
	}
	if n != 3 {
		t.Errorf("%d strings", n)
	}
	if _, err := f.Tensor(&Spec{Name: "x", Datatype: FP64, Shape: []int64{1 << 40}}, nil); err == nil {
		t.Error("a tensor of 8 TiB is made up")
	}
	if _, err := f.Tensor(&Spec{Name: "x", Datatype: Int32, Shape: []int64{1}, ShapeTensor: true}, nil); err == nil {
		t.Error("a shape is made up")
	}
}

func TestExpect(t *testing.T) {
	in := Inputs{Items: []Item{
		{Expected: []Value{given("a", `[1,2]`)}},
		{Expected: []Value{given("a", `[3,4]`)}},
	}}
	_, want, err := in.Build(nil, specs(), true)
	if err != nil {
		t.Fatal(err)
	}
	good := []Tensor{{Name: "b"}, {Name: "a", Datatype: Int8, Shape: []int64{2, 2}, Data: []byte{1, 2, 3, 4}}}
	if err := Compare(want, good); err != nil {
		t.Error(err)
	}
	for _, c := range []struct {
		got  []Tensor
		want string
	}{
		{nil, `output "a" is expected and is not in the response`},
		{[]Tensor{{Name: "a", Datatype: Int8, Shape: []int64{2, 2}, Data: []byte{1, 2, 9, 4}}}, `output "a" differs from what is expected, first in byte 2`},
		{[]Tensor{{Name: "a", Datatype: Int16}}, `output "a" is INT16, expected INT8`},
		{[]Tensor{{Name: "a", Datatype: Int8, Shape: []int64{1}, Data: []byte{1}}}, `output "a" has 1 bytes (shape [1]), expected 4 (shape [2,2])`},
	} {
		if err := Compare(want, c.got); errText(err) != c.want {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	in.Items[1].Expected = nil
	if _, _, err := in.Build(nil, specs(), true); err == nil {
		t.Error("a batch of which half is expected passes")
	}
	in.Items[1].Expected = []Value{given("q", `[1]`)}
	if _, _, err := in.Build(nil, specs(), true); err == nil || !strings.Contains(err.Error(), `no output "q"`) {
		t.Errorf("an output that the model has not: %v", err)
	}
}

// In a directory the name of a file says whether it is an input or an output.
func TestEither(t *testing.T) {
	file := func(name, text string) Value {
		return Value{Name: name, Form: FormFile, Text: []byte(text), File: "dir/" + name, Either: true}
	}
	out := []Spec{{Name: "o", Datatype: Uint8, Shape: []int64{1}}}
	in := Inputs{Items: []Item{{Values: []Value{file("o", "x"), file("a", "yz")}}}}
	for range 2 { // the second time finds the first undisturbed
		got, want, err := in.Build(specs(), out, true)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 1 || string(got[0].Data) != "yz" || len(want) != 1 || string(want[0].Data) != "x" {
			t.Errorf("inputs %v, expected %v", got, want)
		}
	}
	in.Items[0].Values[0].Name = "q"
	if _, _, err := in.Build(specs(), out, true); errText(err) != `dir/o: the model has no input "q"; it has "a", "b"` {
		t.Errorf("a file of no tensor: %v", err)
	}
}

// A file of a directory is an input of a shape that is known: the model's, or one that is stated.
func TestFileOfOpenShape(t *testing.T) {
	specs := []Spec{{Name: "I", Datatype: Int32, Shape: []int64{-1}}}
	item := Item{Values: []Value{{Name: "I", Form: FormFile, Text: make([]byte, 12), File: "I"}}}
	for _, c := range []struct {
		name  string
		rules Rules
		ok    bool
	}{
		{"stated", Rules{Exact: true, Shapes: map[string][]int64{"I": {3}}}, true},
		{"not stated", Rules{Exact: true}, false},
		{"found out", Rules{}, true},
	} {
		in := Inputs{Items: []Item{item}, Rules: &c.rules}
		if _, _, err := in.Build(specs, nil, false); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
