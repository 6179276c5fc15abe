package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result/build"
)

var update = flag.Bool("update", false, "write golden files and the generated parts of docs/export.md")

const ms = time.Millisecond

// request is one of five tokens in four events, 10 ms apart.
func request(seq int64, change func(*record.Record)) *record.Record {
	rec := &record.Record{
		Seq: seq, Prompt: 0xab, Due: 1000 * ms, Ready: 1001 * ms, Sent: 1002 * ms, Written: 1003 * ms, End: 1062 * ms,
		Status: 200, Streamed: true, Finish: "stop", Size: 300, RequestedTokens: 5, Cached: -1,
		In: record.Tokens{N: 7, Source: record.FromServer, Local: -1}, Out: record.Tokens{N: 5, Source: record.FromServer, Local: -1},
	}
	for i, tokens := range []int{1, 1, 1, 2} {
		at := time.Duration(1022+10*i) * ms
		rec.Marks = append(rec.Marks, record.Read{Off: 100 * (i + 1), Kernel: at, User: at + ms})
		rec.Events = append(rec.Events, record.Event{Mark: i, Text: 2, Tokens: tokens})
		rec.Text = append(rec.Text, "ab"...)
	}
	rec.Events = append(rec.Events, record.Event{Mark: 3, Label: record.Done})
	if change != nil {
		change(rec)
	}
	return rec
}

// hostile texts, as servers and users may write them.
const hostile = "=HYPERLINK(\"http://x\",\"y\")\r\n\x00\xff, é"

// saved is a run of every kind of request.
func saved(t *testing.T, requests ...*record.Record) Run {
	t.Helper()
	name := filepath.Join(t.TempDir(), "requests.jsonl.zst")
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := record.NewWriter(f, record.Header{})
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range requests {
		if err := w.Append(record.AppendJSON(nil, rec, false)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	p := plan.Default()
	p.Name, p.Target.Model, p.Target.URLs = hostile, "@SUM(1)", []string{"http://user:secret@a:1", "http://b:2"}
	p.Goodput = []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(20 * ms)}}
	return Run{Plan: &p, Records: record.File{Path: name}, Facts: &build.Inputs{
		Header: record.Header{Start: time.Unix(1_700_000_000, 0), Workers: []record.WorkerInfo{{Name: "one"}, {Name: "two"}}},
		Stages: []record.StageSummary{{StageTimes: record.StageTimes{WarmupEnd: 1000 * ms, SendEnd: 1100 * ms}}},
	}}
}

func everyKind(t *testing.T) Run {
	return saved(t,
		request(0, func(r *record.Record) { r.Phase = record.Warmup }),
		request(1, func(r *record.Record) { r.Worker, r.Target, r.Session, r.Turn = 2, 1, "s", 3 }),
		request(2, func(r *record.Record) {
			r.Failure = &record.Failure{Class: record.HTTPStatus, Status: 500, Message: hostile}
			r.Status = 500
		}),
		request(3, func(r *record.Record) {
			*r = record.Record{Seq: 3, Due: 1000 * ms, Ready: record.Never, Sent: record.Never, Written: record.Never, End: 1001 * ms, Cached: -1,
				In: record.Tokens{Local: -1}, Out: record.Tokens{Local: -1}, Failure: &record.Failure{Class: record.ConnectFailed, Message: "-1+2"}}
		}),
		request(4, func(r *record.Record) { r.Stage, r.Labels = -1, [][2]string{{"k", "+v"}} }),
		request(5, func(r *record.Record) { r.Phase, r.Stage = record.Closing, 7 }),
	)
}

func write(t *testing.T, f Format, r Run) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := Write(&b, f, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for _, events := range []bool{false, true} {
		for _, f := range []Format{CSV, JSONL} {
			r := everyKind(t)
			r.Events = events
			got := write(t, f, r)
			name := "testdata/requests." + string(f)
			if events {
				name = "testdata/events." + string(f)
			}
			if *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
			if bytes.Contains(got, []byte("secret")) {
				t.Error("a password is in the table")
			}
		}
	}
}

