package http1

import (
	"bytes"

	"github.com/inferometer/inferometer/internal/record"
)

// Grace is how long a stream may go on after it has said that it is done. A server that
// then does not end the body would hold its slot until the request's time is over, whether
// it is silent or sends comments to keep the connection alive.
const Grace = record.Grace

// SaysDone reports whether the body of a stream says that it is done, with data: [DONE] or
// Anthropic's message_stop, in a line that the bytes from the given offset on are part of.
func SaysDone(body []byte, from int) bool {
	rest := body[lineAround(body, from):]
	if !bytes.Contains(rest, []byte("[DONE]")) && !bytes.Contains(rest, []byte("message_stop")) {
		return false // as of nearly all reads
	}
	for line := range bytes.Lines(rest) {
		if isLast(line) {
			return true
		}
	}
	return false
}

// lineAround is where the line begins that holds an offset, or the one after it where it
// began so long before that it cannot be one that matters.
func lineAround(body []byte, at int) int {
	const longest = 64
	near := max(0, at-longest)
	if i := bytes.LastIndexByte(body[near:at], '\n'); i >= 0 {
		return near + i + 1
	}
	if near == 0 {
		return 0
	}
	if i := bytes.IndexByte(body[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(body)
}

func isLast(line []byte) bool {
	if event, ok := bytes.CutPrefix(line, []byte("event:")); ok {
		return string(bytes.TrimSpace(event)) == "message_stop"
	}
	data, ok := bytes.CutPrefix(line, []byte("data:"))
	if !ok {
		return false
	}
	data = bytes.TrimSpace(data)
	return string(data) == "[DONE]" || bytes.HasPrefix(data, []byte(`{"type":"message_stop"`)) || bytes.HasPrefix(data, []byte(`{"type": "message_stop"`))
}
