package predict

import (
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/decode"
	"github.com/inferometer/inferometer/internal/lib/jsonscan"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
)

// decoder makes decoders of TensorFlow Serving's answers, which hold tensors, or of
// TorchServe's, which may be anything: what they say is the model's business.
func decoder(tensors bool) func(plan.Target, prompt.Tokenizer, bool) endpoint.Decoder {
	return func(plan.Target, prompt.Tokenizer, bool) endpoint.Decoder {
		return endpoint.Decoder{Decode: func(x *record.Exchange) { decodeResponse(&x.Record, tensors) }}
	}
}

func decodeResponse(rec *record.Record, tensors bool) {
	decode.Clear(rec)
	body, ok := decode.Body(rec)
	if !ok {
		return
	}
	if tensors && !predicts(body) {
		decode.Lacking(rec, "holds no outputs")
		return
	}
	if len(rec.Marks) > 0 {
		rec.Events = append(rec.Events, record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole})
	}
}

// predicts reports whether a response is one of TensorFlow Serving's with outputs in it.
func predicts(body []byte) bool {
	var s jsonscan.Scanner
	s.Reset(body)
	if s.Peek() != '{' {
		return false
	}
	found := false
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if string(key) == "outputs" || string(key) == "predictions" {
			found = decode.Holds(&s) || found
		} else {
			s.Skip()
		}
	}
	s.End()
	return found && s.Err() == nil
}
