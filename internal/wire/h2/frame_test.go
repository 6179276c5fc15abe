package h2

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// Any cut of the server's bytes into reads gives the same frames.
func TestSplitterDoesNotMindReads(t *testing.T) {
	var wire bytes.Buffer
	framer := http2.NewFramer(&wire, nil)
	_ = framer.WriteSettings(http2.Setting{ID: 1, Val: 2})
	_ = framer.WriteDataPadded(1, false, []byte("padded"), make([]byte, 3))
	_ = framer.WriteDataPadded(1, false, nil, make([]byte, 4))
	_ = framer.WriteData(3, true, nil)
	_ = framer.WriteData(1, true, []byte("plain"))
	_ = framer.WriteSettingsAck()
	_ = framer.WriteRawFrame(0x55, 0, 9, []byte("unwanted"))
	_ = framer.WritePing(true, [8]byte{1})
	whole := splitAll(t, wire.Bytes(), wire.Len())
	for n := 1; n < wire.Len(); n++ {
		if got := splitAll(t, wire.Bytes(), n); got != whole {
			t.Fatalf("in pieces of %d bytes: %s\nin one: %s", n, got, whole)
		}
	}
	if want := "settings:6 1:padded. 1:. 3:. 1:plain. settings:0 ping:8 "; whole != want {
		t.Errorf("got  %s\nwant %s", whole, want)
	}
}

// notes writes down what a splitter gives.
type notes struct {
	strings.Builder
	open map[uint32]string
}

func (n *notes) begin(f frame) (bool, error) { return f.kind != 0x55, nil }

func (n *notes) data(f frame, p []byte, last bool) error {
	if f.stream == 0 {
		return nil
	}
	n.open[f.stream] += string(p)
	if last {
		fmt.Fprintf(n, "%d:%s. ", f.stream, n.open[f.stream])
		delete(n.open, f.stream)
	}
	return nil
}

func (n *notes) handleFrame(f frame, p []byte) error {
	switch f.kind {
	case frameSettings:
		fmt.Fprintf(n, "settings:%d ", len(p))
	case framePing:
		fmt.Fprintf(n, "ping:%d ", len(p))
	default:
		return errors.New("an unwanted frame")
	}
	return nil
}

func splitAll(t *testing.T, wire []byte, piece int) string {
	t.Helper()
	n := &notes{open: make(map[uint32]string)}
	var s splitter
	for len(wire) > 0 {
		k := min(piece, len(wire))
		if err := s.feed(wire[:k], n); err != nil {
			t.Fatal(err)
		}
		wire = wire[k:]
	}
	return n.String()
}
