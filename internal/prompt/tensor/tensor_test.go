package tensor

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestFromJSON(t *testing.T) {
	for _, c := range []struct {
		datatype   Datatype
		shape      []int64
		given      []int64
		text, want string // want: hex of the data
		settled    []int64
	}{
		{Bool, []int64{4}, nil, `[true, false, 1, 0]`, "01000100", []int64{4}},
		{Uint8, []int64{-1}, nil, `[0, 255]`, "00ff", []int64{2}},
		{Uint16, []int64{1}, nil, `[65534]`, "feff", []int64{1}},
		{Uint32, []int64{1}, nil, `[4294967295]`, "ffffffff", []int64{1}},
		{Uint64, []int64{1}, nil, `[18446744073709551615]`, "ffffffffffffffff", []int64{1}},
		{Uint64, []int64{1}, nil, `[-0]`, "0000000000000000", []int64{1}},
		{Int8, []int64{2}, nil, `[-128, 127]`, "807f", []int64{2}},
		{Int16, []int64{1}, nil, `[-2]`, "feff", []int64{1}},
		{Int32, []int64{}, nil, `7`, "07000000", []int64{}},
		{Int64, []int64{2}, nil, `[9007199254740993, -9223372036854775808]`, "01000000000020000000000000000080", []int64{2}},
		{FP16, []int64{3}, nil, `[1, -2.5, 65504]`, "003c00c1ff7b", []int64{3}},
		{BF16, []int64{2}, nil, `[1.0, 3.3895313892515355e38]`, "803f7f7f", []int64{2}},
		{FP32, []int64{3}, nil, `[0.1, 1e-45, "-Infinity"]`, "cdcccc3d01000000000080ff", []int64{3}},
		{FP64, []int64{1}, nil, `[1]`, "000000000000f03f", []int64{1}},
		{Bytes, []int64{-1}, nil, `["ab", "", "\u00e9"]`, "0200000061620000000002000000c3a9", []int64{3}},
		{Bytes, []int64{1}, nil, `"a"`, "0100000061", []int64{1}},
		{Int8, []int64{-1, -1}, nil, `[[1, 2], [3, 4], [5, 6]]`, "010203040506", []int64{3, 2}},
		{Int8, []int64{-1, 2}, nil, `[1, 2, 3, 4]`, "01020304", []int64{2, 2}},
		{Int8, []int64{-1, -1}, nil, `[5]`, "05", []int64{1, 1}},
		{Int8, []int64{-1, -1}, []int64{2, 2}, `[1, 2, 3, 4]`, "01020304", []int64{2, 2}},
		{Int8, []int64{2}, nil, `[[1, 2]]`, "0102", []int64{2}},
		{Int8, []int64{-1}, nil, `[]`, "", []int64{0}},
		{Int8, []int64{2, 0}, nil, `[[], []]`, "", []int64{2, 0}},
	} {
		got, err := FromJSON(&Spec{Name: "x", Datatype: c.datatype, Shape: c.shape}, c.given, []byte(c.text))
		if err != nil {
			t.Errorf("%s %s: %v", c.datatype, c.text, err)
			continue
		}
		if hex.EncodeToString(got.Data) != c.want || !slices.Equal(got.Shape, c.settled) {
			t.Errorf("%s %s: got %x of shape %v, want %s of %v", c.datatype, c.text, got.Data, got.Shape, c.want, c.settled)
		}
		if err := got.Check(); err != nil {
			t.Errorf("%s %s: %v", c.datatype, c.text, err)
		}
	}
}

