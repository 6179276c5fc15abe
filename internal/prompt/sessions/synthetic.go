package sessions

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// NewSessions makes up sessions of the numbers and lengths that d asks for.
func NewSessions(d plan.Data, tok prompt.Tokenizer, seed uint64, texts prompt.Factory) (*Source, error) {
	turns := d.Sessions.Turns
	if turns == (plan.Length{}) {
		turns = plan.Length{Dist: plan.DistFixed, Mean: 1}
	}
	if n := d.Sessions.Count; n > mostTurns || turns.Dist == plan.DistFixed && float64(n)*turns.Mean > mostTurns {
		return nil, tooMany("data.sessions") // before any is made
	}
	m, err := newGenerator(d, turns, tok, seed, texts)
	if err != nil {
		return nil, err
	}
	s := &Source{tok: tok}
	if d.Sessions.Count == 0 {
		s.endless = m
		return s, nil
	}
	made, behind := uint64(0), uint64(0) // turns, and those of them that are not the first
	for i := range uint64(d.Sessions.Count) {
		if made+uint64(m.count.At(i)) > mostTurns {
			return nil, tooMany("data.sessions")
		}
		k, err := m.session(i, made, behind)
		if err != nil {
			return nil, err
		}
		made, behind = made+uint64(len(k)), behind+uint64(len(k)-1)
		s.sessions = append(s.sessions, k)
	}
	return s, nil
}

// generator makes sessions up, each by its number.
type generator struct {
	seed         uint64
	ratio        float64
	count, pause *prompt.Lengths
	first, later prompt.Source // of the texts of first turns and of all others
}

func newGenerator(d plan.Data, turns plan.Length, tok prompt.Tokenizer, seed uint64, texts prompt.Factory) (*generator, error) {
	m := &generator{
		seed: seed, ratio: ratio(d.Sessions.DelayRatio),
		count: prompt.NewLengths(turns, prompt.Mix(seed^'t')), pause: prompt.NewLengths(d.Sessions.Delay, prompt.Mix(seed^'d')),
	}
	lengths := plan.Data{Input: d.Input, Output: d.Output}
	var err error
	if m.later, err = texts(lengths, tok, seed); err != nil {
		return nil, err
	}
	lengths.Prefixes = d.Prefixes
	m.first, err = texts(lengths, tok, prompt.Mix(seed^'f'))
	return m, err
}

// session is the i-th. Of all turns, made come before it, behind of which are not first ones.
func (g *generator) session(i, made, behind uint64) (k session, err error) {
	name := uuid(g.seed, i)
	turns := g.count.At(i)
	for n := range turns {
		from, place := g.first, i
		if n > 0 {
			from, place = g.later, behind
			behind++
		}
		p, err := from.Prompt(context.Background(), prompt.Position{I: place})
		if err != nil {
			return nil, err
		}
		p.Session, p.Turn = name, n
		one := turn{prompt: p, due: -1, line: int(made)}
		if n < turns-1 {
			one.pauses = true
			one.delay = time.Duration(float64(g.pause.At(made)) * g.ratio * float64(time.Millisecond))
		}
		k = append(k, one)
		made++
	}
	return k, nil
}

// mostApart is how many turns an endless source's session has room for among the numbers of all turns.
const mostApart = 1 << 14

// sessionAt is the session of a place, where there is no end of them: another one in each stage.
func (g *generator) sessionAt(place prompt.Position) (session, error) {
	i := place.Number()
	if g.count.At(i) > mostApart {
		return nil, tooMany("data.sessions.turns")
	}
	return g.session(i, i*mostApart, i*mostApart)
}

// uuid is the name of a session: a random UUID, the same for the same seed.
func uuid(seed, i uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], prompt.Mix(seed^'u'^i<<8))
	binary.BigEndian.PutUint64(b[8:], prompt.Mix(seed^'v'^i<<8))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
