package regex

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// The bound on the steps of one FindAll. A step is a few nanoseconds.
const (
	stepsBase    = 2_000_000
	stepsPerByte = 400
)

// frame is a way back: what to try when the way at hand fails.
type frame struct {
	kind frameKind
	pc   int
	pos  int
	lo   int
}

type frameKind uint8

const (
	fBranch  frameKind = iota // go on at pc and pos
	fGreedy                   // give back one character of a loop that ends at pos and can end at lo
	fLazy                     // take one more character at pos; lo is how many more may follow
	fRestore                  // put pos back into loop slot pc
)

// matcher is the working memory of one FindAll.
type matcher struct {
	re    *Regexp
	text  string
	start int // of the search
	steps int
	limit int
	stack []frame
	loops []int

	depth int      // of runs within runs
	since int      // steps when this search began
	tried []uint64 // bits of instructions and places that this search has failed from
	marks bool     // some of them are set
}

// memoAfter is how many steps a search takes before it remembers where it has failed.
const memoAfter = 20_000

// memoMax is how many words of bits that may take: 64 MiB.
const memoMax = 8 << 20

// again reports whether this search has been at an instruction and place before, and
// so would fail from there again. What a search does from there does not depend on how
// it got there, unless that is within a loop that guards against empty rounds.
func (m *matcher) again(in *inst, pc, pos int) bool {
	if m.depth > 0 || m.steps-m.since < memoAfter || !in.free {
		return false
	}
	if m.tried == nil {
		size := (len(m.re.prog)*(len(m.text)+1) + 63) / 64
		if size > memoMax {
			return false // the bound on steps ends what takes too long
		}
		m.tried = make([]uint64, size)
	}
	at := pc*(len(m.text)+1) + pos
	if m.tried[at/64]>>(at%64)&1 != 0 {
		return true
	}
	m.tried[at/64] |= 1 << (at % 64)
	m.marks = true
	return false
}

// search finds the first match at or after a place; start is -1 where there is none.
func (m *matcher) search(at int) (start, end int, err error) {
	m.start, m.since = at, m.steps
	if m.marks {
		clear(m.tried)
		m.marks = false
	}
	for i := at; ; {
		size := 1
		if i < len(m.text) {
			c := m.text[i]
			r := rune(c)
			if c >= utf8.RuneSelf {
				r, size = utf8.DecodeRuneInString(m.text[i:])
			}
			if m.re.first != nil {
				if r < 128 && !m.re.ascii[r] || r >= 128 && !m.re.first.Has(r) {
					i += size
					continue
				}
			}
		} else if m.re.first != nil {
			return -1, -1, nil
		}
		end, ok := m.run(0, i, -1)
		if m.steps > m.limit {
			return -1, -1, &LimitError{Pattern: m.re.pattern, Steps: m.limit, Bytes: len(m.text)}
		}
		if ok {
			return i, end, nil
		}
		if i += size; i > len(m.text) {
			return -1, -1, nil
		}
	}
}

// run executes from pc at pos to the end of that part of the program, which has to
// be at target unless that is -1. It returns where it ended.
func (m *matcher) run(pc, pos, target int) (int, bool) {
	base := len(m.stack)
	for {
		if m.steps++; m.steps > m.limit {
			m.stack = m.stack[:base]
			return 0, false
		}
		in := &m.re.prog[pc]
		ok := false
		switch in.op {
		case opMatch:
			if target < 0 || pos == target {
				m.unwind(base)
				return pos, true
			}
		case opLit:
			if ok = strings.HasPrefix(m.text[pos:], in.text); ok {
				pos += len(in.text)
				pc++
			}
		case opFold:
			var n int
			if n, ok = m.fold(in.parts, pos); ok {
				pos += n
				pc++
			}
		case opSet:
			if r, size := m.next(pos); size > 0 && in.set.Has(r) {
				ok = true
				pos += size
				pc++
			}
		case opLoop:
			if m.again(in, pc, pos) {
				break
			}
			if pos, ok = m.loop(in, pc, pos); ok {
				pc++
			}
		case opJmp:
			pc, ok = in.x, true
		case opSplit:
			if m.again(in, pc, pos) {
				break
			}
			ok = true
			if in.set != nil {
				if r, size := m.next(pos); size == 0 || !in.set.Has(r) {
					pc = in.y
					break
				}
			}
			m.stack = append(m.stack, frame{fBranch, in.y, pos, 0})
			pc = in.x
		default:
			pc, pos, ok = m.rare(in, pc, pos)
		}
		if !ok {
			if pc, pos, ok = m.back(base); !ok {
				return 0, false
			}
		}
	}
}

// rare runs the instructions that a match needs less often.
func (m *matcher) rare(in *inst, pc, pos int) (_, _ int, ok bool) {
	switch in.op {
	case opLook:
		_, found := m.sub(in.x, pos, -1)
		if ok = found != in.not; ok {
			pc = in.y
		}
	case opBehind:
		if ok = m.behind(in, pos) != in.not; ok {
			pc = in.y
		}
	case opAtomic:
		var end int
		if end, ok = m.sub(in.x, pos, -1); ok {
			pos, pc = end, in.y
		}
	case opAssert:
		if ok = m.holds(in, pos); ok {
			pc++
		}
	case opMark:
		m.stack = append(m.stack, frame{fRestore, in.x, m.loops[in.x], 0})
		m.loops[in.x] = pos
		pc++
		ok = true
	case opCheck:
		if pc++; m.loops[in.x] == pos {
			pc = in.y
		}
		ok = true
	}
	return pc, pos, ok
}

