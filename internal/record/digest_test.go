package record

import (
	"bytes"
	"errors"
	"io"
	"reflect"
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
		e.Digest(rec)
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
	sayTheSame(t, digested(t, full(), long, failed, &Record{}, stream(40), stream(40)))
}

// A field that differs from that of the request before is not taken for the same.
func TestDigestOfRequestsThatDifferInOneField(t *testing.T) {
	recs := []*Record{stream(2)}
	var vary func(field func(rec *Record) reflect.Value)
	vary = func(field func(rec *Record) reflect.Value) {
		rec := stream(2)
		switch v := field(rec); v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				vary(func(rec *Record) reflect.Value { return field(rec).Field(i) })
			}
			return
		case reflect.Int, reflect.Int64:
			v.SetInt(v.Int() + 1)
		case reflect.Uint8, reflect.Uint64:
			v.SetUint(v.Uint() ^ 1)
		case reflect.Bool:
			v.SetBool(!v.Bool())
		case reflect.String:
			v.SetString(v.String() + "+")
		default:
			return
		}
		recs = append(recs, rec, stream(2))
	}
	vary(func(rec *Record) reflect.Value { return reflect.ValueOf(rec).Elem() })
	if len(recs) < 80 {
		t.Fatalf("%d records: hardly a field was varied", len(recs))
	}
	sayTheSame(t, digested(t, recs...))
}

// sayTheSame compares what is read of digests with what is read of their frames.
func sayTheSame(t *testing.T, frames framesOf) {
	t.Helper()
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
	var made digester
	for line := range bytes.Lines(lines) {
		made.line(line)
	}
	made.request(&Record{Seq: 3})
	var r DigestReader
	if err := r.Read(made.read(t), func(Line) error { return nil }); err != nil {
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
				new(digester).request(rec)
			}
			return nil
		})
	})
}

// read is what a reader is given of a digest.
func (d *digester) read(t testing.TB) FrameSummary {
	t.Helper()
	out, _, err := SplitDigest(d.before(nil))
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// The figures are for one request among others of its kind.
func BenchmarkDigest(b *testing.B) {
	const n = 100
	for name, events := range map[string]int{"512 events": benchEvents, "not streamed": 1} {
		var recs []*Record
		for i := range n {
			rec := stream(events)
			rec.Labels = nil // which few have
			rec.Seq, rec.Slot, rec.Prompt = int64(i), i*7%64, uint64(i)*0x9e3779b97f4a7c15
			for _, at := range []*time.Duration{&rec.Due, &rec.Ready, &rec.Sent, &rec.Written, &rec.End} {
				*at += time.Duration(i) * 15 * time.Microsecond
			}
			recs = append(recs, rec)
		}
		b.Run(name, func(b *testing.B) {
			var d digester
			b.Run("write", func(b *testing.B) {
				for i := 0; b.Loop(); i++ {
					if i%n == 0 {
						d = digester{buf: d.buf[:0]}
					}
					d.request(recs[i%n])
				}
			})
			d = digester{}
			for _, rec := range recs {
				d.request(rec)
			}
			made := d.read(b)
			b.Run("read", func(b *testing.B) {
				var r DigestReader
				for b.Loop() {
					if err := r.Read(made, func(Line) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/request")
				b.ReportMetric(float64(len(made.entries))/n, "bytes/request")
			})
		})
	}
}
