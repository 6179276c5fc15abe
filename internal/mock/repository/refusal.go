package repository

import "fmt"

// Code is a status of gRPC.
type Code int

// The statuses that the server answers with.
const (
	CodeOK                Code = 0
	CodeUnknown           Code = 2
	CodeInvalid           Code = 3
	CodeDeadline          Code = 4
	CodeNotFound          Code = 5
	CodeExists            Code = 6
	CodeDenied            Code = 7
	CodeResourceExhausted Code = 8
	CodeAborted           Code = 10
	CodeUnimplemented     Code = 12
	CodeInternal          Code = 13
	CodeUnavailable       Code = 14
	CodeUnauthenticated   Code = 16
)

// StatusError says no: with a code for gRPC, and in words.
type StatusError struct {
	Code    Code
	Message string
}

// Refuse makes a refusal.
func Refuse(code Code, format string, args ...any) *StatusError {
	return &StatusError{code, fmt.Sprintf(format, args...)}
}
