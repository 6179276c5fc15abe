package export

import (
	"encoding/json"
	"slices"

	"inferometer/internal/endpoint/triton"
	"inferometer/internal/importer/profileexport"
	"inferometer/internal/record"
	"inferometer/internal/tensor"
)

// tensors is a request whose answer is tensors: each response has every output of the
// model, those that did not come as an empty text. So does the one that only ends a stream.
func (j *Job) tensors(rec *record.Record, start int64, inputs profileexport.Fields) profileexport.Request {
	r := profileexport.Request{Timestamp: uint64(start + int64(rec.Sent)), Inputs: inputs}
	responses, _ := triton.Responses(rec.Body, &j.Target) // what cannot be read is a failure that the record names
	for i := range responses {
		if responses[i].Error != "" || len(rec.Marks) == 0 {
			continue
		}
		at := slices.IndexFunc(rec.Marks, func(m record.Mark) bool { return m.Off >= responses[i].End })
		if at < 0 {
			at = len(rec.Marks) - 1
		}
		r.Moments = append(r.Moments, uint64(start+int64(rec.Marks[at].At())))
		r.Responses = append(r.Responses, j.outputs(responses[i].Outputs))
	}
	return r
}

func (j *Job) outputs(came []tensor.Tensor) profileexport.Fields {
	var f profileexport.Fields
	for _, o := range j.Tensors.Outputs {
		at := slices.IndexFunc(came, func(t tensor.Tensor) bool { return t.Name == o.Name })
		if at < 0 {
			f = append(f, profileexport.Field{Name: o.Name, Value: json.RawMessage(`""`)})
			continue
		}
		f = append(f, profileexport.FromTensor(&came[at], j.Faithful))
	}
	return f
}
