// Package limitio reads what others have written without trusting its size: a file without an end,
// or that unpacks to a thousand times its size, ends in an error that names the limit.
package limitio

import (
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Limit is how many bytes may be read. Bytes of 0 or less are no bound.
type Limit struct {
	Name  string // what raises it, such as limits.file
	Bytes int64
}

// Error is the error of something that is larger than its limit.
type Error struct {
	What  string // such as a file's name; empty: the one who asked knows
	Limit Limit
}

func (e *Error) Error() string {
	what := e.What
	if what == "" {
		what = "it"
	}
	return fmt.Sprintf("%s is larger than %s: raise %s to allow it", what, size(e.Limit.Bytes), e.Limit.Name)
}

// size is a number of bytes for a reader.
func size(n int64) string {
	for _, u := range []struct {
		name string
		size int64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= u.size && n%u.size == 0 {
			return fmt.Sprintf("%d %s", n/u.size, u.name)
		}
	}
	return fmt.Sprintf("%d bytes", n)
}

// Over reports whether n bytes are too many.
func (l Limit) Over(n int64) bool { return l.Bytes > 0 && n > l.Bytes }

// ReadFile reads a whole file. A device that never ends is not one.
func (l Limit) ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := l.check(f, name)
	if err != nil {
		return nil, err
	}
	return l.read(f, name, size)
}

// Saved refuses what holds nothing that could be read again: a pipe, a device or a socket, which
// may keep a reader waiting or never end. A name that is not there is left to the one who opens it.
func Saved(name string) error {
	info, err := os.Stat(name)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil
	}
	kind := "a device"
	switch mode := info.Mode(); {
	case mode&fs.ModeNamedPipe != 0:
		kind = "a pipe"
	case mode&fs.ModeSocket != 0:
		kind = "a socket"
	}
	return fmt.Errorf("%s is %s, not a file: save it to a file first", name, kind)
}

// Open opens a file whose bytes count against the limit.
func (l Limit) Open(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if _, err := l.check(f, name); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// check refuses what shows beforehand. It gives the size, 0 where that is not known.
func (l Limit) check(f *os.File, name string) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	switch mode := info.Mode(); {
	case mode.IsRegular() && l.Over(info.Size()):
		return 0, &Error{What: name, Limit: l}
	case mode.IsRegular():
		return info.Size(), nil
	case mode&(fs.ModeDevice|fs.ModeCharDevice) != 0 && l.Bytes > 0 && !terminal(name):
		return 0, fmt.Errorf("%s is a device, not a file: use a file or a pipe", name)
	}
	return 0, nil
}

// terminal reports whether a name is that of something a person may type into.
func terminal(name string) bool {
	return name == "/dev/stdin" || name == "/dev/tty" || name == os.DevNull
}

// ReadAll reads all of r.
func (l Limit) ReadAll(r io.Reader) ([]byte, error) { return l.read(r, "", 0) }

// read reads all of r, of which size bytes are expected. What comes unannounced is
// gathered in pieces, so that it is never held more than twice.
func (l Limit) read(r io.Reader, name string, size int64) ([]byte, error) {
	var pieces [][]byte
	var total int64
	next := max(size+1, firstPiece)
	for {
		piece := make([]byte, next)
		n, err := io.ReadFull(r, piece)
		total += int64(n)
		if l.Over(total) {
			return nil, &Error{What: name, Limit: l}
		}
		pieces = append(pieces, piece[:n])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			break
		}
		if err != nil {
			return nil, err
		}
		if next = min(max(total, firstPiece), mostPiece); l.Bytes > 0 {
			next = min(next, l.Bytes-total+1)
		}
	}
	if len(pieces) == 1 || len(pieces) == 2 && len(pieces[1]) == 0 {
		return pieces[0], nil
	}
	all := make([]byte, 0, total)
	for i, p := range pieces {
		all = append(all, p...)
		pieces[i] = nil
	}
	return all, nil
}

const (
	firstPiece = 4 << 10
	mostPiece  = 64 << 20
)

// Reader gives the bytes of r up to the limit, and an *Error beyond it.
func (l Limit) Reader(r io.Reader, what string) io.Reader {
	if l.Bytes <= 0 {
		return r
	}
	return &reader{r: r, left: l.Bytes, err: &Error{What: what, Limit: l}}
}

type reader struct {
	r    io.Reader
	left int64
	err  *Error
}

func (r *reader) Read(p []byte) (int, error) {
	if r.left < 0 {
		return 0, r.err
	}
	if int64(len(p)) > r.left+1 {
		p = p[:r.left+1]
	}
	n, err := r.r.Read(p)
	if r.left -= int64(n); r.left < 0 {
		return n - 1, r.err
	}
	return n, err
}

// ByteCounter is a Reader of something taken in parts, each of which may have the whole limit.
type ByteCounter struct {
	reader
	most int64
}

// Meter gives the bytes of r as a Reader does, for a part at a time.
func (l Limit) Meter(r io.Reader, what string) *ByteCounter {
	most := l.Bytes
	if most <= 0 {
		most = 1 << 62
	}
	return &ByteCounter{reader{r: r, left: most, err: &Error{What: what, Limit: l}}, most}
}

// Next begins the next part.
func (m *ByteCounter) Next() { m.left = m.most }
