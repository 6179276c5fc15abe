package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestTensors(t *testing.T) {
	p, err := load("p.yaml", []byte(`
target: {urls: [grpc://h:8001]}
data:
  tensors:
    files: [a.json, b.json]
    fill: zero
    string_length: 5
    string_data: x
    shapes: ["A:1,2"]
    batch: 4
    sequences: {live: 8, length: 10, variation: 20%, first_id: 3, ids: 100}
`))
	if err != nil {
		t.Fatal(err)
	}
	want := plan.Tensors{
		Files: []string{"a.json", "b.json"}, Fill: plan.FillZero, StringLength: 5, StringData: "x", Shapes: []string{"A:1,2"}, Batch: 4,
		Sequences: plan.Sequences{Live: 8, Length: 10, Variation: 0.2, FirstID: 3, IDs: 100},
	}
	if diff := cmp.Diff(want, p.Data.Tensors); diff != "" {
		t.Error(diff)
	}
	if p.Data.Source != plan.SourceTensors || (p.Data.Input != plan.Length{}) {
		t.Errorf("source %q, input %v", p.Data.Source, p.Data.Input)
	}
	printed, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := load("p.yaml", printed)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p.Data, again.Data); diff != "" {
		t.Errorf("printed and read again: %s", diff)
	}
}

func TestTensorDefaults(t *testing.T) {
	p, err := load("p.yaml", []byte("target: {urls: [grpc://h]}\ndata: {source: tensors, tensors: {sequences: off}}"))
	if err != nil {
		t.Fatal(err)
	}
	if p.Data.Tensors.Fill != plan.FillRandom || p.Data.Tensors.Sequences.Mode != plan.SequencesOff {
		t.Errorf("%+v", p.Data.Tensors)
	}
	if p, err := load("p.yaml", []byte("data: {tensors: {files: [x.json]}}")); err != nil || p.Data.Tensors.Fill != "" {
		t.Errorf("payloads for OpenAI: %v", err)
	}
}

func TestTensorFaults(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"data: {tensors: {batch: 2}}", "p.yaml:1:17: data.tensors: tensors are made for protocols triton and tfserving alone"},
		{"data: {source: synthetic, tensors: {batch: 2}}", "data.tensors: cannot be combined with source: synthetic"},
		{"target: {urls: [grpc://h]}\ndata: {file: x, source: tensors}", "data.file: does not apply to tensors"},
		{"target: {urls: [grpc://h]}\ndata: {source: tensors, output: 5, salt: stage}", "data.salt: does not apply to tensors"},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {fill: ones}}", `data.tensors.fill: unknown value "ones"`},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {shapes: [A, 'A:0', 'A:1,2']}}", `data.tensors.shapes[1]: "A:0" is not a shape`},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {files: ['']}}", `data.tensors.files[0]: is empty`},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {batch: -1}}", `data.tensors.batch`},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {sequences: {mode: off, live: 3}}}", `has settings but is off`},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {sequences: maybe}}", `data.tensors.sequences.mode: unknown value "maybe"`},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {sequences: {live: 3, ids: 2}}}", `2 ids are too few for 3 sequences at a time`},
		{"target: {urls: [grpc://h]}\ndata: {tensors: {sequences: {first_id: 18446744073709551615, ids: 2}}}", `ids go beyond 64 bits`},
	} {
		_, err := load("p.yaml", []byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s\ngot  %v\nwant %s", c.text, err, c.want)
		}
	}
}
