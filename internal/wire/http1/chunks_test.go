package http1

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// A chunk has a mark of its own only where it is asked for.
func TestMarksOfChunks(t *testing.T) {
	const text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n3\r\ncde\r\n1\r\nf\r\n0\r\n\r\n"
	for chunks, want := range map[bool][]int{false: {6}, true: {2, 5, 6}} {
		addr := serve(t, answer(text))
		c := client(t, addr, timedconn.Timeouts{})
		c.Chunks = chunks
		for range 2 { // on one connection
			rec := send(t.Context(), c, addr, "{}")
			succeeded(t, rec, "abcdef")
			var offs []int
			for _, m := range rec.Marks {
				offs = append(offs, m.Off)
				if !m.SameRead(rec.Marks[0]) {
					t.Skip("the answer came in several reads")
				}
			}
			if diff := cmp.Diff(want, offs); diff != "" {
				t.Errorf("chunks %v (-want +got):\n%s", chunks, diff)
			}
		}
	}
}

func TestPerChunk(t *testing.T) {
	one := record.Read{Off: 4, Kernel: 10, User: 12}
	two := record.Read{Off: 10, Kernel: 20, User: 23, Blur: 5}
	at := func(m record.Read, off int, loose bool) record.Read {
		m.Off, m.Loose = off, loose
		return m
	}
	for _, tt := range []struct {
		name string
		ends []int
		want []record.Read
	}{
		{"no chunks", nil, []record.Read{one, two}},
		{"one each", []int{4, 10}, []record.Read{one, two}},
		{"one over both", []int{10}, []record.Read{one, two}},
		{"several in a read", []int{1, 4, 6, 9, 10}, []record.Read{at(one, 1, false), one, at(two, 6, true), at(two, 9, true), two}},
		{"the end of one with the next", []int{6, 10}, []record.Read{one, at(two, 6, true), two}},
	} {
		if diff := cmp.Diff(tt.want, perChunk([]record.Read{one, two}, tt.ends)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}
