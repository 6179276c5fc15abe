package prompt

import (
	"encoding/json"
	"time"
)

// Scripted is a turn as the data has it, without what is said before it.
type Scripted struct {
	Prompt Prompt
	Think  time.Duration // after its response, before the next turn goes
	Pauses bool          // the data says how long that is, be it 0
	Line   int           // its place in the data, from 0
}

// Field is a member of a request's body.
type Field struct {
	Name  string
	Value json.RawMessage
}
