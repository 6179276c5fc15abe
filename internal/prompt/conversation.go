package prompt

import "time"

// Conversation gives the turns of a chat that follow its first one. It is used from
// one goroutine at a time, after each answer once.
type Conversation interface {
	// Next is the turn after an answer, and how long the user thinks before it goes;
	// io.EOF ends the conversation.
	Next(answer Answer) (turn Prompt, think time.Duration, err error)
}

// Answer is what came back of a turn.
type Answer struct {
	Text   string // the visible part
	Failed bool   // there is none, or only a part
}

// Scheduler is a Source whose prompts come with the moments at which they are due.
type Scheduler interface {
	// Schedule has one moment for each prompt in the order of Next, counted from
	// the start of a stage and never decreasing; nil: there are none.
	Schedule() []time.Duration
}
