package record

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

var testHeader = Header{
	Version: "0.1", Start: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Seed: 1<<63 + 5, Kernel: true, Decoder: "openai",
	Host: Host{OS: "linux", Arch: "amd64", Cores: 2, GoVersion: "go1.26", GOMAXPROCS: 2},
}

// writeFile makes a record file of n requests and returns its bytes, with and
// without its proper end.
func writeFile(t testing.TB, n int) (closed, killed []byte) {
	t.Helper()
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		rec := full()
		rec.Seq = int64(i)
		if err := w.Append(AppendJSON(nil, rec, false)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Health(Health{At: 5, CPU: 3, RSS: 9}), w.Stage(StageSummary{Stage: 1, StageTimes: StageTimes{Begin: 2}, Reason: "duration"}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	killed = bytes.Clone(out.Bytes())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes(), killed
}

type content struct {
	header  *Header
	seqs    []int64
	stages  []StageSummary
	healths []Health
}

func readAll(data []byte) (content, error) {
	var c content
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		return c, err
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if err != nil {
			return c, err
		}
		switch {
		case line.Header != nil:
			c.header = line.Header
		case line.Request != nil:
			c.seqs = append(c.seqs, line.Request.Seq)
		case line.Stage != nil:
			c.stages = append(c.stages, *line.Stage)
		case line.Health != nil:
			c.healths = append(c.healths, *line.Health)
		}
	}
}

func TestFileRoundTrip(t *testing.T) {
	closed, killed := writeFile(t, 500)
	for name, c := range map[string]struct {
		data []byte
		end  error
	}{"closed": {closed, io.EOF}, "killed": {killed, ErrTruncated}} {
		got, err := readAll(c.data)
		if !errors.Is(err, c.end) {
			t.Errorf("%s: ends with %v, want %v", name, err, c.end)
		}
		want := testHeader
		want.Schema = Schema
		if diff := cmp.Diff(&want, got.header); diff != "" {
			t.Errorf("%s: header: %s", name, diff)
		}
		if len(got.seqs) != 500 || len(got.stages) != 1 || len(got.healths) != 1 || got.stages[0].Reason != "duration" || got.healths[0].RSS != 9 {
			t.Errorf("%s: %d requests, stages %v, healths %v", name, len(got.seqs), got.stages, got.healths)
		}
	}
}

// Wherever a file is cut, its lines before the cut are read, in order, and the end is told.
func TestCutAnywhere(t *testing.T) {
	closed, killed := writeFile(t, 20)
	for n := 1; n < len(closed); n++ {
		got, err := readAll(closed[:n])
		if n >= 4 && !errors.Is(err, ErrTruncated) {
			t.Fatalf("cut at %d of %d: %v", n, len(closed), err)
		}
		for i, seq := range got.seqs {
			if seq != int64(i) {
				t.Fatalf("cut at %d: request %d is %d", n, i, seq)
			}
		}
		if n >= len(killed) && len(got.seqs) != 20 {
			t.Fatalf("cut at %d, after the last flush at %d: %d requests", n, len(killed), len(got.seqs))
		}
	}
}

func TestPlainLines(t *testing.T) {
	lines := AppendJSON(AppendJSON(nil, full(), true), full(), true)
	if got, err := readAll(lines); !errors.Is(err, io.EOF) || len(got.seqs) != 2 {
		t.Errorf("whole: %v, %d requests", err, len(got.seqs))
	}
	if got, err := readAll(lines[:len(lines)-5]); !errors.Is(err, ErrTruncated) || len(got.seqs) != 1 {
		t.Errorf("cut: %v, %d requests", err, len(got.seqs))
	}
	if _, err := readAll(nil); !errors.Is(err, io.EOF) {
		t.Errorf("empty: %v", err)
	}
}

func TestReaderErrors(t *testing.T) {
	closed, _ := writeFile(t, 2)
	corrupt := bytes.Clone(closed)
	for i := len(corrupt) / 3; i < len(corrupt)/3+8; i++ { // inside a block, not where one begins
		corrupt[i] ^= 0xff
	}
	good := string(AppendJSON(nil, full(), false))
	for _, c := range []struct{ name, data, want string }{
		{"not JSON", good + "nonsense\n" + good, "line 2"},
		{"no kind", "{}\n", "line 1: unknown kind"},
		{"other kind", `{"kind":"poem"}` + "\n", `"poem"`},
		{"other schema", `{"kind":"header","schema":"inferometer.records/99"}` + "\n", "inferometer.records/99"},
		{"blank line", good + "\n", "line 2"},
		{"corrupt", string(corrupt), "record file"},
	} {
		got, err := readAll([]byte(c.data))
		if err == nil || errors.Is(err, io.EOF) || errors.Is(err, ErrTruncated) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if strings.HasPrefix(c.data, good) && len(got.seqs) != 1 {
			t.Errorf("%s: %d requests before the fault", c.name, len(got.seqs))
		}
	}
}

// One reader, records of all shapes one after another: nothing of one may show in the next.
func TestReaderReusesCleanly(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var want []*Record
	var data []byte
	for range 50 {
		rec := randomRecord(rng)
		want = append(want, rec)
		data = AppendJSON(data, rec, true)
	}
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for i, rec := range want {
		line, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(rec, line.Request, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("record %d: %s", i, diff)
		}
	}
}

// randomRecord sets each part of a record or leaves it at its zero value.
func randomRecord(rng *rand.Rand) *Record {
	rec, all := &Record{}, full()
	take := func() bool { return rng.IntN(2) == 0 }
	if take() {
		rec.Seq, rec.Phase, rec.Conn, rec.Prompt = rng.Int64(), all.Phase, all.Conn, rng.Uint64()
	}
	if take() {
		rec.Marks = all.Marks
		if take() {
			rec.Events, rec.Text = all.Events, all.Text
		}
	}
	if take() {
		rec.ContentType, rec.Finish, rec.Failure = all.ContentType, all.Finish, all.Failure
	}
	if take() {
		rec.In, rec.Out, rec.RetryAfter, rec.Body, rec.RequestBody = all.In, all.Out, all.RetryAfter, all.Body, all.RequestBody
	}
	if take() {
		rec.Due, rec.Sent, rec.End = Never, Never, Never
	}
	return rec
}

func TestWriterFromManyGoroutines(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			var buf []byte
			for i := range 50 {
				buf = AppendJSON(buf[:0], full(), i%2 == 0)
				if err := errors.Join(w.Append(buf), w.Health(Health{}), w.Flush()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := readAll(out.Bytes())
	if !errors.Is(err, io.EOF) || len(got.seqs) != 400 || len(got.healths) != 400 {
		t.Errorf("%d requests, %d health lines, %v", len(got.seqs), len(got.healths), err)
	}
}

type brokenDisk struct{ left int }

func (d *brokenDisk) Write(p []byte) (int, error) {
	if d.left -= len(p); d.left < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestWriterKeepsItsError(t *testing.T) {
	w, err := NewWriter(&brokenDisk{left: 1000}, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.NewChaCha8([32]byte{})
	noise := make([]byte, 1<<20)
	_, _ = rng.Read(noise)
	first := errors.Join(w.Append(noise), w.Flush())
	if first == nil || !strings.Contains(first.Error(), "disk full") {
		t.Fatalf("error %v", first)
	}
	if err := w.Append([]byte("x\n")); err == nil || !strings.Contains(err.Error(), "disk full") {
		t.Errorf("second error %v", err)
	}
	if err := w.Close(); err == nil {
		t.Error("Close hides the error")
	}
	if err := w.Append(nil); err == nil {
		t.Error("Append after Close succeeds")
	}
	if _, err := NewWriter(&brokenDisk{}, testHeader); err == nil {
		t.Error("NewWriter on a full disk succeeds")
	}
}

func FuzzReader(f *testing.F) {
	closed, killed := writeFile(f, 2)
	f.Add(closed)
	f.Add(killed)
	f.Add(AppendJSON(nil, full(), true))
	f.Add([]byte(`{"kind":"request","read_delay":[null],"read_at":[1],"read_bytes":[2],"event_merged":[1],"event_label":"w","event_text":[0],"event_read":[0]}` + "\n"))
	f.Add([]byte(`{"kind":"header","schema":"inferometer.records/1"}` + "\n" + `{"kind":"stage"}` + "\n"))
	mutate.Fuzz(f, func(t *testing.T, data []byte) {
		if len(data) > 64<<10 {
			return
		}
		r, err := NewReader(bytes.NewReader(data))
		if err != nil {
			return
		}
		defer r.Close()
		for range 1000 {
			line, err := r.Next()
			if err != nil {
				return
			}
			if line.Request == nil {
				continue
			}
			for _, e := range line.Request.Events {
				if e.Mark < 0 || e.Mark >= len(line.Request.Marks) {
					t.Fatalf("event points at read %d", e.Mark)
				}
			}
			// What was read can be written, and reads the same again.
			var again Record
			if err := decodeLine(t, AppendJSON(nil, line.Request, true), &again); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(line.Request, &again, cmpopts.EquateEmpty(), validStrings); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// validStrings compares strings as the file keeps them: as UTF-8.
var validStrings = cmp.Transformer("utf8", func(s string) string { return strings.ToValidUTF8(s, "\ufffd") })