func TestFromJSONRefuses(t *testing.T) {
	for _, c := range []struct {
		datatype Datatype
		shape    []int64
		given    []int64
		text     string
		want     string
	}{
		{Int8, []int64{1}, nil, `[128]`, `tensor "x": element 0 is 128, out of range for INT8`},
		{Uint8, []int64{1}, nil, `[-1]`, `tensor "x": element 0 is -1, out of range for UINT8`},
		{Int32, []int64{2}, nil, `[1, 1.5]`, `tensor "x": element 1 must be a whole number (INT32), is 1.5`},
		{Int32, []int64{1}, nil, `["1"]`, `tensor "x": element 0 must be a whole number (INT32), is a string`},
		{Bytes, []int64{1}, nil, `[1]`, `tensor "x": element 0 must be a string (BYTES), is a number`},
		{Bool, []int64{1}, nil, `[2]`, `tensor "x": element 0 must be true or false (BOOL), is a number`},
		{Bool, []int64{1}, nil, `[10]`, `tensor "x": element 0 must be true or false (BOOL), is 10`},
		{FP16, []int64{1}, nil, `[65520]`, `tensor "x": element 0 is 65520, out of range for FP16`},
		{FP32, []int64{1}, nil, `[1e39]`, `tensor "x": element 0 is 1e39, out of range for FP32`},
		{FP32, []int64{1}, nil, `["one"]`, `tensor "x": element 0 must be a number (FP32), is a string, "one"`},
		{FP32, []int64{1}, nil, `[null]`, `tensor "x": element 0 must be a number (FP32), is null`},
		{Int8, []int64{2}, nil, `[1, 2, 3]`, `tensor "x", INT8 of shape [2], is given 3 values`},
		{Int8, []int64{-1, 2}, nil, `[1, 2, 3]`, `tensor "x", INT8 of shape [-1,2], is given 3 values`},
		{Int8, []int64{-1, -1}, nil, `[1, 2]`, `tensor "x" of the model's shape [-1,-1] can have many shapes with 2 values: state its shape, in the data or with --shape x:D1,D2`},
		{Int8, []int64{2, 2}, []int64{4}, `[1, 2, 3, 4]`, `tensor "x": the given shape [4] does not fit the model's [2,2]`},
		{Int8, []int64{-1}, []int64{-2}, `[1]`, `tensor "x": the shape [-2] has a negative dimension`},
		{Int8, []int64{2, 2}, nil, `[[1, 2], [3]]`, `tensor "x": its arrays differ in length or depth`},
		{Int8, []int64{2, 2}, nil, `[[1, 2], 3, 4]`, `tensor "x": its arrays differ in length or depth`},
		{Int8, []int64{2, 2}, nil, `[1, [2], 3, 4]`, `tensor "x": its arrays differ in length or depth`},
		{Int8, []int64{2, 3}, nil, `[[1, 2], [3, 4], [5, 6]]`, `tensor "x" has shape [2,3], and its values nest as [3,2]`},
	} {
		_, err := FromJSON(&Spec{Name: "x", Datatype: c.datatype, Shape: c.shape}, c.given, []byte(c.text))
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %s: got error %v\nwant %s", c.datatype, c.text, err, c.want)
		}
	}
	for _, text := range []string{``, `[`, `[1,]`, `[1] 2`, `{}`, `[nul]`, strings.Repeat("[", 100)} {
		if got, err := FromJSON(&Spec{Name: "x", Datatype: Int8, Shape: []int64{-1}}, nil, []byte(text)); err == nil {
			t.Errorf("%q is taken for %v", text, got)
		}
	}
}

// Every half-precision number survives the way to a float64 and back, and what lies
// between two of them goes to the nearer, to the even one in the middle.
func TestHalves(t *testing.T) {
	for _, f := range []struct {
		name string
		to   func(float64) uint16
		from func(uint16) float64
	}{{"FP16", ToFP16, FromFP16}, {"BF16", ToBF16, FromBF16}} {
		for h := range 1 << 16 {
			x := f.from(uint16(h))
			if math.IsNaN(x) {
				if !math.IsNaN(f.from(f.to(x))) {
					t.Fatalf("%s %#x: NaN becomes %v", f.name, h, f.from(f.to(x)))
				}
				continue
			}
			if got := f.to(x); got != uint16(h) {
				t.Fatalf("%s %#x is %v, which becomes %#x", f.name, h, x, got)
			}
			next := f.from(uint16(h) + 1)
			if h&0x7fff == 0x7fff || math.IsInf(x, 0) || math.IsInf(next, 0) || math.IsNaN(next) {
				continue
			}
			middle := x + (next-x)/2
			even := uint16(h) + uint16(h)&1
			if got := f.to(middle); got != even {
				t.Fatalf("%s: %v, between %#x and the next, becomes %#x", f.name, middle, h, got)
			}
			if got := f.to(math.Nextafter(middle, next)); got != uint16(h)+1 {
				t.Fatalf("%s: a little beyond %v becomes %#x, not %#x", f.name, middle, got, h+1)
			}
			if got := f.to(math.Nextafter(middle, x)); got != uint16(h) {
				t.Fatalf("%s: a little before %v becomes %#x, not %#x", f.name, middle, got, h)
			}
		}
	}
	for _, c := range []struct {
		x    float64
		want uint16
	}{{65519.99, 0x7bff}, {65520, 0x7c00}, {-1e300, 0xfc00}, {5.9604644775390625e-08, 1}, {2.98e-08, 0}, {2.99e-8, 1},
		{math.Copysign(0, -1), 0x8000}} {
		if got := ToFP16(c.x); got != c.want {
			t.Errorf("FP16 of %v is %#x, want %#x", c.x, got, c.want)
		}
	}
	if got := ToBF16(float64(math.MaxFloat32)); got != 0x7f80 {
		t.Errorf("BF16 of the largest FP32 is %#x, want infinity", got)
	}
}

func TestDatatypes(t *testing.T) {
	for _, name := range Datatypes() {
		d, err := ParseDatatype(name)
		if err != nil || d.String() != name {
			t.Errorf("%s is %v (%v)", name, d, err)
		}
		if inConfig, err := ParseDatatype("TYPE_" + strings.Replace(name, "BYTES", "STRING", 1)); inConfig != d || err != nil {
			t.Errorf("%s of a config is %v (%v)", name, inConfig, err)
		}
	}
	if len(Datatypes()) != 14 {
		t.Errorf("%d datatypes", len(Datatypes()))
	}
	for _, name := range []string{"", "unknown", "fp32", "TYPE_", "STRING"} {
		if d, err := ParseDatatype(name); err == nil {
			t.Errorf("%q is taken for %v", name, d)
		}
	}
}

