package mock

import (
	"encoding/binary"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/inferometer/inferometer/internal/mock/repository"
)

// tritonCall is what a call knows when it came by Triton's protocol.
type tritonCall struct {
	model      *repository.Model
	convention repository.Convention // settled
	id         string                // the client's
	emptyFinal bool
	text       []byte // the prompt, where it is echoed
	finish     bool   // outputs that the request asks for
	countIn    bool
	countOut   bool
	logprob    bool
	logprobs   bool
	batched    bool   // shapes begin with the batch
	last       string // why the response ends, for the last response
	results    []resultTensor
	wishes     []repository.RequestedOutput

	prefix  []byte // what each response begins with
	finalAt int    // where in prefix stands whether it is the last
	inner   []byte // the response being written

	jsonLength int // of the JSON ahead of raw outputs, over HTTP; 0: all is JSON
	request    repository.Request

	parsed  int64   // when the request had been read, on the server's clock
	counted bool    // in the statistics
	made    []int64 // when each response was
	done    int64   // when the last one was; 0: it has not been
}

func (t *tritonCall) reset() {
	*t = tritonCall{text: t.text[:0], results: t.results[:0], wishes: t.wishes[:0], prefix: t.prefix[:0], inner: t.inner[:0],
		made: t.made[:0], request: t.request}
}

// resultTensor is an output of a model that computes.
type resultTensor struct {
	name, datatype string
	shape          []int64
	data           []byte
}

// conventionOf tells which convention a request follows where the model leaves it open.
func conventionOf(m *repository.Model, r *repository.Request) repository.Convention {
	if m.Spec.Convention != repository.ConventionAny {
		return m.Spec.Convention
	}
	switch {
	case r.Find("PROMPT") != nil:
		return repository.ConventionOld
	case r.Find("max_tokens") != nil:
		return repository.ConventionTRTLLM
	}
	return repository.ConventionVLLM
}

func (c *call) takeTriton(m *repository.Model, r *repository.Request) error {
	t := &c.t
	t.model, t.id, t.emptyFinal = m, r.ID, r.EmptyFinal
	t.wishes = append(t.wishes, r.Outputs...)
	t.convention = conventionOf(m, r)
	t.batched = m.Spec.MaxBatch > 0
	if !m.Spec.Llm {
		c.choices, c.tokens = 1, 1
		return c.compute(m, r)
	}
	prompt, limit := r.Find("text_input"), r.Find("max_tokens")
	stream, sampling := r.Find("stream"), r.Find("sampling_parameters")
	switch t.convention {
	case repository.ConventionOld:
		prompt, stream, sampling = r.Find("PROMPT"), r.Find("STREAM"), r.Find("SAMPLING_PARAMETERS")
	case repository.ConventionEngine:
		prompt, limit, stream = nil, r.Find("request_output_len"), r.Find("streaming")
		if ids := r.Find("input_ids"); ids != nil {
			for at := 0; at+4 <= len(ids.Data); at += 4 {
				c.p.Words.AddID(ids.Data[at : at+4])
			}
		}
	}
	c.p.Stream = stream.Flag(false)
	c.p.Max = limit.Integer(-1)
	c.p.Min = r.Find("min_length").Integer(0)
	c.p.IgnoreEOS = r.Find("ignore_eos").Flag(false)
	c.choices = 1
	if t.batched && len(r.Inputs) > 0 && len(r.Inputs[0].Shape) > 0 {
		c.choices = int(max(1, r.Inputs[0].Shape[0]))
	}
	if prompt != nil {
		for b := prompt.Data; len(b) >= 4; {
			n := min(int(binary.LittleEndian.Uint32(b)), len(b)-4)
			c.p.Words.AddPlain(b[4 : 4+n])
			b = b[4+n:]
		}
	}
	if sampling == nil && t.convention == repository.ConventionVLLM {
		c.p.Max, c.p.Min, c.p.IgnoreEOS = r.Sampling.Max, r.Sampling.Min, r.Sampling.IgnoreEOS
	}
	if err := c.p.ReadSampling(sampling.Text()); err != nil {
		return fmt.Errorf("%sinvalid sampling parameters: %w", repository.RequestID(r), err)
	}
	t.finish, t.logprob, t.logprobs = r.Find("return_finish_reason").Flag(false), r.Find("return_cumulative_logprob").Flag(false), r.Find("return_logprobs").Flag(false)
	t.countIn, t.countOut = r.Find("return_num_input_tokens").Flag(false), r.Find("return_num_output_tokens").Flag(false)
	if c.echoes(r) {
		t.text = append(t.text, prompt.Text()...)
	}
	return c.lengths(r)
}

// echoes says whether the prompt stands ahead of the response's text. vLLM's backend
// does so where a response is not streamed; the flag makes all do it.
func (c *call) echoes(r *repository.Request) bool {
	if c.t.convention == repository.ConventionEngine {
		return false
	}
	exclude := r.Find("exclude_input_in_output")
	if c.s.cfg.Triton.Echo {
		return !exclude.Flag(false)
	}
	return c.t.convention == repository.ConventionVLLM && !exclude.Flag(c.p.Stream)
}

