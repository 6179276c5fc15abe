package record

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// under is a request as the engine begins it.
func under(seq int64) *Exchange {
	return &Exchange{Record: Record{
		Seq: seq, Stage: 1, Phase: Warmup, Slot: int(seq), Prompt: 77, Session: "s", Turn: 2, RequestedTokens: 9,
		Due: 100, Ready: 200, Held: 3, Sent: Never, Written: Never, In: Tokens{N: 5, Source: FromTokenizer, Local: 5}, Cached: -1,
	}}
}

// cutRequests reads the requests of a file.
func cutRequests(t *testing.T, data []byte) (list []Record, end error) {
	t.Helper()
	r, err := NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for {
		line, err := r.Next()
		if err != nil {
			return list, err
		}
		if line.Request != nil {
			list = append(list, *line.Request)
		}
	}
}

// write writes what is new of the requests under way.
func (fs *Flights) write(w *Writer, at time.Duration) error {
	lines, err := fs.Append(nil, at)
	return errors.Join(err, w.Append(lines))
}

// What was under way when a run was killed is in its file: who, since when, how far.
func TestFlights(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	var fs Flights
	write := func(at time.Duration) {
		t.Helper()
		if err := errors.Join(fs.write(w, at), w.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	write(500) // nothing is under way
	ended, streams, waits, connects := under(0), under(1), under(2), under(3)
	for _, rec := range []*Exchange{streams, waits, connects, ended} {
		fs.Begin(rec)
	}
	streams.Flight.To(4)
	streams.Flight.SetSent(300)
	streams.Flight.SetSent(900) // again: the first time stands
	streams.Flight.Read(1, 10, 400)
	waits.Flight.SetSent(310)
	write(1000)
	streams.Flight.Read(2, 30, 1100)
	streams.Flight.Read(3, 45, 1200)
	fs.End(ended.Flight)
	ended.Sent, ended.End = 320, 1300
	if err := w.Append(AppendJSON(nil, &ended.Record, false)); err != nil {
		t.Fatal(err)
	}
	quick := under(4) // ends between two writes
	fs.Begin(quick)
	fs.End(quick.Flight)
	write(2000)
	killed := bytes.Clone(out.Bytes())
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}

	got, end := cutRequests(t, killed)
	if !errors.Is(end, ErrTruncated) || len(got) != 4 {
		t.Fatalf("%d requests, then %v; want 4 and %v", len(got), end, ErrTruncated)
	}
	if got[0].Seq != 0 || got[0].Failure != nil {
		t.Errorf("the one that ended: %+v", got[0])
	}
	for i, want := range []struct {
		seq    int64
		target int
		sent   time.Duration
		text   string
	}{
		{1, 4, 300, "still under way where the records end, with 45 bytes in 3 reads"},
		{2, 0, 310, "still under way where the records end"},
		{3, 0, Never, "still under way where the records end"},
	} {
		rec := got[i+1]
		if rec.Seq != want.seq || rec.Target != want.target || rec.Sent != want.sent || rec.End != 2000 || rec.Failure == nil ||
			rec.Failure.Class != CutOff || rec.Failure.Message != want.text || len(rec.Marks) > 0 {
			t.Errorf("request %d: %+v, failure %+v; want %+v", i+1, rec, rec.Failure, want)
			continue
		}
		if rec.Stage != 1 || rec.Phase != Warmup || rec.Prompt != 77 || rec.Session != "s" || rec.Turn != 2 || rec.Due != 100 || rec.Ready != 200 || rec.Held != 3 || rec.In.N != 5 || rec.RequestedTokens != 9 {
			t.Errorf("request %d is not who it was: %+v", want.seq, rec)
		}
	}
	got, end = cutRequests(t, out.Bytes())
	if !errors.Is(end, io.EOF) || len(got) != 4 || !strings.HasPrefix(got[1].Failure.Message, "no record of its end was kept") {
		t.Errorf("a file that was ended without them: %d requests, then %v", len(got), end)
	}
}

// A killed file is read wherever it is cut, and no request is in it twice.
func TestFlightsCutAnywhere(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	var fs Flights
	var open []*Exchange
	for i := range 24 {
		rec := under(int64(i))
		fs.Begin(rec)
		rec.Flight.SetSent(time.Duration(i))
		rec.Flight.Read(1, 1, time.Duration(i))
		if open = append(open, rec); i%3 == 2 {
			first := open[0]
			open = open[1:]
			fs.End(first.Flight)
			first.End = 5
			err = w.Append(AppendJSON(nil, &first.Record, false))
		}
		if err := errors.Join(err, fs.write(w, time.Duration(i)), w.Flush()); err != nil {
			t.Fatal(err)
		}
	}
	for n := 4; n < out.Len(); n += 3 {
		got, end := cutRequests(t, out.Bytes()[:n])
		seen := map[int64]bool{}
		for _, rec := range got {
			if seen[rec.Seq] {
				t.Fatalf("cut at %d of %d: request %d is there twice", n, out.Len(), rec.Seq)
			}
			seen[rec.Seq] = true
		}
		if !errors.Is(end, ErrTruncated) {
			t.Fatalf("cut at %d of %d: %v", n, out.Len(), end)
		}
	}
	if got, _ := cutRequests(t, out.Bytes()); len(got) != 24 {
		t.Errorf("%d requests of 24", len(got))
	}
}

// Requests begin and end from many goroutines while they are written.
func TestFlightsAtOnce(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	var fs Flights
	var writing sync.Mutex
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 100 {
				rec := under(int64(g*1000 + i))
				fs.Begin(rec)
				rec.Flight.SetSent(1)
				rec.Flight.Read(1, 5, 2)
				rec.Flight.Read(2, 9, 3)
				writing.Lock()
				fs.End(rec.Flight)
				rec.End = 3
				err := errors.Join(w.Append(AppendJSON(nil, &rec.Record, false)), fs.write(w, 4))
				writing.Unlock()
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, end := cutRequests(t, out.Bytes())
	if !errors.Is(end, io.EOF) || len(got) != 800 {
		t.Errorf("%d requests, then %v; want 800 and the end", len(got), end)
	}
	for _, rec := range got {
		if rec.Failure != nil {
			t.Fatalf("request %d: %+v", rec.Seq, rec.Failure)
		}
	}
}

// Lines that make no sense are refused.
func TestUnderwayRefused(t *testing.T) {
	for line, want := range map[string]string{
		`{"kind":"underway","at":5,"seq":[1],"reads":[1]}`:                                                "not the same number",
		`{"kind":"underway","at":5,"seq":[1],"sent":[1],"reads":[-1],"bytes":[0],"first":[0],"last":[0]}`: "negative",
		`{"kind":"underway","at":"x"}`:                                                                    "line 1",
		`{"kind":"begun","seq":"x"}`:                                                                      "line 1",
	} {
		if _, err := readAll([]byte(line + "\n")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", line, err, want)
		}
	}
}
