package grpc

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/wire/http1"
)

// StatusError is a gRPC status other than OK.
type StatusError struct {
	Code    int
	Message string // what the server said
}

func (e *StatusError) Error() string {
	if e.Message == "" {
		return CodeName(e.Code)
	}
	return CodeName(e.Code) + ": " + e.Message
}

// Some codes that callers look for.
const (
	OK               = 0
	InvalidArgument  = 3
	DeadlineExceeded = 4
	NotFound         = 5
	Unimplemented    = 12
	Unavailable      = 14
)

var codeNames = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
	"PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE",
	"UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// CodeName is a status code in words.
func CodeName(code int) string {
	if code >= 0 && code < len(codeNames) {
		return codeNames[code]
	}
	return fmt.Sprintf("gRPC status %d", code)
}

// contentType is that of gRPC; a server may add what is inside.
const contentType = "application/grpc"

// isGRPC reports whether a content type is gRPC's.
func isGRPC(t string) bool {
	rest, ok := strings.CutPrefix(t, contentType)
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// value is the value of a field; empty where there is none.
func value(fields []http1.Field, name string) string {
	if i := slices.IndexFunc(fields, func(f http1.Field) bool { return f.Name == name }); i >= 0 {
		return fields[i].Value
	}
	return ""
}

// outcome says how a call ended: nil for the status OK, else a *StatusError or,
// where the server named no status, an error of class Truncated.
func outcome(fields []http1.Field) error {
	text := value(fields, "grpc-status")
	if text == "" {
		return http1.Truncated(fmt.Errorf("the server ended the call without a grpc-status"))
	}
	code, err := strconv.Atoi(text)
	if err != nil || code < 0 {
		return http1.BadFraming(fmt.Errorf("the server sent the grpc-status %q", text))
	}
	if code == OK {
		return nil
	}
	return &StatusError{Code: code, Message: unescape(value(fields, "grpc-message"))}
}

// unescape undoes the percent-encoding of a grpc-message, where it is proper.
func unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(n))
				i += 2
				continue
			}
		}
		b = append(b, s[i])
	}
	return strings.ToValidUTF8(string(b), "�")
}

// notGRPC is the error of a response that is not gRPC's.
type notGRPC struct {
	status int
	text   string
}

func (e *notGRPC) Error() string { return e.text }

// notGRPCAnswer describes a response that is not gRPC's by what came instead.
func notGRPCAnswer(status int, contentType string, body []byte) error {
	text := fmt.Sprintf("not a gRPC server: it answered with HTTP status %d, %s", status, cmp.Or(contentType, "no content type"))
	if len(body) > 0 {
		text += fmt.Sprintf(" and %q", body[:min(len(body), 80)])
	}
	return &notGRPC{status: status, text: text}
}
