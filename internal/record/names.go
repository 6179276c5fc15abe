package record

// labelLetters are the labels as the record file writes them, one letter each.
const labelLetters = "crtnoeufdk!w?p"

// labelOf is one more than the label of each letter; 0: it is none's.
var labelOf = func() (labels [256]uint8) {
	for label, letter := range labelLetters {
		labels[letter] = uint8(label + 1)
	}
	return labels
}()

// String is the label in words.
func (l EventKind) String() string {
	names := [...]string{"content", "reasoning", "tool_call", "refusal", "role", "empty", "usage",
		"finish", "done", "comment", "error", "whole", "unknown", "echo"}
	if int(l) < len(names) {
		return names[l]
	}
	return "unknown"
}

// String is the source in words.
func (s Source) String() string {
	return [...]string{Uncounted: "uncounted", FromServer: "server", FromTokenizer: "tokenizer", FromEvents: "events"}[s&3]
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
	return [...]string{Measured: "measured", Warmup: "warmup", Closing: "closing"}[p]
}
