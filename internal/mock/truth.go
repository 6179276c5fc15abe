package mock

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

// Truth is one line of the truth file: what the server got and sent for one
// request, written when the request has ended. Times are nanoseconds of the
// system's real-time clock.
type Truth struct {
	ID     string `json:"id"`            // the request's own, or its X-Request-Id, or else the id of the answer
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
	Finish string `json:"finish"`        // finish reason; "abort" where the client left or a fault cut the answer
	Fault  string `json:"fault"`         // the fault that was injected
	Stamp  string `json:"stamp"`         // "write": events are stamped right before write(2); "handler": before they were given to HTTP/2
	Media  int    `json:"media"`         // images, sounds and videos received
	// Session and Token are the headers that tie the requests of a session together.
	Session string          `json:"session,omitempty"`
	Token   string          `json:"token,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`
	Events  []TruthEvent    `json:"events"`
}

// TruthEvent is one event of a stream, or the whole of an answer that is none.
// Bytes add up to the body of the answer.
type TruthEvent struct {
	At     int64  `json:"at"` // right before the write(2) that held it
	Bytes  int    `json:"bytes"`
	Kind   string `json:"kind"` // role, reasoning, content, tool, finish, usage, done, error, comment, body, frame
	Tokens int    `json:"tokens"`
}

// ReadTruth reads a truth file.
func ReadTruth(r io.Reader) ([]Truth, error) {
	var all []Truth
	d := json.NewDecoder(r)
	for {
		var t Truth
		switch err := d.Decode(&t); {
		case errors.Is(err, io.EOF):
			return all, nil
		case err != nil:
			return all, fmt.Errorf("read truth file: line %d: %w", len(all)+1, err)
		}
		all = append(all, t)
	}
}

// kind is what an event holds.
type kind uint8

const (
	kindRole kind = iota
	kindReasoning
	kindContent
	kindTool
	kindFinish
	kindUsage
	kindDone
	kindError
	kindComment
	kindBody
	kindFrame // begins or ends a part of a message
)

var kindNames = [...]string{"role", "reasoning", "content", "tool", "finish", "usage", "done", "error", "comment", "body", "frame"}

// mark is an event as the server keeps it while the request runs.
type mark struct {
	at     int64
	bytes  int
	tokens int
	kind   kind
}

// appendTruth writes the call's line. It goes without encoding/json because
// every event of every request passes here.
func appendTruth(b []byte, c *call, end time.Time) []byte {
	str := func(key, v string) {
		b = append(b, key...)
		b = body.AppendQuoted(b, v)
	}
	num := func(key string, v int64) {
		b = append(b, key...)
		b = strconv.AppendInt(b, v, 10)
	}
	id := c.req.id
	if id == "" {
		id = string(c.id)
	}
	str(`{"id":`, id)
	num(`,"port":`, int64(c.req.port))
	str(`,"path":`, c.req.path)
	str(`,"proto":`, c.req.proto)
	num(`,"read":`, c.req.read.UnixNano())
	num(`,"end":`, end.UnixNano())
	num(`,"status":`, int64(c.status))
	num(`,"grpc":`, int64(c.grpc))
	b = append(b, `,"stream":`...)
	b = strconv.AppendBool(b, c.p.Stream)
	num(`,"prompt_tokens":`, int64(c.p.Words.N))
	num(`,"cached_tokens":`, int64(c.seq.Cached))
	num(`,"max_tokens":`, int64(max(c.p.Limit(), 0)))
	num(`,"tokens":`, int64(c.sent))
	str(`,"finish":`, c.finish)
	str(`,"fault":`, c.faultName)
	str(`,"stamp":`, c.req.stamp)
	num(`,"media":`, int64(c.p.Media))
	if c.req.session != "" {
		str(`,"session":`, c.req.session)
	}
	if c.req.token != "" {
		str(`,"token":`, c.req.token)
	}
	if c.s.cfg.TruthBody && len(c.req.body) > 0 {
		b = append(b, `,"body":`...)
		if json.Valid(c.req.body) {
			b = appendOneLine(b, c.req.body)
		} else {
			b = body.AppendQuoted(b, string(c.req.body))
		}
	}
	b = append(b, `,"events":[`...)
	for i, m := range c.marks {
		if i > 0 {
			b = append(b, ',')
		}
		num(`{"at":`, m.at)
		num(`,"bytes":`, int64(m.bytes))
		b = append(b, `,"kind":"`...)
		b = append(b, kindNames[m.kind]...)
		num(`","tokens":`, int64(m.tokens))
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

// Sizes of the truth file's buffer: when it is written ahead of time, and when
// requests wait for the disk.
const (
	truthWrite = 1 << 20
	truthFull  = 64 << 20
)

// truthFile gathers all requests' lines. They are written by a goroutine of
// their own, every second at least, so that a slow disk holds up no request.
type truthFile struct {
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

func newTruthFile(to io.Writer) *truthFile {
	t := &truthFile{to: to, wake: make(chan struct{}, 1), done: make(chan struct{})}
	t.room.L = &t.mu
	t.idle.Go(t.loop)
	return t
}

func (t *truthFile) loop() {
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

func (t *truthFile) line(b []byte) {
	t.mu.Lock()
	for len(t.buf) > truthFull {
		t.room.Wait()
	}
	t.buf = append(t.buf, b...)
	much := len(t.buf) > truthWrite
	t.mu.Unlock()
	if much {
		select {
		case t.wake <- struct{}{}:
		default:
		}
	}
}

// write empties the buffer. Only one goroutine at a time calls it.
func (t *truthFile) write() {
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

func (t *truthFile) keep(err error) {
	if t.err == nil {
		t.err = err
	}
}

func (t *truthFile) close() error {
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
