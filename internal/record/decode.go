package record

import (
	"encoding/base64"
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/jsonscan"
)

// lineDecoder turns lines of requests into records.
type lineDecoder struct {
	scan    jsonscan.Scanner
	rec     *Record // that is being read
	columns columns
	most    int64 // bytes of a record in memory; 0: no bound
	repeats
	replies, counts                   echo
	lineOrder, connOrder, tokensOrder jsonscan.Order
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
	d.rec, d.columns.lengths = rec, lengths{}
	d.replies.began, d.counts.began = 0, 0
	s := &d.scan
	s.Reset(line)
	lineMembers.Read(s, &d.lineOrder, d)
	s.End()
	if err := s.Err(); err != nil {
		return err
	}
	return d.join(rec)
}

type scanner = jsonscan.Scanner

// lineMembers are the members of a line of a request.
var lineMembers = jsonscan.NewMembers(append(append([]jsonscan.Member[lineDecoder]{
	{Name: "kind", Read: func(s *scanner, _ *lineDecoder) {
		if !s.IsPlain("request") {
			s.Skip()
		}
	}},
	// Which request it was, and when it went.
	{Name: "seq", Read: func(s *scanner, d *lineDecoder) { d.rec.Seq = s.Int() }},
	{Name: "stage", Read: func(s *scanner, d *lineDecoder) { d.rec.Stage = int(s.Int()) }},
	{Name: "phase", Read: readPhase},
	{Name: "slot", Read: func(s *scanner, d *lineDecoder) { d.rec.Slot = int(s.Int()) }},
	{Name: "worker", Read: func(s *scanner, d *lineDecoder) { d.rec.Worker = int(s.Int()) }},
	{Name: "target", Read: func(s *scanner, d *lineDecoder) { d.rec.Target = int(s.Int()) }},
	{Name: "prompt", Read: readPrompt},
	{Name: "session", Read: func(_ *scanner, d *lineDecoder) { d.rec.Session = d.repeated(ofSession) }},
	{Name: "turn", Read: func(s *scanner, d *lineDecoder) { d.rec.Turn = int(s.Int()) }},
	{Name: "ends", Read: func(s *scanner, d *lineDecoder) { d.rec.Ends = s.Bool() }},
	{Name: "model", Read: func(_ *scanner, d *lineDecoder) { d.rec.Model = d.repeated(ofModel) }},
	{Name: "call", Read: func(_ *scanner, d *lineDecoder) { d.rec.Call = string(d.word()) }},
	{Name: "labels", Read: readLabels},
	{Name: "due", Read: func(s *scanner, d *lineDecoder) { d.rec.Due = time.Duration(s.Int()) }},
	{Name: "think", Read: func(s *scanner, d *lineDecoder) { d.rec.Think = time.Duration(s.Int()) }},
	{Name: "held", Read: func(s *scanner, d *lineDecoder) { d.rec.Held = time.Duration(s.Int()) }},
	{Name: "ready", Read: func(s *scanner, d *lineDecoder) { d.rec.Ready = time.Duration(s.Int()) }},
	{Name: "sent", Read: func(s *scanner, d *lineDecoder) { d.rec.Sent = time.Duration(s.Int()) }},
	{Name: "written", Read: func(s *scanner, d *lineDecoder) { d.rec.Written = time.Duration(s.Int()) }},
	{Name: "end", Read: func(s *scanner, d *lineDecoder) { d.rec.End = time.Duration(s.Int()) }},
	{Name: "resent", Read: func(s *scanner, d *lineDecoder) { d.rec.Resent = int(s.Int()) }},
	{Name: "retries", Read: func(s *scanner, d *lineDecoder) { d.rec.Retries = int(s.Int()) }},
	{Name: "last_try", Read: func(s *scanner, d *lineDecoder) { d.rec.LastTry = time.Duration(s.Int()) }},
	{Name: "conn", Read: func(s *scanner, d *lineDecoder) { connMembers.Read(s, &d.connOrder, &d.rec.Conn) }},
	{Name: "size", Read: func(s *scanner, d *lineDecoder) { d.rec.Size = int(s.Int()) }},
}, columnMembers...), []jsonscan.Member[lineDecoder]{
	// What came back.
	{Name: "status", Read: func(s *scanner, d *lineDecoder) {
		if !d.replies.again(s, d) {
			d.rec.Status = int(s.Int())
		}
	}},
	{Name: "content_type", Read: func(_ *scanner, d *lineDecoder) { d.rec.ContentType = d.repeated(ofContentType) }},
	{Name: "retry_after", Read: func(_ *scanner, d *lineDecoder) { d.rec.RetryAfter = d.repeated(ofRetryAfter) }},
	{Name: "unterminated", Read: func(s *scanner, d *lineDecoder) { d.rec.Unterminated = s.Bool() }},
	{Name: "first_last_only", Read: func(s *scanner, d *lineDecoder) { d.rec.Sparse = s.Bool() }},
	{Name: "streamed", Read: func(s *scanner, d *lineDecoder) { d.rec.Streamed = s.Bool() }},
	{Name: "in", Read: func(s *scanner, d *lineDecoder) {
		if !d.counts.again(s, d) {
			d.tokens(&d.rec.In)
		}
	}},
	{Name: "out", Read: func(_ *scanner, d *lineDecoder) { d.tokens(&d.rec.Out) }},
	{Name: "requested_tokens", Read: func(s *scanner, d *lineDecoder) { d.rec.RequestedTokens = int(s.Int()) }},
	{Name: "cached", Read: func(s *scanner, d *lineDecoder) { d.rec.Cached = int(s.Int()) }},
	{Name: "finish", Read: func(s *scanner, d *lineDecoder) {
		d.rec.Finish = d.repeated(ofFinish)
		d.counts.remember(s, d, "in", countKeys)
	}},
	{Name: "text", Read: func(_ *scanner, d *lineDecoder) { d.rec.Text = d.bytes(d.rec.Text[:0]) }},
	{Name: "text_base64", Read: func(_ *scanner, d *lineDecoder) { d.rec.Text = d.base64(d.rec.Text[:0]) }},
	{Name: "request_body", Read: func(_ *scanner, d *lineDecoder) { d.rec.RequestBody = d.bytes(d.rec.RequestBody[:0]) }},
	{Name: "request_body_base64", Read: func(_ *scanner, d *lineDecoder) { d.rec.RequestBody = d.base64(d.rec.RequestBody[:0]) }},
	{Name: "response_body", Read: func(_ *scanner, d *lineDecoder) { d.rec.Body = d.bytes(d.rec.Body[:0]) }},
	{Name: "response_body_base64", Read: func(_ *scanner, d *lineDecoder) { d.rec.Body = d.base64(d.rec.Body[:0]) }},
	{Name: "response_body_cut", Read: func(s *scanner, d *lineDecoder) { d.rec.Cut = int(s.Int()) }},
	{Name: "tail", Read: func(_ *scanner, d *lineDecoder) { d.rec.Tail = d.tail() }},
	{Name: "failure", Read: func(_ *scanner, d *lineDecoder) { d.rec.Failure = d.failure() }},
}...)...)

