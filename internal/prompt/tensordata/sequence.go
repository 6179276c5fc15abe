package tensordata

import (
	"io"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/inferometer/inferometer/internal/prompt"
)

// What holds where the plan says nothing.
const (
	defaultLength = 20
	defaultIDs    = 1<<32 - 1
)

// idsOfStage is how far apart the ids of two stages begin, so that a stage's ids do
// not depend on how many the stages before it used. Exact sources count on.
const idsOfStage = 1 << 24

// sequence is a row of requests. Its own requests come one after the other.
type sequence struct {
	steps  []step
	id     uint64
	length int
	at     int // the request that comes next
	chat   bool
	name   string // in place of the id
	last   *prompt.Prompt
	past   []byte // messages of the turns so far, as JSON
}

// begin starts the sequence of a place, on which and the seed all that is random about it
// depends.
func (s *Source) begin(place prompt.Position) *sequence {
	rng := rand.New(rand.NewPCG(s.seed, prompt.Mix(place.Number())))
	q := &sequence{steps: s.streams[0]}
	if s.payloads { // sessions are used in order
		q.steps, q.chat = s.streams[place.I%uint64(len(s.streams))], true
		q.name = q.steps[0].name
		if round := place.I / uint64(len(s.streams)); q.name != "" && round > 0 {
			q.name += "#" + strconv.FormatUint(round+1, 10)
		}
	} else if len(s.streams) > 1 {
		q.steps = s.streams[rng.IntN(len(s.streams))]
	}
	q.id = s.id(place)
	switch {
	case q.chat || s.given && s.settings.Length == 0:
		q.length = len(q.steps)
	default:
		q.length = s.settings.Length
		if q.length == 0 {
			q.length = defaultLength
		}
		q.length = max(q.length+int((2*rng.Float64()-1)*s.settings.Variation*float64(q.length)), 1)
	}
	return q
}

func (s *Source) id(place prompt.Position) uint64 {
	return s.numbered(place.Stage*idsOfStage + place.I)
}

// numbered is the id of the n-th sequence.
func (s *Source) numbered(n uint64) uint64 {
	return max(s.settings.FirstID, 1) + n%s.idCount()
}

// idCount is how many ids there are.
func (s *Source) idCount() uint64 {
	if s.settings.IDs == 0 {
		return defaultIDs
	}
	return s.settings.IDs
}

// request is the request that comes next. It knows how the sequence goes on.
func (q *sequence) request() prompt.Prompt {
	p := q.steps[q.at%len(q.steps)].prompt
	p.Turn = q.at
	p.Session = q.name
	if q.name == "" {
		p.Session = strconv.FormatUint(q.id, 10)
	}
	q.at++
	if !q.chat {
		p.Sequence = prompt.Sequence{ID: q.id, Start: p.Turn == 0, End: q.at == q.length, Last: q.ending(&p)}
	}
	if q.at < q.length {
		p.Rest = q
	}
	return p
}

// ending is the request that the sequence ends with whenever it has to: its last. nil: p is that
// one.
func (q *sequence) ending(p *prompt.Prompt) *prompt.Prompt {
	if q.at == q.length {
		return nil
	}
	if q.last == nil {
		last := q.steps[(q.length-1)%len(q.steps)].prompt
		last.Session, last.Turn = p.Session, q.length-1
		last.Sequence = prompt.Sequence{ID: q.id, End: true}
		q.last = &last
	}
	return q.last
}

// Next implements prompt.Conversation. After a request that failed the server's state
// is anybody's guess, so that the sequence ends there.
func (q *sequence) Next(answer prompt.Response) (prompt.Prompt, time.Duration, error) {
	if answer.Failed || q.at == q.length {
		return prompt.Prompt{}, 0, io.EOF
	}
	think := q.steps[(q.at-1)%len(q.steps)].think
	if !q.chat {
		return q.request(), think, nil
	}
	p, err := q.nextTurn(answer.Text)
	return p, think, err
}
