package prompt

import "context"

// Opener is a Source that has something to read, or to learn of its use, before its
// first prompt.
type Opener interface {
	// Open is called once, before everything else. What is wrong with a file is
	// returned as plan.Faults.
	Open(ctx context.Context, u Use) error
}

// Use is what prompts are made for.
type Use struct {
	// Chat says that they are sent as chats: a source that has whole conversations
	// gives them as such.
	Chat bool
	// Fields says that a request may have fields beside those of its prompt, such as tools.
	Fields bool
	// Wrap puts the model's chat template around one message of a user; nil means there
	// is no template.
	Wrap func(text string) (string, error)
	// Specials is how many special tokens the server puts around a text that is no chat.
	Specials int
	// Server tokenizes as the server does; nil means it is not asked.
	Server TokenServer
	// Tell tells the user of what takes long, before it is done; optional.
	Tell func(text string)
}

// TokenServer tokenizes as a server does.
type TokenServer interface {
	Tokens(ctx context.Context, text string) ([]int32, error)
	Text(ctx context.Context, ids []int32) (string, error)
}

// Specials is how many special tokens a tokenizer puts around a text that is no chat.
func Specials(tok Tokenizer) int {
	e, ok := tok.(interface {
		Encode(text string, special bool) []int32
	})
	if !ok {
		return 0
	}
	return len(e.Encode("a", true)) - len(e.Encode("a", false))
}
