package record

// labelLetters are the labels as the record file writes them, one letter each.
const labelLetters = "crtnoeufdk!w?p"

// String is the label in words.
func (l Label) String() string {
	names := [...]string{"content", "reasoning", "tool_call", "refusal", "role", "empty", "usage",
		"finish", "done", "comment", "error", "whole", "unknown", "echo"}
	if int(l) < len(names) {
		return names[l]
	}
	return "unknown"
}

// String is the source in words.
func (s Source) String() string {
	switch s {
	case FromServer:
		return "server"
	case FromTokenizer:
		return "tokenizer"
	case FromEvents:
		return "events"
	}
	return "uncounted"
}

func parseSource(name []byte) (Source, bool) {
	for s := Uncounted; s <= FromEvents; s++ {
		if s.String() == string(name) {
			return s, true
		}
	}
	return Uncounted, false
}

// String is the phase in words.
func (p Phase) String() string {
	switch p {
	case Warmup:
		return "warmup"
	case Closing:
		return "closing"
	}
	return "measured"
}
