package talks

import (
	"context"
	"strconv"
	"time"

	"inferometer/internal/plan"
	"inferometer/internal/prompt"
)

// NewSessions makes up sessions of the numbers and lengths that d asks for.
func NewSessions(d plan.Data, tok prompt.Tokenizer, seed uint64, texts Texts) (*Source, error) {
	turns := d.Sessions.Turns
	if turns == (plan.Length{}) {
		turns = plan.Length{Dist: plan.DistFixed, Mean: 1}
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
	made := uint64(0)
	for i := range d.Sessions.Count {
		var k talk
		turns := count.At(uint64(i))
		for n := range turns {
			from := later
			if n == 0 {
				from = first
			}
			p, err := from.Next(context.Background())
			if err != nil {
				return nil, err
			}
			p.Session, p.Turn = strconv.Itoa(i), n
			one := turn{prompt: p, due: -1}
			if n < turns-1 {
				one.delay = time.Duration(float64(pause.At(made)) * ratio(d.Sessions.DelayRatio) * float64(time.Millisecond))
			}
			k = append(k, one)
			if made++; made > mostTurns {
				return nil, tooMany("data.sessions")
			}
		}
		s.talks = append(s.talks, k)
	}
	return s, nil
}
