package conversations

import (
	"github.com/inferometer/inferometer/internal/lib/numpy"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

const (
	mostTurns  = 1 << 22 // whose lengths are drawn; more of them begin with the first again
	someTokens = 50257   // of a vocabulary whose size is not known
)

// lengths are those of all slots: a seed gives the same ones as programs with numpy draw that
// make up such conversations.
type lengths struct {
	turns, own    prompt.DrawnLengths // of each slot
	input, output prompt.DrawnLengths // of each turn
	from          []uint64            // the first turn of each slot
}

// sized is a tokenizer that knows how many tokens its model has.
type sized interface{ BaseSize() int }

func drawLengths(d *plan.Data, tok prompt.Tokenizer, seed uint64) lengths {
	c, g := &d.Conversations, numpy.New(seed)
	draw := func(dist plan.Length, n int) prompt.DrawnLengths {
		if dist == (plan.Length{}) { // none
			dist.Dist = plan.DistFixed
		}
		return prompt.DrawLengths(dist, n, 1, g)
	}
	l := lengths{turns: draw(c.Turns, c.Count), own: draw(c.DynamicPrompt, c.Count), from: make([]uint64, c.Count)}
	all := uint64(0)
	for i := range l.from {
		l.from[i] = all
		all += l.turnsOf(uint64(i))
	}
	tokens := someTokens
	if s, ok := tok.(sized); ok {
		tokens = s.BaseSize()
	}
	for range min(c.SharedPrompt, mostTurns) { // where the words of the shared prompt are drawn
		g.Below(tokens)
	}
	n := int(min(all, mostTurns))
	l.input, l.output = draw(c.Input, n), draw(d.Output, n)
	return l
}

// turnsOf is how many turns each conversation of a slot has.
func (l *lengths) turnsOf(slot uint64) uint64 { return uint64(max(l.turns.At(slot), 1)) }

// turnLengths returns the lengths of a turn. An output of 0 is none asked for.
func (l *lengths) turnLengths(slot, turn uint64) (input, output int) {
	at := l.from[slot] + turn
	return max(l.input.At(at), 1), l.output.At(at)
}
