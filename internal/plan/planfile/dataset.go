package planfile

import (
	"slices"
	"sync"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

func datasetKinds() []string { return append(plan.DatasetKinds(), plan.DatasetAuto) }

var datasetSpec = sync.OnceValue(func() codec[plan.Dataset] {
	return object(
		fieldOf("kind", named("`sharegpt`, `cnn_dailymail`, `billsum_conversations`, `infinity_instruct`, `visionarena`, `openorca`, `mtbench`, `longbench`, `bfcl` or `auto`", datasetKinds()...),
			func(d *plan.Dataset) *string { return &d.Kind }, "Which data set, and thus how its rows are read. `auto`: recognise a local file by its columns, which may also be those of `data.file`."),
		fieldOf("path", text(), func(d *plan.Dataset) *string { return &d.Path }, "Local file or directory of files; left out: the hub."),
		fieldOf("hub", hubSpec(), func(d *plan.Dataset) *plan.Hub { return &d.Hub }, "Repository on the hub; left out: the data set's usual one."),
		fieldOf("input", boundsSpec(), func(d *plan.Dataset) *plan.Bounds { return &d.Input }, "Use only rows whose prompt has this many tokens."),
		fieldOf("output", boundsSpec(), func(d *plan.Dataset) *plan.Bounds { return &d.Output }, "Use only rows whose answer has this many tokens."),
		fieldOf("images", count[int](1000), func(d *plan.Dataset) *int { return &d.Images }, "Maximum images per request; 0: 1."),
		fieldOf("at", spotSpec(), func(d *plan.Dataset) *plan.Spot { return &d.At }, "Where images stand in the prompt."),
		fieldOf("files", text(), func(d *plan.Dataset) *string { return &d.Files }, "Name or pattern of the files in the hub's repository; left out: the data set's own."),
		fieldOf("rows", count[int](mostPrompts), func(d *plan.Dataset) *int { return &d.Rows }, "Maximum number of rows; 0: all, or 1000 with images."),
		fieldOf("free_output", boolean(), func(d *plan.Dataset) *bool { return &d.Free },
			"Without `data.output`, let the server decide the output length instead of using that of the row's answer; rows without an answer are used too."),
		fieldOf("whole_chats", boolean(), func(d *plan.Dataset) *bool { return &d.Whole },
			"Send chats as they are, with every turn and the last answer, whether or not the server's template accepts their roles; needs `data.output`. Left out: a chat ends with the last question that was answered."),
		fieldOf("start", count[int](mostPrompts), func(d *plan.Dataset) *int { return &d.Start }, "First row to use, from 0; the rows before it come last."),
		fieldOf("go_on", boolean(), func(d *plan.Dataset) *bool { return &d.GoOn }, "Continue each stage where the previous one ended. Left out: every stage begins with the first row."),
	)
})

func hubSpec() codec[plan.Hub] {
	return object(
		fieldOf("name", text(), func(h *plan.Hub) *string { return &h.Name }, "Repository of the data set, such as owner/name."),
		fieldOf("revision", text(), func(h *plan.Hub) *string { return &h.Revision }, "Branch, tag or commit; left out: `main`."),
		fieldOf("config", text(), func(h *plan.Hub) *string { return &h.Config }, "Configuration, or subset, of the data set."),
		fieldOf("split", text(), func(h *plan.Hub) *string { return &h.Split }, "Split of the data set; left out: `train`."),
	)
}

func boundsSpec() codec[plan.Bounds] {
	c := object(
		fieldOf("min", count[int](mostLength), func(b *plan.Bounds) *int { return &b.Min }, "Minimum; 0: none."),
		fieldOf("max", count[int](mostLength), func(b *plan.Bounds) *int { return &b.Max }, "Maximum; 0: none."),
	)
	check := c.check
	c.check = func(c *checker, path string, b *plan.Bounds) {
		check(c, path, b)
		if b.Max > 0 && b.Min > b.Max {
			c.add(path, "min is more than max", "")
		}
	}
	return c
}

func (c *checker) dataset(d *plan.Data) {
	const at = "data.dataset."
	s := &d.Dataset
	if d.Source != plan.SourceDataset {
		return
	}
	c.choice(at+"kind", s.Kind, datasetKinds())
	datasetSpec().check(c, "data.dataset", s)
	if s.Whole && d.Output == (plan.Length{}) && !s.Free {
		c.add(at+"whole_chats", "needs data.output: no answer is left that says how long the next is", "such as 30")
	}
	if slices.Contains([]string{plan.DatasetBillsum, plan.DatasetInfinity}, s.Kind) && s.Path == "" && s.Hub.Name == "" {
		c.add(at+"path", "is missing: "+s.Kind+" has no usual place on the hub", "give %v", message.New("%v or %v", message.DatasetPath, message.DatasetHub).Or("%v", message.DatasetPath))
	}
	if s.Kind == plan.DatasetAuto && s.Path == "" {
		c.add(at+"path", "is missing: auto tells the data set from a file", "give path, or name the data set")
	}
	if s.Path != "" && s.Hub != (plan.Hub{}) {
		c.add(at+"path", "cannot be combined with hub", "give one of them")
	}
}

var sharedPrefixSpec = sync.OnceValue(func() codec[plan.SharedPrefix] {
	return object(
		fieldOf("groups", count[int](mostPrompts), func(s *plan.SharedPrefix) *int { return &s.Groups }, "Groups, each with a prefix of its own. 0: 10."),
		fieldOf("prompts", count[int](mostPrompts), func(s *plan.SharedPrefix) *int { return &s.Prompts }, "Prompts, or users, of a group. 0: 10."),
		fieldOf("prefix", lengthSpec(), func(s *plan.SharedPrefix) *plan.Length { return &s.Prefix }, "Length of the shared part, in tokens; the form is that of `data.input`."),
		fieldOf("question", lengthSpec(), func(s *plan.SharedPrefix) *plan.Length { return &s.Question }, "Length of the part after it."),
		fieldOf("multi_turn", boolean(), func(s *plan.SharedPrefix) *bool { return &s.MultiTurn },
			"Make the requests of a user turns of one conversation, each after the answer to the one before."),
		fieldOf("repeat", boolean(), func(s *plan.SharedPrefix) *bool { return &s.Repeat },
			"With `multi_turn`: each turn repeats the user's whole prompt, shared part included, after the conversation so far. Left out: a new question."),
		fieldOf("media", mediaSpec(), func(s *plan.SharedPrefix) *plan.Media { return &s.Media },
			"Images, video and audio in the shared part, the same in all prompts of a group; the form is that of `data.media`, which each request has new ones of in its question."),
		fieldOf("seed", integer[uint64](), func(s *plan.SharedPrefix) *uint64 { return &s.Seed }, "Seed of the texts and their order; 0: the plan's."),
	)
})

func (c *checker) sharedPrefix(d *plan.Data) {
	const at = "data.shared_prefix."
	s := &d.SharedPrefix
	sharedPrefixSpec().check(c, "data.shared_prefix", s)
	if s.Repeat && !s.MultiTurn {
		c.add(at+"repeat", "only for multi_turn", "set multi_turn to true")
	}
	if d.Source == plan.SourceSharedPrefix && s.Question == (plan.Length{}) {
		c.add(at+"question", "is missing", "such as 50")
	}
}

var conversationsSpec = sync.OnceValue(func() codec[plan.Conversations] {
	return object(
		fieldOf("count", count[int](mostPrompts), func(s *plan.Conversations) *int { return &s.Count }, "Number of conversations; one that ends is replaced. 0: 200."),
		fieldOf("shared_prompt", count[int](mostLength), func(s *plan.Conversations) *int { return &s.SharedPrompt }, "Tokens of the system prompt that all share."),
		fieldOf("dynamic_prompt", lengthSpec(), func(s *plan.Conversations) *plan.Length { return &s.DynamicPrompt }, "Length of what each conversation adds to it."),
		fieldOf("turns", lengthSpec(), func(s *plan.Conversations) *plan.Length { return &s.Turns }, "Turns of a conversation."),
		fieldOf("input", lengthSpec(), func(s *plan.Conversations) *plan.Length { return &s.Input }, "Length of a turn's prompt."),
		fieldOf("tool_latency_ms", lengthSpec(), func(s *plan.Conversations) *plan.Length { return &s.ToolLatency },
			"Time between an answer and the next turn, in milliseconds. No latency includes it."),
		fieldOf("max_context", count[int](mostLength), func(s *plan.Conversations) *int { return &s.MaxContext },
			"Maximum tokens of a prompt and its answer: the oldest turns are dropped. 0: no limit."),
		fieldOf("seed", integer[uint64](), func(s *plan.Conversations) *uint64 { return &s.Seed }, "Seed of lengths and texts; 0: the plan's."),
	)
})

func (c *checker) conversations(d *plan.Data) {
	const at = "data.conversations."
	s := &d.Conversations
	conversationsSpec().check(c, "data.conversations", s)
	if d.Source == plan.SourceConversationReplay && s.Turns == (plan.Length{}) {
		c.add(at+"turns", "is missing", "such as 10")
	}
	if d.Source == plan.SourceConversationReplay && s.Input == (plan.Length{}) {
		c.add(at+"input", "is missing", "such as 512")
	}
}
