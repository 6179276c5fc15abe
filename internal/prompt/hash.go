package prompt

import "github.com/cespare/xxhash/v2"

// HashText is the hash of a prompt's text: XXH64, the same in every process and on
// every machine.
func HashText(text string) uint64 { return xxhash.Sum64String(text) }

// HashMessages is the hash of a chat: of every role, content and tool call in order.
func HashMessages(messages []Message) uint64 {
	h := uint64(1)
	var d xxhash.Digest
	add := func(text string) {
		d.ResetWithSeed(h)
		_, _ = d.WriteString(text) // a hash takes all
		h = d.Sum64()
	}
	for i := range messages {
		m := &messages[i]
		add(m.Role)
		add(m.Content)
		for _, c := range m.ToolCalls {
			add(c.Name)
			add(c.Arguments)
		}
		if m.Raw != nil {
			add(string(m.Raw))
		}
	}
	return h
}
