// Package frames reads a file of zstd frames, one behind the other, on several cores. What it
// gives, and the error that it ends with, are those of a reader that goes through the file from
// its first byte to its last.
package frames

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

const (
	// MaxWindow bounds how far back a frame may refer, and with that the memory of reading it.
	MaxWindow = 64 << 20
	// mostBytes is the size up to which a frame is held in memory, compressed.
	mostBytes = 8 << 20
	// mostBlocks bounds what it is then: a block comes to at most 128 KiB.
	mostBlocks = 256
	blockBytes = 128 << 10
)

// Decompressor gives the contents of a file of frames. It belongs to one goroutine.
type Decompressor struct {
	src     *bufio.Reader
	mark    string // in front of frames that are passed over; empty: none are
	decoder *zstd.Decoder
	pool    sync.Pool // of *frame

	order chan *frame // as they stand in the file
	stop  chan struct{}
	ended sync.WaitGroup

	now    *frame
	text   []byte        // of now, and not yet given out
	stream *zstd.Decoder // of a part of the file that is read from its first byte to its last
	last   bool          // nothing comes after it
	err    error
}

// frame is a frame of the file, or the rest of it.
type frame struct {
	compressed []byte
	text       []byte
	err        error
	rest       io.Reader // the file from here on, which is not taken apart; nil: the frame is a whole one
	done       chan struct{}
}

// errRest says that a file is not to be taken apart from here on.
var errRest = errors.New("not a plain frame")

// NewDecompressor reads src on that many cores. A frame behind mark, which is a skippable frame, is passed
// over and not decompressed; empty: none is.
func NewDecompressor(src io.Reader, cores int, mark string) (*Decompressor, error) {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(cores), zstd.WithDecoderMaxWindow(MaxWindow),
		zstd.WithDecoderMaxMemory(mostBlocks*blockBytes))
	if err != nil {
		return nil, err
	}
	r := &Decompressor{
		src: bufio.NewReaderSize(src, 64<<10), mark: mark, decoder: decoder,
		order: make(chan *frame, 2*cores), stop: make(chan struct{}),
	}
	r.ended.Go(r.split)
	return r, nil
}

// Close ends reading.
func (r *Decompressor) Close() {
	if r.decoder == nil {
		return
	}
	close(r.stop)
	for f := range r.order {
		<-f.done
	}
	r.ended.Wait()
	r.decoder.Close()
	if r.stream != nil {
		r.stream.Close()
	}
	r.decoder, r.stream, r.text, r.err = nil, nil, nil, zstd.ErrDecoderClosed
}

// Read gives what comes next.
func (r *Decompressor) Read(p []byte) (int, error) {
	for {
		switch {
		case len(r.text) > 0:
			n := copy(p, r.text)
			r.text = r.text[n:]
			return n, nil
		case r.err != nil:
			return 0, r.err
		case r.stream != nil:
			n, err := r.stream.Read(p)
			if err != nil {
				r.stream.Close()
				r.stream = nil
				if r.last || !errors.Is(err, io.EOF) {
					r.err = err
				}
			}
			if n > 0 {
				return n, nil
			}
		default:
			r.next()
		}
	}
}

func (r *Decompressor) next() {
	if r.now != nil {
		r.pool.Put(r.now)
		r.now = nil
	}
	f, ok := <-r.order
	if !ok {
		r.err = io.EOF
		return
	}
	<-f.done
	switch {
	case f.rest != nil:
		r.through(f.rest)
		r.last = true
	case f.err != nil: // up to where it is damaged it can be read
		r.through(bytes.NewReader(f.compressed))
	default:
		r.now, r.text = f, f.text
	}
}

// through reads src from its first byte to its last.
func (r *Decompressor) through(src io.Reader) {
	var err error
	if r.stream, err = zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(MaxWindow)); err != nil {
		r.stream, r.err = nil, fmt.Errorf("decompress: %w", err)
	}
}

// split takes the file apart, and has its frames decompressed side by side.
func (r *Decompressor) split() {
	defer close(r.order)
	for {
		f, ok := r.pool.Get().(*frame)
		if !ok {
			f = new(frame)
		}
		*f = frame{compressed: f.compressed[:0], text: f.text[:0], done: make(chan struct{})}
		switch err := r.readFrame(f); {
		case errors.Is(err, io.EOF):
			return
		case err != nil:
			f.rest = io.MultiReader(bytes.NewReader(f.compressed), r.src)
			close(f.done)
		default:
			go func() {
				defer close(f.done)
				f.text, f.err = r.decoder.DecodeAll(f.compressed, f.text)
			}()
		}
		select {
		case r.order <- f:
		case <-r.stop:
			<-f.done
			return
		}
		if f.rest != nil {
			return
		}
	}
}

// readFrame reads the next frame that is not passed over. Where that cannot be done it has read a part of
// it, and the error says why; io.EOF is where there is none.
func (r *Decompressor) readFrame(f *frame) error {
	marked := false
	for {
		var h zstd.Header
		start, err := r.src.Peek(zstd.HeaderMaxSize)
		if len(start) == 0 && errors.Is(err, io.EOF) {
			return io.EOF
		}
		if h.Decode(start) != nil {
			return errRest
		}
		if h.Skippable {
			marked = r.mark != "" && bytes.HasPrefix(start, []byte(r.mark))
			if r.copyBytes(f, h.HeaderSize) != nil {
				return errRest
			}
			if _, err := io.CopyN(io.Discard, r.src, int64(h.SkippableSize)); err != nil {
				return errRest
			}
		} else if err := r.readBlocks(f, &h); err != nil || !marked {
			return err
		} else {
			marked = false
		}
		f.compressed = f.compressed[:0]
	}
}

func (r *Decompressor) readBlocks(f *frame, h *zstd.Header) error {
	if h.WindowSize > MaxWindow || h.FrameContentSize > mostBlocks*blockBytes || r.copyBytes(f, h.HeaderSize) != nil {
		return errRest
	}
	for range mostBlocks {
		last, err := r.block(f)
		if err != nil {
			return errRest
		}
		if last && h.HasCheckSum {
			return r.copyBytes(f, 4)
		}
		if last {
			return nil
		}
	}
	return errRest
}

// block reads a block of a frame: three bytes say whether it is the last, of which kind it is
// and how long.
func (r *Decompressor) block(f *frame) (last bool, err error) {
	if err := r.copyBytes(f, 3); err != nil {
		return false, err
	}
	var b [4]byte
	copy(b[:], f.compressed[len(f.compressed)-3:])
	header := binary.LittleEndian.Uint32(b[:])
	n := int(header >> 3)
	if kind := header >> 1 & 3; kind == 1 { // one byte, repeated
		n = 1
	}
	return header&1 != 0, r.copyBytes(f, n)
}

// copyBytes moves bytes of the file to the frame.
func (r *Decompressor) copyBytes(f *frame, n int) error {
	if len(f.compressed)+n > mostBytes {
		return errRest
	}
	at := len(f.compressed)
	f.compressed = append(f.compressed, make([]byte, n)...)
	got, err := io.ReadFull(r.src, f.compressed[at:])
	f.compressed = f.compressed[:at+got]
	if err != nil {
		return errRest
	}
	return nil
}