func readPhase(s *scanner, d *lineDecoder) {
	switch string(s.Quoted()) {
	case Warmup.String():
		d.rec.Phase = Warmup
	case Closing.String():
		d.rec.Phase = Closing
	}
}

func readPrompt(s *scanner, d *lineDecoder) {
	digits := s.Quoted()
	var n uint64
	for _, c := range digits {
		v := hexDigits[c]
		if v == 0 {
			s.Fail("a hash of 16 hexadecimal digits")
			return
		}
		n = n<<4 | uint64(v-1)
	}
	if len(digits) == 0 || len(digits) > 16 {
		s.Fail("a hash of 16 hexadecimal digits")
		return
	}
	d.rec.Prompt = n
}

// hexDigits is one more than the value of each hexadecimal digit; 0: it is none.
var hexDigits = func() (values [256]uint8) {
	for i := range 16 {
		values["0123456789abcdef"[i]], values["0123456789ABCDEF"[i]] = uint8(i+1), uint8(i+1)
	}
	return values
}()

func readLabels(s *scanner, d *lineDecoder) {
	s.Object()
	for key, ok := s.Key(); ok; key, ok = s.Key() {
		name := string(key)
		d.rec.Labels = append(d.rec.Labels, [2]string{name, string(d.word())})
	}
}

var connMembers = jsonscan.NewMembers(
	jsonscan.Member[Conn]{Name: "reused", Read: func(s *scanner, c *Conn) { c.Reused = s.Bool() }},
	jsonscan.Member[Conn]{Name: "resolve", Read: func(s *scanner, c *Conn) { c.Resolve = time.Duration(s.Int()) }},
	jsonscan.Member[Conn]{Name: "connect", Read: func(s *scanner, c *Conn) { c.Connect = time.Duration(s.Int()) }},
	jsonscan.Member[Conn]{Name: "tls", Read: func(s *scanner, c *Conn) { c.TLS = time.Duration(s.Int()) }},
)

var tokensMembers = jsonscan.NewMembers(
	jsonscan.Member[Tokens]{Name: "n", Read: func(s *scanner, t *Tokens) { t.N = int(s.Int()) }},
	jsonscan.Member[Tokens]{Name: "source", Read: func(s *scanner, t *Tokens) {
		var ok bool
		if t.Source, ok = parseSource(s.Quoted()); !ok {
			s.Fail("a source of token counts")
		}
	}},
	jsonscan.Member[Tokens]{Name: "local", Read: func(s *scanner, t *Tokens) { t.Local = int(s.Int()) }},
	jsonscan.Member[Tokens]{Name: "claimed", Read: func(s *scanner, t *Tokens) { t.Claimed = int(s.Int()) }},
	jsonscan.Member[Tokens]{Name: "expected", Read: func(s *scanner, t *Tokens) { t.Expected = int(s.Int()) }},
)

