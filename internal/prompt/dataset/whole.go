package dataset

import (
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// Whole chats have every turn of their row, in roles of few kinds, whether or not a server's template takes them.

// wholeExchange knows humans and models; anybody else is a user.
func wholeExchange(row rows.Row) (entry, bool) {
	list, ok := turns(row["conversations"])
	return wholeChat(list, func(t turn) string {
		if t.who == "gpt" {
			return "assistant"
		}
		return "user"
	}), ok && len(list) >= 2
}

// wholeBill has the row's own names of roles.
func wholeBill(row rows.Row) (entry, bool) {
	list, ok := turns(row["conversations"])
	return wholeChat(list, func(t turn) string { return t.who }), ok && len(list) >= 2
}

// wholeInstruction leaves empty turns out; whoever is not a human is a model.
func wholeInstruction(row rows.Row) (entry, bool) {
	list, ok := turns(row["conversations"])
	var said []turn
	for _, t := range list {
		if t.text != "" {
			said = append(said, t)
		}
	}
	return wholeChat(said, func(t turn) string {
		if t.who == "human" {
			return "user"
		}
		return "assistant"
	}), ok && len(said) > 0
}

func wholeChat(list []turn, role func(turn) string) entry {
	var e entry
	for _, t := range list {
		e.messages = append(e.messages, prompt.Message{Role: role(t), Content: t.text})
	}
	return e
}