func TestStack(t *testing.T) {
	a := Tensor{Name: "x", Datatype: Int8, Shape: []int64{2}, Data: []byte{1, 2}}
	b := Tensor{Name: "x", Datatype: Int8, Shape: []int64{2}, Data: []byte{3, 4}}
	got, err := Stack([]Tensor{a, b})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Tensor{Name: "x", Datatype: Int8, Shape: []int64{2, 2}, Data: []byte{1, 2, 3, 4}}, got); diff != "" {
		t.Error(diff)
	}
	b.Shape, b.Data = []int64{1}, []byte{3}
	if _, err := Stack([]Tensor{a, b}); err == nil || !strings.Contains(err.Error(), "INT8[2]") || !strings.Contains(err.Error(), "INT8[1]") {
		t.Errorf("different shapes: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		tensor Tensor
		want   string
	}{
		{Tensor{Name: "x", Datatype: FP32, Shape: []int64{2}, Data: make([]byte, 8)}, ""},
		{Tensor{Name: "x", Datatype: FP32, Shape: []int64{2}, Data: make([]byte, 4)}, `tensor "x", FP32 of shape [2], has 4 bytes, not 8`},
		{Tensor{Name: "x", Datatype: FP32, Shape: []int64{-1}}, `tensor "x": the shape [-1] has a negative dimension`},
		{Tensor{Name: "x", Datatype: FP32, Shape: []int64{1 << 32, 1 << 32}}, `tensor "x": the shape [4294967296,4294967296] is too large`},
		{Tensor{Name: "x", Datatype: Bytes, Shape: []int64{2}, Data: AppendString(AppendString(nil, "a"), "b")}, ""},
		{Tensor{Name: "x", Datatype: Bytes, Shape: []int64{1}, Data: []byte{2, 0, 0, 0, 'a'}}, `tensor "x": its data is not a sequence of strings with their lengths in front`},
		{Tensor{Name: "x", Datatype: Bytes, Shape: []int64{1}}, `tensor "x" of shape [1] has 0 strings, not 1`},
		{Tensor{Name: "x", Shape: []int64{1}}, `tensor "x" has no known datatype`},
	} {
		err := c.tensor.Check()
		if got := errText(err); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestParseShape(t *testing.T) {
	name, shape, err := ParseShape("a:b:3,2")
	if err != nil || name != "a:b" || !slices.Equal(shape, []int64{3, 2}) {
		t.Errorf("got %q %v %v", name, shape, err)
	}
	for _, s := range []string{"", "x", ":1", "x:", "x:0", "x:-1", "x:1,a", "x:9999999999,9999999999"} {
		if _, _, err := ParseShape(s); err == nil {
			t.Errorf("%q is taken for a shape", s)
		}
	}
}

// What is read from JSON is written as JSON that reads back as the same bytes.
func FuzzJSON(f *testing.F) {
	for _, seed := range []string{`[1,2]`, `[[1.5],[2]]`, `["a\n\u0007\ud800"]`, `[true]`, `3`, `["NaN"]`, `[1e-7,1e300]`, `[[],[]]`} {
		for d := range Bytes {
			f.Add(byte(d+1), seed)
		}
	}
	mutate.Fuzz(f, func(t *testing.T, d byte, text string) {
		spec := Spec{Name: "x", Datatype: Datatype(d % 16), Shape: []int64{-1}}
		got, err := FromJSON(&spec, nil, []byte(text))
		if err != nil {
			return
		}
		if err := got.Check(); err != nil {
			t.Fatalf("%s %s: %v", spec.Datatype, text, err)
		}
		written := got.AppendJSON(nil)
		if !json.Valid(written) {
			t.Fatalf("%s %s is written as %s", spec.Datatype, text, written)
		}
		if spec.Datatype == Bytes && strings.ToValidUTF8(string(got.Data), "") != string(got.Data) {
			return // JSON holds no other bytes, and replaces them
		}
		back, err := FromJSON(&spec, nil, written)
		if err != nil {
			t.Fatalf("%s: %v", written, err)
		}
		if !bytes.Equal(back.Data, got.Data) {
			t.Fatalf("%s %s: %x becomes %s, and that %x", spec.Datatype, text, got.Data, written, back.Data)
		}
	})
}

func FuzzRaw(f *testing.F) {
	f.Add(byte(Bytes), []byte("\x01\x00\x00\x00a"))
	f.Add(byte(FP16), []byte("\x00\x3c"))
	mutate.Fuzz(f, func(t *testing.T, d byte, data []byte) {
		got, err := FromRaw(&Spec{Name: "x", Datatype: Datatype(d % 16), Shape: []int64{-1}}, nil, data)
		if err != nil {
			return
		}
		if err := got.Check(); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(got.AppendJSON(nil)) {
			t.Fatalf("%s %x is written as %s", got.Datatype, data, got.AppendJSON(nil))
		}
		got.Finite()
	})
}
