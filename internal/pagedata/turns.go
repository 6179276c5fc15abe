package pagedata

import (
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// mostTurns bounds the turns that are drawn apart: those behind are drawn as the last.
const mostTurns = 64

// Turn is what the requests of one place in their conversations took to the first token, in milliseconds.
type Turn struct {
	Turn    int     `json:"turn"` // from 1
	Samples int64   `json:"n"`
	P50     float64 `json:"p50"`
	P90     float64 `json:"p90"`
	P99     float64 `json:"p99"`
}

// turns are the times to the first token of a stage's turns, by turn.
type turns []spread

// turn takes in a request of a conversation.
func (s *Builder) turn(rec *record.Record, first time.Duration) {
	if rec.Session == "" || rec.Failure != nil || first == record.Never || rec.Sent == record.Never || rec.Phase != record.Measured {
		return
	}
	s.turnOf(rec.Stage, min(max(rec.Turn, 0), mostTurns-1)).add(int64(first-rec.Sent), 1)
}

// turnOf is what is known of a turn of a stage.
func (s *Builder) turnOf(stage, turn int) *spread {
	for len(s.turns) <= stage {
		s.turns = append(s.turns, nil)
	}
	for len(s.turns[stage]) <= turn {
		s.turns[stage] = append(s.turns[stage], spread{})
	}
	return &s.turns[stage][turn]
}

func (t turns) drawn() []Turn {
	var out []Turn
	for i := range t {
		if s := &t[i]; s.n > 0 {
			out = append(out, Turn{Turn: i + 1, Samples: s.n, P50: digits(s.quantile(0.5)), P90: digits(s.quantile(0.9)),
				P99: digits(s.quantile(0.99))})
		}
	}
	return out
}

// sessionKey decides whether the requests of a conversation are in the sample: all of them or none, so
// that a conversation is seen from end to end.
func sessionKey(session string) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for i := range len(session) {
		h = (h ^ uint64(session[i])) * 1099511628211
	}
	return h
}

// mostSessionName bounds the name of a conversation.
const mostSessionName = 64

// sessions adds the columns of the conversations that rows are of, if there are any: the place of each
// row's among all, and its turn there.
func (d *Document) sessions(rows []*row) {
	place := map[string]int64{}
	of, turn := make([]int64, len(rows)), make([]int64, len(rows))
	for i, r := range rows {
		of[i] = -1
		if r.session == "" {
			continue
		}
		k, has := place[r.session]
		if !has {
			k = int64(len(d.Sessions))
			place[r.session] = k
			name := r.session
			if len(name) > mostSessionName {
				name = strings.ToValidUTF8(name[:mostSessionName], "")
			}
			d.Sessions = append(d.Sessions, name)
		}
		of[i], turn[i] = k, int64(r.turn)
	}
	if len(d.Sessions) == 0 {
		return
	}
	d.Requests.Columns["session"], d.Requests.Columns["turn"] = d.Planes.Ints(of), d.Planes.Ints(turn)
}
