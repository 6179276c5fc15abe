package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// plainFile is a record file as plain lines: its header, requests 0 to n-1, and a stage.
func plainFile(t *testing.T, n int) []byte {
	t.Helper()
	closed, _ := writeFile(t, n)
	r, err := NewReader(bytes.NewReader(closed))
	if err != nil {
		t.Fatal(err)
	}
	var lines []byte
	for {
		text, err := r.line()
		if err != nil {
			return lines
		}
		lines = append(append(lines, text...), '\n')
	}
}

// begunLine is a line on a request that is under way.
func begunLine(t *testing.T, seq int64) string {
	t.Helper()
	text := strings.Replace(string(AppendJSON(nil, &under(seq).Record, false)), `"kind":"request"`, `"kind":"begun"`, 1)
	if !json.Valid([]byte(text)) || !strings.Contains(text, "begun") {
		t.Fatalf("no line of a request under way: %s", text)
	}
	return text
}

// What readers get of files that are damaged in every way is the same for all of them,
// because there is one way to read a file.
func TestWalk(t *testing.T) {
	closed, killed := writeFile(t, 5)
	plain := plainFile(t, 5)
	first := bytes.IndexByte(plain, '\n') + 1
	second := first + bytes.IndexByte(plain[first:], '\n') + 1
	corrupt := bytes.Clone(closed)
	for i := len(corrupt) / 3; i < len(corrupt)/3+8; i++ {
		corrupt[i] ^= 0xff
	}
	const ending = `{"kind":"end"}` + "\n"
	all := []int64{0, 1, 2, 3, 4}
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		data  string
		seqs  []int64 // of the requests that come
		cut   []int64 // those of them that were under way
		whole bool
		fault string // in the error; empty: there is none
	}{
		{name: "a run that came to its end", data: string(closed), seqs: all, whole: true},
		{name: "the same as plain lines", data: string(plain), seqs: all, whole: true},
		{name: "a killed run", data: string(killed), seqs: all},
		{name: "cut within the closing frame", data: string(closed[:len(closed)-1]), seqs: all},
		{name: "a last line that is cut", data: string(plain[:second+20]), seqs: []int64{0}},
		{name: "a last line without its newline", data: string(plain[:second-1])},
		{name: "a cut behind a line", data: string(plain[:second]), seqs: []int64{0}},
		{name: "requests under way in a killed run", data: string(plain[:second]) + begunLine(t, 7) + begunLine(t, 9) + `{"kind":"underw`, seqs: []int64{0, 7, 9}, cut: []int64{7, 9}},
		{name: "requests whose end was not kept", data: string(plain[:second]) + begunLine(t, 7) + ending, seqs: []int64{0, 7}, cut: []int64{7}, whole: true},
		{name: "a header alone", data: string(plain[:first])},
		{name: "a header and the end", data: string(plain[:first]) + ending, whole: true},
		{name: "nothing", data: "", fault: "ends in the middle"},
		{name: "a cut header", data: string(plain[:first-2]), fault: "ends in the middle"},
		{name: "a cut header, compressed", data: string(closed[:20]), fault: "ends in the middle"},
		{name: "no header", data: string(plain[first:]), fault: "no header"},
		{name: "another format", data: "<html>\n</html>\n", fault: "line 1"},
		{name: "another version", data: `{"kind":"header","schema":"inferometer.records/99"}` + "\n", fault: "inferometer.records/99"},
		{name: "nonsense between lines", data: string(plain[:second]) + "nonsense\n" + string(plain[second:]), seqs: []int64{0}, fault: "line 3"},
		{name: "a blank line", data: string(plain[:second]) + "\n", seqs: []int64{0}, fault: "line 3"},
		{name: "a file that a full disk has left zeros in", data: string(plain) + strings.Repeat("\x00", 100) + "\n", seqs: all, fault: "line"},
		{name: "bits that have changed", data: string(corrupt), fault: "record file"},
		{name: "a line beyond the limit", data: string(plain[:second]) + strings.Repeat("x", 1<<16), seqs: []int64{0}, fault: "limits.record"},
	} {
		path := filepath.Join(dir, "file")
		if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
			t.Fatal(err)
		}
		var seqs, cut []int64
		headers := 0
		whole, err := File{Path: path, Most: 1 << 15}.Walk(func(l Line) error {
			switch {
			case l.Header != nil:
				headers++
			case l.Request != nil:
				seqs = append(seqs, l.Request.Seq)
				if l.Request.Failure != nil && l.Request.Failure.Class == CutOff {
					cut = append(cut, l.Request.Seq)
				}
			}
			return nil
		})
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault) || !strings.Contains(err.Error(), path)) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.fault)
		}
		if whole != c.whole || !slices.Equal(seqs, c.seqs) || !slices.Equal(cut, c.cut) || headers != 1 && err == nil {
			t.Errorf("%s: whole %v, requests %v, cut off %v, %d headers", c.name, whole, seqs, cut, headers)
		}
	}
	if _, err := (File{Path: filepath.Join(dir, "absent")}).Walk(func(Line) error { return nil }); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("absent file: %v", err)
	}
}

