package screen_test

import (
	"bytes"
	"testing"

	"github.com/inferometer/inferometer/internal/report/screen"
)

// A character that comes in two writes is one.
func TestMessagesInPieces(t *testing.T) {
	var b bytes.Buffer
	w := screen.Messages(&b, false)
	for _, c := range []byte("é 漢 \u202e.\n") {
		if _, err := w.Write([]byte{c}); err != nil {
			t.Fatal(err)
		}
	}
	if want := `é 漢 \u202e.` + "\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}

func TestMessages(t *testing.T) {
	for _, tt := range []struct{ text, want, coloured string }{
		{"plain, é 漢\n\tindented\n", "plain, é 漢\n\tindented\n", ""},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`, `\x1b[31mred` + "\x1b[0m"},
		{"\x1b[1mbold\x1b[0m", `\x1b[1mbold\x1b[0m`, "\x1b[1mbold\x1b[0m"},
		{"\x1b[5A\x1b[2K\x1b]0;title\x07", `\x1b[5A\x1b[2K\x1b]0;title\x07`, ""},
		{"over\rwritten\x00\x7f", `over\x0dwritten\x00\x7f`, ""},
		{"\u009b31m\u202etxt.exe", `\x9b31m\u202etxt.exe`, ""},
		{"\x9b31m", "\uFFFD31m", ""},
	} {
		if tt.coloured == "" {
			tt.coloured = tt.want
		}
		for colour, want := range map[bool]string{false: tt.want, true: tt.coloured} {
			var b bytes.Buffer
			n, err := screen.Messages(&b, colour).Write([]byte(tt.text))
			if b.String() != want || n != len(tt.text) || err != nil {
				t.Errorf("%q, colour %v: %q (%d, %v), want %q", tt.text, colour, b.String(), n, err, want)
			}
		}
	}
}
