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
	if len(rest) > fewLines && bytes.HasPrefix(body, []byte("data:")) && !namesTypes(body) {
		return saysDONE(rest)
	}
	for line := range bytes.Lines(rest) {
		if isLast(line) {
			return true
		}
	}
	return false
}

// fewLines is how long a text must be for a search to be faster than a look at each of its lines.
const fewLines = 512

// namesTypes reports whether a body's first line is of a stream that names the type of each event.
func namesTypes(body []byte) bool {
	first, _, _ := bytes.Cut(body, []byte("\n"))
	return bytes.Contains(first, []byte(`"type"`))
}

// saysDONE is SaysDone for a stream whose last line can be data: [DONE] alone.
func saysDONE(text []byte) bool {
	for at := 0; ; at++ {
		i := bytes.IndexByte(text[at:], 'D')
		if i < 0 {
			return false
		}
		at += i
		if at == 0 || text[at-1] != '[' {
			continue
		}
		line := text[bytes.LastIndexByte(text[:at], '\n')+1:]
		if end := bytes.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		if isLast(line) {
			return true
		}
	}
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

// isLast looks at no more of a line than it must: every line of every stream passes here.
func isLast(line []byte) bool {
	switch {
	case bytes.HasPrefix(line, []byte("data:")):
		data := bytes.TrimLeft(line[len("data:"):], " ")
		if bytes.HasPrefix(data, []byte("[")) {
			return string(bytes.TrimSpace(data)) == "[DONE]"
		}
		kind, ok := bytes.CutPrefix(data, []byte(`{"type":`))
		return ok && bytes.HasPrefix(bytes.TrimLeft(kind, " "), []byte(`"message_stop"`))
	case bytes.HasPrefix(line, []byte("event:")):
		return string(bytes.TrimSpace(line[len("event:"):])) == "message_stop"
	}
	return false
}
