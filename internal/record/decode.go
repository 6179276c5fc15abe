package record

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
)

// lineDecoder turns lines of requests into records.
type lineDecoder struct {
	scan    jsonscan.Scanner
	columns columns
	most    int64 // bytes of a record in memory; 0: no bound
	repeats
}

// repeats are the last strings seen of those that most requests repeat.
type repeats [5]string

const (
	ofSession = iota
	ofModel
	ofContentType
	ofRetryAfter
	ofFinish
)

// decode reads one line of a request into rec, whose buffers are reused.
func (d *lineDecoder) decode(line []byte, rec *Record) error {
	*rec = Record{
		Due: Never, Ready: Never, Sent: Never, Written: Never, End: Never, Cached: -1,
		In: Tokens{Local: -1}, Out: Tokens{Local: -1},
		Marks: rec.Marks[:0], Events: rec.Events[:0], Text: rec.Text[:0], Body: rec.Body[:0], RequestBody: rec.RequestBody[:0],
	}
	d.columns = columns{}
	s := &d.scan
	s.Reset(line)
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		if !d.identity(key, rec) && !d.answer(key, rec) && !d.column(key, rec) {
			s.Skip()
		}
	}
	s.End()
	if err := s.Err(); err != nil {
		return err
	}
	return d.join(rec)
}

// identity reads the fields that say which request it was and when it went.
func (d *lineDecoder) identity(key []byte, rec *Record) bool {
	s := &d.scan
	switch string(key) {
	case "seq":
		rec.Seq = s.Int()
	case "stage":
		rec.Stage = int(s.Int())
	case "phase":
		switch string(s.Quoted()) {
		case Warmup.String():
			rec.Phase = Warmup
		case Closing.String():
			rec.Phase = Closing
		}
	case "slot":
		rec.Slot = int(s.Int())
	case "worker":
		rec.Worker = int(s.Int())
	case "target":
		rec.Target = int(s.Int())
	case "prompt":
		n, err := strconv.ParseUint(string(s.Quoted()), 16, 64)
		if err != nil {
			s.Fail("a hash of 16 hexadecimal digits")
		}
		rec.Prompt = n
	case "session":
		rec.Session = repeated(&d.repeats[ofSession], d.word())
	case "turn":
		rec.Turn = int(s.Int())
	case "ends":
		rec.Ends = s.Bool()
	case "model":
		rec.Model = repeated(&d.repeats[ofModel], d.word())
	case "call":
		rec.Call = string(d.word())
	case "labels":
		s.Object()
		for key, ok := s.Key(); ok; key, ok = s.Key() {
			name := string(key)
			rec.Labels = append(rec.Labels, [2]string{name, string(d.word())})
		}
	case "due":
		rec.Due = time.Duration(s.Int())
	case "think":
		rec.Think = time.Duration(s.Int())
	case "held":
		rec.Held = time.Duration(s.Int())
	case "ready":
		rec.Ready = time.Duration(s.Int())
	case "sent":
		rec.Sent = time.Duration(s.Int())
	case "written":
		rec.Written = time.Duration(s.Int())
	case "end":
		rec.End = time.Duration(s.Int())
	case "resent":
		rec.Resent = int(s.Int())
	case "retries":
		rec.Retries = int(s.Int())
	case "last_try":
		rec.LastTry = time.Duration(s.Int())
	case "size":
		rec.Size = int(s.Int())
	case "conn":
		d.conn(&rec.Conn)
	default:
		return false
	}
	return true
}