// lengths decides how long the response is.
func (c *call) lengths(r *repository.Request) error {
	limit := c.p.Limit()
	if limit == 0 || limit < -1 {
		return fmt.Errorf("%smax_tokens must be at least 1, got %d", repository.RequestID(r), limit)
	}
	c.tokens, c.t.last = outputLength(&c.s.cfg.Output, &c.p, c.seq.Rand)
	room := c.s.cfg.Output.MaxModelLen - c.p.Words.N
	if room < 1 || limit > room {
		return fmt.Errorf("%sprompt length (%d) plus max_tokens (%d) exceeds the maximum model length (%d)", repository.RequestID(r), c.p.Words.N, max(limit, 0), c.s.cfg.Output.MaxModelLen)
	}
	if c.tokens > room {
		c.tokens, c.t.last = room, "length"
	}
	return nil
}

// appendText writes a string of a protobuf message, unless it is empty.
func appendText(b []byte, num protowire.Number, v string) []byte {
	if v == "" {
		return b
	}
	b = protowire.AppendTag(b, num, protowire.BytesType)
	return protowire.AppendString(b, v)
}

// appendFlag writes a parameter that is true or false; the last byte is which.
func appendFlag(b []byte, name string, v bool) []byte {
	b = protowire.AppendTag(b, 4, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(2+len(name)+4))
	b = appendText(b, 1, name)
	b = append(b, 0x12, 2, 0x08)
	return protowire.AppendVarint(b, protowire.EncodeBool(v))
}

