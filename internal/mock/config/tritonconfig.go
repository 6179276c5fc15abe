package config

import (
	"slices"

	"github.com/inferometer/inferometer/internal/mock/repository"
)

// Triton is how the server speaks Triton's protocols.
type Triton struct {
	GRPC       string                           // address that the command serves gRPC on; empty: none
	Metrics    string                           // address that the command serves metrics on, beside Listen; empty: none
	Models     map[string]repository.Convention // what some models are like
	Convention repository.Convention            // what the others are like; empty: told by their name, or by each request
	Echo       bool                             // the prompt stands ahead of the text of every response that does not exclude it
}

func (t Triton) validate(v *faults) {
	known := func(c repository.Convention) bool { return slices.Contains(repository.Conventions(), c) }
	v.check(t.Convention == "" || known(t.Convention), "--triton-convention %q: must be one of %v", t.Convention, repository.Conventions())
	for name, c := range t.Models {
		v.check(name != "", "--triton-models: a name cannot be empty")
		v.check(known(c), "--triton-models %s=%s: the convention must be one of %v", name, c, repository.Conventions())
	}
}
