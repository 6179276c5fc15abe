package record

import (
	"encoding/binary"
	"testing"
	"time"
)

// The kernel's stamp of a read is better than this program's.
func TestReadTime(t *testing.T) {
	for _, tt := range []struct{ kernel, user, want time.Duration }{{3, 5, 3}, {0, 5, 0}, {Never, 5, 5}} {
		if got := (Read{Kernel: tt.kernel, User: tt.user}).Time(); got != tt.want {
			t.Errorf("kernel %d, user %d: %d, want %d", tt.kernel, tt.user, got, tt.want)
		}
	}
}

func TestReadsAreCounted(t *testing.T) {
	rec := Record{Marks: make([]Read, 3)}
	if n := rec.Reads(); n != 3 {
		t.Errorf("%d reads, want 3", n)
	}
	rec.Tail = &Tail{Reads: 40}
	if n := rec.Reads(); n != 43 {
		t.Errorf("%d reads with a tail of 40, want 43", n)
	}
}

func TestFindStage(t *testing.T) {
	stages := []StageSummary{{Stage: 2}, {Stage: 0}, {Stage: -1}}
	for i, want := range map[int]*StageSummary{2: &stages[0], 0: &stages[1], -1: &stages[2], 1: nil} {
		if got := FindStage(stages, i); got != want {
			t.Errorf("stage %d: %+v", i, got)
		}
	}
}

// A digest has at least its header, and at most what came.
func TestDigestLength(t *testing.T) {
	for length, ok := range map[uint32]bool{0: false, 7: false, 8: true, 9: true, 12: true, 13: false, 1 << 31: false} {
		b := binary.LittleEndian.AppendUint32(nil, digestMagic)
		b = binary.LittleEndian.AppendUint32(b, length)
		b = append(b, make([]byte, 12)...) // when the last request ended, and four bytes more
		d, frame, err := SplitDigest(b)
		if (err == nil) != ok {
			t.Errorf("a digest of %d bytes out of 12: %v", length, err)
		}
		if ok && (len(d.entries) != int(length)-8 || len(frame) != 12-int(length)) {
			t.Errorf("a digest of %d bytes: %d of entries, a frame of %d", length, len(d.entries), len(frame))
		}
	}
}
