package triton

import (
	"encoding/binary"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/kserve/kservetest"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func marshal(t testing.TB, m *kservetest.StreamResponse) []byte {
	t.Helper()
	return kservetest.Encode(t, kserve.Response(kserve.ModelStreamInferMethod), m)
}

// respond is a response as Triton sends it.
func respond(id string, final bool, outputs ...output) *kservetest.StreamResponse {
	r := kservetest.Response{
		ModelName: "m", ModelVersion: "1", ID: id,
		Parameters: map[string]kservetest.Parameter{kserve.ParameterFinal: kservetest.Bool(final)},
	}
	for _, o := range outputs {
		r.Outputs = append(r.Outputs, kservetest.Tensor{Name: o.name, Datatype: o.datatype, Shape: o.shape})
		r.RawOutputContents = append(r.RawOutputContents, o.raw)
	}
	return &kservetest.StreamResponse{InferResponse: r}
}

// output is an output tensor.
type output struct {
	name, datatype string
	shape          []int64
	raw            []byte
}

func textOutput(name, text string) output {
	return output{name, "BYTES", []int64{1}, append(binary.LittleEndian.AppendUint32(nil, uint32(len(text))), text...)}
}

func intOutput(name, datatype string, values ...int32) output {
	var raw []byte
	for _, v := range values {
		raw = binary.LittleEndian.AppendUint32(raw, uint32(v))
	}
	return output{name, datatype, []int64{int64(len(values))}, raw}
}

func TestSort(t *testing.T) {
	long := make([]byte, 300)
	for i := range long {
		long[i] = 'x'
	}
	failed := respond("r-7", true)
	failed.ErrorMessage = "no"
	unsaid := respond("r-7", true)
	unsaid.InferResponse.Parameters = map[string]kservetest.Parameter{"other": kservetest.Bool(true)}
	for _, c := range []struct {
		name         string
		message      *kservetest.StreamResponse
		id           string
		last, failed bool
	}{
		{"one of several", respond("r-1", false, textOutput("text_output", "hi")), "r-1", false, false},
		{"the last", respond("r-2", true, textOutput("text_output", string(long))), "r-2", true, false},
		{"empty final", respond("r-3", true), "r-3", true, false},
		{"long id", respond(string(long), true), string(long), true, false},
		{"error with id", failed, "r-7", true, true},
		{"error without id", &kservetest.StreamResponse{ErrorMessage: "no"}, "", true, true},
		{"not marked", unsaid, "r-7", false, false},
		{"nothing", &kservetest.StreamResponse{}, "", false, false},
	} {
		id, last, failed := sortResponse(marshal(t, c.message))
		if string(id) != c.id || last != c.last || failed != c.failed {
			t.Errorf("%s: %q %v %v", c.name, id, last, failed)
		}
	}
}

// The hand-written scan agrees with the definition on every message that can be read by it.
func FuzzSort(f *testing.F) {
	f.Add(marshal(f, respond("r-1", true, textOutput("text_output", "hello"), intOutput("n", "UINT32", 1, 2))))
	failed := respond("r-1", false)
	failed.ErrorMessage = "no"
	f.Add(marshal(f, failed))
	two := append(marshal(f, respond("a", true)), marshal(f, respond("b", false))...)
	f.Add(two)
	mutate.Fuzz(f, func(t *testing.T, message []byte) {
		id, last, bad := sortResponse(message)
		var want kservetest.StreamResponse
		if kserve.Response(kserve.ModelStreamInferMethod).Decode(message, &want) != nil {
			return
		}
		r := &want.InferResponse
		final := r.Parameters[kserve.ParameterFinal].True()
		isBad := want.ErrorMessage != ""
		if string(id) != r.ID || last != (final || isBad) || bad != isBad {
			t.Errorf("%q %v %v, want %q %v %v\n%v", id, last, bad, r.ID, final || isBad, isBad, want)
		}
	})
}

func TestSortDoesNotAllocate(t *testing.T) {
	message := marshal(t, respond("inferometer-abc-123", false, textOutput("text_output", " word"), intOutput("num_output_tokens", "UINT32", 1)))
	if n := testing.AllocsPerRun(100, func() { sortResponse(message) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSort(b *testing.B) {
	message := marshal(b, respond("inferometer-abc-123", false, textOutput("text_output", " word"), intOutput("num_output_tokens", "UINT32", 1)))
	b.SetBytes(int64(len(message)))
	for b.Loop() {
		sortResponse(message)
	}
}

// A reply read by hand says what the definition says.
func FuzzReply(f *testing.F) {
	f.Add(marshal(f, respond("r-1", true, textOutput("text_output", "hello"), intOutput("num_output_tokens", "UINT32", 1, 2))))
	f.Add(marshal(f, respond("r-1", false, textOutput("text_output", ""), textOutput("finish_reason", "length"))))
	mutate.Fuzz(f, func(t *testing.T, message []byte) {
		c := conventionOf("vllm")
		var r reply
		err := r.parseStream(message, &c)
		kind := kserve.Response(kserve.ModelStreamInferMethod)
		m := kind.New()
		if proto.Unmarshal(message, m) != nil || err != nil {
			return
		}
		again, err := proto.MarshalOptions{Deterministic: true}.Marshal(m) // every field once
		if err != nil {
			t.Fatal(err)
		}
		var want kservetest.StreamResponse
		if err := kind.Decode(again, &want); err != nil {
			t.Fatal(err)
		}
		var r2 reply
		if r2.parseStream(again, &c) != nil {
			return // the text is cut off
		}
		if string(r2.failure) != want.ErrorMessage || r2.outputs != len(want.InferResponse.Outputs) {
			t.Errorf("failure %q, %d outputs; want %v", r2.failure, r2.outputs, want)
		}
	})
}
