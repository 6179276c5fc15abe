package screen

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/inferometer/inferometer/internal/lib/pattern"
)

// Messages is a writer to w for lines of which parts may come from a server, a file or a
// command line: what could move the cursor, change colours or turn text around is shown as an
// escape. With colour, the sequences of Style pass.
func Messages(w io.Writer, colour bool) *Writer { return &Writer{beneath: w, to: w, colour: colour} }

// Writer writes messages.
type Writer struct {
	beneath io.Writer
	colour  bool

	mu   sync.Mutex
	to   io.Writer
	rest []byte // of a character whose end is still to come
}

// Unwrap is where the messages go in the end.
func (w *Writer) Unwrap() io.Writer { return w.beneath }

// Redirect has the messages written to another writer from now on, which leads to the same
// place.
func (w *Writer) Redirect(to io.Writer) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.to = to
}

func (w *Writer) Write(message []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	text := append(w.rest, message...)
	whole := len(text)
	for i := max(whole-utf8.UTFMax+1, 0); i < whole; i++ {
		if utf8.RuneStart(text[i]) && !utf8.FullRune(text[i:]) {
			whole = i
		}
	}
	if _, err := io.WriteString(w.to, w.visible(string(text[:whole]))); err != nil {
		return 0, err
	}
	w.rest = append([]byte(nil), text[whole:]...)
	return len(message), nil
}

// style are the sequences that Style writes.
var style = pattern.New(`^\x1b\[(0|1|2|1;32|1;31|33)m`)

// visible is a text with control characters shown as escapes; lines and tabs stay.
func (w *Writer) visible(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if strings.IndexFunc(text, upsets) < 0 {
		return text
	}
	var b strings.Builder
	for i, r := range text {
		switch {
		case !upsets(r), r == '\x1b' && w.colour && style().MatchString(text[i:]):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// upsets reports whether a character changes how a terminal shows others.
func upsets(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069, r == 0x200e, r == 0x200f:
		return true // the direction of text
	}
	return unicode.IsControl(r)
}
