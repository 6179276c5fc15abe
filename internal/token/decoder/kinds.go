package decoder

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/token/component"
)

type wordPiece struct {
	prefix  string
	cleanup bool
}

func wordPieceFromJSON(raw []byte) (Decoder, error) {
	var d struct {
		Prefix  string `json:"prefix"`
		Cleanup bool   `json:"cleanup"`
	}
	err := component.Fields(raw, &d, "prefix", "cleanup")
	return wordPiece{d.Prefix, d.Cleanup}, err
}

// Decode puts a space before every token but the first and those with the prefix.
func (t wordPiece) Decode(tokens []string) []string {
	for i, s := range tokens {
		if i > 0 {
			if rest, ok := strings.CutPrefix(s, t.prefix); ok {
				s = rest
			} else {
				s = " " + s
			}
		}
		if t.cleanup {
			s = cleanup(s)
		}
		tokens[i] = s
	}
	return tokens
}

// cleanup takes out spaces that English does not have.
func cleanup(s string) string {
	if !strings.Contains(s, " ") {
		return s
	}
	for _, p := range [...][2]string{
		{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
		{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
	} {
		s = strings.ReplaceAll(s, p[0], p[1])
	}
	return s
}

// metaspace makes spaces of the character that stands for them.
type metaspace struct {
	sign  string
	never bool
}

func metaspaceFromJSON(raw []byte) (Decoder, error) {
	m, err := component.ReadMetaspace(raw)
	return metaspace{m.Sign, m.Scheme == "never"}, err
}

// Decode makes spaces, but for the first token's if one was put before the text.
func (t metaspace) Decode(tokens []string) []string {
	for i, s := range tokens {
		to := " "
		if i == 0 && !t.never {
			to = ""
		}
		tokens[i] = strings.ReplaceAll(s, t.sign, to)
	}
	return tokens
}

// bpe makes spaces of the suffix that ends words.
type bpe string

func bpeFromJSON(raw []byte) (Decoder, error) {
	var d struct {
		Suffix string `json:"suffix"`
	}
	err := component.Fields(raw, &d, "suffix")
	return bpe(d.Suffix), err
}

// Decode makes spaces, but for the last token.
func (t bpe) Decode(tokens []string) []string {
	for i, s := range tokens {
		to := " "
		if i == len(tokens)-1 {
			to = ""
		}
		tokens[i] = strings.ReplaceAll(s, string(t), to)
	}
	return tokens
}

// strip drops up to so many of a character at the ends of each token.
type strip struct {
	content     string
	start, stop int
}

func stripFromJSON(raw []byte) (Decoder, error) {
	var d struct {
		Content string `json:"content"`
		Start   int    `json:"start"`
		Stop    int    `json:"stop"`
	}
	err := component.Fields(raw, &d, "content", "start", "stop")
	if err == nil && (utf8.RuneCountInString(d.Content) != 1 || d.Start < 0 || d.Stop < 0) {
		err = errors.New("its content has to be one character, and start and stop not below 0")
	}
	return strip{d.Content, d.Start, d.Stop}, err
}

func (t strip) Decode(tokens []string) []string {
	for i, s := range tokens {
		for n := 0; n < t.start && strings.HasPrefix(s, t.content); n++ {
			s = s[len(t.content):]
		}
		for n := 0; n < t.stop && strings.HasSuffix(s, t.content); n++ {
			s = s[:len(s)-len(t.content)]
		}
		tokens[i] = s
	}
	return tokens
}

// ctc takes out what a speech model repeats.
type ctc struct {
	pad, word string
	cleanup   bool
}

func ctcFromJSON(raw []byte) (Decoder, error) {
	var d struct {
		Pad     string `json:"pad_token"`
		Word    string `json:"word_delimiter_token"`
		Cleanup bool   `json:"cleanup"`
	}
	err := component.Fields(raw, &d, "pad_token", "word_delimiter_token", "cleanup")
	return ctc{d.Pad, d.Word, d.Cleanup}, err
}

// Decode drops repetitions and padding.
func (t ctc) Decode(tokens []string) []string {
	out := make([]string, 0, len(tokens))
	for i, s := range tokens {
		if i > 0 && s == tokens[i-1] {
			continue
		}
		s = strings.ReplaceAll(s, t.pad, "")
		if t.cleanup {
			s = strings.ReplaceAll(cleanup(s), t.word, " ")
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}