func (m *matcher) sub(pc, pos, target int) (int, bool) {
	m.depth++
	end, ok := m.run(pc, pos, target)
	m.depth--
	return end, ok
}

// unwind forgets the ways back of a run that has matched, but for what they restore.
func (m *matcher) unwind(base int) {
	for i := len(m.stack) - 1; i >= base && len(m.loops) > 0; i-- {
		if f := m.stack[i]; f.kind == fRestore {
			m.loops[f.pc] = f.pos
		}
	}
	m.stack = m.stack[:base]
}

// back goes the last way back.
func (m *matcher) back(base int) (pc, pos int, ok bool) {
	for len(m.stack) > base {
		f := &m.stack[len(m.stack)-1]
		switch f.kind {
		case fBranch:
			pc, pos = f.pc, f.pos
			m.stack = m.stack[:len(m.stack)-1]
			return pc, pos, true
		case fGreedy:
			_, size := utf8.DecodeLastRuneInString(m.text[f.lo:f.pos])
			f.pos -= size
			pc, pos = f.pc, f.pos
			if f.pos <= f.lo {
				m.stack = m.stack[:len(m.stack)-1]
			}
			return pc, pos, true
		case fLazy:
			r, size := m.next(f.pos)
			if size > 0 && m.re.prog[f.pc-1].set.Has(r) {
				f.pos += size
				pc, pos = f.pc, f.pos
				if f.lo > 0 {
					f.lo--
				}
				if f.lo == 0 {
					m.stack = m.stack[:len(m.stack)-1]
				}
				return pc, pos, true
			}
		case fRestore:
			m.loops[f.pc] = f.pos
		}
		m.stack = m.stack[:len(m.stack)-1]
	}
	return 0, 0, false
}

// next is the character at pos; its size is 0 at the end.
func (m *matcher) next(pos int) (rune, int) {
	if pos >= len(m.text) {
		return 0, 0
	}
	if c := m.text[pos]; c < utf8.RuneSelf {
		return rune(c), 1
	}
	return utf8.DecodeRuneInString(m.text[pos:])
}

// loop runs a repetition of one character.
func (m *matcher) loop(in *inst, pc, pos int) (int, bool) {
	n, limit := 0, in.max
	if in.mode == lazy {
		limit = in.min
	}
	lo := pos
	for limit == inf || n < limit {
		r, size := m.next(pos)
		if size == 0 || !in.set.Has(r) {
			break
		}
		pos += size
		if n++; n == in.min {
			lo = pos
		}
	}
	m.steps += n >> 2
	if n < in.min {
		return pos, false
	}
	switch {
	case in.mode == greedy && pos > lo:
		m.stack = append(m.stack, frame{fGreedy, pc + 1, pos, lo})
	case in.mode == lazy && in.max != in.min:
		more := inf
		if in.max != inf {
			more = in.max - in.min
		}
		m.stack = append(m.stack, frame{fLazy, pc + 1, pos, more})
	}
	return pos, true
}

// fold is the length of the text that is like parts.
func (m *matcher) fold(parts [][]rune, pos int) (int, bool) {
	from := pos
	for _, part := range parts {
		if len(part) > 1 {
			r, size := m.next(pos)
			if size > 0 && slices.Equal(m.re.tables.full[r], part) {
				pos += size
				continue
			}
		}
		for _, want := range part {
			r, size := m.next(pos)
			switch {
			case size == 0:
				return 0, false
			case 'a' <= r && r <= 'z':
				r -= 'a' - 'A'
			case r >= utf8.RuneSelf:
				r = m.re.tables.one(r)
			}
			if r != want {
				return 0, false
			}
			pos += size
		}
	}
	return pos - from, true
}

// behind tells whether something that ends at pos matches.
func (m *matcher) behind(in *inst, pos int) bool {
	at := pos
	for n := 0; ; n++ {
		if n >= in.min {
			if _, ok := m.sub(in.x, at, pos); ok {
				return true
			}
		}
		if at == 0 || n == in.max || m.steps > m.limit {
			return false
		}
		_, size := utf8.DecodeLastRuneInString(m.text[:at])
		at -= size
	}
}

func (m *matcher) holds(in *inst, pos int) bool {
	switch in.assert {
	case lineStart:
		return pos == 0 || m.text[pos-1] == '\n' && pos < len(m.text)
	case lineEnd:
		return pos == len(m.text) || m.text[pos] == '\n'
	case textStart:
		return pos == 0
	case textEnd:
		return pos == len(m.text)
	case textEndLine:
		return pos == len(m.text) || pos == len(m.text)-1 && m.text[pos] == '\n'
	case searchStart:
		return pos == m.start
	}
	before, after := false, false
	if r, size := utf8.DecodeLastRuneInString(m.text[:pos]); size > 0 {
		before = in.set.Has(r)
	}
	if r, size := m.next(pos); size > 0 {
		after = in.set.Has(r)
	}
	return (before != after) == (in.assert == wordEdge)
}
