package decode

import (
	"bytes"
	"encoding/json"
	"html"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/inferometer/inferometer/internal/endpoint/sse"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/record"
)

// maxMessage bounds a failure's message, in characters.
const maxMessage = 200

// Fail notes a failure unless there is one already.
func Fail(rec *record.Record, class record.Class, at time.Duration, text string) {
	if rec.Failure == nil {
		rec.Failure = &record.Failure{Class: class, Status: rec.Status, Message: Shorten(text), At: at}
	}
}

// Refused says why a request was answered with a status other than 2xx, in the
// server's words.
func Refused(rec *record.Record) {
	Fail(rec, record.HTTPStatus, rec.End, "")
	if f := rec.Failure; f.Class == record.HTTPStatus && f.Message == "" {
		if f.Message = Message(rec.Body); f.Message == "" {
			f.Message = http.StatusText(rec.Status)
		}
	}
}

// Message finds the words for a person in an error: those of a JSON error object
// in one of the usual shapes, the title of an HTML page, or the text itself.
func Message(body []byte) string {
	if name := compression(body); name != "" {
		return "compressed data (" + name + "), which was not requested: turn compression off in the server, or leave out the Accept-Encoding header"
	}
	body = bytes.TrimSpace(bytes.TrimPrefix(body, []byte("\xef\xbb\xbf")))
	if bytes.HasPrefix(body, []byte("data:")) {
		var scan sse.Scanner
		var e sse.Event
		if scan.Reset(body); scan.Next(&e) {
			body = e.Data
		}
	}
	var v any
	if len(body) > 0 && len(body) <= 1<<20 && json.Unmarshal(body, &v) == nil {
		if text := errorText(v); text != "" {
			return Shorten(text)
		}
	}
	// Only the start matters, and it may be long.
	body = body[:min(len(body), 16<<10)]
	if len(body) > 0 && body[0] == '<' {
		return Shorten(pageTitle(body))
	}
	return Shorten(string(body))
}

// compression is the format that a body is compressed in, by its first bytes; empty: none.
func compression(body []byte) string {
	for magic, name := range map[string]string{"\x1f\x8b": "gzip", "\x28\xb5\x2f\xfd": "zstd"} {
		if bytes.HasPrefix(body, []byte(magic)) {
			return name
		}
	}
	return ""
}

// errorText looks for a message in a decoded JSON error.
func errorText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		if len(v) > 0 {
			return errorText(v[0])
		}
	case map[string]any:
		for _, key := range []string{"error", "message", "msg", "detail", "errors", "error_message", "response"} {
			if text := errorText(v[key]); text != "" {
				return text
			}
		}
	}
	return ""
}

// pageTitle is what an HTML page calls itself.
func pageTitle(page []byte) string {
	for _, tag := range []string{"title", "h1"} {
		if title := element(page, tag); title != "" {
			return "HTML page: " + title
		}
	}
	return "an HTML or XML page"
}

// element is the text of the first element of a kind in a page.
func element(page []byte, tag string) string {
	lower := bytes.ToLower(page)
	if len(lower) != len(page) { // rare letters change their length
		page = lower
	}
	start := bytes.Index(lower, []byte("<"+tag))
	if start < 0 {
		return ""
	}
	open := bytes.IndexByte(lower[start:], '>')
	if open < 0 {
		return ""
	}
	start += open + 1
	end := bytes.Index(lower[start:], []byte("</"+tag))
	if end < 0 {
		return ""
	}
	return strings.TrimSpace(html.UnescapeString(string(page[start : start+end])))
}

// Shorten makes text fit into a line of a report: one line, valid, not too long.
func Shorten(text string) string {
	text = strings.ToValidUTF8(text[:min(len(text), 8*maxMessage)], "")
	fields := strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) })
	return truncate.Fit(strings.Join(fields, " "), maxMessage)
}
