package prompt

import (
	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
)

// Sizes are the lengths of prompts and answers.
type Sizes struct {
	input, output interface{ At(uint64) int }
	ahead         bool // they are a table, which every stage begins at its first entry
}

// NewSizes prepares to draw the lengths that d asks for, or draws them where d wants that done
// ahead: first those of all prompts, then those of all responses, from one generator.
func NewSizes(d plan.Data, seed uint64) Sizes {
	if d.Ahead == (plan.Ahead{}) {
		return Sizes{input: NewLengths(d.Input, Mix(seed^'i')), output: NewLengths(d.Output, Mix(seed^'o'))}
	}
	g := numpy.New(seed)
	input := DrawLengths(d.Input, d.Ahead.Input, 0, g)
	return Sizes{input: input, output: DrawLengths(d.Output, d.Ahead.Output, 0, g), ahead: true}
}

// Input is the length of a prompt by its number, which is that of its place unless prompts come
// again.
func (s *Sizes) Input(number uint64, at Position) int {
	if s.ahead {
		return max(s.input.At(at.I), 1)
	}
	return s.input.At(number)
}

// Output is how many tokens are asked for; 0: the server decides.
func (s *Sizes) Output(at Position) int {
	if s.ahead {
		return s.output.At(at.I)
	}
	return s.output.At(at.Number())
}
