package record

import (
	"encoding/base64"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// AppendJSON appends rec to dst as one line of a record file, newline included.
// The bytes of body and question are left out unless keepRaw is set. It keeps nothing of rec
// and may be called concurrently.
//
// Lists of reads and events are written as columns, one array for each field, since
// equal things side by side are what a compressor likes:
//
//	read_bytes    bytes that each read added to the body
//	read_at       when each read returned, counted from the read before; the first from "sent"
//	read_delay    how long before that the kernel had it; null: not known; no column: none known
//	read_blur     how long before its stamp a read can have begun to come; negative: its last byte, too,
//	              may have come at any moment of that time; no column: all came at once
//	event_label   one letter for each event: c content, r reasoning, t tool call, n refusal,
//	              o role, e empty, u usage, f finish, d done, k comment, ! error, w whole, ? unknown
//	event_read    the read that completed the event, counted from the event before
//	event_text    bytes of "text" that belong to it
//	event_tokens  its tokens; null: not known; no column: 1 where the label carries tokens, else 0
//	event_merged  1 where a later event came out of the same read; no column: as event_read has it
//
// A time that was never reached is left out, and so is a field at its usual value.
func AppendJSON(dst []byte, rec *Record, keepRaw bool) []byte {
	return appendRecord(dst, kindRequest, rec, keepRaw)
}

// appendRecord appends what there is of rec as a line of a kind.
func appendRecord(dst []byte, kind string, rec *Record, keepRaw bool) []byte {
	dst = append(dst, `{"kind":"`...)
	dst = append(dst, kind...)
	dst = append(dst, `","seq":`...)
	dst = strconv.AppendInt(dst, rec.Seq, 10)
	dst = append(dst, `,"stage":`...)
	dst = strconv.AppendInt(dst, int64(rec.Stage), 10)
	if rec.Phase != Measured {
		dst = append(dst, `,"phase":"`...)
		dst = append(dst, rec.Phase.String()...)
		dst = append(dst, '"')
	}
	dst = appendField(dst, `,"slot":`, int64(rec.Slot), 0)
	dst = appendField(dst, `,"worker":`, int64(rec.Worker), 0)
	dst = appendField(dst, `,"target":`, int64(rec.Target), 0)
	dst = append(dst, `,"prompt":"`...)
	dst = appendHex(dst, rec.Prompt)
	dst = append(dst, '"')
	dst = appendText(dst, `,"session":`, rec.Session)
	dst = appendField(dst, `,"turn":`, int64(rec.Turn), 0)
	if rec.Ends {
		dst = append(dst, `,"ends":true`...)
	}
	dst = appendText(dst, `,"model":`, rec.Model)
	dst = appendText(dst, `,"call":`, rec.Call)
	dst = appendLabels(dst, rec.Labels)
	dst = appendMoment(dst, `,"due":`, rec.Due)
	dst = appendField(dst, `,"think":`, int64(rec.Think), 0)
	dst = appendField(dst, `,"held":`, int64(rec.Held), 0)
	dst = appendMoment(dst, `,"ready":`, rec.Ready)
	dst = appendMoment(dst, `,"sent":`, rec.Sent)
	dst = appendMoment(dst, `,"written":`, rec.Written)
	dst = appendMoment(dst, `,"end":`, rec.End)
	dst = appendField(dst, `,"resent":`, int64(rec.Resent), 0)
	dst = appendField(dst, `,"retries":`, int64(rec.Retries), 0)
	dst = appendField(dst, `,"last_try":`, int64(rec.LastTry), 0)
	dst = appendConn(dst, &rec.Conn)
	dst = appendField(dst, `,"size":`, int64(rec.Size), 0)
	dst = appendMarks(dst, rec)
	dst = appendField(dst, `,"status":`, int64(rec.Status), 0)
	dst = appendText(dst, `,"content_type":`, rec.ContentType)
	dst = appendText(dst, `,"retry_after":`, rec.RetryAfter)
	if rec.Streamed {
		dst = append(dst, `,"streamed":true`...)
	}
	if rec.Unterminated {
		dst = append(dst, `,"unterminated":true`...)
	}
	if rec.Sparse {
		dst = append(dst, `,"first_last_only":true`...)
	}
	dst = appendEvents(dst, rec.Events)
	dst = appendTail(dst, rec.Tail)
	dst = appendTokens(dst, `,"in":`, rec.In)
	dst = appendTokens(dst, `,"out":`, rec.Out)
	dst = appendField(dst, `,"requested_tokens":`, int64(rec.RequestedTokens), 0)
	dst = appendField(dst, `,"cached":`, int64(rec.Cached), -1)
	dst = appendText(dst, `,"finish":`, rec.Finish)
	dst = appendBytes(dst, `,"text`, rec.Text)
	if keepRaw {
		dst = appendBytes(dst, `,"request_body`, rec.RequestBody)
		dst = appendBytes(dst, `,"response_body`, rec.raw())
		dst = appendField(dst, `,"response_body_cut":`, int64(rec.Cut), 0)
	}
	if f := rec.Failure; f != nil {
		dst = append(dst, `,"failure":{"class":`...)
		dst = appendQuoted(dst, string(f.Class))
		dst = appendField(dst, `,"status":`, int64(f.Status), 0)
		dst = appendText(dst, `,"message":`, f.Message)
		dst = appendMoment(dst, `,"at":`, f.At)
		dst = append(dst, '}')
	}
	return append(dst, '}', '\n')
}

func (r *Record) raw() []byte {
	if r.Folded > 0 {
		return r.Raw
	}
	return r.Body
}

func appendField(dst []byte, name string, v, usual int64) []byte {
	if v == usual {
		return dst
	}
	return strconv.AppendInt(append(dst, name...), v, 10)
}

func appendMoment(dst []byte, name string, t time.Duration) []byte {
	return appendField(dst, name, int64(t), int64(Never))
}

func appendText(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	return appendQuoted(append(dst, name...), s)
}

func appendLabels(dst []byte, labels [][2]string) []byte {
	if len(labels) == 0 {
		return dst
	}
	dst = append(dst, `,"labels":`...)
	before := byte('{')
	for _, l := range labels {
		dst = appendQuoted(append(dst, before), l[0])
		dst = appendQuoted(append(dst, ':'), l[1])
		before = ','
	}
	return append(dst, '}')
}

func appendConn(dst []byte, c *Conn) []byte {
	if *c == (Conn{}) {
		return dst
	}
	dst = append(dst, `,"conn":{"reused":`...)
	dst = strconv.AppendBool(dst, c.Reused)
	dst = appendField(dst, `,"resolve":`, int64(c.Resolve), 0)
	dst = appendField(dst, `,"connect":`, int64(c.Connect), 0)
	dst = appendField(dst, `,"tls":`, int64(c.TLS), 0)
	return append(dst, '}')
}

// base is the time that the first read's stamp is counted from.
func base(sent time.Duration) time.Duration {
	if sent == Never {
		return 0
	}
	return sent
}

func appendMarks(dst []byte, rec *Record) []byte {
	if len(rec.Marks) == 0 {
		return dst
	}
	dst = append(dst, `,"read_bytes":[`...)
	last, kernel, blurred := 0, false, false
	for i := range rec.Marks {
		m := &rec.Marks[i]
		dst = appendInt(dst, int64(m.Off-last))
		last = m.Off
		kernel = kernel || m.Kernel != Never
		blurred = blurred || m.Blur != 0
	}
	dst[len(dst)-1] = ']'
	dst = append(dst, `,"read_at":[`...)
	at := base(rec.Sent)
	for i := range rec.Marks {
		user := rec.Marks[i].User
		dst = appendInt(dst, int64(user-at))
		at = user
	}
	dst[len(dst)-1] = ']'
	if blurred {
		dst = appendBlur(dst, rec.Marks)
	}
	if !kernel {
		return dst
	}
	dst = append(dst, `,"read_delay":[`...)
	for i := range rec.Marks {
		m := &rec.Marks[i]
		if m.Kernel == Never {
			dst = append(dst, "null,"...)
			continue
		}
		dst = appendInt(dst, int64(m.User-m.Kernel))
	}
	dst[len(dst)-1] = ']'
	return dst
}

func appendBlur(dst []byte, marks []Read) []byte {
	dst = append(dst, `,"read_blur":[`...)
	for i := range marks {
		dst = appendInt(dst, marks[i].signedBlur())
	}
	dst[len(dst)-1] = ']'
	return dst
}

// signedBlur is Blur, negative where the read is loose.
func (m *Read) signedBlur() int64 {
	if m.Loose {
		return -int64(m.Blur)
	}
	return int64(m.Blur)
}

// setBlur is the reverse of signedBlur.
func (m *Read) setBlur(v int64) {
	m.Blur, m.Loose = time.Duration(v), false
	if v < 0 {
		m.Blur, m.Loose = time.Duration(max(-v, 0)), true
	}
}

func appendEvents(dst []byte, events []Event) []byte {
	if len(events) == 0 {
		return dst
	}
	usualTokens, usualMerged := true, true
	dst = append(dst, `,"event_label":"`...)
	for i := range events {
		e := &events[i]
		label := min(e.Label, Echo)
		dst = append(dst, labelLetters[label])
		usualTokens = usualTokens && e.Tokens == usual(label)
		usualMerged = usualMerged && e.Merged == sharesRead(events, i)
	}
	dst = append(dst, `","event_read":[`...)
	last := 0
	for i := range events {
		dst = appendInt(dst, int64(events[i].Mark-last))
		last = events[i].Mark
	}
	dst[len(dst)-1] = ']'
	dst = append(dst, `,"event_text":[`...)
	for i := range events {
		dst = appendInt(dst, int64(events[i].Text))
	}
	dst[len(dst)-1] = ']'
	if !usualTokens {
		dst = append(dst, `,"event_tokens":[`...)
		for i := range events {
			if n := events[i].Tokens; n == -1 {
				dst = append(dst, "null,"...)
			} else {
				dst = appendInt(dst, int64(n))
			}
		}
		dst[len(dst)-1] = ']'
	}
	if !usualMerged {
		dst = append(dst, `,"event_merged":[`...)
		for i := range events {
			flag := byte('0')
			if events[i].Merged {
				flag = '1'
			}
			dst = append(dst, flag, ',')
		}
		dst[len(dst)-1] = ']'
	}
	return dst
}

// usual is the number of tokens of an event that is not worth writing down.
func usual(l EventKind) int {
	if l.IsToken() {
		return 1
	}
	return 0
}

// sharesRead reports whether the event after i came out of the same read.
func sharesRead(events []Event, i int) bool {
	return i+1 < len(events) && events[i+1].Mark == events[i].Mark
}

func appendTokens(dst []byte, name string, t Tokens) []byte {
	if t == (Tokens{Local: -1}) {
		return dst
	}
	dst = append(dst, name...)
	dst = append(dst, `{"n":`...)
	dst = strconv.AppendInt(dst, int64(t.N), 10)
	dst = append(dst, `,"source":"`...)
	dst = append(dst, t.Source.String()...)
	dst = append(dst, '"')
	dst = appendField(dst, `,"local":`, int64(t.Local), -1)
	dst = appendField(dst, `,"claimed":`, int64(t.Claimed), 0)
	dst = appendField(dst, `,"expected":`, int64(t.Expected), 0)
	return append(dst, '}')
}

func appendInt(dst []byte, v int64) []byte {
	if uint64(v) < 10 {
		return append(dst, byte('0'+v), ',')
	}
	return append(strconv.AppendInt(dst, v, 10), ',')
}

func appendHex(dst []byte, v uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		dst = append(dst, digits[v>>shift&15])
	}
	return dst
}

// appendBytes appends a field of bytes that must come back as they are: as a
// string where they are UTF-8, else in base64 under the name with "_base64".
func appendBytes(dst []byte, name string, b []byte) []byte {
	if len(b) == 0 {
		return dst
	}
	dst = append(dst, name...)
	if utf8.Valid(b) {
		return appendEscaped(append(dst, `":`...), b)
	}
	dst = append(dst, `_base64":"`...)
	dst = base64.StdEncoding.AppendEncode(dst, b)
	return append(dst, '"')
}

// appendQuoted appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD.
func appendQuoted(dst []byte, s string) []byte {
	return appendEscaped(dst, strings.ToValidUTF8(s, "\ufffd"))
}

// appendEscaped appends UTF-8 as a JSON string.
func appendEscaped[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		dst = append(dst, s[start:i]...)
		dst = appendEscape(dst, c)
		start = i + 1
	}
	dst = append(dst, s[start:]...)
	return append(dst, '"')
}

func appendEscape(dst []byte, c byte) []byte {
	const digits = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
