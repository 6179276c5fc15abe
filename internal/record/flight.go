package record

import (
	"sync"
	"sync/atomic"
	"time"
)

// InFlight is what others may see of a request while it is in flight. The slot that
// carries the request out and the reader of its response write to it; all its methods do
// nothing on a nil Flight.
type InFlight struct {
	target atomic.Int64
	sent   atomic.Int64 // when it went; Never: not yet
	reads  atomic.Int64
	bytes  atomic.Int64 // of the response so far
	first  atomic.Int64 // stamp of the first read; Never: there is none yet
	last   atomic.Int64 // stamp of the last read

	known      Record // what was known of it when it began
	told       bool   // its begun line was written
	toldSent   int64  // as last written
	toldReads  int64
	prev, next *InFlight
}

// To notes which target the request goes to.
func (f *InFlight) To(target int) {
	if f != nil {
		f.target.Store(int64(target))
	}
}

// SetSent notes that the request is being sent. The first time stands.
func (f *InFlight) SetSent(at time.Duration) {
	if f != nil && f.sent.Load() == int64(Never) {
		f.sent.Store(int64(at))
	}
}

// Read notes a read of the response, which has so many reads and bytes by then.
func (f *InFlight) Read(reads, bytes int, at time.Duration) {
	if f == nil {
		return
	}
	if reads == 1 {
		f.first.Store(int64(at))
	}
	f.reads.Store(int64(reads))
	f.bytes.Store(int64(bytes))
	f.last.Store(int64(at))
}

func (f *InFlight) begin(rec *Exchange) {
	f.target.Store(int64(rec.Target))
	f.sent.Store(int64(Never))
	f.first.Store(int64(Never))
	f.last.Store(int64(Never))
	f.reads.Store(0)
	f.bytes.Store(0)
	f.told, f.toldSent, f.toldReads = false, int64(Never), 0
	k := &f.known
	k.Seq, k.Stage, k.Phase, k.Slot, k.Worker, k.Prompt = rec.Seq, rec.Stage, rec.Phase, rec.Slot, rec.Worker, rec.Prompt
	k.Session, k.Turn, k.Model, k.Call, k.Labels = rec.Session, rec.Turn, rec.Model, rec.Call, rec.Labels
	k.Due, k.Think, k.Ready, k.Held = rec.Due, rec.Think, rec.Ready, rec.Held
	k.Sent, k.Written, k.End = Never, Never, Never
	k.In, k.Out, k.RequestedTokens, k.Cached = rec.In, Tokens{Local: -1}, rec.RequestedTokens, -1
	rec.Flight = f
}

// Flights are the requests in flight: from Begin until their records are about to be
// written. Once in a while they are written down, so that a run that is killed leaves
// word of them.
//
// Beginning takes a lock that is held for a few stores only: it is on the
// way of a request that is due. End and Append are called by one goroutine at a time.
type Flights struct {
	list InFlight // ring of those that were written before

	linking sync.Mutex
	fresh   InFlight // ring of those begun since

	line underway
}

// Begin takes in a request that is about to be sent.
func (fs *Flights) Begin(rec *Exchange) {
	if rec.flight == nil {
		rec.flight = new(InFlight)
	}
	f := rec.flight
	f.begin(rec)
	fs.linking.Lock()
	ring(&fs.fresh)
	f.prev, f.next = fs.fresh.prev, &fs.fresh
	f.prev.next, f.next.prev = f, f
	fs.linking.Unlock()
}

// End takes a request out whose record is written next; nil is none.
func (fs *Flights) End(f *InFlight) {
	if f == nil {
		return
	}
	fs.linking.Lock()
	f.prev.next, f.next.prev = f.next, f.prev
	fs.linking.Unlock()
	f.prev, f.next = nil, nil
}

// ring makes an empty ring of one that was not used yet.
func ring(f *InFlight) {
	if f.next == nil {
		f.prev, f.next = f, f
	}
}

// Append adds lines on what is new of the requests in flight, now. A request whose
// record stands behind them is not in flight for a reader.
func (fs *Flights) Append(dst []byte, at time.Duration) ([]byte, error) {
	fs.adopt()
	l := &fs.line
	l.reset(at)
	for f := fs.list.next; f != &fs.list; f = f.next {
		if !f.told {
			f.known.Target = int(f.target.Load())
			dst = appendRecord(dst, kindBegun, &f.known, false)
			f.told = true
		}
		l.add(f)
	}
	if fs.list.next == &fs.list {
		return dst, nil
	}
	return appendLine(dst, kindUnderway, l)
}

// adopt moves those begun since the last time to the others.
func (fs *Flights) adopt() {
	ring(&fs.list)
	fs.linking.Lock()
	defer fs.linking.Unlock()
	ring(&fs.fresh)
	first, last := fs.fresh.next, fs.fresh.prev
	if first == &fs.fresh {
		return
	}
	fs.fresh.prev, fs.fresh.next = &fs.fresh, &fs.fresh
	first.prev, last.next = fs.list.prev, &fs.list
	first.prev.next, fs.list.prev = first, last
}
