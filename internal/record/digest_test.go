package record

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// framesOf collects the frames that a Writer makes.
type framesOf [][]byte

func (f *framesOf) Write(p []byte) (int, error) {
	*f = append(*f, slices.Clone(p))
	return len(p), nil
}

// digested writes records as a worker does.
func digested(t testing.TB, recs ...*Record) framesOf {
	t.Helper()
	var frames framesOf
	w, err := NewWriter(&frames, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	w.Digests()
	e := w.Encoder()
	for _, rec := range recs {
		e.Digest(AppendDigest(nil, rec), rec.End)
		if err := e.Append(AppendJSON(nil, rec, true)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(e.Flush(), w.Health(Health{At: 7}), w.Close()); err != nil {
		t.Fatal(err)
	}
	return frames
}

// What is read of a digest is what is read of its frame, but for texts and bodies, whatever the
// request is like.
func TestDigestSaysWhatTheFrameSays(t *testing.T) {
	long := full()
	long.Tail = &Tail{Events: 3, Tokens: 1, First: 5, Last: 9, Visible: Never, Reads: 2}
	long.Tail.Gaps.Add(4000)
	long.Tail.Gaps.Add(4)
	failed := &Record{Due: 3, Ready: 4, Sent: Never, Written: Never, End: 9, Cached: -1, Failure: &Failure{Class: ConnectFailed, Message: "no", At: 9}}
	frames := digested(t, full(), long, failed, &Record{}, stream(40))
	var got, want []Line
	take := func(to *[]Line) func(Line) error {
		return func(l Line) error {
			if l.Request != nil {
				rec := *l.Request
				rec.Text, rec.Body, rec.RequestBody = nil, nil, nil
				rec.Marks, rec.Events = slices.Clone(rec.Marks), slices.Clone(rec.Events)
				l.Request = &rec
			}
			*to = append(*to, l)
			return nil
		}
	}
	var r DigestReader
	var file bytes.Buffer
	file.Write(frames[0]) // the header, which does not travel
	for _, f := range frames[1:] {
		d, frame, err := SplitDigest(f)
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Read(d, take(&got)); err != nil {
			t.Fatal(err)
		}
		file.Write(frame)
	}
	for name, text := range map[string][]byte{"without digests": file.Bytes(), "with them": bytes.Join(frames, nil)} {
		want = nil
		in, err := NewReader(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		for {
			l, err := in.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			_ = take(&want)(l)
		}
		if d := cmp.Diff(want[1:], got, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

func TestDigestKnowsTheLatestEnd(t *testing.T) {
	frames := digested(t, &Record{End: 5}, &Record{End: 9}, &Record{End: 7})
	for i, want := range []time.Duration{9, 0} {
		if d, _, err := SplitDigest(frames[1+i]); err != nil || d.Latest != want {
			t.Errorf("frame %d: latest %d, %v, want %d", i, d.Latest, err, want)
		}
	}
}

// Requests that have begun and whose end never came are those that the file has, too.
func TestDigestOfRequestsUnderWay(t *testing.T) {
	var fs Flights
	begun := &Exchange{Record: Record{Seq: 4, Stage: 1}}
	fs.Begin(begun)
	lines, err := fs.Append(nil, 50)
	if err != nil {
		t.Fatal(err)
	}
	var entries []byte
	for line := range bytes.Lines(lines) {
		entries = AppendDigestLine(entries, line)
	}
	entries = AppendDigest(entries, &Record{Seq: 3})
	var r DigestReader
	if err := r.Read(Digest{entries: entries}, func(Line) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var left []int64
	if err := r.End(func(rec *Record) error { left = append(left, rec.Seq); return nil }); err != nil || !slices.Equal(left, []int64{4}) {
		t.Errorf("%v, %v", left, err)
	}
}

func FuzzDigest(f *testing.F) {
	for _, frame := range digested(f, full(), stream(3), &Record{})[1:] {
		f.Add(frame)
	}
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		d, _, err := SplitDigest(data)
		if err != nil {
			return
		}
		var r DigestReader
		_ = r.Read(d, func(l Line) error {
			if rec := l.Request; rec != nil {
				for _, e := range rec.Events {
					_ = rec.Marks[e.Mark]
				}
				AppendDigest(nil, rec)
			}
			return nil
		})
	})
}

func BenchmarkDigest(b *testing.B) {
	for name, rec := range map[string]*Record{"512 events": stream(benchEvents), "not streamed": stream(1)} {
		b.Run(name, func(b *testing.B) {
			entries := AppendDigest(nil, rec)
			b.Run("write", func(b *testing.B) {
				for b.Loop() {
					entries = AppendDigest(entries[:0], rec)
				}
				b.ReportMetric(float64(len(entries)), "bytes")
			})
			b.Run("read", func(b *testing.B) {
				var r DigestReader
				for b.Loop() {
					if err := r.Read(Digest{entries: entries}, func(Line) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		})
	}
}
