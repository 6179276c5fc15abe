package profileexport

import (
	"math"
	"testing"

	"inferometer/internal/tensor"
)

func TestFromTensor(t *testing.T) {
	floats := func(d tensor.Datatype, values ...float64) tensor.Tensor {
		x := tensor.Tensor{Name: "x", Datatype: d, Shape: []int64{int64(len(values))}}
		for _, v := range values {
			x.Data = tensor.AppendFloat(x.Data, d, v)
		}
		return x
	}
	ints := func(d tensor.Datatype, values ...int64) tensor.Tensor {
		x := tensor.Tensor{Name: "x", Datatype: d}
		for _, v := range values {
			x.Data = tensor.AppendInt(x.Data, d, v)
		}
		return x
	}
	for _, c := range []struct {
		tensor            tensor.Tensor
		want, theOriginal string // empty: as want
	}{
		{tensor.FromStrings("x", "a\"é"), `"a\"é"`, ""},
		{tensor.FromStrings("x", ""), `""`, `""`},
		// differs: pa-export-strings
		{tensor.FromStrings("x", "a", "bcd"), `["a","bcd"]`, `"a\u0003\u0000\u0000\u0000bcd"`},
		{tensor.FromStrings("x"), `""`, ""},
		{floats(tensor.FP32, 3), `3.0`, ""},
		{floats(tensor.FP32, 0.1, 1.5e10, 1e-7), `[0.10000000149011612,1.5000000512e+10,1.0000000116860974e-07]`, ""},
		// differs: pa-export-nan
		{floats(tensor.FP64, math.NaN(), math.Inf(1), 1e300), `[null,null,1e+300]`, ""},
		// differs: pa-export-half
		{floats(tensor.FP16, 0.5, 2), `[0.5,2.0]`, `null`},
		{ints(tensor.Int64, -9000000000), `-9000000000`, ""},
		{ints(tensor.Uint64, -1), `18446744073709551615`, ""},
		{ints(tensor.Int8, -1, 0, 7), `[-1,0,7]`, ""},
		{tensor.Tensor{Name: "x", Datatype: tensor.Bool, Data: []byte{1}}, `true`, ""},
		{tensor.Tensor{Name: "x", Datatype: tensor.Bool, Data: []byte{1, 0}}, `[true,false]`, ""},
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
