package body

import "fmt"

// rankField reads a body field of the two ranking endpoints and of image retrieval.
func (r *Reader) rankField(raw []byte) (taken bool, err error) {
	switch {
	case r.api == Ranking && string(raw) == "query":
		r.p.query = true
		return true, r.textObject()
	case r.api == Rerank && string(raw) == "query":
		r.p.query = true
		return true, r.content()
	case r.api == Ranking && string(raw) == "passages", r.api == Rerank && string(raw) == "texts":
		return true, r.passages(raw)
	case r.api == Retrieval && string(raw) == "input":
		return true, r.pictures()
	}
	return false, nil
}

func (r *Reader) textObject() error {
	if r.peek() != '{' {
		return fmt.Errorf("query: must be an object with a text")
	}
	return r.part()
}

func (r *Reader) passages(name []byte) error {
	r.p.present = true
	if r.peek() != '[' {
		return fmt.Errorf("%s: must be an array", name)
	}
	return r.array(func() error {
		before, kind := r.p.Words.N, r.peek()
		from := r.i
		var err error
		if kind == '{' {
			err = r.part()
		} else {
			err = r.content()
		}
		r.p.Inputs++
		r.p.PerInput = append(r.p.PerInput, r.p.Words.N-before)
		r.p.Documents = append(r.p.Documents, r.b[from:r.i])
		return err
	})
}

func (r *Reader) pictures() error {
	r.p.present = true
	if r.peek() != '[' {
		return fmt.Errorf("input: must be an array")
	}
	return r.array(func() error {
		before := r.p.Media
		err := r.part()
		if err == nil && r.p.Media == before {
			return fmt.Errorf("input: each must be an object of type image_url")
		}
		r.p.Inputs++
		return err
	})
}

func (r *Reader) tgiField(raw []byte) (taken bool, err error) {
	switch string(raw) {
	case "inputs":
		r.p.present = true
		r.p.Inputs = 1
		return true, r.content()
	case "stream":
		return true, r.boolean(raw, &r.p.Stream)
	case "parameters":
		if r.peek() != '{' {
			return true, r.skipElement()
		}
		return true, r.object(r.tgiParameter)
	}
	return false, nil
}

func (r *Reader) tgiParameter(key []byte) error {
	switch string(key) {
	case "max_new_tokens":
		return r.integer(key, &r.p.Max)
	case "details":
		return r.boolean(key, &r.p.Details)
	}
	if r.strict && !known(tgiParameters, string(key)) {
		r.p.unknown = append(r.p.unknown, "parameters."+Unquote(key))
	}
	return r.skipElement()
}

// IsSGLang reports whether a body asks for text as SGLang has it, and not Text Generation Inference, which has the same path.
func IsSGLang(b []byte) bool { return hasField(b, "text", "input_ids") }

func (r *Reader) sglangField(raw []byte) (taken bool, err error) {
	switch string(raw) {
	case "text", "input_ids":
		if r.p.present {
			return true, fmt.Errorf("either text or input_ids should be provided")
		}
		if err := r.texts(raw, nil); err != nil {
			return true, err
		}
		if r.p.Inputs != 1 {
			return true, fmt.Errorf("%s: this server takes one prompt in a request, got %d", raw, r.p.Inputs)
		}
		return true, nil
	case "sampling_params":
		if r.null() {
			return true, nil
		}
		if r.peek() != '{' {
			return true, fmt.Errorf("sampling_params: must be an object")
		}
		return true, r.object(r.sglangParameter)
	case "stream":
		return true, r.boolean(raw, &r.p.Stream)
	}
	if r.strict && !known(knownFields[SGLang], string(raw)) {
		r.p.unknown = append(r.p.unknown, Unquote(raw))
	}
	return true, r.skipElement()
}

func (r *Reader) sglangParameter(key []byte) error {
	switch string(key) {
	case "max_new_tokens":
		return r.integer(key, &r.p.Max)
	case "min_new_tokens":
		return r.integer(key, &r.p.Min)
	case "ignore_eos":
		return r.boolean(key, &r.p.IgnoreEOS)
	case "n":
		if err := r.integer(key, &r.p.N); err != nil || r.p.N == 1 {
			return err
		}
		return fmt.Errorf("n: this server gives one response for a request, %d asked for", r.p.N)
	}
	if r.strict && !known(sglangParameters, string(key)) {
		r.p.unknown = append(r.p.unknown, "sampling_params."+Unquote(key))
	}
	return r.skipElement()
}

// ReadSampling reads vLLM's sampling parameters, whose numbers may be strings.
func (p *Params) ReadSampling(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	s := scanner{b: b}
	return s.object(func(key []byte) error {
		v, err := s.skip()
		if err != nil {
			return err
		}
		if len(v) > 1 && v[0] == '"' {
			v = v[1 : len(v)-1]
		}
		switch string(key) {
		case "max_tokens":
			return number(key, v, &p.Max)
		case "min_tokens":
			return number(key, v, &p.Min)
		case "ignore_eos":
			p.IgnoreEOS = string(v) == "true" || string(v) == "True"
		}
		return nil
	})
}

func number(key, v []byte, to *int) error {
	if string(v) == "null" {
		return nil
	}
	n, ok := integer(v)
	if !ok {
		return fmt.Errorf("%s: %q is not an integer", key, v)
	}
	*to = n
	return nil
}
