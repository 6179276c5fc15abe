package run

import (
	"inferometer/internal/endpoint"
	"inferometer/internal/prompt"
)

// fit holds what a source of tensors has against the model that is to take it.
func fit(s prompt.Source, e endpoint.Endpoint) error {
	source, ok := s.(prompt.Fitter)
	if !ok {
		return nil
	}
	target, ok := e.(endpoint.Tensored)
	if !ok {
		return nil
	}
	return source.Fit(target.Tensors())
}
