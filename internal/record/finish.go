package record

import "strings"

// gaveUp are finish reasons by which a server says that it ended a response before the model
// did, whoever is to blame. docs/endpoints.md has which server says what.
var gaveUp = map[string]bool{
	"abort": true, "aborted": true, "error": true, "failed": true, "timeout": true, "timed_out": true,
	"cancel": true, "cancelled": true, "canceled": true, "user_cancel": true,
	"insufficient_system_resource": true, "error_limit": true, "error_toxic": true,
}

// usualFinish are finish reasons of complete responses.
var usualFinish = map[string]bool{
	"stop": true, "length": true, "tool_calls": true, "tool_call": true, "function_call": true, "content_filter": true,
	"eos": true, "eos_token": true, "stop_sequence": true, "end_turn": true, "end_id": true, "stop_words": true, "complete": true,
	"max_tokens": true, "model_length": true, "model_context_window_exceeded": true, "tool_use": true, "refusal": true, "pause_turn": true, "repetition": true,
}

// GaveUp reports whether a finish reason says that the server gave up on the response. Some
// servers write it in capitals, and some with words of their own behind it ("error: out of
// memory").
func GaveUp(finish string) bool {
	switch finish {
	case "", "stop", "length", "tool_calls": // nearly all
		return false
	}
	word, _, _ := strings.Cut(strings.ToLower(finish), ":")
	return gaveUp[strings.TrimSpace(word)]
}

// UnknownFinish reports whether a finish reason is unknown.
func UnknownFinish(finish string) bool {
	switch finish {
	case "", "stop", "length", "tool_calls":
		return false
	}
	return !usualFinish[strings.ToLower(finish)] && !GaveUp(finish)
}
