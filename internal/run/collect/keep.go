package collect

import (
	"fmt"
	"math"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
)

// sizeLimiter keeps records small while their responses come.
type sizeLimiter struct {
	limits  plan.Limits // of what is held of one response, in bytes; 0 is no bound
	decoder endpoint.Decoder
	raw     bool // the bytes of responses are kept
	first   int  // room that a record has at first
	room    int  // beyond which a stream is folded; 0: none is
}

// newKeeper makes the keeper of a run; nil means nothing is bounded.
func newKeeper(cfg *Config) *sizeLimiter {
	k := &sizeLimiter{limits: cfg.Limits, decoder: cfg.Decoder, raw: cfg.KeepRaw && cfg.Writer != nil}
	if k.decoder.Advance == nil {
		k.first = int(k.limits.Answer)
	} else {
		if k.room = int(k.limits.Stream); k.room > 0 && k.raw {
			k.room = max(k.room, int(k.limits.Raw))
		}
		k.first = least(k.room, int(k.limits.Answer), int(k.limits.Event))
	}
	if k.first == 0 {
		return nil
	}
	return k
}

// least is the least of some bounds, of which 0 is none.
func least(bounds ...int) int {
	n := 0
	for _, b := range bounds {
		if b > 0 && (n == 0 || b < n) {
			n = b
		}
	}
	return n
}

func (k *sizeLimiter) bind(rec *record.Exchange) {
	if k != nil {
		rec.Keeper, rec.Room = k, k.first
	}
}

// Bound makes a record that is not of a Collector keep to limits.
func Bound(rec *record.Exchange, l plan.Limits, d endpoint.Decoder) {
	newKeeper(&Config{Limits: l, Decoder: d}).bind(rec)
}

// Keep implements record.SizeLimiter.
func (k *sizeLimiter) Keep(rec *record.Exchange) error {
	marks := record.MarkSize * len(rec.Marks)
	next := 0 // what it may grow to before an event of it can be too long
	if k.decoder.Advance != nil && rec.Streamed && (rec.Status == 0 || rec.Status/100 == 2) {
		if most := int(k.limits.Event); most > 0 {
			if len(rec.Body)-rec.Whole > most {
				length, end := k.decoder.Longest(&rec.Record, rec.Whole)
				if length > most {
					return fmt.Errorf("an event of the stream is longer than %d bytes: raise limits.event", most)
				}
				rec.Whole = end
			}
			next = rec.Whole + most + marks
		}
		if k.room > 0 && len(rec.Body)+marks > k.room {
			if done := k.decoder.Advance(rec, int(k.limits.Stream)); rec.Reading != nil {
				k.drop(rec, done)
				return nil
			}
		}
	}
	if most := int(k.limits.Answer); most > 0 && len(rec.Body)+marks > most {
		return fmt.Errorf("the response is larger than %d bytes: raise limits.response", most)
	}
	rec.Room = math.MaxInt
	if n := least(next, int(k.limits.Answer)); n > 0 {
		rec.Room = n
	}
	if k.room > len(rec.Body)+marks {
		rec.Room = min(rec.Room, k.room)
	}
	return nil
}

// drop gives up the first bytes of a body, which have been decoded.
func (k *sizeLimiter) drop(rec *record.Exchange, done int) {
	if rec.Room >= 0 { // from now on it is asked after every read
		rec.Room = -1
		body := rec.Body
		rec.Body = append(make([]byte, 0, keepFolded), body[done:]...)
		if k.raw {
			rec.Raw = body[:min(done, max(int(k.limits.Raw), 0))]
		}
	} else {
		rec.Body = rec.Body[:copy(rec.Body, rec.Body[done:])]
	}
	rec.Folded += done
	rec.Whole = 0
}

// keepFolded is the first size of the buffer of a stream that is folded.
const keepFolded = 64 << 10

// cut leaves out of the bytes of a response what is beyond the limit of what is kept.
func (k *sizeLimiter) cut(rec *record.Record) {
	if k == nil || !k.raw {
		return
	}
	if rec.Folded > 0 {
		rec.Cut = rec.Folded + len(rec.Body) - len(rec.Raw)
		return
	}
	if most := int(k.limits.Raw); most > 0 && len(rec.Body) > most {
		rec.Cut, rec.Body = len(rec.Body)-most, rec.Body[:most]
	}
}
