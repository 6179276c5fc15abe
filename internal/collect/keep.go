package collect

import (
	"fmt"

	"inferometer/internal/endpoint"
	"inferometer/internal/record"
)

// Limits bound what is held of one answer, in bytes; 0 is no bound.
type Limits struct {
	Answer int // one that is held in one piece
	Stream int // of a stream, before it is folded
	Event  int // one event of a stream
	Raw    int // of an answer whose bytes are kept
}

// keeper keeps records small while their answers come.
type keeper struct {
	limits   Limits
	streamer endpoint.Streamer // nil: no answer can be read in pieces
	raw      bool              // the bytes of answers are kept
	room     int               // that a record has at first
}

// newKeeper makes the keeper of a run; nil: nothing is bounded.
func newKeeper(cfg *Config) *keeper {
	k := &keeper{limits: cfg.Limits, raw: cfg.KeepRaw && cfg.Writer != nil}
	if cfg.Limits.Stream > 0 {
		k.streamer = cfg.Streamer
	}
	k.room = k.limits.Answer
	if k.streamer != nil {
		k.room = k.limits.Stream
		if k.raw {
			k.room = max(k.room, k.limits.Raw)
		}
		if k.limits.Answer > 0 {
			k.room = min(k.room, k.limits.Answer)
		}
	}
	if k.room == 0 {
		return nil
	}
	return k
}

// Bound makes a record that is not of a Collector keep to the limits.
func (l Limits) Bound(rec *record.Record, s endpoint.Streamer) {
	if k := newKeeper(&Config{Limits: l, Streamer: s}); k != nil {
		rec.Keeper, rec.Room = k, k.room
	}
}

// Keep implements record.Keeper.
func (k *keeper) Keep(rec *record.Record) error {
	if k.streamer != nil && rec.Streamed && (rec.Status == 0 || rec.Status/100 == 2) {
		if done := k.streamer.Advance(rec, k.limits.Stream); rec.Reading != nil {
			k.drop(rec, done)
			if most := k.limits.Event; most > 0 && len(rec.Body) > most {
				return fmt.Errorf("an event of the stream is longer than %d bytes: raise limits.event", most)
			}
			return nil
		}
	}
	if most := k.limits.Answer; most > 0 && len(rec.Body)+record.MarkSize*len(rec.Marks) > most {
		return fmt.Errorf("the answer is larger than %d bytes: raise limits.answer", most)
	}
	return nil
}

// drop gives up the first bytes of a body, which have been decoded.
func (k *keeper) drop(rec *record.Record, done int) {
	if rec.Room >= 0 { // from now on it is asked after every read
		rec.Room = -1
		body := rec.Body
		rec.Body = append(make([]byte, 0, keepFolded), body[done:]...)
		if k.raw {
			rec.Raw = body[:min(done, max(k.limits.Raw, 0))]
		}
	} else {
		rec.Body = rec.Body[:copy(rec.Body, rec.Body[done:])]
	}
	rec.Folded += done
}

// keepFolded is the first size of the buffer of a stream that is folded.
const keepFolded = 64 << 10

// cut leaves out of the bytes of an answer what is beyond the limit of what is kept.
func (k *keeper) cut(rec *record.Record) {
	if k == nil || !k.raw {
		return
	}
	if rec.Folded > 0 {
		rec.Cut = rec.Folded + len(rec.Body) - len(rec.Raw)
		return
	}
	if most := k.limits.Raw; most > 0 && len(rec.Body) > most {
		rec.Cut, rec.Body = len(rec.Body)-most, rec.Body[:most]
	}
}
