package genaiperf

import (
	"encoding/json"

	"inferometer/internal/endpoint"
	"inferometer/internal/kit"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/record"
)

// anyAnswer makes decoders that take any JSON for an answer, and leave what is none to
// the protocol's own decoder.
func anyAnswer(own kit.DecoderFactory) kit.DecoderFactory {
	return func(t plan.Target, tok prompt.Tokenizer, model bool) endpoint.Decoder {
		return jsonDecoder{own(t, tok, model)}
	}
}

type jsonDecoder struct{ endpoint.Decoder }

// Decode implements endpoint.Decoder.
func (d jsonDecoder) Decode(rec *record.Record) {
	if rec.Failure != nil || rec.Status < 200 || rec.Status > 299 || len(rec.Marks) == 0 || !json.Valid(rec.Body) {
		d.Decoder.Decode(rec)
		return
	}
	rec.Text = rec.Text[:0]
	rec.Out = record.Tokens{Local: -1}
	rec.Events = append(rec.Events[:0], record.Event{Mark: len(rec.Marks) - 1, Label: record.Whole})
}
