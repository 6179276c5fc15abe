package record

import "testing"

// TestFinish: what servers call the end of a response that the model did not end, and what
// nobody knows.
func TestFinish(t *testing.T) {
	for _, finish := range []string{"abort", "error", "cancelled", "canceled", "timeout", "ERROR", "USER_CANCEL", "insufficient_system_resource", "error: out of memory", "Aborted"} {
		if !GaveUp(finish) || UnknownFinish(finish) {
			t.Errorf("%q: gave up %v, unknown %v", finish, GaveUp(finish), UnknownFinish(finish))
		}
	}
	for _, finish := range []string{"", "stop", "length", "tool_calls", "function_call", "content_filter", "eos_token", "model_length", "pause_turn", "MAX_TOKENS", "repetition"} {
		if GaveUp(finish) || UnknownFinish(finish) {
			t.Errorf("%q: gave up %v, unknown %v", finish, GaveUp(finish), UnknownFinish(finish))
		}
	}
	for _, finish := range []string{"foo", "errorless", "aborted by nobody", ":"} {
		if GaveUp(finish) || !UnknownFinish(finish) {
			t.Errorf("%q: gave up %v, unknown %v", finish, GaveUp(finish), UnknownFinish(finish))
		}
	}
}
