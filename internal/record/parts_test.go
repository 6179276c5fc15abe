package record

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gathered is what a file gives of its requests, in the order of their numbers, and why it ended.
func gathered(read func(add func(*Record)) error) string {
	var lines []string
	err := read(func(rec *Record) { lines = append(lines, string(AppendJSON(nil, rec, true))) })
	if err != nil {
		return err.Error() // what came before it is of no use
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// bothWays reports where several goroutines are given something else than one.
func bothWays(t *testing.T, name string, f File) {
	t.Helper()
	want := gathered(func(add func(*Record)) error {
		return f.Requests(func(rec *Record) error { add(rec); return nil })
	})
	for _, n := range []int{4} {
		got := gathered(func(add func(*Record)) error {
			given := make([][]*Record, n)
			err := Spread(f, n, func(i int, requests iter.Seq[*Record]) (struct{}, error) {
				for rec := range requests {
					given[i] = append(given[i], clone(rec))
				}
				return struct{}{}, nil
			}, func(struct{}) error { return nil })
			for _, rec := range slices.Concat(given...) {
				add(rec)
			}
			return err
		})
		if got != want {
			t.Errorf("%s, %d goroutines:\n%.600s\nwant\n%.600s", name, n, got, want)
		}
	}
}

// clone is a copy that stays when the record is used again.
func clone(rec *Record) *Record {
	c := *rec
	c.Marks, c.Events, c.Text, c.Body = slices.Clone(c.Marks), slices.Clone(c.Events), bytes.Clone(c.Text), bytes.Clone(c.Body)
	c.RequestBody, c.Raw, c.Labels = bytes.Clone(c.RequestBody), bytes.Clone(c.Raw), slices.Clone(c.Labels)
	return &c
}

// Files that are damaged in every way give the same requests to several goroutines as to one, and
// end with the same error.
func TestSpread(t *testing.T) {
	closed, killed := writeFile(t, 1500)
	plain := plainFile(t, 1500)
	lines := bytes.SplitAfter(plain, []byte("\n"))
	// at puts lines into a file, before the one of that number.
	at := func(n int, more ...string) string {
		return string(slices.Concat(slices.Concat(lines[:n]...), []byte(strings.Join(more, "")), slices.Concat(lines[n:]...)))
	}
	long := strings.Replace(string(lines[1]), `"seq":`, `"extra":"`+strings.Repeat("x", 1<<20)+`","seq":`, 1)
	underway := `{"kind":"underway","at":99000000000,"seq":[7001],"sent":[5],"reads":[2],"bytes":[30],"first":[6],"last":[8]}` + "\n"
	for name, data := range map[string]string{
		"a run that came to its end":       string(closed),
		"plain lines":                      string(plain),
		"a killed run":                     string(killed),
		"a file that is cut":               string(closed[:len(closed)/2]),
		"requests under way":               at(1000, begunLine(t, 7001), begunLine(t, 2500), begunLine(t, 7002), underway),
		"requests under way in a cut file": at(1000, begunLine(t, 7001), underway)[:len(plain)-900],
		"a request of another order":       at(70, `{"seq":9001,"kind":"request","stage":0,"prompt":"0000000000000000","end":5}`+"\n"),
		"nonsense":                         at(700, "nonsense\n"),
		"a blank line":                     at(1499, "\n"),
		"requests that cannot be read":     at(1400, `{"kind":"request","seq":1,!}`+"\n") + at(40, `{"kind":"request","seq":1,?}`+"\n"),
		"a request, then a stage":          at(40, `{"kind":"request","seq":1,!}`+"\n", `{"kind":"stage","stage":"x"}`+"\n"),
		"a stage, then a request":          at(40, `{"kind":"stage","stage":"x"}`+"\n", `{"kind":"request","seq":1,!}`+"\n"),
		"a target that the plan has not":   at(1000, strings.Replace(string(lines[9]), `"stage"`, `"target":5,"stage"`, 1)),
		"a line longer than a buffer":      at(600, long),
		"a line beyond the limit":          at(600, long, long, strings.Repeat("y", 3<<20)),
		"no header":                        string(slices.Concat(lines[1:]...)),
		"a header alone":                   string(lines[0]),
		"another version":                  `{"kind":"header","schema":"other/1"}` + "\n" + string(slices.Concat(lines[1:]...)),
		"nothing":                          "",
		"half a header":                    string(lines[0][:20]),
		"a header in the middle":           at(5, string(lines[0])),
		"a last line without its newline":  string(plain[:len(plain)-1]),
		"carriage returns":                 strings.ReplaceAll(string(plain), "\n", "\r\n"),
	} {
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		f := File{Path: path, Most: 2 << 20, Bounds: &Bounds{Stages: 1000, Targets: 2}}
		bothWays(t, name, f)
		f.Also = []string{path, path}
		f.Edit = func(l *Line) {
			if l.Request != nil {
				l.Request.Phase = Warmup
			}
		}
		bothWays(t, name+", of several workers, edited", f)
	}
	bothWays(t, "absent", File{Path: filepath.Join(t.TempDir(), "absent")})
}

// A machine damages files: bytes change, lines are doubled, moved and left out.
func TestSpreadOfDamagedFiles(t *testing.T) {
	plain := plainFile(t, 1200)
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		lines := bytes.SplitAfter(plain, []byte("\n"))
		for range rnd.IntN(4) {
			i, k := 1+rnd.IntN(len(lines)-1), 1+rnd.IntN(len(lines)-1)
			switch rnd.IntN(4) {
			case 0:
				lines[i], lines[k] = lines[k], lines[i]
			case 1:
				lines = slices.Delete(lines, i, i+1)
			case 2:
				lines = slices.Insert(lines, i, []byte(begunLine(t, int64(k))))
			case 3:
				if len(lines[i]) > 0 {
					lines[i] = bytes.Clone(lines[i])
					lines[i][rnd.IntN(len(lines[i]))] ^= 1 << rnd.IntN(7)
				}
			}
		}
		path := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(path, slices.Concat(lines...), 0o600); err != nil {
			t.Fatal(err)
		}
		bothWays(t, fmt.Sprintf("seed %d", seed), File{Path: path, Bounds: &Bounds{Stages: 1000, Targets: 2}})
		if t.Failed() {
			return
		}
	}
}

// Parts come in the order of the file, and an error ends them.
func TestInParts(t *testing.T) {
	_, killed := writeFile(t, 9000)
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, killed, 0o600); err != nil {
		t.Fatal(err)
	}
	f := File{Path: path}
	var want, got []int64
	if err := f.Requests(func(rec *Record) error { want = append(want, rec.Seq); return nil }); err != nil {
		t.Fatal(err)
	}
	seqs := func(requests iter.Seq[*Record]) (list []int64, _ error) {
		for rec := range requests {
			list = append(list, rec.Seq)
		}
		return list, nil
	}
	parts := 0
	if err := InParts(f, 100_000, seqs, func(list []int64) error { parts++; got = append(got, list...); return nil }); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, want) || parts < 5 {
		t.Errorf("%d requests in %d parts, want %d, in their order", len(got), parts, len(want))
	}
	enough := errors.New("enough")
	n := 0
	err := InParts(f, 100_000, seqs, func([]int64) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	})
	if !errors.Is(err, enough) || n != 2 {
		t.Errorf("%d parts, then %v", n, err)
	}
	err = InParts(f, 100_000, func(requests iter.Seq[*Record]) (int, error) {
		for rec := range requests {
			if rec.Seq == want[4000] {
				return 0, enough
			}
		}
		return 0, nil
	}, func(int) error { return nil })
	if !errors.Is(err, enough) {
		t.Errorf("a part that cannot be made: %v", err)
	}
	defer func() {
		if v := recover(); v == nil || !strings.HasPrefix(v.(string), "a mistake") || !strings.Contains(v.(string), "parts_test.go") {
			t.Errorf("recovered from %v", v)
		}
	}()
	t.Errorf("a panic: %v", Spread(f, 2, func(i int, requests iter.Seq[*Record]) (struct{}, error) {
		if i == 1 {
			panic("a mistake")
		}
		return readNothing(i, requests)
	}, func(struct{}) error { return nil }))
}

// readNothing goes through requests.
func readNothing(_ int, requests iter.Seq[*Record]) (struct{}, error) {
	for range requests {
		continue
	}
	return struct{}{}, nil
}
