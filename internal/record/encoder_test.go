package record

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"testing"
)

// Several encoders write one file side by side: every line is there, those of each in order.
func TestEncodersShareAFile(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	const encoders, each = 5, 900
	var all sync.WaitGroup
	for k := range encoders {
		all.Go(func() {
			e := w.Encoder()
			rec := full()
			for i := range each {
				rec.Seq = int64(i*encoders + k)
				if err := e.Append(AppendJSON(nil, rec, true)); err != nil {
					t.Error(err)
				}
				if i%300 == 0 {
					if err := errors.Join(e.Flush(), w.Health(Health{})); err != nil {
						t.Error(err)
					}
				}
			}
			if err := errors.Join(e.Flush(), e.Flush()); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := readAll(out.Bytes())
	if !errors.Is(err, ErrTruncated) {
		t.Errorf("a file that was not ended: %v", err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err = readAll(out.Bytes())
	if !errors.Is(err, io.EOF) || len(got.seqs) != encoders*each || len(got.healths) != encoders*each/300 {
		t.Errorf("%d requests and %d samples, then %v", len(got.seqs), len(got.healths), err)
	}
	next := [encoders]int64{}
	for _, seq := range got.seqs {
		if k := seq % encoders; seq/encoders != next[k] {
			t.Fatalf("encoder %d: request %d, want %d", k, seq/encoders, next[k])
		} else {
			next[k]++
		}
	}
}
