package plan

import "sync"

// SharedPrefix says how prompts of a group begin alike. The length of answers is
// Data.Output.
type SharedPrefix struct {
	Groups    int    // 0 is 10
	Prompts   int    // of a group, each a user with a question of its own; 0 is 10
	Prefix    Length // of the part that a group shares
	Question  Length // of the part that is each prompt's own
	MultiTurn bool   // a user's requests are turns of one conversation
	Repeat    bool   // each of them is the user's whole prompt again, instead of a new question
	Media     Media  // of the shared part: the same in all prompts of a group; Data.Media is each request's own, in the question
	Seed      uint64 // 0: the plan's
}

var sharedPrefixSpec = sync.OnceValue(func() codec[SharedPrefix] {
	return object(
		fieldOf("groups", count[int](mostPrompts), func(s *SharedPrefix) *int { return &s.Groups }, "Groups, each with a prefix of its own. 0: 10."),
		fieldOf("prompts", count[int](mostPrompts), func(s *SharedPrefix) *int { return &s.Prompts }, "Prompts, or users, of a group. 0: 10."),
		fieldOf("prefix", lengthSpec(), func(s *SharedPrefix) *Length { return &s.Prefix }, "Length of the shared part, in tokens; the form is that of `data.input`."),
		fieldOf("question", lengthSpec(), func(s *SharedPrefix) *Length { return &s.Question }, "Length of the part after it."),
		fieldOf("multi_turn", boolean(), func(s *SharedPrefix) *bool { return &s.MultiTurn },
			"Make the requests of a user turns of one conversation, each after the answer to the one before."),
		fieldOf("repeat", boolean(), func(s *SharedPrefix) *bool { return &s.Repeat },
			"With `multi_turn`: each turn repeats the user's whole prompt, shared part included, after the conversation so far. Left out: a new question."),
		fieldOf("media", mediaSpec(), func(s *SharedPrefix) *Media { return &s.Media },
			"Images, video and audio in the shared part, the same in all prompts of a group; the form is that of `data.media`, which each request has new ones of in its question."),
		fieldOf("seed", integer[uint64](), func(s *SharedPrefix) *uint64 { return &s.Seed }, "Seed of the texts and their order; 0: the plan's."),
	)
})

func (c *checker) sharedPrefix(d *Data) {
	const at = "data.shared_prefix."
	s := &d.SharedPrefix
	sharedPrefixSpec().check(c, "data.shared_prefix", s)
	if s.Repeat && !s.MultiTurn {
		c.add(at+"repeat", "only for multi_turn", "set multi_turn to true")
	}
	if d.Source == SourceSharedPrefix && s.Question == (Length{}) {
		c.add(at+"question", "is missing", "such as 50")
	}
}

// Conversations are generated, of many turns each. The length of answers is Data.Output.
type Conversations struct {
	Count         int    // conversations under way; 0 is 200
	SharedPrompt  int    // tokens of the system prompt that all share
	DynamicPrompt Length // of what each adds to it
	Turns         Length // of a conversation
	Input         Length // of a turn
	// ToolLatency is how long a user's tools take between an answer and the next turn,
	// in milliseconds.
	ToolLatency Length
	MaxContext  int    // tokens; the oldest turns are dropped to keep to it; 0: no bound
	Seed        uint64 // 0: the plan's
}

var conversationsSpec = sync.OnceValue(func() codec[Conversations] {
	return object(
		fieldOf("count", count[int](mostPrompts), func(s *Conversations) *int { return &s.Count }, "Number of conversations; one that ends is replaced. 0: 200."),
		fieldOf("shared_prompt", count[int](mostLength), func(s *Conversations) *int { return &s.SharedPrompt }, "Tokens of the system prompt that all share."),
		fieldOf("dynamic_prompt", lengthSpec(), func(s *Conversations) *Length { return &s.DynamicPrompt }, "Length of what each conversation adds to it."),
		fieldOf("turns", lengthSpec(), func(s *Conversations) *Length { return &s.Turns }, "Turns of a conversation."),
		fieldOf("input", lengthSpec(), func(s *Conversations) *Length { return &s.Input }, "Length of a turn's prompt."),
		fieldOf("tool_latency_ms", lengthSpec(), func(s *Conversations) *Length { return &s.ToolLatency },
			"Time between an answer and the next turn, in milliseconds. No latency includes it."),
		fieldOf("max_context", count[int](mostLength), func(s *Conversations) *int { return &s.MaxContext },
			"Maximum tokens of a prompt and its answer: the oldest turns are dropped. 0: no limit."),
		fieldOf("seed", integer[uint64](), func(s *Conversations) *uint64 { return &s.Seed }, "Seed of lengths and texts; 0: the plan's."),
	)
})

func (c *checker) conversations(d *Data) {
	const at = "data.conversations."
	s := &d.Conversations
	conversationsSpec().check(c, "data.conversations", s)
	if d.Source == SourceConversationReplay && s.Turns == (Length{}) {
		c.add(at+"turns", "is missing", "such as 10")
	}
	if d.Source == SourceConversationReplay && s.Input == (Length{}) {
		c.add(at+"input", "is missing", "such as 512")
	}
}
