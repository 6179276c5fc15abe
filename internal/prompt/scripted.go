package prompt

import (
	"encoding/json"
	"time"
)

// Scripted is a turn as the data has it, without what is said before it.
type Scripted struct {
	Prompt Prompt
	Think  time.Duration // after its answer, before the next turn goes
}

// Field is a member of a request's body.
type Field struct {
	Name  string
	Value json.RawMessage
}
