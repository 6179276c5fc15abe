package mock

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Triton is how the server speaks Triton's protocols.
type Triton struct {
	GRPC       string                // address that the command serves gRPC on; empty: none
	Metrics    string                // address that the command serves metrics on, beside Listen; empty: none
	Models     map[string]Convention // what some models are like
	Convention Convention            // what the others are like; empty: told by their name, or by each request
	Echo       bool                  // the prompt stands ahead of the text of every answer that does not exclude it
}

func (t Triton) validate(v *faults) {
	known := func(c Convention) bool { return slices.Contains(conventions(), c) }
	v.check(t.Convention == "" || known(t.Convention), "--triton-convention %q: must be one of %v", t.Convention, conventions())
	for name, c := range t.Models {
		v.check(name != "", "--triton-models: a name cannot be empty")
		v.check(known(c), "--triton-models %s=%s: the convention must be one of %v", name, c, conventions())
	}
}

// rpcError is a refusal: its code for gRPC and its words.
type rpcError struct {
	code    grpcCode
	message string
}

func refusal(code grpcCode, format string, args ...any) *rpcError {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// triton is the state of the Triton side: models and shared memory.
type triton struct {
	s       *Server
	regions sharedMemory

	mu       sync.RWMutex
	models   map[string]*tritonModel
	unloaded map[string]bool
}

func newTriton(s *Server) *triton {
	t := &triton{s: s, models: make(map[string]*tritonModel), unloaded: make(map[string]bool)}
	for name := range s.cfg.Triton.Models {
		t.model(name)
	}
	for _, name := range s.cfg.Models {
		t.model(name)
	}
	return t
}

// find returns the model that a request names.
func (t *triton) find(name, version string) (*tritonModel, *rpcError) {
	if version != "" && version != "1" && version != "-1" {
		n, err := strconv.ParseInt(version, 10, 64)
		if err != nil || n <= 0 {
			return nil, refusal(codeInvalid, "failed to get model version from specified version string '%s' (details: stol), version should be an integral value > 0", version)
		}
		return nil, refusal(codeNotFound, "Request for unknown model: '%s' version %s is not found", name, version)
	}
	t.mu.RLock()
	m, gone := t.models[name], t.unloaded[name]
	t.mu.RUnlock()
	switch {
	case gone:
		return nil, refusal(codeNotFound, "Request for unknown model: '%s' has no available versions", name)
	case m != nil:
		return m, nil
	case name == "" || t.s.cfg.Strict:
		return nil, refusal(codeNotFound, "Request for unknown model: '%s' is not found", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.model(name), nil
}

// model returns a model, made if there is none of the name. mu is held, or not needed yet.
func (t *triton) model(name string) *tritonModel {
	if m := t.models[name]; m != nil {
		return m
	}
	c, ok := t.s.cfg.Triton.Models[name]
	if !ok {
		c = t.s.cfg.Triton.Convention
	}
	if hint := guess(name); c == "" || !ok && (hint == conventionBefore || hint == conventionAfter || name == engineModel) {
		c = hint
	}
	m := &tritonModel{name: name, spec: specOf(c)}
	t.models[name] = m
	if c == ConventionTRTLLM {
		m.before, m.engine, m.after = t.model(beforeModel), t.model(engineModel), t.model(afterModel)
	}
	return m
}

// all returns the models in the order of their names.
func (t *triton) all() []*tritonModel {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var all []*tritonModel
	for _, m := range t.models {
		if !t.unloaded[m.name] {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *tritonModel) int { return strings.Compare(a.name, b.name) })
	return all
}

// load makes a model answer again.
func (t *triton) load(name string) *rpcError {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.models[name] == nil && t.s.cfg.Strict {
		return refusal(codeInternal, "failed to load '%s', failed to poll from model repository", name)
	}
	delete(t.unloaded, name)
	t.model(name)
	return nil
}

// unload takes a model away; with dependents, those behind an ensemble too.
func (t *triton) unload(name string, dependents bool) *rpcError {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.models[name]
	if m == nil {
		if t.s.cfg.Strict {
			return nil // as Triton has it
		}
		m = t.model(name)
	}
	t.unloaded[name] = true
	m.stats.clear()
	if dependents && m.engine != nil {
		for _, behind := range []*tritonModel{m.before, m.engine, m.after} {
			t.unloaded[behind.name] = true
			behind.stats.clear()
		}
	}
	return nil
}

// accept checks a request and reads it into a call.
func (t *triton) accept(c *call, m *tritonModel, r *inferRequest) *rpcError {
	for i := range r.inputs {
		if in := &r.inputs[i]; in.region != "" {
			data, err := t.regions.read(in.region, in.offset, in.size)
			if err != nil {
				return err
			}
			in.data, in.has = data, true
		}
	}
	if err := m.check(r); err != nil {
		return &rpcError{codeInvalid, err.Error()}
	}
	if err := c.takeTriton(m, r); err != nil {
		return &rpcError{codeInvalid, err.Error()}
	}
	return nil
}