// appendTensor writes the description of an output.
func appendTensor(b []byte, name, datatype string, shape ...int64) []byte {
	size := 2 + len(name) + 2 + len(datatype)
	dims := 0
	for _, d := range shape {
		dims += protowire.SizeVarint(uint64(d))
	}
	size += 1 + protowire.SizeVarint(uint64(dims)) + dims
	b = protowire.AppendTag(b, 5, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	b = appendText(b, 1, name)
	b = appendText(b, 2, datatype)
	b = protowire.AppendTag(b, 3, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(dims))
	for _, d := range shape {
		b = protowire.AppendVarint(b, uint64(d))
	}
	return b
}

// makeTritonPrefix builds what all responses with text begin with.
func (c *call) makeTritonPrefix() {
	t := &c.t
	b := appendText(t.prefix[:0], 1, t.model.Name)
	b = appendText(b, 2, "1")
	b = appendText(b, 3, t.id)
	if t.model.Spec.Convention == repository.ConventionTRTLLM {
		// An ensemble hands on what its scheduler knows of sequences.
		b = appendFlag(b, "sequence_end", false)
		b = append(b, 0x22, 2+11+4, 0x0a, 11)
		b = append(b, "sequence_id"...)
		b = append(b, 0x12, 2, 0x10, 0)
		b = appendFlag(b, "sequence_start", false)
	}
	b = appendFlag(b, "triton_final_response", false)
	t.finalAt = len(b) - 1
	for _, o := range c.textOutputs() {
		b = appendTensor(b, o.name, o.datatype, o.shape...)
	}
	t.prefix = b
}

// textOutputs are the outputs of each response with text, without their data.
func (c *call) textOutputs() []resultTensor {
	t := &c.t
	n := int64(c.choices)
	shape := []int64{1}
	if t.batched {
		shape = []int64{n, 1}
	}
	switch t.convention {
	case repository.ConventionOld:
		return []resultTensor{{name: "TEXT", datatype: "BYTES", shape: shape}}
	case repository.ConventionEngine:
		return nil // their shapes differ from response to response
	}
	all := []resultTensor{{name: "text_output", datatype: "BYTES", shape: shape}}
	for _, o := range [...]struct {
		on             bool
		name, datatype string
	}{
		{t.finish, "finish_reason", "BYTES"}, {t.logprob, "cumulative_logprob", "FP32"}, {t.logprobs, "logprobs", "BYTES"},
		{t.countIn, "num_input_tokens", "UINT32"}, {t.countOut, "num_output_tokens", "UINT32"},
	} {
		if o.on && t.convention == repository.ConventionVLLM {
			all = append(all, resultTensor{name: o.name, datatype: o.datatype, shape: []int64{1}})
		}
	}
	return all
}

// rawShared writes a response's text to shared memory, and stands for it.
func (c *call) rawShared(b []byte, w repository.RequestedOutput, at, n int) []byte {
	var data []byte
	for choice := range c.choices {
		data = repository.AppendBytes(data, string(c.appendWords(nil, choice, at, n)))
	}
	if c.s.triton.Regions.Write(w, data) != nil {
		return c.rawText(b, at, n)
	}
	return appendRaw(b, nil)
}

// rawText writes a response's text as raw contents: n tokens from the at-th on for each prompt.
func (c *call) rawText(b []byte, at, n int) []byte {
	size := 0
	for choice := range c.choices {
		size += 4 + c.textSize(choice, at, n)
	}
	b = append(b, 0x32)
	b = protowire.AppendVarint(b, uint64(size))
	for choice := range c.choices {
		b = binary.LittleEndian.AppendUint32(b, uint32(c.textSize(choice, at, n)))
		b = c.appendWords(b, choice, at, n)
	}
	return b
}

func (c *call) textSize(choice, at, n int) int {
	size := 0
	if at == 0 {
		size = len(c.t.text)
	}
	at += c.textStart(choice)
	for i := range n {
		size += len(token(at + i))
	}
	return size
}

// textStart is where a choice's text begins in the endless one.
func (c *call) textStart(choice int) int { return choice*7 + int(c.id[len(c.id)-1]) }

// appendWords writes the text of n tokens from the at-th on, after the echo ahead of the first.
func (c *call) appendWords(b []byte, choice, at, n int) []byte {
	if at == 0 {
		b = append(b, c.t.text...)
	}
	at += c.textStart(choice)
	for i := range n {
		b = append(b, token(at+i)...)
	}
	return b
}

// appendTextResponse writes an infer response of n tokens.
func (c *call) appendTextResponse(b []byte, at, n int, final, ends bool) []byte {
	t := &c.t
	from := len(b)
	b = append(b, t.prefix...)
	if final {
		b[from+t.finalAt] = 1
	}
	if t.convention == repository.ConventionEngine {
		return c.appendIDs(b, at, n)
	}
	if w := t.wish("text_output"); w.Region != "" {
		b = c.rawShared(b, w, at, n)
	} else {
		b = c.rawText(b, at, n)
	}
	if t.convention != repository.ConventionVLLM {
		return b
	}
	if t.finish {
		b = appendRaw(b, repository.AppendBytes(nil, t.reason(ends)))
	}
	if t.logprob {
		b = appendRaw(b, []byte{0, 0, 0, 0})
	}
	if t.logprobs {
		b = appendRaw(b, repository.AppendBytes(nil, "null"))
	}
	if t.countIn {
		b = appendRaw(b, binary.LittleEndian.AppendUint32(nil, uint32(c.p.Words.N)))
	}
	if t.countOut {
		b = appendRaw(b, binary.LittleEndian.AppendUint32(nil, uint32(n)))
	}
	return b
}

// appendIDs writes the outputs of the engine: token ids and how many.
func (c *call) appendIDs(b []byte, at, n int) []byte {
	rows := int64(c.choices)
	b = appendTensor(b, "output_ids", "INT32", rows, int64(n))
	b = appendTensor(b, "sequence_length", "INT32", rows, 1)
	b = append(b, 0x32)
	b = protowire.AppendVarint(b, uint64(4*n*c.choices))
	for choice := range c.choices {
		for i := range n {
			b = binary.LittleEndian.AppendUint32(b, uint32(tokenID(c.textStart(choice)+at+i)))
		}
	}
	b = append(b, 0x32)
	b = protowire.AppendVarint(b, uint64(4*c.choices))
	for range c.choices {
		b = binary.LittleEndian.AppendUint32(b, uint32(n))
	}
	return b
}

// tokenID numbers the words of the vocabulary, above the ids that mean something special.
func tokenID(i int) int { return 1000 + int(uint(i)%uint(len(vocabulary))) }

func appendRaw(b, data []byte) []byte {
	b = append(b, 0x32)
	b = protowire.AppendVarint(b, uint64(len(data)))
	return append(b, data...)
}

// appendResults writes an infer response of a model that computes.
func (c *call) appendResults(b []byte, final bool) []byte {
	t := &c.t
	b = appendText(b, 1, t.model.Name)
	b = appendText(b, 2, "1")
	b = appendText(b, 3, t.id)
	if final {
		b = appendFlag(b, "triton_final_response", true)
	}
	for _, o := range t.results {
		b = appendTensor(b, o.name, o.datatype, o.shape...)
	}
	for _, o := range t.results {
		b = appendRaw(b, o.data)
	}
	return b
}

// appendEmptyFinal writes the response that only says that there are no more.
func (c *call) appendEmptyFinal(b []byte) []byte {
	b = appendText(b, 1, c.t.model.Name)
	b = appendText(b, 3, c.t.id)
	return appendFlag(b, "triton_final_response", true)
}

// appendStreamMessage writes a message of ModelStreamInfer with gRPC's prefix.
func appendStreamMessage(b []byte, failure string, inner []byte) []byte {
	size := 1 + protowire.SizeVarint(uint64(len(inner))) + len(inner)
	if failure != "" {
		size += 1 + protowire.SizeVarint(uint64(len(failure))) + len(failure)
	}
	b = append(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(size))
	b = appendText(b, 1, failure)
	b = append(b, 0x12)
	b = protowire.AppendVarint(b, uint64(len(inner)))
	return append(b, inner...)
}
