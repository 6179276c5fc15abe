package exchange

import (
	"bytes"
	"time"
)

// Grace is how long a stream may go on after it has said that it is done. A server that
// then neither sends more nor ends the body would hold its slot until the request's
// time is over.
const Grace = 2 * time.Second

// SaysDone reports whether the body of a stream ends in data: [DONE].
func SaysDone(body []byte) bool {
	end := len(body)
	for end > 0 && (body[end-1] == '\n' || body[end-1] == '\r') {
		end--
	}
	if end == 0 || body[end-1] != ']' { // nearly all
		return false
	}
	line := body[:end]
	if i := bytes.LastIndexByte(line, '\n'); i >= 0 {
		line = line[i+1:]
	}
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	return ok && string(bytes.TrimSpace(data)) == "[DONE]"
}
