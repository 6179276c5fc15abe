package collect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/record"
)

// spill is a file in which undecoded records wait while memory has no room for them, the
// first that came for the first that has time. It is empty again when all were taken.
type spill struct {
	mu      sync.Mutex
	file    *os.File
	out     *bufio.Writer
	line    []byte
	err     error
	waiting []spilled // not yet taken, in the order of the file
	read    int64     // where the first of them begins
	taking  int       // batches that were taken and are not done yet
	size    int64     // of what waits, and of batches that are not done

	// How many records were put into the file, were taken out of it, and were taken into
	// account.
	puts, taken, done atomic.Int64
}

// spilled is a record in the file.
type spilled struct {
	size    int64
	request any // what its decoder must know of the request
	flight  *record.Flight
}

// spillBatch is how many bytes of the file are read back at a time.
const spillBatch = 256 << 10

func (s *spill) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// put appends a record, answer included.
func (s *spill) put(rec *record.Exchange) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return
	}
	if s.file == nil {
		s.file, s.err = os.CreateTemp("", "inferometer-waiting-*.jsonl")
		if s.err != nil {
			s.err = fmt.Errorf("no room in memory for answers that wait to be decoded, and no file for them: %w", s.err)
			return
		}
		s.out = bufio.NewWriterSize(s.file, 256<<10)
	}
	s.line = record.AppendJSON(s.line[:0], &rec.Record, true)
	_, s.err = s.out.Write(s.line)
	s.size += int64(len(s.line))
	s.waiting = append(s.waiting, spilled{int64(len(s.line)), rec.Request, rec.Flight})
	s.puts.Add(1)
}

// take hands the records that have waited longest to f, and reports whether there were
// any. Several goroutines may take at a time.
func (s *spill) take(f func(rec *record.Exchange)) bool {
	if s.puts.Load() == s.taken.Load() {
		return false
	}
	part, batch, size := s.next()
	if len(batch) == 0 {
		return false
	}
	err := eachOf(part, batch, f)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.size -= size
	s.done.Add(int64(len(batch)))
	s.taking--
	if s.err == nil && err != nil {
		s.err = fmt.Errorf("reading back answers that waited in a file: %w", err)
	}
	if s.taking == 0 && len(s.waiting) == 0 && s.err == nil {
		s.read = 0
		_, err = s.file.Seek(0, io.SeekStart)
		s.err = errors.Join(err, s.file.Truncate(0))
	}
	return true
}

// next is the part of the file that is taken next, and what is in it.
func (s *spill) next() (part io.Reader, batch []spilled, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) == 0 || s.err != nil {
		return nil, nil, 0
	}
	if s.err = s.out.Flush(); s.err != nil {
		return nil, nil, 0
	}
	n := 0
	for n < len(s.waiting) && size < spillBatch {
		size += s.waiting[n].size
		n++
	}
	batch, s.waiting = s.waiting[:n:n], s.waiting[n:]
	part = io.NewSectionReader(s.file, s.read, size)
	s.read += size
	s.taking++
	s.taken.Add(int64(n))
	return part, batch, size
}

// eachOf calls f with the records of a part of the file.
func eachOf(part io.Reader, batch []spilled, f func(rec *record.Exchange)) error {
	r, err := record.NewReader(part)
	if err != nil {
		return err
	}
	var x record.Exchange
	for _, b := range batch {
		line, err := r.Next()
		if err != nil {
			return err
		}
		x = record.Exchange{Record: *line.Request, Request: b.request, Flight: b.flight, Decoded: line.Request.Tail != nil}
		f(&x)
	}
	return nil
}

// close removes the file and tells what went wrong with it.
func (s *spill) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file != nil {
		s.file.Close()
		os.Remove(s.file.Name())
	}
	return s.err
}
