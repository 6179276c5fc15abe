package collect

import (
	"bytes"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/record"
)

// held is a decoder that waits to be let go on.
type held struct{ open chan struct{} }

func (h held) Decode(*record.Exchange) { <-h.open }

// A flush keeps word of every request that has begun: of those under way and of those that have
// ended and wait to be decoded.
func TestFlushKeepsWhatHasBegun(t *testing.T) {
	var file bytes.Buffer
	w, err := record.NewWriter(&file, record.Header{})
	if err != nil {
		t.Fatal(err)
	}
	h := held{make(chan struct{})}
	c := New(Config{Decoder: endpoint.Decoder{Decode: h.Decode}, Writer: w, Now: noon, Folds: []Consumer{nothing{}, nothing{}}})
	const n = 40
	for i := range n {
		put(c, i)
	}
	rec := c.Blank(0)
	rec.Seq, rec.Sent, rec.Written = n, record.Never, record.Never
	c.Begin(rec)
	rec.Flight.SetSent(time.Second)
	for range 2 { // the second time there is nothing new
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
	}
	cut := states(t, file.Bytes(), record.ErrTruncated)
	if len(cut) != n+1 {
		t.Errorf("%d requests can be read of %d", len(cut), n+1)
	}
	for seq, class := range cut {
		if class != record.CutOff {
			t.Errorf("request %d: %q", seq, class)
		}
	}
	close(h.open)
	rec.End = 2 * time.Second
	c.Put(rec)
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	ended := states(t, file.Bytes(), io.EOF)
	if len(ended) != n+1 || ended[n] != "" {
		t.Errorf("%d requests can be read of %d; the last one: %q", len(ended), n+1, ended[n])
	}
}

// While many requests begin and end, a flush leaves word of every one that had begun, and the record
// of each stands behind what was written of it before.
func TestFlushAmongMany(t *testing.T) {
	var file locked
	w, err := record.NewWriter(&file, record.Header{})
	if err != nil {
		t.Fatal(err)
	}
	c := New(Config{Decoder: endpoint.Decoder{Decode: undecoded{}.Decode}, Writer: w, Now: noon,
		Folds: []Consumer{nothing{}, nothing{}, nothing{}, nothing{}}})
	const slots, each = 16, 200
	var begun [slots]atomic.Int64
	var sending sync.WaitGroup
	for slot := range slots {
		sending.Go(func() {
			for i := range each {
				rec := c.Blank(0)
				rec.Seq, rec.Slot = int64(slot*each+i), slot
				c.Begin(rec)
				begun[slot].Store(int64(i + 1))
				runtime.Gosched()
				rec.End = time.Second
				c.Put(rec)
			}
		})
	}
	sent := make(chan struct{})
	go func() { sending.Wait(); close(sent) }()
	for going := true; going; {
		select {
		case <-sent:
			going = false
		default:
		}
		var before [slots]int64
		for slot := range slots {
			before[slot] = begun[slot].Load()
		}
		if err := c.Flush(); err != nil {
			t.Fatal(err)
		}
		got := states(t, file.bytes(), record.ErrTruncated)
		for slot, n := range before {
			for i := range n {
				if _, ok := got[int64(slot*each)+i]; !ok {
					t.Fatalf("nothing is in the file of request %d of slot %d", i, slot)
				}
			}
		}
	}
	if err := errors.Join(c.Close(), w.Close()); err != nil {
		t.Fatal(err)
	}
	for seq, class := range states(t, file.bytes(), io.EOF) {
		if class != "" {
			t.Errorf("request %d: %q", seq, class)
		}
	}
}

// locked is a file that is read while it is written.
type locked struct {
	mu  sync.Mutex
	all []byte
}

func (l *locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, p...)
	return len(p), nil
}

func (l *locked) bytes() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Clone(l.all)
}

// states reads how the requests of a file ended.
func states(t *testing.T, data []byte, end error) map[int64]record.Class {
	t.Helper()
	r, err := record.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	list := map[int64]record.Class{}
	for {
		line, err := r.Next()
		if err != nil {
			if !errors.Is(err, end) {
				t.Errorf("reading ends with %v, want %v", err, end)
			}
			return list
		}
		if rec := line.Request; rec != nil {
			if _, twice := list[rec.Seq]; twice {
				t.Errorf("request %d is there twice", rec.Seq)
			}
			class := record.Class("")
			if rec.Failure != nil {
				class = rec.Failure.Class
			}
			list[rec.Seq] = class
		}
	}
}

// BenchmarkCollect is the path of a record: begun, read, put, decoded, written, folded.
func BenchmarkCollect(b *testing.B) {
	for _, bench := range []struct {
		name  string
		begin func(c *Collector, rec *record.Exchange)
	}{
		{"begun", (*Collector).Begin},
		{"unseen", func(*Collector, *record.Exchange) {}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			w, err := record.NewWriter(io.Discard, record.Header{})
			if err != nil {
				b.Fatal(err)
			}
			now := time.Now()
			c := New(Config{Decoder: endpoint.Decoder{Decode: undecoded{}.Decode}, Writer: w, Now: func() time.Duration { return time.Since(now) },
				Folds: []Consumer{nothing{}, nothing{}}})
			flushed := now
			for i := 0; b.Loop(); i++ {
				rec := c.Blank(0)
				rec.Seq, rec.Slot, rec.Streamed = int64(i), i%64, true
				bench.begin(c, rec)
				rec.Flight.SetSent(time.Duration(i))
				for k := range 16 {
					rec.Marks = append(rec.Marks, record.Read{Off: k, Kernel: time.Duration(i + k), User: time.Duration(i + k + i%7)})
					rec.Flight.Read(k+1, k, time.Duration(i+k))
				}
				c.Put(rec)
				if i%1000 == 0 {
					if time.Since(flushed) > time.Second {
						flushed = time.Now()
						if err := c.Flush(); err != nil {
							b.Fatal(err)
						}
					}
				}
			}
			if err := c.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

type undecoded struct{}

func (undecoded) Decode(*record.Exchange) {}