// answer reads the fields that say what came back.
func (d *lineDecoder) answer(key []byte, rec *Record) bool {
	s := &d.scan
	switch string(key) {
	case "status":
		rec.Status = int(s.Int())
	case "content_type":
		rec.ContentType = repeated(&d.repeats[ofContentType], d.word())
	case "retry_after":
		rec.RetryAfter = repeated(&d.repeats[ofRetryAfter], d.word())
	case "unterminated":
		rec.Unterminated = s.Bool()
	case "first_last_only":
		rec.Sparse = s.Bool()
	case "streamed":
		rec.Streamed = s.Bool()
	case "in":
		d.tokens(&rec.In)
	case "out":
		d.tokens(&rec.Out)
	case "requested_tokens":
		rec.RequestedTokens = int(s.Int())
	case "cached":
		rec.Cached = int(s.Int())
	case "finish":
		rec.Finish = repeated(&d.repeats[ofFinish], d.word())
	case "text":
		rec.Text = d.bytes(rec.Text[:0])
	case "text_base64":
		rec.Text = d.base64(rec.Text[:0])
	case "request_body":
		rec.RequestBody = d.bytes(rec.RequestBody[:0])
	case "request_body_base64":
		rec.RequestBody = d.base64(rec.RequestBody[:0])
	case "response_body":
		rec.Body = d.bytes(rec.Body[:0])
	case "response_body_base64":
		rec.Body = d.base64(rec.Body[:0])
	case "response_body_cut":
		rec.Cut = int(s.Int())
	case "tail":
		rec.Tail = d.tail()
	case "failure":
		rec.Failure = d.failure()
	default:
		return false
	}
	return true
}

// repeated returns b as a string without a new allocation where it is the last one again.
func repeated(last *string, b []byte) string {
	if *last != string(b) {
		*last = string(b)
	}
	return *last
}

// mostWord is more bytes than a name or a header that a run notes has: reports print, compare and
// group by them, and hold several copies.
const mostWord = 64 << 10

// word reads a string that is no text of a request or a response.
func (d *lineDecoder) word() []byte {
	b := d.scan.Quoted()
	if len(b) > mostWord {
		d.scan.Fail(fmt.Sprintf("a name of at most %d bytes", mostWord))
		return nil
	}
	return b
}

// cut is a message as far as anybody reads it.
func cut(b []byte) string {
	if len(b) <= mostWord {
		return string(b)
	}
	return strings.ToValidUTF8(string(b[:mostWord]), "")
}

func (d *lineDecoder) bytes(dst []byte) []byte {
	body, escaped := d.scan.String()
	if escaped {
		return jsonscan.AppendUnescaped(dst, body)
	}
	return append(dst, body...)
}

func (d *lineDecoder) base64(dst []byte) []byte {
	dst, err := base64.StdEncoding.AppendDecode(dst, d.scan.Quoted())
	if err != nil {
		d.scan.Fail("base64")
	}
	return dst
}

func (d *lineDecoder) conn(c *Conn) {
	s := &d.scan
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "reused":
			c.Reused = s.Bool()
		case "resolve":
			c.Resolve = time.Duration(s.Int())
		case "connect":
			c.Connect = time.Duration(s.Int())
		case "tls":
			c.TLS = time.Duration(s.Int())
		default:
			s.Skip()
		}
	}
}

func (d *lineDecoder) tokens(t *Tokens) {
	s := &d.scan
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "n":
			t.N = int(s.Int())
		case "source":
			if t.Source, ok = parseSource(s.Quoted()); !ok {
				s.Fail("a source of token counts")
			}
		case "local":
			t.Local = int(s.Int())
		case "claimed":
			t.Claimed = int(s.Int())
		case "expected":
			t.Expected = int(s.Int())
		default:
			s.Skip()
		}
	}
	if t.N < 0 || t.N > mostTokens {
		*t = Tokens{Local: t.Local, Claimed: max(t.N, t.Claimed)}
	}
	if t.Expected < 0 || t.Expected > mostTokens {
		t.Expected = 0
	}
}

// mostTokens is more than any prompt or answer has: sums of such numbers do not overflow.
const mostTokens = 1 << 27

func (d *lineDecoder) failure() *Failure {
	f := &Failure{At: Never}
	s := &d.scan
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		switch string(key) {
		case "class":
			f.Class = Class(d.word())
		case "status":
			f.Status = int(s.Int())
		case "message":
			f.Message = cut(s.Quoted())
		case "at":
			f.At = time.Duration(s.Int())
		default:
			s.Skip()
		}
	}
	return f
}
