package collect

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"inferometer/internal/record"
)

// spill is a file in which undecoded records wait when memory has no room for them.
type spill struct {
	mu   sync.Mutex
	file *os.File
	out  *bufio.Writer
	line []byte
	size int64
	err  error

	requests []any // what decoders must know of the requests, in the order of the file
}

func (s *spill) bytes() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.size
}

// put appends a record, answer included.
func (s *spill) put(rec *record.Record) {
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
	s.line = record.AppendJSON(s.line[:0], rec, true)
	_, s.err = s.out.Write(s.line)
	s.size += int64(len(s.line))
	s.requests = append(s.requests, rec.Request)
}

// drain gives every record back and removes the file.
func (s *spill) drain(f func(rec *record.Record)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return s.err
	}
	defer os.Remove(s.file.Name())
	defer s.file.Close()
	if err := errors.Join(s.err, s.out.Flush()); err != nil {
		return err
	}
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	r, err := record.NewReader(s.file)
	if err != nil {
		return err
	}
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) {
			s.size = 0
			return nil
		}
		if err != nil {
			return err
		}
		line.Request.Request, s.requests = s.requests[0], s.requests[1:]
		f(line.Request)
	}
}
