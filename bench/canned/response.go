//go:build linux

package canned

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/bench/host"
)

// ask is what a request wants of a canned server.
type ask int

const (
	askChat ask = iota
	askModels
	askMetrics
	askElse     // what it does not have
	askNonsense // what is not a request
)

// request is what a canned server knows of a request.
type request struct {
	kind   ask
	stream bool
}

// Requests that are larger get no response.
const (
	largestHead = 64 << 10
	largestBody = 64 << 20
)

// parseRequest reads the request that text begins with and returns its length; 0
// where it is not there as a whole.
func parseRequest(text []byte) (request, int) {
	nonsense := request{kind: askNonsense}
	head := bytes.Index(text, []byte("\r\n\r\n"))
	if head < 0 {
		if len(text) > largestHead {
			return nonsense, len(text)
		}
		return request{}, 0
	}
	line, fields, _ := bytes.Cut(text[:head], []byte("\r\n"))
	length, ok := contentLength(fields)
	if !ok {
		return nonsense, len(text)
	}
	end := head + 4 + length
	if end > len(text) {
		return request{}, 0
	}
	target, _, _ := host.CutLast(line, ' ') // method and path
	switch string(target) {
	case "POST /v1/chat/completions":
		return request{askChat, wantsStream(text[head+4 : end])}, end
	case "GET /v1/models":
		return request{kind: askModels}, end
	case "GET /metrics":
		return request{kind: askMetrics}, end
	}
	return request{kind: askElse}, end
}

// contentLength is the length of the body that a head announces. A body without a
// length is not read.
func contentLength(fields []byte) (int, bool) {
	for len(fields) > 0 {
		var line []byte
		line, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		name, value, _ := bytes.Cut(line, []byte(":"))
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			n, err := strconv.Atoi(string(bytes.TrimSpace(value)))
			return n, err == nil && n >= 0 && n <= largestBody
		case bytes.EqualFold(name, []byte("Transfer-Encoding")):
			return 0, false
		}
	}
	return 0, true
}

// wantsStream looks for "stream": true. Quotation marks within strings are escaped,
// so that a prompt cannot hold it.
func wantsStream(body []byte) bool {
	_, value, ok := bytes.Cut(body, []byte(`"stream"`))
	return ok && bytes.HasPrefix(bytes.TrimLeft(value, " \t\r\n:"), []byte("true"))
}

// responses are the responses, each in the pieces that it is written in.
type responses struct {
	whole, stream, models, missing, refusal [][]byte
}

func makeResponses(spec Spec) *responses {
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"total_tokens":%d,"completion_tokens":%d}`, spec.Prompt, spec.Prompt+spec.Events, spec.Events)
	return &responses{
		whole: fixed("200 OK", `{"id":"chatcmpl-canned","object":"chat.completion","created":1,"model":"mock","choices":[{"index":0,"message":{"role":"assistant","content":"`+
			strings.Repeat(" word", spec.Events)+`"},"logprobs":null,"finish_reason":"length"}],"usage":`+usage+`}`),
		stream:  streamOf(spec, usage),
		models:  fixed("200 OK", `{"object":"list","data":[{"id":"mock","object":"model","created":1,"owned_by":"bench"}]}`),
		missing: fixed("404 Not Found", `{"error":{"message":"the canned server has no such page","type":"not_found","code":404}}`),
		refusal: fixed("400 Bad Request", `{"error":{"message":"the canned server needs a short head and a Content-Length","type":"bad_request","code":400}}`),
	}
}

// fixed is a response of known length.
func fixed(status, body string) [][]byte {
	return [][]byte{fmt.Appendf(nil, "HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", status, len(body), body)}
}

// streamOf is the response as a stream: a role, the tokens, the usage and the end,
// each a chunk of its own, dealt out evenly to the writes.
func streamOf(spec Spec, usage string) [][]byte {
	const opening = `{"id":"chatcmpl-canned","object":"chat.completion.chunk","created":1,"model":"mock","choices":[`
	var chunks []string
	event := func(text string) {
		text = "data: " + text + "\n\n"
		chunks = append(chunks, fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
	}
	event(opening + `{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]}`)
	for i := range spec.Events {
		finish := "null"
		if i == spec.Events-1 {
			finish = `"length"`
		}
		event(opening + `{"index":0,"delta":{"content":" word"},"logprobs":null,"finish_reason":` + finish + `}]}`)
	}
	event(opening + `],"usage":` + usage + `}`)
	event("[DONE]")
	chunks[0] = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks[0]
	chunks[len(chunks)-1] += "0\r\n\r\n"
	writes := min(spec.Writes, len(chunks))
	out := make([][]byte, writes)
	for i, c := range chunks {
		at := i * writes / len(chunks)
		out[at] = append(out[at], c...)
	}
	return out
}

func (a *responses) to(req request, server *Server) [][]byte {
	switch {
	case req.kind == askChat && req.stream:
		return a.stream
	case req.kind == askChat:
		return a.whole
	case req.kind == askModels:
		return a.models
	case req.kind == askMetrics:
		return fixed("200 OK", server.metrics())
	case req.kind == askElse:
		return a.missing
	}
	return a.refusal
}
