package registry

import (
	"context"
	"errors"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// A user who stops a run need not wait until its prompts are ready.
func TestStoppedWhilePromptsAreMade(t *testing.T) {
	begun, never := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(never) })
	k := Kit{Sources: map[string]prompt.Factory{"slow": func(plan.Data, prompt.Tokenizer, uint64) (prompt.Source, error) {
		close(begun)
		<-never
		return nil, errors.New("the test is over")
	}}}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		<-begun
		cancel(stopped)
	}()
	p := &plan.Plan{Data: plan.Data{Source: "slow"}}
	if _, err := k.Prompts(ctx, p, &loader.Found{}); !errors.Is(err, stopped) {
		t.Errorf("%v", err)
	}
}
