package regex

import (
	"unicode"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

type op uint8

const (
	opMatch  op = iota // ends a run
	opLit              // matches text
	opFold             // matches parts without regard to case
	opSet              // matches a character of set
	opLoop             // matches characters of set, min to max times
	opJmp              // goes on at x
	opSplit            // tries x, then y; only y where set is there and lacks the next character
	opLook             // tries x at the same place, goes on at y
	opBehind           // tries x before this place, goes on at y
	opAtomic           // tries x without ways back, goes on at y
	opAssert           // checks the place
	opMark             // remembers in loop x where a round began
	opCheck            // goes on at y where the round of loop x was empty
)

type inst struct {
	op       op
	mode     mode
	not      bool
	free     bool // what it does depends on nothing but the place
	assert   assertion
	x, y     int
	min, max int
	text     string
	parts    [][]rune
	set      *unidata.Set
}

// maxProgram is how many instructions a pattern may have. Nested repetitions, written out, grow
// fast.
const maxProgram = 50000

// compiler turns nodes into instructions.
type compiler struct {
	prog   []inst
	loops  int
	guards int // loops around here that guard against empty rounds
	tables *tables
}

func (c *compiler) emit(in inst) int {
	in.free = c.guards == 0
	c.prog = append(c.prog, in)
	return len(c.prog) - 1
}

// here is where the next instruction will be.
func (c *compiler) here() int { return len(c.prog) }

func (c *compiler) compile(n *node) {
	c.node(n)
	c.emit(inst{op: opMatch})
}

func (c *compiler) node(n *node) {
	if len(c.prog) > maxProgram {
		panic(bad("it needs more than %d instructions; its repetitions are too many", maxProgram))
	}
	switch n.kind {
	case kLiteral:
		if n.fold {
			c.emit(inst{op: opFold, parts: n.parts})
		} else {
			c.emit(inst{op: opLit, text: string(n.runes)})
		}
	case kSet, kAny:
		c.emit(inst{op: opSet, set: c.set(n)})
	case kCat:
		for _, s := range n.subs {
			c.node(s)
		}
	case kAlt:
		c.alt(n)
	case kRepeat:
		c.repeat(n)
	case kLook:
		in := inst{op: opLook, not: n.not}
		if n.behind {
			in.op = opBehind
			in.min, in.max = n.subs[0].width()
		}
		c.sub(in, n.subs[0])
	case kAtomic:
		c.sub(inst{op: opAtomic}, n.subs[0])
	case kAssert:
		in := inst{op: opAssert, assert: n.assert}
		if n.assert == wordEdge || n.assert == notWordEdge {
			in.set = unidata.NewSet(c.tables.word)
		}
		c.emit(in)
	}
}

// set is the characters that a part of one character matches.
func (c *compiler) set(n *node) *unidata.Set {
	switch {
	case n.kind == kSet:
		return unidata.NewSet(n.set)
	case n.all:
		return unidata.NewSet([]unidata.Range{{Lo: 0, Hi: unicode.MaxRune}})
	}
	return unidata.NewSet(unidata.Not([]unidata.Range{{Lo: '\n', Hi: '\n'}}))
}

// sub compiles a part that runs by itself.
func (c *compiler) sub(in inst, n *node) {
	at := c.emit(in)
	c.prog[at].x = c.here()
	c.compile(n)
	c.prog[at].y = c.here()
}

// alt compiles alternatives. One whose first character is known is not tried at another.
func (c *compiler) alt(n *node) {
	var ends []int
	for i, s := range n.subs {
		if i == len(n.subs)-1 {
			c.node(s)
			break
		}
		in := inst{op: opSplit}
		if first, ok := c.tables.first(s); ok {
			in.set = unidata.NewSet(first)
		}
		split := c.emit(in)
		c.prog[split].x = c.here()
		c.node(s)
		ends = append(ends, c.emit(inst{op: opJmp}))
		c.prog[split].y = c.here()
	}
	for _, e := range ends {
		c.prog[e].x = c.here()
	}
}

func (c *compiler) repeat(n *node) {
	body := n.subs[0]
	if body.kind == kSet || body.kind == kAny {
		c.emit(inst{op: opLoop, mode: n.mode, set: c.set(body), min: n.min, max: n.max})
		return
	}
	if n.mode == possessive {
		plain := *n
		plain.mode = greedy
		c.sub(inst{op: opAtomic}, &plain)
		return
	}
	for range n.min {
		c.node(body)
	}
	if n.max == inf {
		c.star(body, n.mode)
		return
	}
	var splits []int
	for range n.max - n.min {
		splits = append(splits, c.emit(inst{op: opSplit}))
		c.node(body)
	}
	for _, s := range splits {
		c.prog[s].x, c.prog[s].y = choose(n.mode, s+1, c.here())
	}
}

func (c *compiler) star(body *node, m mode) {
	split := c.emit(inst{op: opSplit})
	lo, _ := body.width()
	slot, check := 0, 0
	if lo == 0 {
		slot = c.loops
		c.loops++
		c.guards++
		c.emit(inst{op: opMark, x: slot})
	}
	c.node(body)
	if lo == 0 {
		check = c.emit(inst{op: opCheck, x: slot})
		c.guards--
	}
	c.emit(inst{op: opJmp, x: split})
	c.prog[split].x, c.prog[split].y = choose(m, split+1, c.here())
	if lo == 0 {
		c.prog[check].y = c.here()
	}
}

// choose orders the two ways of a repetition: another round, or on.
func choose(m mode, round, on int) (int, int) {
	if m == lazy {
		return on, round
	}
	return round, on
}
