package v2http

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// differs: pa-json-inputs
func TestRequest(t *testing.T) {
	numbers := tensor.Tensor{Name: "n", Datatype: tensor.Int16, Shape: []int64{1, 2}, Data: []byte{1, 0, 0xff, 0xff}}
	halves := tensor.Tensor{Name: "h", Datatype: tensor.FP16, Shape: []int64{1}, Data: []byte{0, 0x3c}}
	text := tensor.Tensor{Name: "t", Datatype: tensor.Bytes, Shape: []int64{1}, Data: tensor.AppendString(nil, "a\"b")}
	for _, c := range []struct {
		name    string
		request Request
		json    string
		raw     string
	}{
		{"json", Request{ID: "7", Inputs: []Input{{Tensor: numbers, JSON: true}, {Tensor: text, JSON: true}}, Outputs: []Output{{Name: "o", JSON: true}}},
			`{"id":"7","inputs":[{"name":"n","shape":[1,2],"datatype":"INT16","data":[1,-1]},{"name":"t","shape":[1],"datatype":"BYTES","data":["a\"b"]}],` +
				`"outputs":[{"name":"o","parameters":{"binary_data":false}}]}`, ""},
		{"raw", Request{Inputs: []Input{{Tensor: numbers}, {Tensor: text}}, BinaryOutputs: true},
			`{"parameters":{"binary_data_output":true},"inputs":[{"name":"n","shape":[1,2],"datatype":"INT16","parameters":{"binary_data_size":4}},` +
				`{"name":"t","shape":[1],"datatype":"BYTES","parameters":{"binary_data_size":7}}]}`, "\x01\x00\xff\xff\x03\x00\x00\x00a\"b"},
		{"16 bits have no JSON form", Request{Inputs: []Input{{Tensor: halves, JSON: true}, {Tensor: numbers, JSON: true}}},
			`{"inputs":[{"name":"h","shape":[1],"datatype":"FP16","parameters":{"binary_data_size":2}},{"name":"n","shape":[1,2],"datatype":"INT16","data":[1,-1]}]}`, "\x00\x3c"},
		{"shared memory", Request{Inputs: []Input{{Tensor: numbers, Region: MemoryRegion{Name: "r", Size: 4, Offset: 8}}}, Outputs: []Output{{Name: "o", Region: MemoryRegion{Name: "q", Size: 9}}}},
			`{"inputs":[{"name":"n","shape":[1,2],"datatype":"INT16","parameters":{"shared_memory_region":"r","shared_memory_byte_size":4,"shared_memory_offset":8}}],` +
				`"outputs":[{"name":"o","parameters":{"shared_memory_region":"q","shared_memory_byte_size":9}}]}`, ""},
		{"parameters", Request{Parameters: map[string]any{"s": "x", "b": true, "i": 1, "u": uint64(math.MaxUint64), "f": 0.5, "j": int64(-3)}},
			`{"parameters":{"b":true,"f":0.5,"i":1,"j":-3,"s":"x","u":18446744073709551615},"inputs":[]}`, ""},
	} {
		body, header, err := c.request.Append(nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if diff := cmp.Diff(c.json+c.raw, string(body)); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
		want := 0
		if c.raw != "" {
			want = len(c.json)
		}
		if header != want {
			t.Errorf("%s: header %d, want %d", c.name, header, want)
		}
		if !json.Valid([]byte(c.json)) {
			t.Errorf("%s: not JSON", c.name)
		}
	}
	for _, v := range []any{[]int{1}, math.NaN(), nil} {
		if _, _, err := (&Request{Parameters: map[string]any{"p": v}}).Append(nil); err == nil || !strings.Contains(err.Error(), `"p"`) {
			t.Errorf("parameter %v: %v", v, err)
		}
	}
}

func TestSayable(t *testing.T) {
	invalid := tensor.Tensor{Datatype: tensor.Bytes, Shape: []int64{1}, Data: tensor.AppendString(nil, "\xff")}
	infinite := tensor.Tensor{Datatype: tensor.FP32, Shape: []int64{1}, Data: []byte{0, 0, 0x80, 0x7f}}
	for _, x := range []*tensor.Tensor{&invalid, &infinite} {
		if Sayable(x) {
			t.Errorf("%s %x counts as JSON", x.Datatype, x.Data)
		}
	}
}

func TestResponse(t *testing.T) {
	head := `{"model_name":"m","model_version":"1","id":"7","parameters":{"triton_final_response":true,"n":18446744073709551615,"x":null,"f":1.5},` +
		`"outputs":[{"data":[[1,-1]],"name":"n","shape":[1,2],"datatype":"INT16"},` +
		`{"name":"t","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":7}},` +
		`{"name":"r","datatype":"FP32","shape":[1],"parameters":{"shared_memory_region":"q","shared_memory_byte_size":4}},` +
		`{"name":"s","datatype":"FP32","shape":[2]},` +
		`{"name":"h","datatype":"BF16","shape":[1],"parameters":{"binary_data_size":2}}]}`
	got, err := Decode([]byte(head+"\x03\x00\x00\x00a\"b\x80\x3f"), len(head))
	if err != nil {
		t.Fatal(err)
	}
	want := &Response{
		Model: "m", Version: "1", ID: "7",
		Parameters: map[string]any{"triton_final_response": true, "n": uint64(math.MaxUint64), "f": 1.5},
		Outputs: []Result{
			{Tensor: tensor.Tensor{Name: "n", Datatype: tensor.Int16, Shape: []int64{1, 2}, Data: []byte{1, 0, 0xff, 0xff}}},
			{Tensor: tensor.Tensor{Name: "t", Datatype: tensor.Bytes, Shape: []int64{1}, Data: tensor.AppendString(nil, "a\"b")}},
			{Tensor: tensor.Tensor{Name: "r", Datatype: tensor.FP32, Shape: []int64{1}}, Absent: true},
			{Tensor: tensor.Tensor{Name: "s", Datatype: tensor.FP32, Shape: []int64{2}}, Absent: true},
			{Tensor: tensor.Tensor{Name: "h", Datatype: tensor.BF16, Shape: []int64{1}, Data: []byte{0x80, 0x3f}}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if n := len(got.Tensors()); n != 3 {
		t.Errorf("%d tensors came with the answer", n)
	}
	failed, err := Decode([]byte(`{"error":"no such model"}`), 0)
	if err != nil || failed.Error != "no such model" {
		t.Errorf("got %+v %v", failed, err)
	}
}

func TestResponseRefuses(t *testing.T) {
	for _, c := range []struct {
		body   string
		header int
		want   string
	}{
		{`{}`, 3, "says 3, and the body has 2 bytes"},
		{`{}`, -1, "says -1"},
		{`[]`, 0, "not the JSON of an inference"},
		{`{"outputs":[{"name":"x","datatype":"FP99","shape":[1],"data":[1]}]}`, 0, `output "x": unknown datatype "FP99"`},
		{`{"outputs":[{"name":"x","datatype":"FP32","shape":[-1],"data":[1]}]}`, 0, `output "x": the shape [-1] has a negative dimension`},
		{`{"outputs":[{"name":"x","datatype":"FP32","shape":[2],"data":[1]}]}`, 0, `tensor "x", FP32 of shape [2], is given 1 values`},
		{`{"outputs":[{"name":"x","datatype":"FP32","shape":[1],"parameters":{"binary_data_size":4}}]}`, 0, `binary_data_size is 4, and 0 bytes are left`},
		{`{}xyz`, 2, "3 bytes follow the last tensor"},
	} {
		_, err := Decode([]byte(c.body), c.header)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.body, err, c.want)
		}
	}
}

// Whatever a server answers, decoding ends, and what it gives is consistent.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"outputs":[{"name":"x","datatype":"INT8","shape":[2],"data":[1,2]}]}`), 0)
	f.Add([]byte(`{"outputs":[{"name":"x","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":5}}]}`+"\x01\x00\x00\x00a"), 87)
	mutate.Fuzz(f, func(t *testing.T, body []byte, header int) {
		r, err := Decode(body, header)
		if err != nil {
			return
		}
		for _, o := range r.Tensors() {
			if err := o.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// A request that is encoded has the outputs' form too, so that it can be read back.
func FuzzRequest(f *testing.F) {
	f.Add("x", []byte("\x01\x00\x00\x00a"), true)
	f.Add("\x00\"", []byte("\x01\x00\x00\x00\xff"), true)
	mutate.Fuzz(f, func(t *testing.T, name string, data []byte, asJSON bool) {
		n, err := tensor.CountBytes(data)
		if err != nil {
			return
		}
		x := tensor.Tensor{Name: name, Datatype: tensor.Bytes, Shape: []int64{n}, Data: data}
		body, header, err := (&Request{ID: name, Inputs: []Input{{Tensor: x, JSON: asJSON}}}).Append(nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(bytes.Replace(body, []byte(`"inputs":[{`), []byte(`"outputs":[{`), 1), header+header/max(header, 1))
		if err != nil {
			if strings.Contains(name, "inputs") {
				return
			}
			t.Fatalf("%s: %v", body, err)
		}
		if len(got.Outputs) != 1 || !bytes.Equal(got.Outputs[0].Data, data) {
			t.Fatalf("%q came back as %+v", data, got)
		}
	})
}
