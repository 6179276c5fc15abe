package mock

import (
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"inferometer/internal/kserve"
)

// FuzzInferRequest reads what the generated code reads, and the same of it.
func FuzzInferRequest(f *testing.F) {
	for _, r := range []*kserve.ModelInferRequest{
		vllmRequest("a", 3),
		inferring("simple_add", "", true, "INPUT0", make([]float32, 16), "INPUT1", make([]float32, 16)),
		{ModelName: "m", Inputs: []*kserve.ModelInferRequest_InferInputTensor{{Name: "i", Datatype: "INT64", Shape: []int64{2},
			Contents: &kserve.InferTensorContents{Int64Contents: []int64{-1, 7}}}}},
		{ModelName: "m", Inputs: []*kserve.ModelInferRequest_InferInputTensor{{Name: "i", Datatype: "BYTES", Shape: []int64{1},
			Contents: &kserve.InferTensorContents{BytesContents: [][]byte{[]byte("hi")}}}}},
	} {
		b, err := proto.Marshal(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var got inferRequest
		err := got.readProto(b)
		for i := range got.inputs {
			_ = got.inputs[i].sizeError("m")
			_ = got.inputs[i].text()
		}
		var want kserve.ModelInferRequest
		if proto.Unmarshal(b, &want) != nil {
			return
		}
		if err != nil {
			t.Fatalf("refused what is well formed: %v", err)
		}
		if got.model != want.ModelName || got.id != want.Id || len(got.inputs) != len(want.Inputs) || len(got.outputs) != len(want.Outputs) {
			t.Errorf("read %q %q with %d inputs, want %q %q with %d", got.model, got.id, len(got.inputs), want.ModelName, want.Id, len(want.Inputs))
		}
		for i, in := range want.Inputs {
			if got.inputs[i].name != in.Name || got.inputs[i].datatype != in.Datatype || len(got.inputs[i].shape) != len(in.Shape) {
				t.Errorf("input %d: %+v, want %v", i, got.inputs[i], in)
			}
		}
	})
}

// FuzzGRPCFrames plays anything to a connection: it must neither break nor hang.
func FuzzGRPCFrames(f *testing.F) {
	whole := append(opening(f), dataFrame(f, 1, vllmRequest("a", 3))...)
	f.Add(whole)
	f.Add(whole[:len(whole)-20])
	f.Add(appendWindowUpdate(whole, 1, 1<<30))
	c := Default()
	c.Output.Tokens, c.Output.MaxModelLen = 4, 100
	s, err := New(c)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		w := &wire{Conn: &tape{play: b}}
		done := make(chan struct{})
		go func() {
			defer close(done)
			s.serveGRPC(w)
		}()
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Error("the connection does not end")
		}
	})
}

// FuzzTritonJSON reads bodies of infer and generate.
func FuzzTritonJSON(f *testing.F) {
	f.Add([]byte(`{"text_input":"hi","max_tokens":3,"parameters":{"stream":true}}`), 0)
	f.Add([]byte(`{"inputs":[{"name":"INPUT0","datatype":"FP32","shape":[1,2],"data":[[1,2]]}]}`), 0)
	f.Add([]byte(`{"inputs":[{"name":"a","datatype":"BYTES","shape":[1],"parameters":{"binary_data_size":2}}]}xy`), 88)
	models := []*tritonModel{{name: "m", spec: specOf(ConventionTRTLLM)}, {name: "m", spec: specOf(ConventionAny)}, {name: "m", spec: specOf(ConventionAdd)}}
	f.Fuzz(func(t *testing.T, b []byte, length int) {
		for _, m := range models {
			var r inferRequest
			r.reset()
			if r.readJSON(b, length) == nil {
				_ = m.check(&r)
			}
			r.reset()
			if r.readGenerate(b, m) == nil {
				_ = m.check(&r)
			}
		}
	})
}
