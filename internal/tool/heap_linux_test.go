package tool

import (
	"bytes"
	"testing"
)

func TestUnback(t *testing.T) {
	room := bytes.Repeat([]byte{1}, 1<<20)
	unback(room)
	// Pages that the system took back are zeros when they are read again.
	if at := bytes.IndexByte(room, 1); at >= 0 {
		t.Errorf("byte %d of the room is still backed by what was written to it", at)
	}
}
