package record

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// underway is a line on the requests in flight at a given time, in columns with an element
// for each request of which there is news. Moments are Never where they were not reached.
type underway struct {
	At    time.Duration   `json:"at"`
	Seq   []int64         `json:"seq,omitempty"`
	Sent  []time.Duration `json:"sent,omitempty"`
	Reads []int64         `json:"reads,omitempty"`
	Bytes []int64         `json:"bytes,omitempty"`
	First []time.Duration `json:"first,omitempty"` // stamps of the first and the last read
	Last  []time.Duration `json:"last,omitempty"`
}

func (u *underway) reset(at time.Duration) {
	*u = underway{
		At: at, Seq: u.Seq[:0], Sent: u.Sent[:0], Reads: u.Reads[:0], Bytes: u.Bytes[:0], First: u.First[:0], Last: u.Last[:0],
	}
}

func (u *underway) add(f *InFlight) {
	// The last stamp of a read is stored after all else of it: where there is one, so is
	// what came before it.
	last, bytes := f.last.Load(), f.bytes.Load()
	sent, reads := f.sent.Load(), f.reads.Load()
	if last == int64(Never) {
		reads, bytes = 0, 0
	}
	if sent == f.toldSent && reads == f.toldReads {
		return
	}
	f.toldSent, f.toldReads = sent, reads
	u.Seq = append(u.Seq, f.known.Seq)
	u.Sent = append(u.Sent, time.Duration(sent))
	u.Reads = append(u.Reads, reads)
	u.Bytes = append(u.Bytes, bytes)
	u.First = append(u.First, time.Duration(f.first.Load()))
	u.Last = append(u.Last, time.Duration(last))
}

// open are the requests of a file that have begun and, as far as it was read, not ended.
type open struct {
	begun map[int64]*begun
	at    time.Duration // latest time at which they were in flight
	left  []*begun      // those still to be given out, at the end of the file
}

// begun is a request of which the file has no record yet.
type begun struct {
	Record
	reads, bytes int64
	last         time.Duration
}

// begin takes in a begun line.
func (o *open) begin(rec *Record) {
	if o.begun == nil {
		o.begun = map[int64]*begun{}
	}
	o.begun[rec.Seq] = &begun{Record: *rec}
}

// end takes out a request whose record was read.
func (o *open) end(seq int64, at time.Duration) {
	if len(o.begun) > 0 {
		delete(o.begun, seq)
	}
	o.at = max(o.at, at)
}

// restore takes in how far the requests in flight had come.
func (o *open) restore(u *underway) error {
	n := len(u.Seq)
	for _, m := range []int{len(u.Sent), len(u.Reads), len(u.Bytes), len(u.First), len(u.Last)} {
		if m != n {
			return fmt.Errorf("columns seq, sent, reads, bytes, first and last have %d, %d, %d, %d, %d and %d elements, not the same number",
				n, len(u.Sent), len(u.Reads), len(u.Bytes), len(u.First), len(u.Last))
		}
	}
	if slices.Min(append([]int64{0}, slices.Concat(u.Reads, u.Bytes)...)) < 0 {
		return errors.New("a negative number of reads or bytes")
	}
	o.at = max(o.at, u.At)
	for i, seq := range u.Seq {
		if b := o.begun[seq]; b != nil {
			b.Sent, b.reads, b.bytes, b.last = u.Sent[i], u.Reads[i], u.Bytes[i], u.Last[i]
		}
	}
	return nil
}

// finish makes ready to give out what is left, in the order of their numbers.
func (o *open) finish() {
	o.left = slices.SortedFunc(maps.Values(o.begun), func(a, b *begun) int { return cmp.Compare(a.Seq, b.Seq) })
	o.begun = nil
}

// next is the next request that is left, as one that was cut off where the file ends. It
// has no reads: of most nothing is known but their number.
func (o *open) next(end error) (rec *Record, ok bool) {
	if len(o.left) == 0 {
		return nil, false
	}
	b := o.left[0]
	o.left = o.left[1:]
	rec = &b.Record
	rec.End = max(o.at, rec.Ready, rec.Sent, b.last)
	message := unrecorded
	if errors.Is(end, ErrTruncated) {
		message = StillUnderway
	}
	if b.reads > 0 {
		message += fmt.Sprintf(", with %d bytes in %d reads", b.bytes, b.reads)
	}
	rec.Failure = &Failure{Class: CutOff, Message: message, At: rec.End}
	return rec, true
}
