package export

import (
	"encoding/json"
	"slices"

	"github.com/inferometer/inferometer/internal/endpoint/triton"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
)

// ResponseFormat is how a model's answers become those of the file.
type ResponseFormat struct {
	Target   plan.Target
	Tensors  *tensor.Signature
	Faithful bool // in the original's form
}

// Request is a request whose answer is tensors: each response has every output of the
// model, those that did not come as an empty text. So does the one that only ends a stream.
func (a *ResponseFormat) Request(rec *record.Record, start int64, inputs profileexport.Fields) profileexport.Request {
	r := profileexport.Request{Timestamp: uint64(start + int64(rec.Sent)), Inputs: inputs}
	responses, _ := triton.Responses(rec.Body, &a.Target) // what cannot be read is a failure that the record names
	for i := range responses {
		if responses[i].Error != "" || len(rec.Marks) == 0 {
			continue
		}
		at := slices.IndexFunc(rec.Marks, func(m record.Read) bool { return m.Off >= responses[i].End })
		if at < 0 {
			at = len(rec.Marks) - 1
		}
		r.Moments = append(r.Moments, uint64(start+int64(rec.Marks[at].Time())))
		r.Responses = append(r.Responses, a.outputs(responses[i].Outputs))
	}
	return r
}

func (a *ResponseFormat) outputs(came []tensor.Tensor) profileexport.Fields {
	var f profileexport.Fields
	for _, o := range a.Tensors.Outputs {
		at := slices.IndexFunc(came, func(t tensor.Tensor) bool { return t.Name == o.Name })
		if at < 0 {
			f = append(f, profileexport.Field{Name: o.Name, Value: json.RawMessage(`""`)})
			continue
		}
		f = append(f, profileexport.FromTensor(&came[at], a.Faithful))
	}
	return f
}
