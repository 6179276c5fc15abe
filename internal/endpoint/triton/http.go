package triton

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/v2http"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/http1"
)

// httpReplica carries out requests over HTTP.
type httpReplica struct {
	link     *httpLink
	head     *http1.Head
	layout   *layout
	generate bool
	// of infer
	parameters map[string]any
	jsonIn     bool
	binaryOut  bool
	wanted     []v2http.Output
	// of generate
	shared   []byte // fields that all bodies begin with
	compress string
}

// newHTTPReplica makes what carries out requests to one server.
func newHTTPReplica(l *link, y *layout, t plan.Target, wanted []v2http.Output) (*httpReplica, error) {
	r := &httpReplica{
		link: l.http, layout: y, generate: t.Endpoint == plan.EndpointGenerate, parameters: t.Triton.Parameters,
		jsonIn: t.Triton.InputFormat == plan.FormatJSON, binaryOut: t.Triton.OutputFormat != plan.FormatJSON,
		compress: t.Triton.Compression, wanted: wanted,
	}
	verb, accept := "/infer", "*/*"
	switch {
	case r.generate && t.Streaming:
		verb, accept = "/generate_stream", "text/event-stream"
	case r.generate:
		verb, accept = "/generate", "application/json"
	}
	if t.Plain() {
		accept = "*/*"
	}
	u := *l.url
	path := modelPath(y.model.Name, t.Triton.Version) + verb
	if t.Path != "" {
		path = t.Path
	}
	u.Path = strings.TrimRight(u.Path, "/") + path
	fields := append([]http1.Field{{Name: "User-Agent", Value: "inferometer"}, {Name: "Accept", Value: accept}}, l.http.fields...)
	if r.compress != "" {
		fields = append(fields, http1.Field{Name: "Content-Encoding", Value: r.compress})
	}
	r.head = http1.NewHead(&u, fields, l.http.proxy)
	if r.generate && len(t.Triton.Parameters) > 0 {
		text, err := json.Marshal(t.Triton.Parameters)
		if err != nil {
			return nil, fmt.Errorf("the request parameters cannot be written as JSON: %w", err)
		}
		r.shared = append(append([]byte(`"parameters":`), text...), ',')
	}
	return r, nil
}

func (r *httpReplica) warm(ctx context.Context, n int) error { return r.link.client.Warm(ctx, n) }

func (r *httpReplica) close() error {
	r.link.ask.CloseIdleConnections()
	return r.link.client.Close()
}

func (r *httpReplica) prepare(p *prompt.Prompt, id string, m *material) (call, error) {
	own := []http1.Field{{Name: "Content-Type", Value: "application/json"}}
	var body []byte
	switch {
	case r.generate && p.Body != nil:
		body = p.Body
	case r.generate:
		body = r.generateBody(id, m)
	default:
		var header int
		var err error
		if body, header, err = r.inferBody(p, id, m); err != nil {
			return nil, err
		}
		if header > 0 {
			own = []http1.Field{
				{Name: "Content-Type", Value: "application/octet-stream"},
				{Name: v2http.HeaderLength, Value: strconv.Itoa(header)},
			}
		}
	}
	request := r.head.Encode(packed(body, r.compress), own...)
	return func(ctx context.Context, rec *record.Exchange) { r.link.client.Do(ctx, request, rec) }, nil
}

func packed(body []byte, with string) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch with {
	case plan.CompressionGzip:
		w = gzip.NewWriter(&out)
	case plan.CompressionDeflate:
		w = zlib.NewWriter(&out)
	default:
		return body
	}
	// Writing to memory does not fail.
	_, _ = w.Write(body)
	_ = w.Close()
	return out.Bytes()
}

func (r *httpReplica) inferBody(p *prompt.Prompt, id string, m *material) (body []byte, header int, err error) {
	q := v2http.Request{ID: id, Parameters: r.parametersOf(p), BinaryOutputs: r.binaryOut}
	if m.in != nil {
		if !m.in.compared() {
			q.Outputs = r.wanted
		}
		for i, t := range m.in.tensors {
			in := v2http.Input{Tensor: t, JSON: r.jsonIn}
			if m.in.regions != nil {
				in.Region = m.in.regions[i]
			}
			q.Inputs = append(q.Inputs, in)
		}
		return q.Append(nil)
	}
	for i := range m.slots {
		q.Inputs = append(q.Inputs, v2http.Input{Tensor: r.layout.tensor(&m.slots[i], &m.content), JSON: r.jsonIn})
	}
	return q.Append(nil)
}

// parametersOf are the parameters of one request: those of all and its own.
func (r *httpReplica) parametersOf(p *prompt.Prompt) map[string]any {
	if p.Sequence.ID == 0 && (p.Inputs == nil || len(p.Inputs.Parameters) == 0) {
		return r.parameters
	}
	all := map[string]any{}
	maps.Copy(all, r.parameters)
	if p.Inputs != nil {
		maps.Copy(all, p.Inputs.Parameters)
	}
	if s := p.Sequence; s.ID != 0 {
		all["sequence_id"], all["sequence_start"], all["sequence_end"] = s.ID, s.Start, s.End
	}
	return all
}

func (l *layout) tensor(s *slot, c *content) tensor.Tensor {
	t := s.Tensor
	if s.kind != constant {
		t.Data = l.appendData(make([]byte, 0, l.size(s, c)), s, c)
	}
	t.Shape = s.shape(c)
	return t
}

// generateBody is the body of a generate request: each input under its name.
func (r *httpReplica) generateBody(id string, m *material) []byte {
	b := append(make([]byte, 0, len(m.text)+len(m.text)/8+256), `{"id":`...)
	b = tensor.AppendQuoted(b, id)
	b = append(append(b, ','), r.shared...)
	add := func(t *tensor.Tensor) {
		b = tensor.AppendQuoted(b, t.Name)
		b = append(b, ':')
		start := len(b)
		b = t.AppendJSON(b)
		if tensor.Elements(t.Shape) == 1 { // a value alone
			b = append(b[:start], b[start+1:len(b)-1]...)
		}
		b = append(b, ',')
	}
	if m.in != nil {
		for i := range m.in.tensors {
			add(&m.in.tensors[i])
		}
	} else {
		for i := range m.slots {
			t := r.layout.tensor(&m.slots[i], &m.content)
			add(&t)
		}
	}
	b[len(b)-1] = '}'
	return b
}
