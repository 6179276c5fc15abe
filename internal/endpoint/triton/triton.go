// Package triton speaks to Triton Inference Server and to others that have its
// protocol, KServe v2: over gRPC a stream of requests or one at a time, over HTTP
// infer, generate and generate_stream.
//
// What a model takes is read from the server before the run. A prompt becomes tensors
// by one of a few conventions of language models; anything else is sent as the plain
// tensors that the user gives.
package triton

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/v2http"
	"github.com/inferometer/inferometer/internal/record"
)

// Endpoint is a model behind Triton, or behind several replicas of it.
type Endpoint struct {
	model    ModelInfo
	behind   []ModelInfo // that it calls by itself, as the user says
	layout   *layout
	streamed bool
	runID    string
	replicas []replica
	memory   *memory // nil means none is shared
	version  string  // as asked for
	speaker  speaker
	stamps   bool // reads carry the kernel's receive time
	// plain is what goes to a model of plain tensors where the prompt has none.
	plain *tensor.Inputs

	mu    sync.Mutex
	built map[*tensor.Inputs]*inputs
}

// replica is one of the target's URLs.
type replica interface {
	prepare(p *prompt.Prompt, id string, m *material) (call, error)
	warm(ctx context.Context, n int) error
	close() error
}

type call func(ctx context.Context, rec *record.Exchange)

// material is what a request is made of: a prompt's content, or tensors.
type material struct {
	content
	in *inputs // nil means it is a prompt
}

// inputs are tensors that a user gives, as the model wants them.
type inputs struct {
	tensors  []tensor.Tensor
	expected []tensor.Tensor
	text     string                // the prompt among them, if there is one
	regions  []v2http.MemoryRegion // where they lie in shared memory; nil means they are sent
}

// compared reports whether outputs are held against what is expected of them. They come in the
// answer then: the shared memory of outputs is that of all requests, and what one finds there may be
// another's.
func (in *inputs) compared() bool { return len(in.expected) > 0 }

// prepareTime bounds what is asked of the server before the first request.
const prepareTime = 30 * time.Second

// New makes an Endpoint of a target that Settle has seen.
func New(t plan.Target, o endpoint.Options) (*Endpoint, error) {
	if len(t.URLs) == 0 {
		return nil, errors.New("the target has no URL")
	}
	ctx, cancel := context.WithTimeout(context.Background(), prepareTime)
	defer cancel()
	e := &Endpoint{streamed: t.Streaming, runID: o.RunID, version: t.Triton.Version, built: map[*tensor.Inputs]*inputs{}}
	for i, raw := range t.URLs {
		link, err := newLink(raw, t, o)
		if err == nil && i == 0 {
			e.speaker, e.stamps = link.speaker, link.stamps
			e.model = ModelInfo{Name: t.Model}
			if !unasked(t) {
				e.model, err = describeModel(ctx, link.server, t.Model, t.Triton.Version)
			}
			if err != nil && bodies(t) {
				e.model, err = ModelInfo{Name: t.Model}, nil
			}
		}
		if err == nil && i == 0 {
			e.behind, err = findComposing(ctx, link.server, t.Triton.Composing)
		}
		if err == nil && i == 0 {
			err = e.plan(t, o)
		}
		if err == nil {
			err = e.memory.join(ctx, link.sharer)
		}
		var r replica
		if err == nil {
			r, err = link.replica(e.layout, t, e.memory.wanted())
		}
		if err != nil {
			link.close()
			e.Close()
			return nil, err
		}
		e.replicas = append(e.replicas, r)
	}
	return e, nil
}

// plan settles how prompts become tensors.
func (e *Endpoint) plan(t plan.Target, o endpoint.Options) error {
	c, err := chooseConvention(&e.model, t.Triton.Convention)
	if bodies(t) {
		c, err = conventionOf(t.Triton.Convention), nil
	}
	if err != nil {
		return err
	}
	if e.layout, err = newLayout(&e.model, c, t, o.Data, o.Tokenizer); err != nil {
		return err
	}
	if c.name == plan.ConventionTensors {
		e.plain = &tensor.Inputs{Rules: &tensor.Rules{Fill: tensor.Fill{Kind: tensor.FillRandom}}}
	}
	e.memory, err = newMemory(&e.model, t.Triton, o.RunID)
	return err
}

// Model is what the server says about the model.
func (e *Endpoint) Model() ModelInfo { return e.model }

