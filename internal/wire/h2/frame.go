package h2

import (
	"encoding/binary"
	"fmt"
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// The types of frames.
const (
	frameData         = 0x0
	frameHeaders      = 0x1
	framePriority     = 0x2
	frameReset        = 0x3
	frameSettings     = 0x4
	framePush         = 0x5
	framePing         = 0x6
	frameGoAway       = 0x7
	frameWindow       = 0x8
	frameContinuation = 0x9
)

// The flags of frames.
const (
	flagEndStream  = 0x1
	flagAck        = 0x1
	flagEndHeaders = 0x4
	flagPadded     = 0x8
	flagPriority   = 0x20
)

// The settings that matter here.
const (
	settingTableSize  = 0x1
	settingPush       = 0x2
	settingStreams    = 0x3
	settingWindow     = 0x4
	settingFrameSize  = 0x5
	settingHeaderList = 0x6
)

const (
	headSize     = 9
	maxFrame     = 16 << 10 // most that a frame to us may hold: the protocol's initial value
	maxWindow    = 1<<31 - 1
	startWindow  = 1<<16 - 1 // every window before anyone says otherwise
	maxBlock     = 256 << 10 // most that a block of headers may hold where no limit says otherwise
	maxFieldSize = 64 << 10
)

// code is a reason for ending a stream or connection.
type code uint32

const (
	codeNone     code = 0x0
	codeProtocol code = 0x1
	codeFlow     code = 0x3
	codeFrame    code = 0x6
	codeRefused  code = 0x7
	codeCancel   code = 0x8
	codeHeaders  code = 0x9
	codeCalm     code = 0xb
)

var codeNames = [...]string{
	"NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
	"STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
	"CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
}

func (c code) String() string {
	if int(c) < len(codeNames) {
		return codeNames[c]
	}
	return fmt.Sprintf("error code %d", uint32(c))
}

// fault is a breach of the protocol that ends the connection.
type fault struct {
	code code
	text string
}

func (f *fault) Error() string { return f.text }

func breach(c code, format string, args ...any) error {
	return &fault{c, fmt.Sprintf(format, args...)}
}

type frame struct {
	length int
	kind   byte
	flags  byte
	stream uint32
}

func (f frame) has(flag byte) bool { return f.flags&flag != 0 }

func readFrame(p []byte) frame {
	return frame{
		length: int(p[0])<<16 | int(p[1])<<8 | int(p[2]),
		kind:   p[3],
		flags:  p[4],
		stream: binary.BigEndian.Uint32(p[5:]) & maxWindow,
	}
}

func appendFrame(b []byte, length int, kind, flags byte, stream uint32) []byte {
	b = append(b, byte(length>>16), byte(length>>8), byte(length), kind, flags)
	return binary.BigEndian.AppendUint32(b, stream)
}

func appendSetting(b []byte, id uint16, value uint32) []byte {
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint16(b, id), value)
}

func appendWindow(b []byte, stream uint32, n int64) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, 4, frameWindow, 0, stream), uint32(n))
}

func appendReset(b []byte, stream uint32, c code) []byte {
	return binary.BigEndian.AppendUint32(appendFrame(b, 4, frameReset, 0, stream), uint32(c))
}

// appendGoAway writes a GOAWAY; the server has opened no stream that could be last.
func appendGoAway(b []byte, c code) []byte {
	b = binary.BigEndian.AppendUint32(appendFrame(b, 8, frameGoAway, 0, 0), 0)
	return binary.BigEndian.AppendUint32(b, uint32(c))
}

// appendBlock writes a block of headers as one frame and as many continuations
// as it takes.
func appendBlock(b, block []byte, flags byte, stream uint32, most int) []byte {
	kind := byte(frameHeaders)
	for {
		n := min(len(block), most)
		if n == len(block) {
			flags |= flagEndHeaders
		}
		b = append(appendFrame(b, n, kind, flags, stream), block[:n]...)
		if block = block[n:]; len(block) == 0 {
			return b
		}
		kind, flags = frameContinuation, 0
	}
}

// splitter takes the bytes of a connection in pieces of any size and cuts them
// into frames.
type splitter struct {
	partial []byte // head or payload of a frame, while it is incomplete
	frame   frame
	inFrame bool
	left    int // bytes of the frame that have not come
	pad     int // of them, padding; -1: its length has not come
	behind  int // bytes of the read that stand behind what is being passed on
}

type sink interface {
	// begin sees the head of each frame; false: its payload does not matter.
	begin(f frame) (wanted bool, err error)
	// data takes the next piece of a DATA frame; last: the frame ends with it.
	data(f frame, p []byte, last bool) error
	// handleFrame takes the payload of any other frame.
	handleFrame(f frame, p []byte) error
}

func (s *splitter) feed(p []byte, to sink) error {
	for len(p) > 0 {
		if !s.inFrame {
			var head []byte
			if head, p = s.collect(p, headSize); head == nil {
				return nil
			}
			if err := s.open(head, to); err != nil {
				return err
			}
			if s.left > 0 {
				continue
			}
			// A frame without payload is complete with its head.
		}
		var err error
		if s.frame.kind == frameData {
			p, err = s.feedData(p, to)
		} else {
			p, err = s.feedWhole(p, to)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// collect gives n bytes once they are there, and what follows them in p.
func (s *splitter) collect(p []byte, n int) (whole, rest []byte) {
	if len(s.partial) == 0 && len(p) >= n {
		return p[:n], p[n:]
	}
	k := min(n-len(s.partial), len(p))
	s.partial = append(s.partial, p[:k]...)
	if len(s.partial) < n {
		return nil, p[k:]
	}
	whole = s.partial
	s.partial = s.partial[:0]
	return whole, p[k:]
}

func (s *splitter) open(head []byte, to sink) error {
	f := readFrame(head)
	if f.length > maxFrame {
		return breach(codeFrame, "a frame of %d bytes, over the limit of %d", f.length, maxFrame)
	}
	wanted, err := to.begin(f)
	if err != nil {
		return err
	}
	s.frame, s.inFrame, s.left, s.pad = f, true, f.length, 0
	if !wanted {
		s.frame.kind, s.frame.stream = frameData, 0 // data of no stream is passed over
		s.frame.flags = 0
		return nil
	}
	if f.kind == frameData && f.has(flagPadded) {
		if s.pad = -1; f.length == 0 {
			return breach(codeFrame, "a padded DATA frame without a pad length")
		}
	}
	return nil
}

// feedWhole passes a frame on once it is complete.
func (s *splitter) feedWhole(p []byte, to sink) (rest []byte, err error) {
	payload, rest := s.collect(p, s.frame.length)
	if payload == nil && s.frame.length > 0 {
		return rest, nil
	}
	s.inFrame, s.behind = false, len(rest)
	return rest, to.handleFrame(s.frame, payload)
}

// feedData passes a piece of a DATA frame on.
func (s *splitter) feedData(p []byte, to sink) (rest []byte, err error) {
	if s.pad < 0 {
		s.pad = int(p[0])
		p = p[1:]
		if s.left--; s.pad > s.left {
			return nil, breach(codeProtocol, "a DATA frame with more padding than payload")
		}
	}
	n := min(len(p), s.left)
	text := p[:min(n, s.left-s.pad)]
	s.left -= n
	// Padding that has not come yet does not hold up the data before it.
	s.pad = min(s.pad, s.left)
	s.inFrame, s.behind = s.left > 0, len(p)-n
	return p[n:], to.data(s.frame, text, !s.inFrame)
}
