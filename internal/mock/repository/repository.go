// Package repository holds the models that the mock serves as Triton does: what they are
// like, the requests to them, their statistics, and the shared memory of their clients.
package repository

import (
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Options say which models there are.
type Options struct {
	Names       []string              // models that are there from the start
	Conventions map[string]Convention // what some models are like
	Convention  Convention            // what the others are like; empty: told by their name, or by each request
	Strict      bool                  // no other models are made up
}

// Repository is all models, and the shared memory that clients have registered.
type Repository struct {
	options Options
	Regions SharedMemory

	mu       sync.RWMutex
	models   map[string]*Model
	unloaded map[string]bool
}

// New makes the models.
func New(o Options) *Repository {
	t := &Repository{options: o, models: make(map[string]*Model), unloaded: make(map[string]bool)}
	for name := range o.Conventions {
		t.model(name)
	}
	for _, name := range o.Names {
		t.model(name)
	}
	return t
}

// Find returns the model that a request names.
func (t *Repository) Find(name, version string) (*Model, *StatusError) {
	if version != "" && version != "1" && version != "-1" {
		n, err := strconv.ParseInt(version, 10, 64)
		if err != nil || n <= 0 {
			return nil, Refuse(CodeInvalid, "failed to get model version from specified version string '%s' (details: stol), version should be an integral value > 0", version)
		}
		return nil, Refuse(CodeNotFound, "Request for unknown model: '%s' version %s is not found", name, version)
	}
	t.mu.RLock()
	m, gone := t.models[name], t.unloaded[name]
	t.mu.RUnlock()
	switch {
	case gone:
		return nil, Refuse(CodeNotFound, "Request for unknown model: '%s' has no available versions", name)
	case m != nil:
		return m, nil
	case name == "" || t.options.Strict:
		return nil, Refuse(CodeNotFound, "Request for unknown model: '%s' is not found", name)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.model(name), nil
}

// model returns a model, made if there is none of the name. mu is held, or not needed yet.
func (t *Repository) model(name string) *Model {
	if m := t.models[name]; m != nil {
		return m
	}
	c, ok := t.options.Conventions[name]
	if !ok {
		c = t.options.Convention
	}
	if hint := guess(name); c == "" || !ok && (hint == ConventionBefore || hint == ConventionAfter || name == engineModel) {
		c = hint
	}
	m := &Model{Name: name, Spec: specOf(c)}
	t.models[name] = m
	if c == ConventionTRTLLM {
		m.before, m.engine, m.after = t.model(beforeModel), t.model(engineModel), t.model(afterModel)
	}
	return m
}

// All returns the models in the order of their names.
func (t *Repository) All() []*Model {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var all []*Model
	for _, m := range t.models {
		if !t.unloaded[m.Name] {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *Model) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// Load makes a model answer again.
func (t *Repository) Load(name string) *StatusError {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.models[name] == nil && t.options.Strict {
		return Refuse(CodeInternal, "failed to load '%s', failed to poll from model repository", name)
	}
	delete(t.unloaded, name)
	t.model(name)
	return nil
}

// Unload takes a model away; with dependents, those behind an ensemble too.
func (t *Repository) Unload(name string, dependents bool) *StatusError {
	t.mu.Lock()
	defer t.mu.Unlock()
	m := t.models[name]
	if m == nil {
		if t.options.Strict {
			return nil // as Triton has it
		}
		m = t.model(name)
	}
	t.unloaded[name] = true
	m.stats.clear()
	if dependents && m.engine != nil {
		for _, behind := range []*Model{m.before, m.engine, m.after} {
			t.unloaded[behind.Name] = true
			behind.stats.clear()
		}
	}
	return nil
}

// Check fetches what a request has in shared memory, and says what is wrong with it.
func (t *Repository) Check(m *Model, r *Request) *StatusError {
	for i := range r.Inputs {
		if in := &r.Inputs[i]; in.Region != "" {
			data, err := t.Regions.read(in.Region, in.offset, in.size)
			if err != nil {
				return err
			}
			in.Data, in.has = data, true
		}
	}
	if err := m.check(r); err != nil {
		return &StatusError{CodeInvalid, err.Error()}
	}
	return nil
}
