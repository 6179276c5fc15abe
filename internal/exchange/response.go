package exchange

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
	bare  bool   // the request's method allows no body in the answer
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

// maxHead and maxLine bound what is kept of a head or line that does not end.
const (
	maxHead = 256 << 10
	maxLine = 16 << 10
)

// reset makes the response ready for the next answer; it appends to body.
func (r *response) reset(body []byte) {
	*r = response{body: body, head: r.head[:0], line: r.line[:0]}
}

// feed takes the next bytes of the connection. done: the answer is complete.
func (r *response) feed(p []byte) (done bool, err error) {
	for len(p) > 0 && r.state != complete {
		switch r.state {
		case inHead:
			p, err = r.feedHead(p)
		case inLength, inChunkData:
			n := int(min(int64(len(p)), r.left))
			r.body = append(r.body, p[:n]...)
			p = p[n:]
			r.left -= int64(n)
			r.endOfData()
		case inChunkSize, inChunkEnd, inTrailer:
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
		// Nothing may follow an answer that nobody asked for; the connection cannot be used again.
		r.keepAlive = false
	}
	return r.state == complete, nil
}

func (r *response) endOfData() {
	if r.left > 0 {
		return
	}
	if r.state == inChunkData {
		r.state = inChunkEnd
	} else {
		r.state = complete
	}
}

// closed says that the connection ended. nil: the answer is complete by that.
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
		return errors.New("the connection ended inside the answer's headers")
	case inLength:
		return fmt.Errorf("the connection ended %d bytes before the answer's Content-Length", r.left)
	default:
		return errors.New("the connection ended inside a chunked answer")
	}
}

// errNoAnswer: the connection ended before a single byte of an answer.
var errNoAnswer = errors.New("the server closed the connection without an answer")

var headEnd = []byte("\r\n\r\n")

// feedHead collects the head until its blank line and reads it.
func (r *response) feedHead(p []byte) (rest []byte, err error) {
	from := max(len(r.head)-3, 0)
	if len(r.head) == 0 {
		if i := bytes.Index(p, headEnd); i >= 0 {
			return p[i+4:], r.readHead(p[:i+2])
		}
		r.head = append(r.head, p...)
	} else {
		r.head = append(r.head, p...)
		if i := bytes.Index(r.head[from:], headEnd); i >= 0 {
			end := from + i + 4
			rest = p[len(p)-(len(r.head)-end):]
			head := r.head[:end-2]
			r.head = r.head[:0]
			return rest, r.readHead(head)
		}
	}
	if len(r.head) >= 5 && !bytes.HasPrefix(r.head, []byte("HTTP/")) {
		return nil, fmt.Errorf("not an HTTP answer: it begins with %q", r.head[:min(len(r.head), 40)])
	}
	if len(r.head) > maxHead {
		return nil, fmt.Errorf("the answer's headers are longer than %d bytes", maxHead)
	}
	return nil, nil
}

// readHead reads a complete head, each line of which ends in CRLF.
func (r *response) readHead(head []byte) error {
	line, head, _ := bytes.Cut(head, crlf)
	// "HTTP/1.1 200 OK"
	if len(line) < 12 || !bytes.HasPrefix(line, []byte("HTTP/1.")) {
		return fmt.Errorf("not an HTTP/1.1 answer: it begins with %q", line[:min(len(line), 40)])
	}
	status, err := strconv.Atoi(string(line[9:12]))
	if err != nil || status < 100 {
		return fmt.Errorf("the answer's status line is %q", line[:min(len(line), 40)])
	}
	r.keepAlive = line[7] != '0'
	length, chunked := int64(-1), false
	for len(head) > 0 {
		line, head, _ = bytes.Cut(head, crlf)
		name, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return fmt.Errorf("the answer has a header line without a colon: %q", line[:min(len(line), 40)])
		}
		if err := r.header(name, bytes.TrimSpace(value), &length, &chunked); err != nil {
			return err
		}
	}
	if status < 200 {
		return nil // an interim answer: the real head follows
	}
	r.status = status
	switch {
	case r.bare || status == 204 || status == 304:
		r.state = complete
	case chunked:
		r.state = inChunkSize
	case length > 0:
		r.state, r.left = inLength, length
	case length == 0:
		r.state = complete
	default:
		r.state, r.keepAlive = untilClose, false
	}
	return nil
}

var crlf = []byte("\r\n")

// header takes in one header that matters here.
func (r *response) header(name, value []byte, length *int64, chunked *bool) error {
	switch {
	case is(name, "content-length"):
		n, err := strconv.ParseInt(string(value), 10, 64)
		if err != nil || n < 0 {
			return fmt.Errorf("the answer's Content-Length is %q", value)
		}
		*length = n
	case is(name, "transfer-encoding"):
		*chunked = bytes.EqualFold(value, []byte("chunked"))
		if !*chunked && !bytes.EqualFold(value, []byte("identity")) {
			return fmt.Errorf("the answer's Transfer-Encoding is %q, which was not asked for", value)
		}
	case is(name, "content-type"):
		if string(value) != r.contentType { // most answers repeat it
			r.contentType = string(value)
		}
	case is(name, "retry-after"):
		r.retryAfter = string(value)
	case is(name, "connection"):
		if bytes.EqualFold(value, []byte("close")) {
			r.keepAlive = false
		} else if bytes.EqualFold(value, []byte("keep-alive")) {
			r.keepAlive = true
		}
	}
	return nil
}

// is compares a header name with a lower-case one.
func is(name []byte, lower string) bool {
	return len(name) == len(lower) && bytes.EqualFold(name, []byte(lower))
}

// feedLine takes in a line of the chunked framing.
func (r *response) feedLine(p []byte) (rest []byte, err error) {
	i := bytes.IndexByte(p, '\n')
	if i < 0 {
		r.line = append(r.line, p...)
		if len(r.line) > maxLine {
			return nil, fmt.Errorf("the answer's chunk framing has a line longer than %d bytes", maxLine)
		}
		return nil, nil
	}
	line := p[:i]
	if len(r.line) > 0 {
		r.line = append(r.line, line...)
		line = r.line
		r.line = r.line[:0]
	}
	if n := len(line); n > 0 && line[n-1] == '\r' {
		line = line[:n-1]
	}
	return p[i+1:], r.chunkLine(line)
}

func (r *response) chunkLine(line []byte) error {
	switch r.state {
	case inChunkEnd:
		if len(line) > 0 {
			return fmt.Errorf("%q where a chunk of the answer should end", line[:min(len(line), 40)])
		}
		r.state = inChunkSize
	case inChunkSize:
		size, err := chunkSize(line)
		if err != nil {
			return err
		}
		r.left = size
		r.state = inChunkData
		if size == 0 {
			r.state = inTrailer
		}
	case inTrailer:
		if len(line) == 0 {
			r.state = complete
		}
	}
	return nil
}

// chunkSize reads "1a2b; extension".
func chunkSize(line []byte) (int64, error) {
	var n int64
	digits := 0
	for _, c := range line {
		var d byte
		switch {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		case (c == ';' || c == ' ' || c == '\t') && digits > 0:
			return n, nil
		default:
			return 0, fmt.Errorf("%q is no chunk size", line[:min(len(line), 40)])
		}
		if digits++; digits > 15 {
			return 0, fmt.Errorf("chunk size %q is too large", line[:min(len(line), 40)])
		}
		n = n<<4 | int64(d)
	}
	if digits == 0 {
		return 0, errors.New("an empty line where a chunk size should be")
	}
	return n, nil
}
