package repository

import (
	"testing"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// FuzzProto reads what the definition reads, and the same of it.
func FuzzProto(f *testing.F) {
	for _, r := range []kservetest.Request{
		{ModelName: "vllm", ID: "a", RawInputContents: [][]byte{AppendBytes(nil, "hi"), {1}},
			Parameters: map[string]kservetest.Parameter{"triton_enable_empty_final_response": kservetest.Bool(true)},
			Inputs:     []kservetest.Tensor{{Name: "text_input", Datatype: "BYTES", Shape: []int64{1}}, {Name: "stream", Datatype: "BOOL", Shape: []int64{1}}}},
		{ModelName: "m", Inputs: []kservetest.Tensor{{Name: "i", Datatype: "INT64", Shape: []int64{2},
			Contents: &kservetest.Contents{Int64Contents: []int64{-1, 7}}}}},
		{ModelName: "m", Inputs: []kservetest.Tensor{{Name: "i", Datatype: "BYTES", Shape: []int64{1},
			Contents: &kservetest.Contents{BytesContents: [][]byte{[]byte("hi")}}}}},
	} {
		f.Add(kservetest.Encode(f, kserve.Request(kserve.ModelInferMethod), r))
	}
	mutate.Fuzz(f, func(t *testing.T, b []byte) {
		var got Request
		err := got.ReadProto(b)
		for i := range got.Inputs {
			_ = got.Inputs[i].sizeError("m")
			_ = got.Inputs[i].Text()
		}
		var want kservetest.Request
		if kserve.Request(kserve.ModelInferMethod).Decode(b, &want) != nil {
			return
		}
		if err != nil {
			t.Fatalf("refused what is well formed: %v", err)
		}
		if got.Model != want.ModelName || got.ID != want.ID || len(got.Inputs) != len(want.Inputs) || len(got.Outputs) != len(want.Outputs) {
			t.Errorf("read %q %q with %d inputs, want %q %q with %d", got.Model, got.ID, len(got.Inputs), want.ModelName, want.ID, len(want.Inputs))
		}
		for i, in := range want.Inputs {
			if got.Inputs[i].name != in.Name || got.Inputs[i].datatype != in.Datatype || len(got.Inputs[i].Shape) != len(in.Shape) {
				t.Errorf("input %d: %+v, want %v", i, got.Inputs[i], in)
			}
		}
	})
}

// FuzzJSON reads bodies of infer and generate.
func FuzzJSON(f *testing.F) {
	f.Add([]byte(`{"text_input":"hi","max_tokens":3,"parameters":{"stream":true}}`), 0)
	f.Add([]byte(`{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,2],"data":[[1,2]]}]}`), 0)
	f.Add([]byte(`{"inputs":[{"name":"a","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":2}}]}xy`), 88)
	models := []*Model{{Name: "m", Spec: specOf(ConventionTRTLLM)}, {Name: "m", Spec: specOf(ConventionAny)}, {Name: "m", Spec: specOf(ConventionAdd)}}
	mutate.Fuzz(f, func(t *testing.T, b []byte, length int) {
		for _, m := range models {
			var r Request
			r.Reset()
			if r.ReadJSON(b, length) == nil {
				_ = m.check(&r)
			}
			r.Reset()
			if r.ReadGenerate(b, m) == nil {
				_ = m.check(&r)
			}
		}
	})
}
