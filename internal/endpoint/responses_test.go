package endpoint

import (
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestResponses(t *testing.T) {
	for name, c := range map[string]struct {
		body   string
		n, end int
	}{
		"nothing":                  {"", 0, 0},
		"messages":                 {"\x00\x00\x00\x00\x02hi\x00\x00\x00\x00\x00", 2, 12},
		"a message in pieces":      {"\x00\x00\x00\x00\x02hi\x00\x00\x00\x00\x05abc", 1, 7},
		"a prefix in pieces":       {"\x00\x00\x00\x00\x02hi\x00\x00", 1, 7},
		"events":                   {"data: a\n\ndata: b\n\n", 2, 18},
		"events with CR LF":        {"data: a\r\n\r\ndata: b\r\n\r\n", 2, 22},
		"an event in pieces":       {"data: a\n\ndata: b\n", 1, 9},
		"a comment is no response": {": wait\n\nevent: x\ndata: a\n\n", 1, 26},
		"blank lines":              {"\n\ndata: a\n\n", 1, 11},
	} {
		t.Run(name, func(t *testing.T) {
			if n, end := Responses([]byte(c.body), 0); n != c.n || end != c.end {
				t.Errorf("%d responses up to %d, want %d up to %d", n, end, c.n, c.end)
			}
			// However the network cuts it up, it is the same.
			n, end := 0, 0
			for i := range len(c.body) + 1 {
				more, to := Responses([]byte(c.body[:i]), end)
				n, end = n+more, to
			}
			if n != c.n || end != c.end {
				t.Errorf("byte by byte: %d responses up to %d, want %d up to %d", n, end, c.n, c.end)
			}
		})
	}
}

func FuzzResponses(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02hi\x00"), 3)
	f.Add([]byte(": wait\n\ndata: a\n\ndata"), 9)
	mutate.Fuzz(f, func(t *testing.T, body []byte, cut int) {
		n, end := Responses(body, 0)
		if n < 0 || end < 0 || end > len(body) {
			t.Fatalf("%d responses up to %d of %d bytes", n, end, len(body))
		}
		if cut < 0 || cut > len(body) {
			return
		}
		first, at := Responses(body[:cut], 0)
		if second, to := Responses(body, at); first+second != n || to != end {
			t.Errorf("cut at %d: %d and %d responses up to %d, in one piece %d up to %d", cut, first, second, to, n, end)
		}
	})
}