// repeated reads a word, which is no new string where it is the last one again.
func (d *lineDecoder) repeated(which int) string {
	last := &d.repeats[which]
	if d.scan.IsPlain(*last) {
		return *last
	}
	at := d.scan.Pos()
	word := string(d.word())
	if d.scan.Pos()-at == len(word)+2 { // without escapes, which IsPlain does not know
		*last = word
	}
	return word
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

func (d *lineDecoder) tokens(t *Tokens) {
	tokensMembers.Read(&d.scan, &d.tokensOrder, t)
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

// An echo is values of a line, one after the other, that are mostly written as in the line before: what
// kind of response came, and what its tokens are. They are compared, and not read again.
type echo struct {
	text   []byte // from the first value to the last
	apply  []func(to *lineDecoder, from *echo)
	rec    Record // what they came to
	began  int    // where the first value begins in the line that is being read
	missed int    // lines in succession
}

// echoKeys are the names of the values, and what takes each of them over.
type echoKeys map[string]func(to *lineDecoder, from *echo)

// mostMissed is in how many lines in succession values are others until only one line in as many is
// remembered: where they always are, remembering would be in vain.
const mostMissed = 16

// again takes the values over where they are those of the line before.
func (e *echo) again(s *scanner, d *lineDecoder) bool {
	e.began = s.Pos()
	if !s.Same(e.text) {
		return false
	}
	for _, take := range e.apply {
		take(d, e)
	}
	e.missed = 0
	return true
}

// remember keeps the values that were read since again, the first of them under a name, for the next line.
func (e *echo) remember(s *scanner, d *lineDecoder, first string, all echoKeys) {
	n := len(d.rec.Events)
	if e.missed++; e.missed > mostMissed && e.missed%mostMissed != 0 || e.began == 0 || s.Err() != nil ||
		d.columns.labels != n || d.columns.reads != n {
		return
	}
	e.text, e.apply = append(e.text[:0], s.From(e.began)...), e.apply[:0]
	e.began = 0
	var keys scanner
	keys.Reset([]byte(`{"` + first + `":` + string(e.text) + `}`))
	keys.Object()
	for key, ok := keys.Key(); ok; key, ok = keys.Key() {
		take := all[string(key)]
		if take == nil { // a line of another order
			e.text = e.text[:0]
			return
		}
		e.apply = append(e.apply, take)
		keys.Skip()
	}
	events := append(e.rec.Events[:0], d.rec.Events...)
	e.rec = *d.rec
	e.rec.Marks, e.rec.Events, e.rec.Text, e.rec.Body, e.rec.RequestBody = nil, events, nil, nil, nil
}

// replyKeys are what came back, but for its text.
var replyKeys = echoKeys{
	"status":          func(d *lineDecoder, e *echo) { d.rec.Status = e.rec.Status },
	"content_type":    func(d *lineDecoder, e *echo) { d.rec.ContentType = e.rec.ContentType },
	"retry_after":     func(d *lineDecoder, e *echo) { d.rec.RetryAfter = e.rec.RetryAfter },
	"unterminated":    func(d *lineDecoder, e *echo) { d.rec.Unterminated = e.rec.Unterminated },
	"first_last_only": func(d *lineDecoder, e *echo) { d.rec.Sparse = e.rec.Sparse },
	"streamed":        func(d *lineDecoder, e *echo) { d.rec.Streamed = e.rec.Streamed },
	"event_label": func(d *lineDecoder, e *echo) {
		d.columns.labels = len(e.rec.Events)
		for i, to := 0, d.events(0, len(e.rec.Events)); i < len(to); i++ {
			to[i].Label = e.rec.Events[i].Label
		}
	},
	"event_read": func(d *lineDecoder, e *echo) {
		d.columns.reads = len(e.rec.Events)
		for i, to := 0, d.events(0, len(e.rec.Events)); i < len(to); i++ {
			to[i].Mark = e.rec.Events[i].Mark
		}
	},
}

// countKeys are the tokens.
var countKeys = echoKeys{
	"in":               func(d *lineDecoder, e *echo) { d.rec.In = e.rec.In },
	"out":              func(d *lineDecoder, e *echo) { d.rec.Out = e.rec.Out },
	"requested_tokens": func(d *lineDecoder, e *echo) { d.rec.RequestedTokens = e.rec.RequestedTokens },
	"cached":           func(d *lineDecoder, e *echo) { d.rec.Cached = e.rec.Cached },
	"finish":           func(d *lineDecoder, e *echo) { d.rec.Finish = e.rec.Finish },
}
