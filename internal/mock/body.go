package mock

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/mock/config"
)

// maxChoices is the most choices that one request can ask for.
const maxChoices = 128

// params is what the server reads out of a request body. Strings are the
// insides of JSON strings, still escaped, so that they can be echoed as they are.
type params struct {
	model      []byte
	stream     bool
	usage      bool // stream_options.include_usage
	continuous bool // stream_options.continuous_usage_stats
	ignoreEOS  bool
	max, maxC  int // max_tokens and max_completion_tokens; -1: not given
	min        int
	n          int
	inputs     int // prompts or embedding inputs
	words      wordCount
	perInput   []int // words of each embedding input
	tool       []byte
	noTool     bool
	dim        int
	base64     bool
	present    bool // messages, prompt or input was there
	query      bool // of a ranking, it was there
	details    bool // of Text Generation Inference, asked for
	media      int  // parts of messages that are no text
	unknown    []string
}

func (p *params) reset(block int) {
	words, perInput, unknown := p.words, p.perInput[:0], p.unknown[:0]
	*p = params{max: -1, maxC: -1, n: 1, dim: -1, words: words, perInput: perInput, unknown: unknown}
	p.words.reset(block)
}

// limit is the most tokens that the request allows, or -1.
func (p *params) limit() int {
	if p.maxC >= 0 {
		return p.maxC
	}
	return p.max
}

// bodyReader decodes one request body.
type bodyReader struct {
	scanner
	api    api
	strict bool
	p      *params
}

