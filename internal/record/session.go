package record

import "time"

// SessionSummary says how a recorded session was played: written when it has ended. Its
// requests name it, and their turns are places among its calls.
type SessionSummary struct {
	Session string        `json:"session"`
	Stage   int           `json:"stage"`
	Begin   time.Duration `json:"begin"` // it had its slot
	End     time.Duration `json:"end"`   // its last call had ended
	Calls   int           `json:"calls"` // of the record
	Unsent  int           `json:"unsent,omitempty"`
	Origin  string        `json:"origin,omitempty"` // the file of the record
	// Cause is why the first call failed that did; empty: none did.
	Cause   SessionCause `json:"cause,omitempty"`
	Message string       `json:"message,omitempty"`
	// Repaired are the ids of calls whose broken responses gave way to the recorded ones.
	Repaired []string `json:"repaired,omitempty"`
	// User are the turns whose responses are for the user, UserIDs the ids of their calls.
	User    []int    `json:"user,omitempty"`
	UserIDs []string `json:"user_ids,omitempty"`
	Program int      `json:"program,omitempty"` // calls whose responses are for a program
}

// SessionCause says why a session failed.
type SessionCause string

// The causes.
const (
	RequestFailed     SessionCause = "request_failed"
	PredecessorFailed SessionCause = "predecessor_failed"
	WaitFailed        SessionCause = "predecessor_wait_failed"
	RecordMalformed   SessionCause = "recorded_fallback_malformed"
	SessionHalted     SessionCause = "stage_ended" // before its last call went
)
