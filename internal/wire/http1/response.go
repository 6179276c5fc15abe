package http1

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// response takes an HTTP/1.1 answer in pieces of any size and strips its framing.
// What belongs to the body is appended to body at once.
type response struct {
	body []byte

	status      int
	contentType string
	retryAfter  string
	keepAlive   bool

	state state
	head  []byte // status line and headers, while they are incomplete
	left  int64  // bytes that the body or the chunk still lacks
	line  []byte // a chunk-size or trailer line, while it is incomplete
	bare  bool   // the request's method allows no body in the response

	most      int    // bytes of a head; 0: no bound
	want, got string // a header that is kept, and its value

	ends   []int // lengths of the body at which chunks ended, where they are wanted
	chunks bool  // they are

	behind bool // framing of more came with the latest bytes, behind those of the body

	lastType string // content type of the last response: most repeat it
}

type state uint8

const (
	inHead state = iota
	inLength
	inChunkSize
	inChunkData
	inChunkEnd
	inTrailer
	untilClose
	complete
)

// maxLine bounds what is kept of a line that does not end.
const maxLine = 16 << 10

// reset makes the response ready for the next one; it appends to body.
func (r *response) reset(body []byte) {
	*r = response{body: body, head: r.head[:0], line: r.line[:0], ends: r.ends[:0], lastType: r.lastType}
}

// feed takes the next bytes of the connection. done: the response is complete.
func (r *response) feed(p []byte) (done bool, err error) {
	r.behind = false
	for len(p) > 0 && r.state != complete {
		switch r.state {
		case inHead:
			p, err = r.feedHead(p)
		case inLength, inChunkData:
			n := int(min(int64(len(p)), r.left))
			r.body = append(r.body, p[:n]...)
			p, r.behind = p[n:], false
			r.left -= int64(n)
			r.endOfData()
		case inChunkSize, inChunkEnd, inTrailer:
			rest, ok := r.plainLine(p)
			if ok {
				p = rest
				continue
			}
			r.behind = r.behind || r.state != inChunkEnd
			p, err = r.feedLine(p)
		case untilClose:
			r.body = append(r.body, p...)
			p = nil
		}
		if err != nil {
			return false, err
		}
	}
	if r.state == complete && len(p) > 0 {
		// What follows was not asked for: the connection cannot be used again.
		r.keepAlive = false
		if bytes.HasPrefix(p, []byte("HTTP/1.1 2")) { // a 408 is how some servers take leave of an idle connection
			return false, errTwice
		}
	}
	return r.state == complete, nil
}

func (r *response) endOfData() {
	if r.left > 0 {
		return
	}
	if r.state == inChunkData {
		r.state = inChunkEnd
		if r.chunks {
			r.ends = append(r.ends, len(r.body))
		}
	} else {
		r.state = complete
	}
}

// closed says that the connection ended. nil means the response is complete by that.
func (r *response) closed() error {
	switch r.state {
	case complete, untilClose:
		r.keepAlive = false
		r.state = complete
		return nil
	case inHead:
		if len(r.head) == 0 {
			return errNoAnswer
		}
		return errors.New("the connection ended inside the response's headers")
	case inLength:
		return fmt.Errorf("the connection ended %d bytes before the response's Content-Length", r.left)
	default:
		return errors.New("the connection ended inside a chunked response")
	}
}

// errNoAnswer: the connection ended before a single byte of a response.
var errNoAnswer = errors.New("the server closed the connection without a response")

// errResetUnanswered: the same, but the connection was reset.
var errResetUnanswered = errors.New("the server reset the connection without a response")

// errTwice: another response follows the one that was asked for. Had it come a moment later,
// the next request would have taken it for its own.
var errTwice = errors.New("the server sent a second response to one request")

// feedHead collects the head until its blank line and reads it.
func (r *response) feedHead(p []byte) (rest []byte, err error) {
	if len(r.head) == 0 {
		if n := headLength(p, 0); n > 0 {
			return p[n:], r.readHead(p[:n])
		}
	}
	old := len(r.head)
	r.head = append(r.head, p...)
	if n := headLength(r.head, max(old-2, 0)); n > 0 {
		head := r.head[:n]
		r.head = r.head[:0]
		return p[n-old:], r.readHead(head)
	}
	if n := min(len(r.head), len(versionPrefix)); string(r.head[:n]) != versionPrefix[:n] {
		return nil, notHTTP(r.head)
	}
	if r.most > 0 && len(r.head) > r.most {
		return nil, LongHead(r.most)
	}
	return nil, nil
}

