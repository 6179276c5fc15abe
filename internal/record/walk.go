package record

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync/atomic"

	"github.com/inferometer/inferometer/internal/lib/limitio"
)

// File is a record file to be read.
type File struct {
	Path string
	Also []string // files that belong to it, which are read after it, without their headers
	Most int64    // bytes that a line may take, in the file or in memory; 0: no bound
	// Bounds are those of the numbers in its lines, or nil.
	Bounds *Bounds
	Edit   func(*Line) // changes lines before they are given out; nil means they stay as they are
	// Reading is told how far it is read, and may end that; nil: nobody wants to know.
	Reading *Reading
}

// Walk gives each line of the file, the header first, to each, whose error ends it.
//
// A file may end in the middle, as that of a run that was killed or still goes on does. That
// is no error: whole is false, and each has had all lines that are complete, and then the
// requests that were in flight there, which have failed with CutOff. A file that ends within
// its header, that has none, or that holds a line which cannot be read is an error, after the
// lines before it.
func (f File) Walk(each func(Line) error) (whole bool, err error) { return f.all(each, false) }

// NonRequests gives each line that is no request, as Walk does. It need not read the requests,
// which are most of a file.
func (f File) NonRequests(each func(Line) error) (whole bool, err error) { return f.all(each, true) }

// all walks through the file, and through those that belong to it.
func (f File) all(each func(Line) error, besides bool) (whole bool, err error) {
	whole, err = f.walk(each, besides)
	for _, path := range f.Also {
		if err != nil {
			break
		}
		next, ended := f, false
		next.Path = path
		ended, err = next.walk(func(l Line) error {
			if l.Header != nil {
				return nil
			}
			return each(l)
		}, besides)
		whole = whole && ended
	}
	return whole, err
}

func (f File) walk(each func(Line) error, besides bool) (whole bool, err error) {
	pass := ""
	if besides {
		pass = requestsMark
	}
	r, err := f.open(pass)
	if err != nil {
		return false, err
	}
	defer r.Close()
	r.besides = besides
	for headed := false; ; headed = true {
		line, err := r.Next()
		if whole, ended, err := f.ended(line, err, headed); ended {
			if err != nil && besides { // the number of the line is not known where frames were passed over
				if _, numbered := f.walk(func(Line) error { return nil }, false); numbered != nil {
					err = numbered
				}
			}
			return whole, err
		}
		if f.Edit != nil {
			f.Edit(&line)
		}
		if err := each(line); err != nil {
			return false, err
		}
	}
}

// open begins to read the file at Path, but for frames that pass is in front of.
func (f File) open(pass string) (*Reader, error) {
	if err := limitio.Saved(f.Path); err != nil {
		return nil, fmt.Errorf("open record file: %w", err)
	}
	in, err := os.Open(f.Path)
	if err != nil {
		return nil, fmt.Errorf("open record file: %w", err)
	}
	watched := f.Reading.watch(in)
	r, err := newReader(watched, pass)
	if err != nil {
		watched.Close()
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	r.file, r.bounds = watched, f.Bounds
	if f.Most > 0 {
		r.most, r.lines.most = f.Most, f.Most
	}
	return r, nil
}

// ended says whether the file ends with what was read of it last, and how. headed: its header came before.
func (f File) ended(line Line, err error, headed bool) (whole, ended bool, _ error) {
	switch {
	case headed && errors.Is(err, io.EOF):
		return true, true, nil
	case headed && errors.Is(err, ErrTruncated):
		return false, true, nil
	case errors.Is(err, io.EOF):
		err = ErrTruncated
	case err == nil && !headed && line.Header == nil:
		err = errors.New("line 1: no header: not a record file of inferometer")
	}
	if err != nil {
		return false, true, fmt.Errorf("%s: %w", f.Path, err)
	}
	return false, false, nil
}

// Requests gives the file's requests to each, as far as they go.
func (f File) Requests(each func(*Record) error) error {
	_, err := f.Walk(func(l Line) error {
		if l.Request == nil {
			return nil
		}
		return each(l.Request)
	})
	return err
}

// ErrStopped is that somebody ended reading.
var ErrStopped = errors.New("stopped while the records were being read; they are kept as they are")

// Reading tells how far the files are that are being read, and ends reading. Any goroutine may ask it.
type Reading struct {
	read, size atomic.Int64
	open       atomic.Int64 // files
	stopped    atomic.Bool
}

// Stop ends reading, now and later, with ErrStopped.
func (r *Reading) Stop() { r.stopped.Store(true) }

// Stopped reports whether somebody ended reading.
func (r *Reading) Stopped() bool { return r.stopped.Load() }

// Bytes is how much has been read of the files that are read at a time; a size of 0: none was begun.
func (r *Reading) Bytes() (read, size int64) {
	if r == nil {
		return 0, 0
	}
	return r.read.Load(), r.size.Load()
}

// watched is a file that is being read.
type watched struct {
	*os.File
	by *Reading
}

// Read implements io.Reader.
func (w watched) Read(p []byte) (int, error) {
	if w.by == nil {
		return w.File.Read(p)
	}
	if w.by.Stopped() {
		return 0, ErrStopped
	}
	n, err := w.File.Read(p)
	w.by.read.Add(int64(n))
	return n, err
}

// Close implements io.Closer.
func (w watched) Close() error {
	if w.by != nil {
		w.by.open.Add(-1)
	}
	return w.File.Close()
}

// watch begins to read a file.
func (r *Reading) watch(f *os.File) watched {
	if r != nil {
		if r.open.Add(1) == 1 {
			r.read.Store(0)
			r.size.Store(0)
		}
		if info, err := f.Stat(); err == nil {
			r.size.Add(info.Size())
		}
	}
	return watched{f, r}
}
