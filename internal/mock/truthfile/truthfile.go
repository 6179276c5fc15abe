// Package truthfile writes and reads what the built-in server knows of each request: what it got, and what it sent when.
package truthfile

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/mock/body"
)

// Request is a line of the truth file: what the server got and sent for a request, written at its
// end. Times are nanoseconds of the real-time clock.
type Request struct {
	ID     string `json:"id"`            // the request's own, or its X-Request-Id, or else the id of the response
	Port   int    `json:"port"`          // the client's
	Path   string `json:"path"`          // of the request
	Proto  string `json:"proto"`         // HTTP/1.1, HTTP/2.0 or gRPC
	Read   int64  `json:"read"`          // when the head of the request had been read
	End    int64  `json:"end"`           // when the server was done with it
	Status int    `json:"status"`        // 0: none was sent
	GRPC   int    `json:"grpc"`          // status of gRPC, also of one request on a stream
	Stream bool   `json:"stream"`        // asked for
	Prompt int    `json:"prompt_tokens"` // words received
	Cached int    `json:"cached_tokens"` // of them, found in the prefix cache
	Max    int    `json:"max_tokens"`    // asked for; 0: not given
	Tokens int    `json:"tokens"`        // sent, over all choices
	Finish string `json:"finish"`        // finish reason; "abort" where the client left or a fault cut the response
	Fault  string `json:"fault"`         // the fault that was injected
	Stamp  string `json:"stamp"`         // "write": events are stamped right before write(2); "handler": before they were given to HTTP/2
	Media  int    `json:"media"`         // images, sounds and videos received
	// Session and Token are the headers that tie the requests of a session together.
	Session string          `json:"session,omitempty"`
	Token   string          `json:"token,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`
	Events  []Event         `json:"events"`
}

// Event is an event of a stream, or the whole of another response. Bytes add up to the body.
type Event struct {
	At     int64  `json:"at"` // right before the write(2) that held it
	Bytes  int    `json:"bytes"`
	Kind   string `json:"kind"` // role, reasoning, content, tool, finish, usage, done, error, comment, body, frame
	Tokens int    `json:"tokens"`
}

// Read reads a truth file.
func Read(r io.Reader) ([]Request, error) {
	var all []Request
	d := json.NewDecoder(r)
	for {
		var t Request
		switch err := d.Decode(&t); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, fmt.Errorf("read truth file: line %d: %w", len(all)+1, err)
		}
		all = append(all, t)
	}
}

// What an event holds.
const (
	KindRole      = "role"
	KindReasoning = "reasoning"
	KindContent   = "content"
	KindTool      = "tool"
	KindFinish    = "finish"
	KindUsage     = "usage"
	KindDone      = "done"
	KindError     = "error"
	KindComment   = "comment"
	KindBody      = "body"
	KindFrame     = "frame" // begins or ends a part of a message
)

// AppendLine writes the line of a request, whose Body need not be JSON. It goes without
// encoding/json because every event of every request passes here.
func (t *Request) AppendLine(b []byte) []byte {
	str := func(key, v string) {
		b = append(b, key...)
		b = body.AppendQuoted(b, v)
	}
	num := func(key string, v int64) {
		b = append(b, key...)
		b = strconv.AppendInt(b, v, 10)
	}
	str(`{"id":`, t.ID)
	num(`,"port":`, int64(t.Port))
	str(`,"path":`, t.Path)
	str(`,"proto":`, t.Proto)
	num(`,"read":`, t.Read)
	num(`,"end":`, t.End)
	num(`,"status":`, int64(t.Status))
	num(`,"grpc":`, int64(t.GRPC))
	b = append(b, `,"stream":`...)
	b = strconv.AppendBool(b, t.Stream)
	num(`,"prompt_tokens":`, int64(t.Prompt))
	num(`,"cached_tokens":`, int64(t.Cached))
	num(`,"max_tokens":`, int64(t.Max))
	num(`,"tokens":`, int64(t.Tokens))
	str(`,"finish":`, t.Finish)
	str(`,"fault":`, t.Fault)
	str(`,"stamp":`, t.Stamp)
	num(`,"media":`, int64(t.Media))
	if t.Session != "" {
		str(`,"session":`, t.Session)
	}
	if t.Token != "" {
		str(`,"token":`, t.Token)
	}
	if len(t.Body) > 0 {
		b = append(b, `,"body":`...)
		if json.Valid(t.Body) {
			b = appendOneLine(b, t.Body)
		} else {
			b = body.AppendQuoted(b, string(t.Body))
		}
	}
	b = append(b, `,"events":[`...)
	for i, e := range t.Events {
		if i > 0 {
			b = append(b, ',')
		}
		num(`{"at":`, e.At)
		num(`,"bytes":`, int64(e.Bytes))
		b = append(b, `,"kind":"`...)
		b = append(b, e.Kind...)
		num(`","tokens":`, int64(e.Tokens))
		b = append(b, '}')
	}
	return append(b, "]}\n"...)
}

// appendOneLine copies JSON without its line ends, which stand only between values.
func appendOneLine(b, v []byte) []byte {
	for _, c := range v {
		if c != '\n' && c != '\r' {
			b = append(b, c)
		}
	}
	return b
}

// Sizes of the truth file's buffer: when it is written early, and when requests wait for the disk.
const (
	writeSize = 1 << 20
	fullSize  = 64 << 20
)

// Writer gathers all requests' lines. They are written by a goroutine of
// their own, every second at least, so that a slow disk holds up no request.
type Writer struct {
	to   io.Writer
	wake chan struct{}
	done chan struct{}
	idle sync.WaitGroup

	mu    sync.Mutex
	room  sync.Cond
	buf   []byte
	spare []byte
	err   error // the first one, which close reports
}

// NewWriter writes to to, which Close closes if it can.
func NewWriter(to io.Writer) *Writer {
	t := &Writer{to: to, wake: make(chan struct{}, 1), done: make(chan struct{})}
	t.room.L = &t.mu
	t.idle.Go(t.loop)
	return t
}

func (t *Writer) loop() {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-t.done:
			return
		case <-tick.C:
		case <-t.wake:
		}
		t.write()
	}
}

// WriteLine adds a line, and waits where the disk is far behind.
func (t *Writer) WriteLine(b []byte) {
	t.mu.Lock()
	for len(t.buf) > fullSize {
		t.room.Wait()
	}
	t.buf = append(t.buf, b...)
	much := len(t.buf) > writeSize
	t.mu.Unlock()
	if much {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// write empties the buffer. Only one goroutine at a time calls it.
func (t *Writer) write() {
	t.mu.Lock()
	out := t.buf
	t.buf = t.spare[:0]
	t.room.Broadcast()
	t.mu.Unlock()
	_, err := t.to.Write(out)
	t.mu.Lock()
	t.spare = out
	t.keep(err)
	t.mu.Unlock()
}

func (t *Writer) keep(err error) {
	if t.err == nil {
		t.err = err
	}
}

// Close writes what is left, and returns the first error that there was.
func (t *Writer) Close() error {
	close(t.done)
	t.idle.Wait()
	t.write()
	t.mu.Lock()
	defer t.mu.Unlock()
	if c, ok := t.to.(io.Closer); ok {
		t.keep(c.Close())
	}
	if t.err != nil {
		return fmt.Errorf("write truth file: %w", t.err)
	}
	return nil
}