// Every format has the same columns and cells.
func TestFormatsAgree(t *testing.T) {
	for _, events := range []bool{false, true} {
		r := everyKind(t)
		r.Events = events
		columns := requestColumns()
		if events {
			columns = eventColumns()
		}
		rows, err := csv.NewReader(bytes.NewReader(bytes.TrimPrefix(write(t, CSV, r), []byte(byteOrderMark)))).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSuffix(write(t, JSONL, r), []byte("\n")), []byte("\n"))
		table := write(t, Parquet, r)
		file, err := parquet.OpenFile(bytes.NewReader(table), int64(len(table)))
		if err != nil {
			t.Fatal(err)
		}
		values := make([]parquet.Row, len(lines)+1)
		if n, err := file.RowGroups()[0].Rows().ReadRows(values); n != len(lines) || err != nil && !errors.Is(err, io.EOF) {
			t.Fatalf("%d rows of %d, %v", n, len(lines), err)
		}
		for c, f := range file.Schema().Fields() {
			if f.Name() != columns[c].Name || rows[0][c] != columns[c].Name {
				t.Errorf("column %d: %s, %s, want %s", c, f.Name(), rows[0][c], columns[c].Name)
			}
		}
		for i, line := range lines {
			var object map[string]any
			dec := json.NewDecoder(bytes.NewReader(line))
			dec.UseNumber()
			if err := dec.Decode(&object); err != nil {
				t.Fatal(err)
			}
			for c := range columns {
				col := &columns[c]
				want, typed := object[col.Name], values[i][c]
				if (want == nil) != typed.IsNull() || (want == nil) != (rows[i+1][c] == "") {
					t.Errorf("row %d, %s: %v, %v, %q", i, col.Name, want, typed, rows[i+1][c])
				}
				if want != nil && col.Kind != Text && col.Kind != Moment && fmt.Sprint(want) != rows[i+1][c] {
					t.Errorf("row %d, %s: %v, %q", i, col.Name, want, rows[i+1][c])
				}
				if want != nil && col.Kind == Text && want != string(typed.ByteArray()) {
					t.Errorf("row %d, %s: %q, %q", i, col.Name, want, typed.ByteArray())
				}
			}
		}
	}
}

// What a spreadsheet would take for a formula is a text, and every cell is on the line of its row.
func TestFormulas(t *testing.T) {
	for text, want := range map[string]string{
		"plain": "plain", "a=b": "a=b", "": "", "a,b": `"a,b"`, `say "x"`: `"say ""x"""`, "two\nlines": "two lines", " padded": `" padded"`, "a;b": `"a;b"`,
		"=1+1": `"'=1+1"`, "+1": `"'+1"`, "-1": `"'-1"`, "@x": `"'@x"`, "\t=1": `"' =1"`, "\r\n=1": `"'  =1"`, "＝1": `"'＝1"`, "  -1": `"'  -1"`, "\u00a0@x": "\"'\u00a0@x\"",
	} {
		if got := string(appendCSV(nil, text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// Every metric of a request has a column, and names say units.
func TestColumns(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range slices.Concat(requestColumns(), eventColumns()) {
		if strings.ToLower(c.Name) != c.Name || strings.ContainsAny(c.Name, " -.%") || c.Help == "" {
			t.Errorf("column %q, %q", c.Name, c.Help)
		}
	}
	for _, c := range requestColumns() {
		if seen[c.Name] {
			t.Errorf("two columns are called %s", c.Name)
		}
		seen[c.Name] = true
	}
	for _, d := range metric.Defs() {
		if d.Rate == nil && !seen[columnName(&d)] {
			t.Errorf("%s has no column", d.ID)
		}
	}
	for _, name := range []string{"time_to_first_token_ms", "output_tokens", "input_tokens", "status", "error_class", "stage", "target", "worker", "due_s"} {
		if !seen[name] {
			t.Errorf("there is no column %s", name)
		}
	}
}

// brokenPipe takes a little, and no more.
type brokenPipe struct{ left int }

var errGone = errors.New("gone")

func (b *brokenPipe) Write(p []byte) (int, error) {
	if b.left -= len(p); b.left < 0 {
		return 0, errGone
	}
	return len(p), nil
}

func TestErrors(t *testing.T) {
	for _, f := range []Format{Parquet, CSV, JSONL} {
		if _, err := Write(new(brokenPipe), f, everyKind(t)); !errors.Is(err, errGone) {
			t.Errorf("%s: %v", f, err)
		}
		r := everyKind(t)
		r.Records.Path = "nowhere"
		if _, err := Write(io.Discard, f, r); err == nil {
			t.Errorf("%s: no records, no error", f)
		}
		if _, err := Write(io.Discard, f, saved(t)); err != nil { // a run without a request
			t.Errorf("%s: %v", f, err)
		}
	}
}
