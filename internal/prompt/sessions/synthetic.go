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
	count := prompt.NewLengths(turns, prompt.Mix(seed^'t'))
	pause := prompt.NewLengths(d.Sessions.Delay, prompt.Mix(seed^'d'))
	lengths := plan.Data{Input: d.Input, Output: d.Output}
	later, err := texts(lengths, tok, seed)
	if err != nil {
		return nil, err
	}
	lengths.Prefixes = d.Prefixes
	first, err := texts(lengths, tok, prompt.Mix(seed^'f'))
	if err != nil {
		return nil, err
	}
	s := &Source{tok: tok}
	made, behind := uint64(0), uint64(0) // turns, and those of them that are not the first
	for i := range d.Sessions.Count {
		var k session
		name := uuid(seed, uint64(i))
		turns := count.At(uint64(i))
		for n := range turns {
			from, place := first, uint64(i)
			if n > 0 {
				from, place = later, behind
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
				one.delay = time.Duration(float64(pause.At(made)) * ratio(d.Sessions.DelayRatio) * float64(time.Millisecond))
			}
			k = append(k, one)
			if made++; made > mostTurns {
				return nil, tooMany("data.sessions")
			}
		}
		s.sessions = append(s.sessions, k)
	}
	return s, nil
}

// uuid is the name of a session: a random UUID, the same for the same seed.
func uuid(seed, i uint64) string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], prompt.Mix(seed^'u'^i<<8))
	binary.BigEndian.PutUint64(b[8:], prompt.Mix(seed^'v'^i<<8))
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
