package triton

import (
	"fmt"
	"slices"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
)

// Response is one response of an answer, with the tensors that it carries.
type Response struct {
	End     int             // bytes of the answer up to its last
	Outputs []tensor.Tensor // parts of the answer's bytes
	Error   string          // the server's words; empty: it is no error
}

// Responses reads the responses out of the bytes of an answer to the target, of one that
// breaks off those that are whole. It is for answers to infer requests.
func Responses(body []byte, t *plan.Target) ([]Response, error) {
	r := reply{expects: true}
	var none convention
	var all []Response
	add := func(end int) {
		all = append(all, Response{End: end, Outputs: slices.Clone(r.tensors), Error: string(r.failure)})
		r.text = r.text[:0]
	}
	if t.Transport != plan.TransportGRPC {
		if err := r.parseInfer(body, &none); err != nil {
			return nil, fmt.Errorf("reading a response over HTTP: %w", err)
		}
		add(len(body))
		return all, nil
	}
	parse := r.parseUnary
	if t.Endpoint == plan.EndpointStream {
		parse = r.parseStream
	}
	for rest := body; len(rest) > 0; {
		message, after, ok := frame(rest)
		if !ok {
			break
		}
		rest = after
		if err := parse(message, &none); err != nil {
			return all, fmt.Errorf("reading message %d of a response: %w", len(all)+1, err)
		}
		add(len(body) - len(rest))
	}
	return all, nil
}
