// Package body reads what the requests to the built-in server ask for, in one pass over their JSON.
package body

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/mock/config"
)

// maxChoices is the most choices that one request can ask for.
const maxChoices = 128

// Params is what the server reads out of a request body. Strings are the
// insides of JSON strings, still escaped, so that they can be echoed as they are.
type Params struct {
	Model              []byte
	Stream             bool
	Usage              bool // stream_options.include_usage
	Continuous         bool // stream_options.continuous_usage_stats
	IgnoreEOS          bool
	Max, MaxCompletion int // max_tokens and max_completion_tokens; -1: not given
	Min                int
	N                  int
	Inputs             int // prompts or embedding inputs
	Words              WordCount
	PerInput           []int // words of each embedding input
	Tool               []byte
	NoTool             bool
	Dim                int
	Base64             bool
	present            bool     // messages, prompt or input was there
	query              bool     // of a ranking, it was there
	Form               Form     // of a transcription, what is not in other fields
	Logprobs           bool     // of tokens are wanted
	TopLogprobs        int      // those of so many others at each place too
	Schema             []byte   // of the JSON that the response has to be; nil: it may be any text
	Width, Height      int      // of images
	URLs               bool     // of images are wanted, not their bytes
	Documents          [][]byte // that are ranked, as JSON
	Top                int      // how many results of a ranking are wanted; -1: all
	Details            bool     // of Text Generation Inference, asked for
	Media              int      // parts of messages that are no text
	Previous           []byte   // the response that this one goes on from
	unknown            []string
}

// Reset makes p that of a request without fields, and keeps its memory. Words are hashed by blocks of that many.
func (p *Params) Reset(block int) {
	words, perInput, documents, unknown := p.Words, p.PerInput[:0], p.Documents[:0], p.unknown[:0]
	*p = Params{Max: -1, MaxCompletion: -1, N: 1, Dim: -1, Top: -1, Words: words, PerInput: perInput, Documents: documents, unknown: unknown}
	p.Words.reset(block)
}

// Limit is the most tokens that the request allows, or -1.
func (p *Params) Limit() int {
	if p.MaxCompletion >= 0 {
		return p.MaxCompletion
	}
	return p.Max
}

// Reader decodes one request body.
type Reader struct {
	scanner
	api    API
	strict bool
	p      *Params
}

// Read fills p from body. The error is meant for the client.
func (r *Reader) Read(a API, strict bool, body []byte, p *Params) error {
	*r = Reader{scanner: scanner{b: body}, api: a, strict: strict, p: p}
	if err := r.object(r.field); err != nil {
		return err
	}
	if err := r.end(); err != nil {
		return err
	}
	if len(r.p.unknown) > 0 {
		return extraFields(r.p.unknown)
	}
	return r.check()
}

// extraFields words the refusal as vLLM does.
func extraFields(names []string) error {
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = fmt.Sprintf("{'type': 'extra_forbidden', 'loc': ('body', '%s'), 'msg': 'Extra inputs are not permitted'}", n)
	}
	return fmt.Errorf("[%s]", strings.Join(list, ", "))
}

func (r *Reader) check() error {
	p := r.p
	content := r.api.content()
	limit := p.Limit()
	switch {
	case !p.present:
		return fmt.Errorf("%s: field required", content)
	case p.Inputs == 0:
		return fmt.Errorf("%s: cannot be empty", content)
	case r.api.Ranks() && !p.query:
		return fmt.Errorf("%s: field required", r.api.query())
	case !r.api.Generates():
		return nil
	case r.api == Messages && p.Max < 0:
		return fmt.Errorf("max_tokens: field required")
	case p.TopLogprobs > 0 && !p.Logprobs:
		return fmt.Errorf("top_logprobs: needs logprobs to be true")
	case limit == 0 || limit < -1:
		return fmt.Errorf("max_tokens must be at least 1, got %d", limit)
	case p.Min < 0:
		return fmt.Errorf("min_tokens must be greater than or equal to 0, got %d", p.Min)
	case limit > 0 && p.Min > limit:
		return fmt.Errorf("min_tokens must be less than or equal to max_tokens=%d, got %d", limit, p.Min)
	case p.N < 1 || p.N*p.Inputs > maxChoices:
		return fmt.Errorf("n must be at least 1 and give no more than %d choices, got %d", maxChoices, p.N)
	}
	return nil
}

