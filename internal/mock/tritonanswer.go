package mock

import (
	"net/http"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/mock/body"
	"github.com/inferometer/inferometer/internal/mock/repository"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// tritonAnswer makes the response that a request over HTTP asks for.
func (c *call) tritonAnswer(verb string) {
	m := c.t.model
	c.finish = "abort"
	c.t.parsed = c.s.clock.Now()
	events := verb == "generate_stream"
	if events {
		c.begin(head{status: http.StatusOK, ctype: "text/event-stream; charset=utf-8", length: -1})
		if c.s.cfg.Output.EarlyHeaders && !c.flush(false) {
			return
		}
	}
	m.Waits(1)
	admitted := c.admit()
	m.Waits(-1)
	if admitted {
		switch {
		case !m.Spec.Llm:
			c.tritonResults(verb)
		case events && c.p.Stream:
			c.tritonStream()
		default:
			c.tritonWhole(events)
		}
		c.s.model.Leave(&c.seq)
	}
	now := c.s.clock.Now()
	if m.Spec.Llm {
		c.s.metrics.ended(c, now)
	}
	c.countOnce(now, c.finish != "abort")
}

// tritonStream sends the events of a streamed answer when they are due.
func (c *call) tritonStream() {
	if !c.wait(c.due, true) {
		return
	}
	c.prefilled()
	o := &c.s.cfg.Output
	cutAt := c.tokens / 2
	for at := 0; at < c.tokens; {
		n := min(o.TokensPerEvent, c.tokens-at)
		if at > 0 && !c.advance(n) {
			return
		}
		if c.fault != "" && at+n > cutAt && !c.broken(&cutAt) {
			return
		}
		last := at+n == c.tokens
		now := c.s.clock.Now()
		c.t.made = append(c.t.made, now)
		if last {
			c.t.done = now
			c.countOnce(now, true)
		}
		c.str("data: ")
		c.generated(at, n, last)
		c.str("\n\n")
		if !c.event(truthfile.KindContent, n*c.choices, last) {
			return
		}
		at += n
	}
	c.finish = c.t.last
}

// tritonWhole answers with all of the text once its last token is due: as an event or as a page.
func (c *call) tritonWhole(event bool) {
	first := c.due
	if !c.lastToken() {
		return
	}
	c.t.done = c.s.clock.Now()
	c.t.made = append(c.t.made, c.t.done)
	if !event {
		if c.p.Stream && c.tokens > c.s.cfg.Output.TokensPerEvent {
			c.finish = "error"
			c.fail(http.StatusOK,
				"generate expects model to produce exactly 1 response, use generate stream for model that generates various number of responses")
			return
		}
		c.generated(0, c.tokens, true)
		c.countWhole()
		c.finishBody(c.t.last, c.tokens*c.choices, first)
		return
	}
	cutAt := 0
	if c.fault != "" && !c.broken(&cutAt) {
		return
	}
	c.str("data: ")
	c.generated(0, c.tokens, true)
	c.str("\n\n")
	c.countWhole()
	if c.event(truthfile.KindContent, c.tokens*c.choices, true) {
		c.finish = c.t.last
	}
}

// countWhole counts a response in one piece before it is sent, for clients that look afterwards.
func (c *call) countWhole() {
	if c.fault == "" {
		c.countOnce(c.s.clock.Now(), true)
	}
}

// generated writes the JSON object of n tokens, its members in the order of their names.
func (c *call) generated(at, n int, ends bool) {
	t := &c.t
	vllm := t.convention == repository.ConventionVLLM
	c.str(`{`)
	if vllm && t.logprob {
		c.str(`"cumulative_logprob":0.0,`)
	}
	if vllm && t.finish {
		c.put(`"finish_reason":"`, t.reason(ends), `",`)
	}
	if t.convention == repository.ConventionOld {
		c.str(`"TEXT":`)
		c.jsonText(at, n)
		c.str(`,`)
	}
	c.tritonID()
	if vllm && t.logprobs {
		c.str(`"logprobs":"null",`)
	}
	c.str(`"model_name":`)
	c.buf = body.AppendQuoted(c.buf, t.model.Name)
	c.str(`,"model_version":"1"`)
	if vllm && t.countIn {
		c.put(`,"num_input_tokens":`, c.p.Words.N)
	}
	if vllm && t.countOut {
		c.put(`,"num_output_tokens":`, n)
	}
	if t.convention == repository.ConventionEngine {
		c.str(`,"output_ids":[`)
		for i := range n {
			c.comma(i)
			c.int(tokenID(c.textStart(0) + at + i))
		}
		c.put(`],"sequence_length":`, n)
	}
	if t.model.Spec.Convention == repository.ConventionTRTLLM {
		c.str(`,"sequence_end":false,"sequence_id":0,"sequence_start":false`)
	}
	if vllm || t.convention == repository.ConventionTRTLLM {
		c.str(`,"text_output":`)
		c.jsonText(at, n)
	}
	c.str(`}`)
}

// tritonID writes the request's id, if it has one.
func (c *call) tritonID() {
	if c.t.id != "" {
		c.str(`"id":`)
		c.buf = body.AppendQuoted(c.buf, c.t.id)
		c.str(`,`)
	}
}

// jsonText writes the text of n tokens as a JSON string, or as several for a batch.
func (c *call) jsonText(at, n int) {
	if c.choices > 1 {
		c.str(`[`)
	}
	for choice := range c.choices {
		c.comma(choice)
		if at == 0 && len(c.t.text) > 0 {
			c.buf = body.AppendQuoted(c.buf, string(c.appendWords(nil, choice, at, n)))
			continue
		}
		c.str(`"`)
		c.buf = c.appendWords(c.buf, choice, at, n)
		c.str(`"`)
	}
	if c.choices > 1 {
		c.str(`]`)
	}
}

// tritonResults answers for a model that computes.
func (c *call) tritonResults(verb string) {
	first := c.due
	if !c.wait(c.due, false) {
		return
	}
	c.t.done = c.s.clock.Now()
	c.t.made = append(c.t.made, c.t.done)
	if failure := c.deliver(); failure != nil {
		c.finish = "error"
		c.refuse(failure)
		return
	}
	if verb == "infer" {
		c.inferResults(first)
		return
	}
	// Members in the order of their names, with the model's among them.
	all := append(c.t.results, resultTensor{name: "model_name"}, resultTensor{name: "model_version"})
	slices.SortFunc(all, func(a, b resultTensor) int { return strings.Compare(a.name, b.name) })
	if verb == "generate_stream" {
		c.str("data: ")
	}
	c.str(`{`)
	for i, o := range all {
		c.comma(i)
		c.buf = body.AppendQuoted(c.buf, o.name)
		c.str(`:`)
		switch o.name {
		case "model_name":
			c.buf = body.AppendQuoted(c.buf, c.t.model.Name)
		case "model_version":
			c.str(`"1"`)
		default:
			if repository.Elements(o.shape) == 1 {
				c.buf = appendJSONValues(c.buf, o.datatype, o.data)
				break
			}
			c.str(`[`)
			c.buf = appendJSONValues(c.buf, o.datatype, o.data)
			c.str(`]`)
		}
	}
	c.str(`}`)
	c.countWhole()
	if verb != "generate_stream" {
		c.finishBody("stop", 0, first)
		return
	}
	c.str("\n\n")
	if c.event(truthfile.KindContent, 0, true) {
		c.finish = "stop"
	}
}

// inferResults writes the response of infer: JSON, then the bytes of outputs wanted so.
func (c *call) inferResults(first int64) {
	t := &c.t
	c.str(`{`)
	c.tritonID()
	c.str(`"model_name":`)
	c.buf = body.AppendQuoted(c.buf, t.model.Name)
	c.str(`,"model_version":"1","outputs":[`)
	var raw []byte
	bytes := false
	for i, o := range t.results {
		c.comma(i)
		c.str(`{"name":`)
		c.buf = body.AppendQuoted(c.buf, o.name)
		c.put(`,"datatype":"`, o.datatype, `","shape":[`)
		for j, d := range o.shape {
			c.comma(j)
			c.int(int(d))
		}
		c.str(`]`)
		switch wish := t.wish(o.name); {
		case wish.Region != "":
			// Its values lie there already.
		case wish.Binary || t.request.BinaryOut:
			c.put(`,"parameters":{"binary_data_size":`, len(o.data), `}`)
			raw = append(raw, o.data...)
			bytes = true
		default:
			c.str(`,"data":[`)
			c.buf = appendJSONValues(c.buf, o.datatype, o.data)
			c.str(`]`)
		}
		c.str(`}`)
	}
	c.str(`]}`)
	if bytes {
		t.jsonLength = len(c.buf) - reserve
		c.buf = append(c.buf, raw...)
	}
	c.countWhole()
	c.finishBody("stop", 0, first)
}

func (t *tritonCall) wish(name string) repository.RequestedOutput {
	if i := slices.IndexFunc(t.wishes, func(w repository.RequestedOutput) bool { return w.Name == name }); i >= 0 {
		return t.wishes[i]
	}
	return repository.RequestedOutput{}
}

// reason is why the response ends, as a response says it; only the last one knows.
func (t *tritonCall) reason(ends bool) string {
	if ends {
		return t.last
	}
	return "None"
}
