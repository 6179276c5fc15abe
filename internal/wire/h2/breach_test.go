package h2

import (
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// Whatever a server does to the protocol, its requests fail with the reason.
func TestBreaches(t *testing.T) {
	type script = func(p *peer, id uint32)
	raw := func(kind, flags byte, stream uint32, payload string) script {
		return func(p *peer, id uint32) {
			if stream == 1 {
				stream = id
			}
			_ = p.framer.WriteRawFrame(http2.FrameType(kind), http2.Flags(flags), stream, []byte(payload))
		}
	}
	then := func(all ...script) script {
		return func(p *peer, id uint32) {
			for _, f := range all {
				f(p, id)
			}
		}
	}
	head := func(p *peer, id uint32) { p.head(id, false, ":status", "200") }
	for text, s := range map[string]script{
		"PUSH_PROMISE":                          raw(framePush, 0, 1, "\x00\x00\x00\x02"),
		"DATA frame on stream 0":                raw(frameData, 0, 0, "x"),
		"which is not open":                     raw(frameData, 0, 7, "x"),
		"for stream 2, which is not":            raw(frameHeaders, flagEndHeaders, 2, "\x88"),
		"data before the headers":               raw(frameData, 0, 1, "x"),
		"more padding than payload":             then(head, raw(frameData, flagPadded, 1, "\x09x")),
		"DATA frame without a pad length":       then(head, raw(frameData, flagPadded, 1, "")),
		"HEADERS frame with more padding":       raw(frameHeaders, flagPadded|flagEndHeaders, 1, "\x09\x88"),
		"padded HEADERS frame without":          raw(frameHeaders, flagPadded|flagEndHeaders, 1, ""),
		"a HEADERS frame of 2 bytes":            raw(frameHeaders, flagPriority|flagEndHeaders, 1, "\x00\x00"),
		"a frame of 16385 bytes":                raw(frameData, 0, 1, strings.Repeat("x", maxFrame+1)),
		"headers that cannot be decoded":        raw(frameHeaders, flagEndHeaders, 1, "\xff\xff\xff\xff\xff\xff"),
		"a response without a status":           raw(frameHeaders, flagEndHeaders, 1, ""),
		"that ends before its status":           func(p *peer, id uint32) { p.head(id, true, ":status", "103") },
		`the status "2x0"`:                      func(p *peer, id uint32) { p.head(id, false, ":status", "2x0") },
		`the Content-Length "-1"`:               func(p *peer, id uint32) { p.head(id, false, ":status", "200", "content-length", "-1") },
		"in the middle of a response":           then(head, head),
		"CONTINUATION frame without":            raw(frameContinuation, flagEndHeaders, 1, "\x88"),
		"inside a header block":                 then(raw(frameHeaders, 0, 1, ""), raw(framePing, 0, 0, "12345678")),
		"SETTINGS frame on a stream":            raw(frameSettings, 0, 1, ""),
		"SETTINGS frame of 5 bytes":             raw(frameSettings, 0, 0, "12345"),
		"SETTINGS frame of 6 bytes":             raw(frameSettings, flagAck, 0, "123456"),
		"SETTINGS_INITIAL_WINDOW_SIZE":          raw(frameSettings, 0, 0, "\x00\x04\xff\xff\xff\xff"),
		"SETTINGS_MAX_FRAME_SIZE 1":             raw(frameSettings, 0, 0, "\x00\x05\x00\x00\x00\x01"),
		"a PING frame of 3 bytes":               raw(framePing, 0, 0, "123"),
		"a RST_STREAM frame of 3 bytes":         raw(frameReset, 0, 1, "123"),
		"a GOAWAY frame of 7 bytes":             raw(frameGoAway, 0, 0, "1234567"),
		"a WINDOW_UPDATE frame of 3 bytes":      raw(frameWindow, 0, 0, "123"),
		"a WINDOW_UPDATE by 0":                  raw(frameWindow, 0, 0, "\x00\x00\x00\x00"),
		"a WINDOW_UPDATE by 2147483647":         raw(frameWindow, 0, 0, "\x7f\xff\xff\xff"),
		"HTTP/2: a WINDOW_UPDATE by 2147483647": raw(frameWindow, 0, 1, "\x7f\xff\xff\xff"),
		"headers longer than": func(p *peer, id uint32) {
			raw(frameHeaders, 0, 1, "")(p, id)
			for range maxBlock/maxFrame + 1 {
				raw(frameContinuation, 0, 1, strings.Repeat("\x00", maxFrame))(p, id)
			}
		},
	} {
		t.Run(text, func(t *testing.T) {
			to := play(t, func(p *peer) {
				p.settings()
				id, _ := p.request()
				s(p, id)
				_ = p.conn.CloseWrite()
				p.hold()
			})
			wantFailure(t, to.do(t.Context(), to.client(t, timedconn.Timeouts{}, 8), 0, "body"), record.BadBody, text)
		})
	}
}

func TestFirstFrameIsNoSettings(t *testing.T) {
	to := play(t, func(p *peer) {
		_ = p.framer.WritePing(false, [8]byte{})
		p.hold()
	})
	wantFailure(t, to.do(t.Context(), to.client(t, timedconn.Timeouts{}, 8), 0, ""), record.BadBody, "instead of SETTINGS")
}

func TestPingsWithoutEnd(t *testing.T) {
	to := play(t, func(p *peer) {
		p.settings()
		for p.framer.WritePing(false, [8]byte{}) == nil { // and reads nothing
		}
	})
	wantFailure(t, to.do(t.Context(), to.client(t, timedconn.Timeouts{Request: patience}, 8), 0, strings.Repeat("x", 8<<20)), record.BadBody, "flood of PING")
}