// Who walks may end it and may have lines changed.
func TestWalkIsLed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, plainFile(t, 5), 0o644); err != nil {
		t.Fatal(err)
	}
	enough, n := errors.New("enough"), 0
	f := File{Path: path, Edit: func(l *Line) {
		if l.Request != nil {
			l.Request.Phase = Warmup
		}
	}}
	err := f.Requests(func(rec *Record) error {
		if n++; rec.Phase != Warmup {
			t.Errorf("request %d was not changed", rec.Seq)
		}
		if n == 3 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 3 {
		t.Errorf("%d requests, then %v", n, err)
	}
}

// Lines besides the requests come without reading those.
func TestBesides(t *testing.T) {
	file := filepath.Join(t.TempDir(), "records")
	lines := bytes.Replace(plainFile(t, 3), []byte(`{"kind":"request",`), []byte(`{"kind":"request",!`), 1) // which cannot be read
	if err := os.WriteFile(file, lines, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := (File{Path: file}).Walk(func(Line) error { return nil }); err == nil {
		t.Fatal("a request that cannot be read was read")
	}
	var got []string
	whole, err := File{Path: file}.NonRequests(func(l Line) error {
		switch {
		case l.Header != nil:
			got = append(got, "header")
		case l.Stage != nil:
			got = append(got, "stage")
		case l.Request != nil:
			got = append(got, "request")
		}
		return nil
	})
	if err != nil || !whole || !slices.Equal(got, []string{"header", "stage"}) {
		t.Errorf("got %v, whole: %v, %v", got, whole, err)
	}
}

// Frames of requests are passed over, and the number of a line at fault is that in the file all the same.
func TestBesidesPassesOverFrames(t *testing.T) {
	var out bytes.Buffer
	w, err := NewWriter(&out, testHeader)
	if err != nil {
		t.Fatal(err)
	}
	e := w.Encoder()
	for seq := range int64(9) {
		rec := full()
		rec.Seq, rec.Stage = seq, 0
		if err := e.Append(AppendJSON(nil, rec, false)); err != nil {
			t.Fatal(err)
		}
	}
	before := out.Len()
	if err := errors.Join(e.Flush(), w.Stage(StageSummary{Stage: 1}), w.Flush()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "records")
	damaged := bytes.Clone(out.Bytes())
	damaged[before+len(requestsMark)+200] ^= 0xff
	stages := func(data []byte, b *Bounds) (n int, err error) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, err = File{Path: file, Bounds: b}.NonRequests(func(l Line) error {
			if l.Stage != nil {
				n++
			}
			return nil
		})
		return n, err
	}
	if n, err := stages(damaged, nil); n != 1 || err != nil {
		t.Errorf("%d stages behind a frame of requests that is not to be read, %v", n, err)
	}
	if _, err := stages(out.Bytes(), &Bounds{Stages: 1}); err == nil || !strings.Contains(err.Error(), "line 11: stage 1") {
		t.Errorf("a stage that is not there, in line 11: %v", err)
	}
}
