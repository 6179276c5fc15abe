package bpe

import (
	"fmt"
	"hash/maphash"

	"github.com/inferometer/inferometer/internal/token/unidata"
)

// queue collects merges as they are read and looks their texts up many at a time. The
// index and the tokens of a large model do not fit into the processor's cache, and
// lookups that do not wait for one another take a fraction of the time.
type queue struct {
	f     *file
	arena []byte // the texts of the merges that wait, left and right in turn
	wait  []waiting
	found [2 * batch]lookup
	joint []byte
	last  int32 // what the merge before made
}

// waiting is a merge whose tokens are not looked up yet.
type waiting struct {
	from, mid, to int // in the arena
	rank          uint32
}

// lookup is a text on its way through the index.
type lookup struct {
	hash, slot uint64
	token      string // that the slot is about
	first      byte   // of the token
}

// batch is how many merges wait at most.
const batch = 256

func newQueue(f *file) *queue { return &queue{f: f, wait: make([]waiting, 0, batch)} }

// add queues the merge of two texts.
func (q *queue) add(left, right []byte, rank uint32) error {
	w := waiting{from: len(q.arena), rank: rank}
	if q.f.Raw {
		raw, ok := unidata.AppendRaw(q.arena, left)
		w.mid = len(raw)
		raw, ok2 := unidata.AppendRaw(raw, right)
		if !ok || !ok2 {
			return nil // made of what no byte stands for, so it never applies
		}
		q.arena = raw
	} else {
		q.arena = append(q.arena, left...)
		w.mid = len(q.arena)
		q.arena = append(q.arena, right...)
	}
	w.to = len(q.arena)
	q.wait = append(q.wait, w)
	if len(q.wait) < batch {
		return nil
	}
	return q.flush()
}

// flush adds the merges that wait. Its loops touch memory that earlier ones have asked for.
func (q *queue) flush() error {
	ix, tokens := q.f.ix, q.f.Tokens
	mask := uint64(len(ix.slots) - 1)
	for i, w := range q.wait {
		q.found[2*i].hash = maphash.Bytes(ix.seed, q.arena[w.from:w.mid])
		q.found[2*i+1].hash = maphash.Bytes(ix.seed, q.arena[w.mid:w.to])
	}
	found := q.found[:2*len(q.wait)]
	for i := range found {
		found[i].slot = ix.slots[found[i].hash&mask]
	}
	for i := range found {
		if id := uint32(found[i].slot); id > 0 {
			found[i].token = tokens[id-1]
		}
	}
	for i := range found {
		if l := &found[i]; l.token != "" {
			l.first = l.token[0] // so that the text is at hand when it is compared
		}
	}
	for i, w := range q.wait {
		a, b := q.arena[w.from:w.mid], q.arena[w.mid:w.to]
		if err := q.merge(a, b, q.id(&found[2*i], a), q.id(&found[2*i+1], b), w); err != nil {
			return err
		}
	}
	q.wait, q.arena = q.wait[:0], q.arena[:0]
	return nil
}

// id is the id of a text whose first slot is known.
func (q *queue) id(l *lookup, text []byte) int32 {
	if l.slot != 0 && (l.slot^l.hash)&hashHalf == 0 && l.token == string(text) {
		return int32(uint32(l.slot)) - 1
	}
	return q.f.ix.findBytes(q.f.Tokens, text)
}

// merge adds a merge of two texts and their ids.
func (q *queue) merge(a, b []byte, left, right int32, w waiting) error {
	f := q.f
	if left == none || right == none {
		return fmt.Errorf("merge %d joins %q and %q, which are not both in the vocabulary", w.rank, a, b)
	}
	joint := q.arena[w.from:w.to]
	if f.Prefix != "" {
		q.joint = append(append(q.joint[:0], a...), b[min(len(f.Prefix), len(b)):]...)
		joint = q.joint
	}
	// Merges mostly stand in the order of what they make.
	id := q.last
	if int(id) >= len(f.Tokens) || f.Tokens[id] != string(joint) {
		if id++; int(id) >= len(f.Tokens) || f.Tokens[id] != string(joint) {
			id = f.ix.findBytes(f.Tokens, joint)
		}
	}
	q.last = max(id, 0)
	if id == none {
		return fmt.Errorf("merge %d: %q and %q make a token that is not in the vocabulary", w.rank, a, b)
	}
	f.Merges = append(f.Merges, Merge{left, right, id, w.rank})
	return nil
}