// read fills p from body. The error is meant for the client.
func (r *bodyReader) read(body []byte) error {
	r.scanner = scanner{b: body}
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

func (r *bodyReader) check() error {
	p := r.p
	content := r.api.content()
	limit := p.limit()
	switch {
	case !p.present:
		return fmt.Errorf("%s: field required", content)
	case p.inputs == 0:
		return fmt.Errorf("%s: cannot be empty", content)
	case (r.api == ranking || r.api == rerank) && !p.query:
		return fmt.Errorf("query: field required")
	case !r.api.generates():
		return nil
	case r.api == messages && p.max < 0:
		return fmt.Errorf("max_tokens: field required")
	case limit == 0 || limit < -1:
		return fmt.Errorf("max_tokens must be at least 1, got %d", limit)
	case p.min < 0:
		return fmt.Errorf("min_tokens must be greater than or equal to 0, got %d", p.min)
	case limit > 0 && p.min > limit:
		return fmt.Errorf("min_tokens must be less than or equal to max_tokens=%d, got %d", limit, p.min)
	case p.n < 1 || p.n*p.inputs > maxChoices:
		return fmt.Errorf("n must be at least 1 and give no more than %d choices, got %d", maxChoices, p.n)
	}
	return nil
}

func (r *bodyReader) field(raw []byte) error {
	p := r.p
	if r.api > tritonAPI {
		if taken, err := r.otherField(raw); taken {
			return err
		}
	}
	switch string(raw) {
	case "model":
		return r.text(raw, &p.model)
	case "messages":
		if r.api.speaks() {
			return r.messages()
		}
	case "prompt":
		if r.api == completions {
			return r.texts(raw, nil)
		}
	case "input":
		if r.api == embeddings {
			return r.texts(raw, &p.perInput)
		}
	case "stream":
		return r.boolean(raw, &p.stream)
	case "stream_options":
		return r.streamOptions()
	case "max_tokens":
		return r.integer(raw, &p.max)
	case "max_completion_tokens":
		return r.integer(raw, &p.maxC)
	case "min_tokens":
		return r.integer(raw, &p.min)
	case "ignore_eos":
		return r.boolean(raw, &p.ignoreEOS)
	case "n":
		return r.integer(raw, &p.n)
	case "tools":
		if r.api == chat {
			return r.tools(true)
		}
	case "tool_choice":
		v, err := r.skip()
		p.noTool = string(v) == `"none"`
		return err
	case "dimensions":
		if err := r.integer(raw, &p.dim); err != nil {
			return err
		}
		if p.dim != -1 && (p.dim < 1 || p.dim > config.MaxDim) {
			return fmt.Errorf("dimensions must be between 1 and %d, got %d", config.MaxDim, p.dim)
		}
		return nil
	case "encoding_format":
		return r.encodingFormat(raw)
	}
	if r.strict && !known(knownFields[r.api], string(raw)) {
		p.unknown = append(p.unknown, unquote(raw))
	}
	_, err := r.skip()
	return err
}

// otherField reads a body field that only an API beside OpenAI's has.
func (r *bodyReader) otherField(raw []byte) (taken bool, err error) {
	if r.api != messages {
		if r.api == tgi {
			return r.tgiField(raw)
		}
		return r.rankField(raw)
	}
	switch string(raw) {
	case "system":
		return true, r.content() // a string or blocks of text
	case "tools":
		return true, r.tools(false)
	case "tool_choice":
		return true, r.messageToolChoice()
	case "stream_options", "max_completion_tokens", "min_tokens", "ignore_eos", "n":
		if r.strict {
			r.p.unknown = append(r.p.unknown, unquote(raw))
		}
		return true, r.skipElement()
	}
	return false, nil
}

// null consumes a null, which stands for a field that was not given.
func (r *bodyReader) null() bool {
	return r.peek() == 'n' && r.word("null") == nil
}

func (r *bodyReader) text(name []byte, v *[]byte) error {
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

func (r *bodyReader) boolean(name []byte, v *bool) error {
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

func (r *bodyReader) integer(name []byte, v *int) error {
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

// integer reads a whole number, which may be written as 1e3 or 5.0.
func integer(text []byte) (int, bool) {
	if n, err := strconv.Atoi(string(text)); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(text), 64)
	return int(f), err == nil && f == math.Trunc(f) && math.Abs(f) <= 1<<53
}

func (r *bodyReader) encodingFormat(name []byte) error {
	var v []byte
	if err := r.text(name, &v); err != nil {
		return err
	}
	switch string(v) {
	case "", "float":
	case "base64":
		r.p.base64 = true
	default:
		return fmt.Errorf("encoding_format: must be float or base64")
	}
	return nil
}

func (r *bodyReader) streamOptions() error {
	if r.null() {
		return nil
	}
	return r.object(func(key []byte) error {
		switch string(key) {
		case "include_usage":
			return r.boolean(key, &r.p.usage)
		case "continuous_usage_stats":
			return r.boolean(key, &r.p.continuous)
		}
		if r.strict {
			r.p.unknown = append(r.p.unknown, "stream_options."+unquote(key))
		}
		return r.skipElement()
	})
}

// messages counts the words of all contents.
func (r *bodyReader) messages() error {
	r.p.present = true
	r.p.inputs = 0
	if r.api == chat { // elsewhere a system prompt may have been counted
		r.p.words.reset(r.p.words.block)
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
		r.p.inputs = 1
		return err
	})
}

// content is a string, or parts of which some are text.
func (r *bodyReader) content() error {
	switch r.peek() {
	case '"':
		return r.count()
	case '[':
		return r.array(r.part)
	}
	return r.skipElement()
}

// count counts the words of a string.
func (r *bodyReader) count() error {
	s, err := r.str()
	if err == nil {
		r.p.words.add(s)
	}
	return err
}

// texts reads a prompt or an embedding input: a string, token ids, or an array
// of either. perInput, if wanted, gets each one's length.
func (r *bodyReader) texts(name []byte, perInput *[]int) error {
	r.p.present = true
	r.p.inputs = 0
	r.p.words.reset(r.p.words.block)
	input := func(before int, err error) error {
		r.p.inputs++
		if perInput != nil {
			*perInput = append(*perInput, r.p.words.n-before)
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
		before := r.p.words.n
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

func (r *bodyReader) tokenID() error {
	v, err := r.skip()
	if err != nil {
		return err
	}
	if len(v) == 0 || v[0] < '0' || v[0] > '9' {
		return fmt.Errorf("a token id must be a number, got %.20q", v)
	}
	r.p.words.id(v)
	return nil
}

// tools keeps the name of the first tool. OpenAI has it inside of a function object.
func (r *bodyReader) tools(nested bool) error {
	if r.null() {
		return nil
	}
	name := func(key []byte) error {
		if string(key) != "name" || r.p.tool != nil {
			return r.skipElement()
		}
		return r.text(key, &r.p.tool)
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