const versionPrefix = "HTTP/1."

func notHTTP(head []byte) error {
	return fmt.Errorf("not an HTTP/1.1 response: it begins with %q", start(head))
}

// start is as much of a text as a message has room for.
func start(text []byte) []byte { return text[:min(len(text), 40)] }

// headLength is the length of a head with its blank line, 0: that is not there yet. Lines end in
// CRLF or, from lenient servers, LF. The line end before the blank line lies at or behind from.
func headLength(b []byte, from int) int {
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		switch rest := b[from:]; {
		case len(rest) > 0 && rest[0] == '\n':
			return from + 1
		case len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n':
			return from + 2
		}
	}
}

// cutLine splits off the first line, without its end.
func cutLine(b []byte) (line, rest []byte) {
	line, rest, _ = bytes.Cut(b, []byte("\n"))
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return line, rest
}

// framing is what headers say of where the response ends and what comes after.
type framing struct {
	length  int64 // -1: not said
	coded   bool  // there was a Transfer-Encoding
	chunked bool
	close   bool
	keep    bool
}

func (r *response) readHead(head []byte) error {
	if r.most > 0 && len(head) > r.most {
		return LongHead(r.most)
	}
	line, head := cutLine(head)
	status, err := statusOf(line)
	if err != nil {
		return err
	}
	if status == 101 {
		return errors.New("the server switched protocols without being asked to")
	}
	if status < 200 {
		return nil // an interim response: the real head follows
	}
	old := line[len(versionPrefix)] == '0'
	f := framing{length: -1}
	for {
		line, head = cutLine(head)
		if len(line) == 0 {
			break
		}
		if line[0] == ' ' || line[0] == '\t' {
			continue // the rest of a header that was folded
		}
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return fmt.Errorf("the response has a header line without a colon: %q", start(line))
		}
		if err := r.header(name, bytes.Trim(value, " \t"), &f); err != nil {
			return err
		}
	}
	r.status = status
	r.keepAlive = !f.close && (!old || f.keep)
	switch {
	case r.bare || status == 204 || status == 304:
		r.state = complete
	case f.chunked:
		r.state = inChunkSize
	case f.length > 0:
		r.state, r.left = inLength, f.length
	case f.length == 0:
		r.state = complete
	default:
		r.state, r.keepAlive = untilClose, false
	}
	return nil
}

// statusOf reads the status of "HTTP/1.1 200 OK".
func statusOf(line []byte) (int, error) {
	if !bytes.HasPrefix(line, []byte(versionPrefix)) {
		return 0, notHTTP(line)
	}
	rest := line[len(versionPrefix):]
	if len(rest) < 5 || rest[1] != ' ' || (len(rest) > 5 && rest[5] != ' ') || !digits(rest[:1]) || !digits(rest[2:5]) || rest[2] == '0' {
		return 0, fmt.Errorf("the response's status line is %q", start(line))
	}
	return int(rest[2]-'0')*100 + int(rest[3]-'0')*10 + int(rest[4]-'0'), nil
}

