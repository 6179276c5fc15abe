package args

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/plan"
)

func (v values) conditions() plan.Conditions {
	return plan.Conditions{FailIf: v.flags["fail-if"], FailUnless: v.flags["fail-unless"]}
}

// gates puts the gates of the command line behind those of the plan file.
func (b *builder) gates(p *plan.Plan) {
	for _, text := range b.flags["fail-if"] {
		b.draft.Put(fmt.Sprintf("fail_if[%d]", len(p.FailIf)), "--fail-if", text)
	}
	for _, text := range b.flags["fail-unless"] {
		b.draft.Put(fmt.Sprintf("fail_unless[%d]", len(p.FailUnless)), "--fail-unless", text)
	}
}
