package profileexport

import (
	"math"
	"testing"

	prompttensor "github.com/inferometer/inferometer/internal/prompt/tensor"
)

func TestFromTensor(t *testing.T) {
	floats := func(d prompttensor.Datatype, values ...float64) prompttensor.Tensor {
		x := prompttensor.Tensor{Name: "x", Datatype: d, Shape: []int64{int64(len(values))}}
		for _, v := range values {
			x.Data = prompttensor.AppendFloat(x.Data, d, v)
		}
		return x
	}
	ints := func(d prompttensor.Datatype, values ...int64) prompttensor.Tensor {
		x := prompttensor.Tensor{Name: "x", Datatype: d}
		for _, v := range values {
			x.Data = prompttensor.AppendInt(x.Data, d, v)
		}
		return x
	}
	for _, c := range []struct {
		tensor            prompttensor.Tensor
		want, theOriginal string // empty: as want
	}{
		{fromStrings("x", "a\"é"), `"a\"é"`, ""},
		{fromStrings("x", ""), `""`, `""`},
		// differs: pa-export-strings
		{fromStrings("x", "a", "bcd"), `["a","bcd"]`, `"a\u0003\u0000\u0000\u0000bcd"`},
		{fromStrings("x"), `""`, ""},
		{floats(prompttensor.FP32, 3), `3.0`, ""},
		{floats(prompttensor.FP32, 0.1, 1.5e10, 1e-7), `[0.10000000149011612,1.5000000512e+10,1.0000000116860974e-07]`, ""},
		// differs: pa-export-nan
		{floats(prompttensor.FP64, math.NaN(), math.Inf(1), 1e300), `[null,null,1e+300]`, ""},
		// differs: pa-export-half
		{floats(prompttensor.FP16, 0.5, 2), `[0.5,2.0]`, `null`},
		{ints(prompttensor.Int64, -9000000000), `-9000000000`, ""},
		{ints(prompttensor.Uint64, -1), `18446744073709551615`, ""},
		{ints(prompttensor.Int8, -1, 0, 7), `[-1,0,7]`, ""},
		{prompttensor.Tensor{Name: "x", Datatype: prompttensor.Bool, Data: []byte{1}}, `true`, ""},
		{prompttensor.Tensor{Name: "x", Datatype: prompttensor.Bool, Data: []byte{1, 0}}, `[true,false]`, ""},
	} {
		original := c.theOriginal
		if original == "" {
			original = c.want
		}
		if got := FromTensor(&c.tensor, false); string(got.Value) != c.want || got.Name != "x" {
			t.Errorf("%s, want %s", got.Value, c.want)
		}
		if got := FromTensor(&c.tensor, true); string(got.Value) != original {
			t.Errorf("as the original: %s, want %s", got.Value, original)
		}
	}
}

// fromStrings is a tensor of strings with one dimension.
func fromStrings(name string, values ...string) prompttensor.Tensor {
	t := prompttensor.Tensor{Name: name, Datatype: prompttensor.Bytes, Shape: []int64{int64(len(values))}}
	for _, v := range values {
		t.Data = prompttensor.AppendString(t.Data, v)
	}
	return t
}
