package triton

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/kserve"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/message"
)

// server answers questions about itself and its models, over either transport.
type server interface {
	// alive asks whether an inference server is there that speaks the protocol.
	alive(ctx context.Context) error
	// model asks for a model's metadata and configuration; the latter is nil where
	// the server has no such thing.
	model(ctx context.Context, name, version string) (*kserve.ModelMetadata, *kserve.ModelConfig, error)
	// index lists the models.
	index(ctx context.Context) ([]listed, error)
}

type listed struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	State   string `json:"state"`
	Reason  string `json:"reason"`
}

// ready reports whether the model can be asked.
func (l listed) ready() bool { return l.State == stateReady }

// stateReady is that of a model which can be asked. One that was never loaded has no
// state.
const stateReady = "READY"

// listModels gives the list of models. Where the server knows no states at all, what
// it lists is ready.
func listModels(ctx context.Context, s server) ([]listed, error) {
	list, err := s.index(ctx)
	if !slices.ContainsFunc(list, func(l listed) bool { return l.State != "" }) {
		for i := range list {
			list[i].State = stateReady
		}
	}
	return list, err
}

// mostNested bounds how deep ensembles may be nested.
const mostNested = 16

// describeModel asks for everything about a model and those that it is composed of.
func describeModel(ctx context.Context, s server, name, version string) (ModelInfo, error) {
	return describeNested(ctx, s, name, version, nil)
}

// describeNested describes a model that is a step of the ensembles given, the outermost first.
func describeNested(ctx context.Context, s server, name, version string, outer []string) (ModelInfo, error) {
	meta, conf, err := s.model(ctx, name, version)
	if err != nil {
		return ModelInfo{}, explainModel(ctx, s, name, version, err)
	}
	m, err := describe(meta, conf)
	if err != nil || conf == nil {
		return m, err
	}
	if len(outer) == mostNested {
		return m, fmt.Errorf("ensembles are nested more than %d deep, down to %s", mostNested, name)
	}
	outer = append(outer, name)
	for _, step := range conf.Steps() {
		inner := step.ModelName
		if inner == "" {
			return m, fmt.Errorf("a step of ensemble %s has no model name", name)
		}
		if slices.Contains(outer, inner) {
			return m, fmt.Errorf("ensemble %s is a step of itself", inner)
		}
		if slices.ContainsFunc(m.Composing, func(c ModelInfo) bool { return c.Name == inner }) {
			continue
		}
		v := ""
		if step.ModelVersion > 0 {
			v = strconv.FormatInt(step.ModelVersion, 10)
		}
		c, err := describeNested(ctx, s, inner, v, outer)
		if err != nil {
			return m, fmt.Errorf("step %s of ensemble %s: %w", inner, name, err)
		}
		m.Composing = append(m.Composing, c)
	}
	return m, nil
}

// explainModel says why a model cannot be asked about.
func explainModel(ctx context.Context, s server, name, version string, err error) error {
	var said *serverError
	if !errors.As(err, &said) {
		return err
	}
	list, indexErr := listModels(ctx, s)
	if indexErr != nil || len(list) == 0 {
		return fmt.Errorf("the server does not know the model %s: %s", name, said.text)
	}
	same := slices.DeleteFunc(slices.Clone(list), func(l listed) bool { return l.Name != name })
	switch {
	case len(same) == 0:
		names := readyNames(list)
		hint := ""
		if n := suggest.Name(name, names); n != "" {
			hint = fmt.Sprintf("; did you mean %s?", n)
		}
		return fmt.Errorf("the server has no model %q; it has %s%s", name, orNone(names), hint)
	case version != "" && slices.ContainsFunc(same, listed.ready):
		var versions []string
		for _, l := range same {
			if l.ready() {
				versions = append(versions, l.Version)
			}
		}
		return fmt.Errorf("model %s has no version %s; it has %s", name, version, strings.Join(versions, ", "))
	case !slices.ContainsFunc(same, listed.ready):
		why, state := same[0].Reason, strings.ToLower(same[0].State)
		if why == "" {
			why = said.text
		}
		if state == "" {
			state = "not loaded"
		}
		return fmt.Errorf("model %s is not ready (%s): %s; ready models: %s", name, state, why, orNone(readyNames(list)))
	}
	return fmt.Errorf("asking about model %s: %s", name, said.text)
}

func orNone(names []string) string {
	if text := strings.Join(names, ", "); text != "" {
		return text
	}
	return "none"
}

// readyNames are the models that can be asked, each once, in the server's order.
func readyNames(list []listed) []string {
	var names []string
	for _, l := range list {
		if l.ready() && !slices.Contains(names, l.Name) {
			names = append(names, l.Name)
		}
	}
	return names
}

// chooseModel finds the model to measure where the user named none: the only one, or
// the only one that is no part of another.
func chooseModel(ctx context.Context, s server) (string, error) {
	list, err := listModels(ctx, s)
	if err != nil {
		return "", message.Errorf("listing the models: %w; name the model with %v", err, message.Model)
	}
	all := readyNames(list)
	left := slices.Clone(all)
	for _, name := range all {
		m, err := describeModel(ctx, s, name, "")
		if err != nil {
			continue
		}
		parts := m.All()[1:]
		left = slices.DeleteFunc(left, func(n string) bool { return slices.Contains(parts, n) })
	}
	switch len(left) {
	case 0:
		return "", message.Errorf("the server has no ready model: load one, or name one with %v", message.Model)
	case 1:
		return left[0], nil
	}
	return "", message.Errorf("the server has %d models; name one with %v: %s", len(left), message.Model, strings.Join(left, ", "))
}

// serverError is a refusal by a server that speaks the protocol, in its own words.
type serverError struct{ text string }

func (e *serverError) Error() string { return e.text }