func (r *Reader) field(raw []byte) error {
	p := r.p
	if r.api > Triton {
		if taken, err := r.otherField(raw); taken {
			return err
		}
	}
	switch string(raw) {
	case "model":
		return r.text(raw, &p.Model)
	case "messages":
		if r.api.Speaks() || r.api == CountTokens {
			return r.messages()
		}
	case "prompt":
		if r.api == Completions {
			return r.texts(raw, nil)
		}
	case "input":
		if r.api == Embeddings {
			return r.texts(raw, &p.PerInput)
		}
	case "stream":
		return r.boolean(raw, &p.Stream)
	case "stream_options":
		return r.streamOptions()
	case "max_tokens":
		return r.integer(raw, &p.Max)
	case "max_completion_tokens":
		return r.integer(raw, &p.MaxCompletion)
	case "min_tokens":
		return r.integer(raw, &p.Min)
	case "ignore_eos":
		return r.boolean(raw, &p.IgnoreEOS)
	case "n":
		return r.integer(raw, &p.N)
	case "tools":
		if r.api == Chat {
			return r.tools(true)
		}
	case "tool_choice":
		v, err := r.skip()
		p.NoTool = string(v) == `"none"`
		return err
	case "dimensions":
		if err := r.integer(raw, &p.Dim); err != nil {
			return err
		}
		if p.Dim != -1 && (p.Dim < 1 || p.Dim > config.MaxDim) {
			return fmt.Errorf("dimensions must be between 1 and %d, got %d", config.MaxDim, p.Dim)
		}
		return nil
	case "encoding_format":
		return r.encodingFormat(raw)
	case "logprobs", "top_logprobs", "response_format", "guided_json":
		if r.api == Chat || r.api == Completions {
			return r.outputField(raw)
		}
	}
	if r.strict && !known(knownFields[r.api], string(raw)) {
		p.unknown = append(p.unknown, Unquote(raw))
	}
	_, err := r.skip()
	return err
}

// otherField reads a body field that only an API beside OpenAI's has.
func (r *Reader) otherField(raw []byte) (taken bool, err error) {
	switch r.api {
	case Messages, CountTokens:
	case TGI:
		return r.tgiField(raw)
	case Responses:
		return r.responsesField(raw)
	case SGLang:
		return r.sglangField(raw)
	case Images:
		return r.imageField(raw)
	case Documents, Score, Classify, Pooling:
		return r.pooledField(raw)
	default:
		return r.rankField(raw)
	}
	switch string(raw) {
	case "system":
		return true, r.content() // a string or blocks of text
	case "tools":
		return true, r.tools(false)
	case "tool_choice":
		return true, r.messageToolChoice()
	case "max_tokens", "stream":
		if r.api == Messages {
			return false, nil
		}
		fallthrough
	case "stream_options", "max_completion_tokens", "min_tokens", "ignore_eos", "n":
		if r.strict {
			r.p.unknown = append(r.p.unknown, Unquote(raw))
		}
		return true, r.skipElement()
	}
	return false, nil
}

// messageToolChoice reads {"type":"none"}.
func (r *Reader) messageToolChoice() error {
	if r.peek() != '{' {
		return r.skipElement()
	}
	return r.object(func(key []byte) error {
		v, err := r.skip()
		r.p.NoTool = r.p.NoTool || string(key) == "type" && string(v) == `"none"`
		return err
	})
}

// null consumes a null, which stands for a field that was not given.
func (r *Reader) null() bool {
	return r.peek() == 'n' && r.word("null") == nil
}

func (r *Reader) text(name []byte, v *[]byte) error {
	if r.null() {
		return nil
	}
	if r.peek() != '"' {
		return fmt.Errorf("%s: must be a string", name)
	}
	s, err := r.str()
	*v = s
	return err
}

func (r *Reader) boolean(name []byte, v *bool) error {
	if r.null() {
		return nil
	}
	s, err := r.skip()
	if err != nil {
		return err
	}
	if *v = string(s) == "true"; !*v && string(s) != "false" {
		return fmt.Errorf("%s: must be true or false", name)
	}
	return nil
}

