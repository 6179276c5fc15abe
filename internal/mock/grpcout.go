package mock

import (
	"encoding/binary"
	"slices"
	"strconv"

	h2 "golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/mock/repository"
)

func appendFrameHead(b []byte, size int, kind h2.FrameType, flags h2.Flags, stream uint32) []byte {
	b = append(b, byte(size>>16), byte(size>>8), byte(size), byte(kind), byte(flags))
	return binary.BigEndian.AppendUint32(b, stream)
}

// appendSettings writes what the server begins with.
func appendSettings(b []byte) []byte {
	b = appendFrameHead(b, 3*6, h2.FrameSettings, 0, 0)
	for _, s := range [...]h2.Setting{
		{ID: h2.SettingMaxConcurrentStreams, Val: maxStreams},
		{ID: h2.SettingInitialWindowSize, Val: windowIn},
		{ID: h2.SettingMaxHeaderListSize, Val: maxHeaderList},
	} {
		b = binary.BigEndian.AppendUint16(b, uint16(s.ID))
		b = binary.BigEndian.AppendUint32(b, s.Val)
	}
	return appendWindowUpdate(b, 0, windowInConn-65535)
}

func appendWindowUpdate(b []byte, stream uint32, n int) []byte {
	b = appendFrameHead(b, 4, h2.FrameWindowUpdate, 0, stream)
	return binary.BigEndian.AppendUint32(b, uint32(n))
}

// appendField writes a header field that no table keeps: blocks do not depend on one another.
func appendField(b []byte, name, value string) []byte {
	b = append(b, 0)
	b = appendPrefixed(b, len(name))
	b = append(b, name...)
	b = appendPrefixed(b, len(value))
	return append(b, value...)
}

// appendPrefixed writes an HPACK integer with a prefix of seven bits.
func appendPrefixed(b []byte, n int) []byte {
	if n < 127 {
		return append(b, byte(n))
	}
	b = append(b, 127)
	for n -= 127; n >= 128; n >>= 7 {
		b = append(b, byte(n)|128)
	}
	return append(b, byte(n))
}

// appendStatus200 writes ":status: 200" and the content type.
func appendStatus200(b []byte, ctype string) []byte {
	b = append(b, 0x88)
	return appendField(b, "content-type", ctype)
}

// header writes a header block, which has to fit one frame: messages are cut for that.
func (g *grpcConn) header(st *grpcStream, block []byte, end bool) {
	flags := h2.FlagHeadersEndHeaders
	if end {
		flags |= h2.FlagHeadersEndStream
	}
	g.out = appendFrameHead(g.out, len(block), h2.FrameHeaders, flags, st.id)
	g.out = append(g.out, block...)
}

const (
	grpcType   = "application/grpc"
	maxMessage = 4 << 10 // of a status, as sent
)

func (g *grpcConn) answerHead(st *grpcStream) {
	if st.opened {
		return
	}
	st.opened = true
	var room [64]byte
	g.header(st, appendStatus200(room[:0], grpcType), false)
}

// push sends bytes of messages, as far as the client's windows let it, and holds the rest.
func (g *grpcConn) push(st *grpcStream, p []byte) {
	g.answerHead(st)
	st.pushed += int64(len(p))
	if n := int64(len(p)); len(st.held) == 0 && len(p) <= g.maxFrame && n <= g.window && n <= st.window {
		g.frameData(st, p)
		return
	}
	st.held = append(st.held, p...)
	g.pump(st)
}

// frameData puts bytes of messages into a frame that the windows let through.
func (g *grpcConn) frameData(st *grpcStream, p []byte) {
	g.out = appendFrameHead(g.out, len(p), h2.FrameData, 0, st.id)
	g.out = append(g.out, p...)
	n := int64(len(p))
	g.window -= n
	st.window -= n
	st.framed += n
}

// pump sends what a stream holds back, as far as the windows let it.
func (g *grpcConn) pump(st *grpcStream) {
	for len(st.held) > 0 {
		n := min(int64(len(st.held)), g.window, st.window, int64(g.maxFrame))
		if n <= 0 {
			return
		}
		g.frameData(st, st.held[:n])
		st.held = st.held[n:]
	}
	st.held = nil
	if st.ending {
		g.trailers(st)
	}
}

func (g *grpcConn) pumpAll() {
	for _, st := range g.streams {
		if len(st.held) > 0 {
			g.pump(st)
		}
	}
}

// end closes the response with a status, after what is held back.
func (g *grpcConn) end(st *grpcStream, code repository.Code, message string) {
	if st.ending {
		return
	}
	st.ending, st.code, st.message = true, code, message
	if len(st.held) == 0 {
		g.trailers(st)
	}
}

// trailers writes the status. A client that has not ended the stream is told to send no more.
func (g *grpcConn) trailers(st *grpcStream) {
	var room [256]byte
	b := room[:0]
	if !st.opened {
		b = appendStatus200(b, grpcType)
		st.opened = true
	}
	b = appendField(b, "grpc-status", strconv.Itoa(int(st.code)))
	if st.message != "" {
		b = appendField(b, "grpc-message", percent(st.message))
	}
	g.header(st, b, true)
	if !st.half {
		g.reset(st, h2.ErrCodeNo)
	}
	delete(g.streams, st.id)
}

func (g *grpcConn) reset(st *grpcStream, code h2.ErrCode) {
	g.out = appendFrameHead(g.out, 4, h2.FrameRSTStream, 0, st.id)
	g.out = binary.BigEndian.AppendUint32(g.out, uint32(code))
}

// percent encodes a status message for its header.
func percent(s string) string {
	if len(s) > maxMessage {
		s = s[:maxMessage]
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' || c == '%' {
			b = append(b, '%', "0123456789ABCDEF"[c>>4], "0123456789ABCDEF"[c&15])
			continue
		}
		b = append(b, s[i])
	}
	return string(b)
}

// flush writes all that there is at once, and settles the calls whose events went.
func (g *grpcConn) flush() {
	if len(g.out) == 0 || g.dead {
		return
	}
	for _, c := range g.batch {
		c.countAhead()
	}
	g.wire.arm()
	_, err := g.nc.Write(g.out)
	at := g.wire.stamp()
	if g.out = g.out[:0]; cap(g.out) > 1<<20 {
		g.out = make([]byte, 0, 4096)
	}
	if err != nil {
		g.die()
		return
	}
	g.batch = slices.DeleteFunc(g.batch, func(c *grpcCall) bool { return c.sentOut(at) })
}
