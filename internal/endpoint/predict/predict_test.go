package predict

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// described is what TensorFlow Serving says of a model, in the form of its documentation.
const described = `{"model_spec":{"name":"m","version":"1"},"metadata":{"signature_def":{"signature_def":{
 "serving_default":{"inputs":{"x":{"dtype":"DT_FLOAT","tensor_shape":{"dim":[{"size":"-1","name":""},{"size":"2","name":""}],"unknown_rank":false},"name":"x:0"},
   "s":{"dtype":"DT_STRING","tensor_shape":{"dim":[{"size":"-1","name":""}],"unknown_rank":false},"name":"s:0"}},
  "outputs":{"y":{"dtype":"DT_FLOAT","tensor_shape":{"dim":[{"size":"-1","name":""}],"unknown_rank":false},"name":"y:0"}},"method_name":"tensorflow/serving/predict"},
 "fixed":{"inputs":{"x":{"dtype":"DT_INT32","tensor_shape":{"dim":[{"size":"3","name":""}],"unknown_rank":false},"name":"x:0"}},"outputs":{}},
 "odd":{"inputs":{"x":{"dtype":"DT_RESOURCE","tensor_shape":{}}},"outputs":{}}}}}}`

func TestReadModel(t *testing.T) {
	m, err := readModel(strings.NewReader(described), "serving_default")
	if err != nil {
		t.Fatal(err)
	}
	if m.MaxBatch == 0 || len(m.Inputs) != 2 || m.Inputs[0].Name != "s" || m.Inputs[0].Datatype != tensor.Bytes || len(m.Inputs[0].Shape) != 0 ||
		m.Inputs[1].Datatype != tensor.FP32 || tensor.ShapeText(m.Inputs[1].Shape) != tensor.ShapeText([]int64{2}) {
		t.Errorf("%+v", m)
	}
	if m, err = readModel(strings.NewReader(described), "fixed"); err != nil || m.MaxBatch != 0 || m.Inputs[0].Shape[0] != 3 {
		t.Errorf("%+v, %v", m, err)
	}
	for signature, want := range map[string]string{"odd": "DT_RESOURCE", "none": "fixed, odd, serving_default"} {
		if _, err := readModel(strings.NewReader(described), signature); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", signature, err, want)
		}
	}
}

func TestNested(t *testing.T) {
	spec := tensor.Spec{Name: "x", Datatype: tensor.Int32, Shape: []int64{2, 3}}
	x, err := tensor.FromJSON(&spec, nil, []byte(`[1,2,3,4,5,6]`))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := appendNested(nil, &x); err != nil || string(got) != "[[1,2,3],[4,5,6]]" {
		t.Errorf("%s, %v", got, err)
	}
}

func TestDecode(t *testing.T) {
	for _, c := range []struct {
		body    string
		tensors bool
		ok      bool
	}{
		{`{"outputs":[[1.0]]}`, true, true}, {`{"predictions":[1]}`, true, true},
		{`{"predictions":[]}`, true, false}, {`{"outputs":{}}`, true, false}, {`{"outputs":{"x":[1]}}`, true, true},
		{`{"error":"no"}`, true, false}, {`[1]`, true, false}, {`{"outputs":[`, true, false}, {"", true, false},
		{"a tabby cat", false, true}, {"", false, false},
	} {
		rec := &record.Exchange{Record: record.Record{Status: 200, Body: []byte(c.body), Marks: []record.Read{{Off: len(c.body), User: 5}}}}
		decodeResponse(&rec.Record, c.tensors)
		if ok := rec.Failure == nil && len(rec.Events) == 1; ok != c.ok {
			t.Errorf("%q: %+v, %+v", c.body, rec.Failure, rec.Events)
		}
	}
}

func FuzzReadModel(f *testing.F) {
	f.Add(described)
	f.Add(`{}`)
	mutate.Fuzz(f, func(t *testing.T, text string) {
		if m, err := readModel(strings.NewReader(text), "serving_default"); err == nil && m == nil {
			t.Error("neither a model nor an error")
		}
	})
}