// Warm opens connections for n requests at a time, dealt out over the replicas.
func (e *Endpoint) Warm(ctx context.Context, n int) error {
	for _, r := range e.replicas {
		// A slot's requests go to all replicas in turn, and each keeps the slot's stream.
		if err := r.warm(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

// Close closes the connections and gives shared memory back.
func (e *Endpoint) Close() error {
	errs := []error{e.memory.close()}
	for _, r := range e.replicas {
		errs = append(errs, r.close())
	}
	return errors.Join(errs...)
}

// Prepare encodes a request.
func (e *Endpoint) Prepare(p *prompt.Prompt) (endpoint.Call, error) {
	target := p.Spread(len(e.replicas))
	id := e.runID + "-" + strconv.FormatInt(p.Seq, 10)
	if p.Sequence.ID != 0 { // the server that has its state
		target = int(p.Sequence.ID % uint64(len(e.replicas)))
	}
	given := p.Inputs
	if given == nil {
		given = e.plain
	}
	var m material
	var err error
	if given == nil {
		m.content = e.layout.fill(p)
		if len(p.Tensors) > 0 {
			err = e.layout.setInputs(&m.content, p.Tensors)
		}
	} else if m.in, err = e.build(given); err != nil {
		err = fmt.Errorf("model %s: %w", e.model.Name, err)
	}
	if err != nil {
		return nil, err
	}
	c, err := e.replicas[target].prepare(p, id, &m)
	if err != nil {
		return nil, err
	}
	return &request{endpoint: e, target: target, call: c, about: e.about(&m)}, nil
}

// mostBuilt is how many requests' tensors are kept for when they come again.
const mostBuilt = 4096

// build makes tensors of what the user gives, once for what is given again and again.
func (e *Endpoint) build(given *tensor.Inputs) (*inputs, error) {
	e.mu.Lock()
	in, ok := e.built[given]
	e.mu.Unlock()
	if ok {
		return in, nil
	}
	tensors, expected, err := given.Build(e.inputs(), e.model.Outputs, e.model.MaxBatch > 0)
	if err != nil {
		return nil, err
	}
	in = &inputs{tensors: e.layout.addExtras(tensors), expected: expected}
	for i := range in.tensors {
		if t := &in.tensors[i]; t.Name == e.layout.convention.text && t.Datatype == tensor.Bytes {
			for s := range t.Strings() {
				in.text = string(s)
			}
		}
	}
	if e.memory != nil {
		e.mu.Lock()
		full := len(e.built) >= mostBuilt
		e.mu.Unlock()
		if full {
			return nil, message.Errorf("the data has more than %d different requests, too many for shared memory: leave %v out", mostBuilt, message.SharedMemory)
		}
		if in.regions, err = e.memory.put(in.tensors); err != nil {
			return nil, err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.built) < mostBuilt {
		e.built[given] = in
	}
	return in, nil
}

// addExtras adds the inputs of the plan that the user's data does not have.
func (l *layout) addExtras(tensors []tensor.Tensor) []tensor.Tensor {
	for _, s := range l.slots[without] {
		if s.extra && !slices.ContainsFunc(tensors, func(t tensor.Tensor) bool { return t.Name == s.Name }) {
			tensors = append(tensors, s.Tensor)
		}
	}
	return tensors
}

type request struct {
	endpoint *Endpoint
	target   int
	call     call
	about    *about
}

// about is what the decoder must know of a request.
type about struct {
	prompt   string          // text, or token ids as they were sent, if they may come back; empty: they cannot
	expected []tensor.Tensor // outputs that the answer must have
	tensors  bool            // it has no prompt
}

// shortEcho is how long a prompt must be that is looked for in an answer although the
// server was asked to leave it out: a shorter one may be what the model says itself.
const shortEcho = 16

// about is what the decoder must know of a request; nil means nothing.
func (e *Endpoint) about(m *material) *about {
	var a about
	switch {
	case m.in != nil:
		a = about{prompt: m.in.text, expected: m.in.expected, tensors: m.in.text == ""}
	case e.layout.encode == nil:
		a.prompt = m.text
	default:
		s := &slot{kind: ids, Tensor: tensor.Tensor{Datatype: tensor.Int32}}
		a.prompt = string(e.layout.appendData(nil, s, &m.content))
	}
	if e.layout.excluded && m.in == nil && len(a.prompt) < shortEcho {
		a.prompt = ""
	}
	if a.prompt == "" && a.expected == nil && !a.tensors {
		return nil
	}
	return &a
}

// Do carries out the request.
func (r *request) Do(ctx context.Context, rec *record.Exchange) {
	rec.Target = r.target
	rec.Flight.To(r.target)
	rec.Streamed = r.endpoint.streamed
	if r.about != nil {
		rec.Request = r.about
	}
	r.call(ctx, rec)
}