func (r *Reader) integer(name []byte, v *int) error {
	if r.null() {
		return nil
	}
	s, err := r.skip()
	if err != nil {
		return err
	}
	n, ok := integer(s)
	if !ok {
		return fmt.Errorf("%s: must be an integer", name)
	}
	*v = n
	return nil
}

// integer reads an integer, which may be written as 1e3 or 5.0.
func integer(text []byte) (int, bool) {
	if n, err := strconv.Atoi(string(text)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return int(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53
}

func (r *Reader) encodingFormat(name []byte) error {
	var v []byte
	if err := r.text(name, &v); err != nil {
		return err
	}
	switch string(v) {
	case "", "float":
	case "base64":
		r.p.Base64 = true
	default:
		return fmt.Errorf("encoding_format: must be float or base64")
	}
	return nil
}

func (r *Reader) streamOptions() error {
	if r.null() {
		return nil
	}
	return r.object(func(key []byte) error {
		switch string(key) {
		case "include_usage":
			return r.boolean(key, &r.p.Usage)
		case "continuous_usage_stats":
			return r.boolean(key, &r.p.Continuous)
		}
		if r.strict {
			r.p.unknown = append(r.p.unknown, "stream_options."+Unquote(key))
		}
		return r.skipElement()
	})
}

func (r *Reader) messages() error {
	r.p.present = true
	r.p.Inputs = 0
	if r.api == Chat { // elsewhere a system prompt may have been counted
		r.p.Words.reset(r.p.Words.block)
	}
	if r.peek() != '[' {
		return fmt.Errorf("messages: must be an array")
	}
	return r.array(func() error {
		if r.peek() != '{' {
			return fmt.Errorf("messages: each must be an object")
		}
		role := false
		err := r.object(func(key []byte) error {
			switch string(key) {
			case "role":
				role = true
			case "content":
				return r.content()
			}
			return r.skipElement()
		})
		if err == nil && !role {
			return fmt.Errorf("messages: role: field required")
		}
		r.p.Inputs = 1
		return err
	})
}

// content is a string, or parts of which some are text.
func (r *Reader) content() error {
	switch r.peek() {
	case '"':
		return r.count()
	case '[':
		return r.array(r.part)
	}
	return r.skipElement()
}

func (r *Reader) count() error {
	s, err := r.str()
	if err == nil {
		r.p.Words.add(s)
	}
	return err
}

// texts reads a prompt or an embedding input: a string, token ids, or an array
// of either. perInput, if wanted, gets each one's length.
func (r *Reader) texts(name []byte, perInput *[]int) error {
	r.p.present = true
	r.p.Inputs = 0
	r.p.Words.reset(r.p.Words.block)
	input := func(before int, err error) error {
		r.p.Inputs++
		if perInput != nil {
			*perInput = append(*perInput, r.p.Words.N-before)
		}
		return err
	}
	if r.peek() == '"' {
		return input(0, r.count())
	}
	if r.peek() != '[' {
		return fmt.Errorf("%s: must be a string or an array", name)
	}
	ids := false
	err := r.array(func() error {
		before := r.p.Words.N
		switch r.peek() {
		case '"':
			return input(before, r.count())
		case '[':
			return input(before, r.array(r.tokenID))
		}
		ids = true
		return r.tokenID()
	})
	if ids {
		return input(0, err)
	}
	return err
}

func (r *Reader) tokenID() error {
	v, err := r.skip()
	if err != nil {
		return err
	}
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return fmt.Errorf("a token id must be a number, got %.20q", v)
	}
	r.p.Words.AddID(v)
	return nil
}

// tools keeps the name of the first tool. OpenAI has it inside of a function object.
func (r *Reader) tools(nested bool) error {
	if r.null() {
		return nil
	}
	name := func(key []byte) error {
		if string(key) != "name" || r.p.Tool != nil {
			return r.skipElement()
		}
		return r.text(key, &r.p.Tool)
	}
	return r.array(func() error {
		if r.peek() != '{' {
			return fmt.Errorf("tools: each must be an object")
		}
		if !nested {
			return r.object(name)
		}
		return r.object(func(key []byte) error {
			if string(key) != "function" || r.peek() != '{' {
				return r.skipElement()
			}
			return r.object(name)
		})
	})
}
