package grpc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
	"github.com/inferometer/inferometer/internal/wire/http1"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// cutUp hands bytes to a splitter in pieces and gives its messages.
func cutUp(in []byte, piece int, encoding string) (all []string, err error) {
	s := splitter{most: 1 << 16, encoding: encoding}
	for len(in) > 0 {
		p := in[:min(piece, len(in))]
		in = in[len(p):]
		for len(p) > 0 {
			var m []byte
			if m, p, err = s.next(p); err != nil {
				return all, err
			}
			if m != nil {
				all = append(all, string(m))
			}
		}
	}
	return all, nil
}

// FuzzSplitter: any bytes, cut anywhere, give the same messages.
func FuzzSplitter(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x00\x02ab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01c"), uint8(1), "")
	f.Add([]byte("\x01\x00\x00\x00\x02ab"), uint8(3), "gzip")
	f.Add([]byte("\x00\x7f\xff\xff\xff"), uint8(5), "")
	f.Add([]byte("\x02\x00\x00\x00\x00"), uint8(4), "")
	for _, encoding := range []string{"gzip", "deflate"} {
		c := &Client{options: Options{MaxMessage: largest, Compression: encoding}}
		m, err := c.Prepare([]byte("some text, some text, some text"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(m.wire, m.wire...), uint8(7), encoding)
	}
	mutate.Fuzz(f, func(t *testing.T, in []byte, piece uint8, encoding string) {
		whole, wholeErr := cutUp(in, max(len(in), 1), encoding)
		cut, cutErr := cutUp(in, max(int(piece), 1), encoding)
		if d := cmp.Diff(whole, cut); d != "" || (wholeErr == nil) != (cutErr == nil) {
			t.Fatalf("whole %v, cut %v:\n%s", wholeErr, cutErr, d)
		}
		for _, m := range whole {
			if len(m) < prefix || m[0] != 0 || len(m)-prefix > 1<<16 {
				t.Errorf("a message of %q", m)
			}
		}
	})
}

func TestCompressionThere(t *testing.T) {
	text := bytes.Repeat([]byte("text "), 1000)
	for _, encoding := range []string{"", "gzip", "deflate"} {
		c := &Client{options: Options{MaxMessage: largest, Compression: encoding}}
		for range 3 { // the second time with what is kept from the first
			m, err := c.Prepare(text)
			if err != nil {
				t.Fatal(err)
			}
			if encoding != "" && len(m.wire) > 1000 {
				t.Errorf("%s: %d bytes", encoding, len(m.wire))
			}
			if all, err := cutUp(m.wire, 100, encoding); err != nil || len(all) != 1 || all[0][prefix:] != string(text) {
				t.Errorf("%s: %q, %v", encoding, all, err)
			}
		}
	}
}

// What is small on the wire and large when expanded keeps to the limit.
func TestBomb(t *testing.T) {
	c := &Client{options: Options{MaxMessage: largest, Compression: "gzip"}}
	m, err := c.Prepare(make([]byte, 1<<17))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cutUp(m.wire, 1<<20, "gzip"); err == nil || !strings.Contains(err.Error(), "that is compressed, where 65536 are allowed: raise the limit") {
		t.Errorf("%v", err)
	}
}

func TestUnescape(t *testing.T) {
	for in, want := range map[string]string{
		"":            "",
		"plain":       "plain",
		"100%25":      "100%",
		"%E2%82%AC 5": "€ 5",
		"%":           "%",
		"%4":          "%4",
		"%zz%41":      "%zzA",
		"%ff":         "�",
	} {
		if got := unescape(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// idleFlow is a flow without a network, with one request on it.
func idleFlow(rec *record.Exchange) (*flow, *request) {
	c := NewClient(timedconn.NewClock(), nil, Options{})
	f := &flow{client: c, sort: sortTest, ended: make(chan struct{}), waiting: map[string]*request{}, status: 200, speaks: true}
	f.split.most = 1 << 16
	q := &request{flow: f, rec: rec, id: "a", done: make(chan struct{}, 1), latest: record.Never, sent: true}
	f.add(q)
	return f, q
}

// FuzzFlow: whatever comes on a stream, its request gets whole messages, and marks
// that fit them.
func FuzzFlow(f *testing.F) {
	f.Add(append(framed(">a 1"), framed(".a 2")...), uint8(3))
	f.Add(append(framed("!"), framed(".b 2")...), uint8(100))
	f.Add([]byte("\x01\x00\x00\x00\x02ab"), uint8(1))
	mutate.Fuzz(f, func(t *testing.T, in []byte, piece uint8) {
		rec := &record.Exchange{}
		fl, q := idleFlow(rec)
		var err error
		for at := 1; len(in) > 0 && err == nil; at++ {
			n := min(max(int(piece), 1), len(in))
			err = fl.Data(in[:n], timedconn.Stamp{User: 1 + q.begun, Kernel: record.Never}, at%2 == 0)
			in = in[n:]
		}
		fl.End(nil, err)
		<-q.done
		if (q.err == nil) != q.answered {
			t.Errorf("answered %v, error %v", q.answered, q.err)
		}
		if whole, err := cutUp(rec.Body, 1<<20, ""); err != nil || len(strings.Join(whole, "")) != len(rec.Body) || len(whole) != q.messages {
			t.Errorf("a body of %q, %d messages: %v", rec.Body, q.messages, err)
		}
		for i, m := range rec.Marks {
			if m.Off > len(rec.Body) || i > 0 && m.Off < rec.Marks[i-1].Off {
				t.Errorf("marks %+v", rec.Marks)
			}
		}
	})
}

// Taking in messages costs no memory beyond that of the record.
func TestMessagesDoNotAllocate(t *testing.T) {
	rec := &record.Exchange{Record: record.Record{Body: make([]byte, 0, 1<<20), Marks: make([]record.Read, 0, 1<<12)}}
	f, _ := idleFlow(rec)
	data := append(framed(">a 1"), framed(">a 2")...)
	at := timedconn.Stamp{User: 1, Kernel: record.Never}
	if n := testing.AllocsPerRun(1000, func() {
		at.User++
		_ = f.Data(data[:12], at, false)
		_ = f.Data(data[12:], at, true)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if len(rec.Marks) < 1000 || len(rec.Body) < 18_000 {
		t.Errorf("%d marks, %d bytes", len(rec.Marks), len(rec.Body))
	}
}

// BenchmarkDeal takes in messages, one with each read.
func BenchmarkDeal(b *testing.B) {
	rec := &record.Exchange{}
	f, _ := idleFlow(rec)
	data := framed(">a " + strings.Repeat("x", 200))
	at := timedconn.Stamp{User: 1, Kernel: record.Never}
	for b.Loop() {
		if at.User++; at.User%1024 == 0 {
			rec.Body, rec.Marks = rec.Body[:0], rec.Marks[:0]
		}
		_ = f.Data(data, at, true)
	}
}

// Names of headers are in small letters on the wire, however they were given.
// differs: pa-header-case
func TestNamesOfMetadata(t *testing.T) {
	got := Options{Metadata: []http1.Field{{Name: "X-Api", Value: "Key"}}}.fields("/m")
	if last := got[len(got)-1]; last != (http1.Field{Name: "x-api", Value: "Key"}) {
		t.Errorf("got %+v", last)
	}
}
