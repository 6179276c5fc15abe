package grpc

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/wire/http1"
)

// prefix is the length of what stands before each message: its compression and length.
const prefix = 5

// Message is a message ready to go. It may go any number of times.
type Message struct{ wire []byte }

// Prepare makes a message ready to go, perhaps compressed, ahead of the measured time.
func (c *Client) Prepare(message []byte) (Message, error) {
	if len(message) > c.options.MaxMessage {
		return Message{}, fmt.Errorf("a message of %d bytes, where %d are allowed: raise the limit of message sizes or send less", len(message), c.options.MaxMessage)
	}
	if c.options.Compression == "" {
		wire := make([]byte, prefix, prefix+len(message))
		binary.BigEndian.PutUint32(wire[1:], uint32(len(message)))
		return Message{append(wire, message...)}, nil
	}
	w, err := c.packer()
	if err != nil {
		return Message{}, err
	}
	packed := bytes.NewBuffer([]byte{1, 0, 0, 0, 0})
	w.Reset(packed)
	// Writing to memory does not fail.
	_, _ = w.Write(message)
	_ = w.Close()
	c.packers.Put(w)
	wire := packed.Bytes()
	binary.BigEndian.PutUint32(wire[1:], uint32(len(wire)-prefix))
	return Message{wire}, nil
}

type packer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// packer gives one for the client's compression. Making one is dear.
func (c *Client) packer() (packer, error) {
	if w, ok := c.packers.Get().(packer); ok {
		return w, nil
	}
	switch c.options.Compression {
	case "gzip":
		return gzip.NewWriter(nil), nil
	case "deflate":
		return zlib.NewWriter(nil), nil
	}
	return nil, fmt.Errorf("compression %q is not known: use gzip or deflate", c.options.Compression)
}

// splitter takes the bytes of a stream in pieces of any size and cuts them into
// messages.
type splitter struct {
	most     int           // bytes of a message
	largest  limitio.Limit // the same, as the plan bounds it
	encoding string        // of those that are compressed
	partial  []byte        // a message, while it is incomplete
	handed   bool          // partial was handed out whole
	expander expander
}

// keepPartial is how large a buffer is kept between messages.
const keepPartial = 1 << 20

// next gives the first message of p with its prefix, uncompressed, and what follows it; nil: it is
// not complete, and all of p has been taken. It is valid until the next call.
func (s *splitter) next(p []byte) (message, rest []byte, err error) {
	if s.handed {
		if s.handed = false; cap(s.partial) > keepPartial {
			s.partial = nil
		}
		s.partial = s.partial[:0]
	}
	if len(s.partial) == 0 && len(p) >= prefix {
		n, err := s.size(p)
		if err != nil {
			return nil, nil, err
		}
		if len(p) >= prefix+n {
			message, err = s.plain(p[:prefix+n])
			return message, p[prefix+n:], err
		}
	}
	for {
		want := prefix
		if len(s.partial) >= prefix {
			n, err := s.size(s.partial)
			if err != nil {
				return nil, nil, err
			}
			want += n
		}
		k := min(want-len(s.partial), len(p))
		s.partial = append(s.partial, p[:k]...)
		p = p[k:]
		if len(s.partial) < want {
			return nil, nil, nil
		}
		if want > prefix || s.partial[1]|s.partial[2]|s.partial[3]|s.partial[4] == 0 {
			s.handed = true
			message, err = s.plain(s.partial)
			return message, p, err
		}
	}
}

// pending reports whether a message has come in part.
func (s *splitter) pending() bool { return len(s.partial) > 0 && !s.handed }

// size is the length of the message that a prefix announces.
func (s *splitter) size(p []byte) (int, error) {
	n := binary.BigEndian.Uint32(p[1:])
	if p[0] > 1 {
		return 0, http1.BadFraming(fmt.Errorf("the server sent a message that begins with the byte %d, where gRPC has 0 or 1", p[0]))
	}
	return int(n), s.permit(int64(n), false)
}

// permit says whether a message may be so long. A packed one is at least that.
func (s *splitter) permit(n int64, packed bool) error {
	if n <= int64(s.most) && !s.largest.Over(n) {
		return nil
	}
	as := fmt.Sprintf("of %d bytes", n)
	if packed {
		as = "that is compressed"
	}
	switch {
	case n > int64(s.most):
		return http1.BadFraming(fmt.Errorf("the server sent a message %s, where %d are allowed: raise the limit of message sizes", as, s.most))
	default:
		return http1.TooLarge(&limitio.Error{What: "a message " + as, Limit: s.largest})
	}
}

// plain undoes the compression of a whole message.
func (s *splitter) plain(frame []byte) ([]byte, error) {
	if frame[0] == 0 {
		return frame, nil
	}
	return s.expander.expand(frame[prefix:], s)
}

// expander undoes compression. It keeps what it works with from one message to the
// next.
type expander struct {
	in   bytes.Reader
	gzip *gzip.Reader
	zlib io.ReadCloser
	out  bytes.Buffer
}

func (e *expander) expand(packed []byte, s *splitter) ([]byte, error) {
	e.in.Reset(packed)
	r, err := e.reader(s.encoding)
	if err != nil {
		return nil, http1.BadFraming(fmt.Errorf("a compressed message cannot be read: %w", err))
	}
	e.out.Reset()
	e.out.Write(make([]byte, prefix))
	most := int64(s.most)
	if s.largest.Bytes > 0 {
		most = min(most, s.largest.Bytes)
	}
	n, err := io.Copy(&e.out, io.LimitReader(r, most+1))
	if err != nil {
		return nil, http1.BadFraming(fmt.Errorf("a compressed message cannot be read: %w", err))
	}
	if err := s.permit(n, true); err != nil {
		return nil, err
	}
	frame := e.out.Bytes()
	binary.BigEndian.PutUint32(frame[1:], uint32(n))
	return frame, nil
}

func (e *expander) reader(encoding string) (io.Reader, error) {
	var err error
	switch encoding {
	case "gzip":
		if e.gzip == nil {
			e.gzip, err = gzip.NewReader(&e.in)
		} else {
			err = e.gzip.Reset(&e.in)
		}
		return e.gzip, err
	case "deflate":
		if e.zlib == nil {
			e.zlib, err = zlib.NewReader(&e.in)
		} else {
			err = e.zlib.(zlib.Resetter).Reset(&e.in, nil)
		}
		return e.zlib, err
	case "", "identity":
		return nil, errors.New("the server did not name the encoding")
	}
	return nil, fmt.Errorf("it is compressed with %q, which was not offered", encoding)
}