func digits(b []byte) bool {
	for _, c := range b {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(b) > 0
}

// header takes in one header that matters here.
func (r *response) header(name, value []byte, f *framing) error {
	if r.want != "" && bytes.EqualFold(name, []byte(r.want)) {
		r.got = string(value)
	}
	switch {
	case is(name, "content-length"):
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || !digits(value) {
			return fmt.Errorf("the response's Content-Length is %q", start(value))
		}
		if f.length >= 0 && f.length != n {
			return fmt.Errorf("the response has two lengths, %d and %d", f.length, n)
		}
		f.length = n
	case is(name, "transfer-encoding"):
		f.chunked = bytes.EqualFold(value, []byte("chunked"))
		if f.coded || !f.chunked && !bytes.EqualFold(value, []byte("identity")) {
			return fmt.Errorf("the response's Transfer-Encoding is %q, which was not requested", start(value))
		}
		f.coded = true
	case is(name, "content-type"):
		if string(value) != r.lastType {
			r.lastType = string(value)
		}
		r.contentType = r.lastType
	case is(name, "retry-after"):
		r.retryAfter = string(value)
	case is(name, "connection"):
		for token := range bytes.SplitSeq(value, []byte(",")) {
			token = bytes.Trim(token, " \t")
			f.close = f.close || bytes.EqualFold(token, []byte("close"))
			f.keep = f.keep || bytes.EqualFold(token, []byte("keep-alive"))
		}
	}
	return nil
}

// is compares a header name with a lower-case one.
func is(name []byte, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold(name, []byte(lower))
}

// plainLine takes in the end of a chunk and the size of the next where both came in one piece and
// say no more than that, as those of nearly all servers. Else it takes in nothing.
func (r *response) plainLine(p []byte) (rest []byte, ok bool) {
	if len(r.line) > 0 || r.state == inTrailer {
		return p, false
	}
	from := 0
	if r.state == inChunkEnd {
		if len(p) < 2 || p[0] != '\r' || p[1] != '\n' {
			return p, false
		}
		from = 2
	}
	var size int64
	at := from
	for ; at < len(p) && at-from < mostDigits; at++ {
		digit := hexDigit(p[at])
		if digit < 0 {
			break
		}
		size = size<<4 | digit
	}
	if at == from || at+1 >= len(p) || p[at] != '\r' || p[at+1] != '\n' {
		return p, false
	}
	r.behind = true
	r.chunk(size)
	return p[at+2:], true
}

// feedLine takes in a line of the chunked framing.
func (r *response) feedLine(p []byte) (rest []byte, err error) {
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		r.line = append(r.line, p...)
		if len(r.line) > maxLine {
			return nil, errLongLine
		}
		return nil, nil
	}
	line := p[:i]
	if len(r.line) > 0 {
		r.line = append(r.line, line...)
		line = r.line
		r.line = r.line[:0]
	}
	if len(line) > maxLine {
		return nil, errLongLine
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return p[i+1:], r.chunkLine(line)
}

var errLongLine = fmt.Errorf("the response's chunk framing has a line longer than %d bytes", maxLine)

func (r *response) chunkLine(line []byte) error {
	switch r.state {
	case inChunkEnd:
		if len(line) > 0 {
			return fmt.Errorf("%q where a chunk of the response should end", start(line))
		}
		r.state = inChunkSize
	case inChunkSize:
		size, err := chunkSize(line)
		if err != nil {
			return err
		}
		r.chunk(size)
	case inTrailer:
		if len(line) == 0 {
			r.state = complete
		}
	}
	return nil
}

// chunk begins a chunk of so many bytes; one of none is the last.
func (r *response) chunk(size int64) {
	r.left, r.state = size, inChunkData
	if size == 0 {
		r.state = inTrailer
	}
}

// mostDigits is how many a chunk size can have.
const mostDigits = 15

// chunkSize reads "1a2b; extension".
func chunkSize(line []byte) (int64, error) {
	size, _, _ := bytes.Cut(line, []byte(";"))
	size = bytes.TrimRight(size, " \t")
	if len(size) == 0 {
		return 0, fmt.Errorf("%q where a chunk size should be", start(line))
	}
	if len(size) > mostDigits {
		return 0, fmt.Errorf("chunk size %q is too large", start(line))
	}
	var n int64
	for _, c := range size {
		digit := hexDigit(c)
		if digit < 0 {
			return 0, fmt.Errorf("%q is not a chunk size", start(line))
		}
		n = n<<4 | digit
	}
	return n, nil
}

// hexDigit is the value of a hexadecimal digit; -1: it is none.
func hexDigit(c byte) int64 {
	switch {
	case c >= '0' && c <= '9':
		return int64(c - '0')
	case c >= 'a' && c <= 'f':
		return int64(c - 'a' + 10)
	case c >= 'A' && c <= 'F':
		return int64(c - 'A' + 10)
	}
	return -1
}
