package collect

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/endpoint/openai"
	"github.com/inferometer/inferometer/internal/metric"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/stat"
	"github.com/inferometer/inferometer/internal/token"
)

func decoder(t *testing.T) endpoint.Decoder {
	t.Helper()
	tok, err := token.ByName("words")
	if err != nil {
		t.Fatal(err)
	}
	return openai.Protocol().Decoder(plan.Target{Endpoint: plan.EndpointChat}, tok, false)
}

// noon is a clock that stands still.
func noon() time.Duration { return 12 * time.Hour }

// put hands over the i-th of a run's records: streams of a few events, every seventh
// refused, every eleventh cut off.
func put(c *Collector, i int) {
	rec := c.Blank(0)
	at := time.Duration(i) * time.Millisecond
	rec.Seq, rec.Slot, rec.Prompt, rec.Streamed = int64(i), i, uint64(i%40), true
	rec.Due, rec.Ready, rec.Sent, rec.Written = at, at+10, at+20, at+30
	rec.In = record.Tokens{N: 5, Source: record.FromTokenizer, Local: 5}
	c.Begin(rec)
	rec.Status, rec.ContentType = 200, "text/event-stream"
	rec.Conn = record.Conn{Reused: i%3 > 0}
	for k := range 3 + i%5 {
		finish := "null"
		if k == 2+i%5 {
			finish = `"stop"`
		}
		rec.Body = fmt.Appendf(rec.Body, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"w%d \"},\"finish_reason\":%s}]}\n\n", k, finish)
		arrived := rec.Sent + time.Duration(k+1)*time.Millisecond
		rec.Marks = append(rec.Marks, record.Read{Off: len(rec.Body), Kernel: arrived - 5, User: arrived})
		rec.End = arrived - 5
	}
	switch {
	case i%7 == 0:
		rec.Status, rec.ContentType, rec.RetryAfter = 503, "application/json", "2"
		rec.Body = fmt.Appendf(rec.Body[:0], `{"error":{"message":"busy %d"}}`, i)
		rec.Marks = rec.Marks[:1]
		rec.Marks[0].Off = len(rec.Body)
		rec.Failure = &record.Failure{Class: record.HTTPStatus, Status: 503, At: rec.End}
	case i%11 == 0:
		rec.Failure = &record.Failure{Class: record.CutOff, Status: 200, At: rec.End, Message: "still under way"}
	}
	c.Put(rec)
}

// collected is all that came of a run.
type collected struct {
	lines    []string // sorted
	stages   []metric.StageStats
	failures map[record.FailureKind]int64
	judged   map[record.Class]int64
}

func collectAll(t *testing.T, workers, n int, budget int64) collected {
	t.Helper()
	var file bytes.Buffer
	w, err := record.NewWriter(&file, record.Header{})
	if err != nil {
		t.Fatal(err)
	}
	pool := stat.NewPool(t.TempDir(), 1<<20)
	defer pool.Close()
	var folds []*metric.Aggregator
	var folders []Consumer
	for range workers {
		f, err := metric.NewFold(metric.Options{Closed: []bool{true}, Pool: pool, SLOs: []plan.SLO{{Metric: "time_to_first_token", Max: plan.Duration(time.Second)}}})
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		folds, folders = append(folds, f), append(folders, f)
	}
	out := collected{judged: map[record.Class]int64{}}
	var mu sync.Mutex
	c := New(Config{Decoder: decoder(t), Writer: w, Now: noon, KeepRaw: true, Folds: folders, Budget: budget, Judge: func(class record.Class) {
		mu.Lock()
		defer mu.Unlock()
		out.judged[class]++
	}})
	for i := range n {
		put(c, i)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left := c.Waiting(); left != 0 {
		t.Errorf("%d bytes are said to wait after the end", left)
	}
	out.failures = c.Failures()
	for _, f := range folds[1:] {
		if err := folds[0].Merge(f); err != nil {
			t.Fatal(err)
		}
	}
	if out.stages, err = folds[0].Summarize(stat.Linear); err != nil {
		t.Fatal(err)
	}
	out.lines = requests(t, &file)
	return out
}

// requests reads the requests of a record file back, as lines.
func requests(t *testing.T, file io.Reader) []string {
	t.Helper()
	r, err := record.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, record.ErrTruncated) {
			slices.Sort(lines)
			return lines
		}
		if err != nil {
			t.Fatal(err)
		}
		if line.Request != nil {
			lines = append(lines, string(record.AppendJSON(nil, line.Request, true)))
		}
	}
}

// However many decode, and whoever brings a record decodes it or lets it wait, the outcome is the
// same and nothing is lost.
func TestBudgetLosesNothing(t *testing.T) {
	const n = 500
	want := collectAll(t, 1, n, 0)
	if len(want.lines) != n || want.judged[""]+want.judged[record.HTTPStatus]+want.judged[record.CutOff] != n {
		t.Fatalf("%d records, judged %v", len(want.lines), want.judged)
	}
	if want.failures[record.FailureKind{Class: record.HTTPStatus, Status: 503}] == 0 || want.failures[record.FailureKind{Class: record.CutOff}] == 0 || want.judged[""] == 0 {
		t.Fatalf("not all kinds are there: %v", want.judged)
	}
	if !strings.Contains(strings.Join(want.lines, ""), `"message":"busy 7"`) {
		t.Error("the server's words are not in the records: were they decoded?")
	}
	for _, tt := range []struct {
		name    string
		workers int
		budget  int64
	}{
		{"none may wait", 1, 1},
		{"some may wait", 1, 2000},
		{"three workers", 3, 0},
		{"three workers, some may wait", 3, 2000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := collectAll(t, tt.workers, n, tt.budget)
			if diff := cmp.Diff(want.lines, got.lines); diff != "" {
				t.Errorf("records (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.failures, got.failures); diff != "" {
				t.Errorf("failures (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(want.judged, got.judged); diff != "" {
				t.Errorf("judged (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(describe(want.stages), describe(got.stages)); diff != "" {
				t.Errorf("metrics (-want +got):\n%s", diff)
			}
		})
	}
}

// gate is a decoder that holds some records up.
type gate struct {
	holds func(rec *record.Exchange) bool
	open  chan struct{}
}

func (g gate) Decode(rec *record.Exchange) {
	if g.holds(rec) {
		<-g.open
	}
}

// While the worker is held up, its records wait as far as there is room. Those beyond are taken into
// account by who brings them, and when the worker goes on, so are the others.
func TestWhoeverFindsNoRoomDecodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const n, size, room = 40, 100, 5
		g, counted := gate{func(rec *record.Exchange) bool { return rec.Seq <= room }, make(chan struct{})}, 0
		c := New(Config{Decoder: endpoint.Decoder{Decode: g.Decode}, Folds: []Consumer{counter{&counted}}, Budget: room * size})
		for i := range n {
			rec := c.Blank(0)
			rec.Seq, rec.Body = int64(i+1), make([]byte, size)
			c.Put(rec)
		}
		synctest.Wait()
		if counted != n-room {
			t.Errorf("%d records are counted while the worker is held up, want the %d beyond its room for %d", counted, n-room, room)
		}
		if got := c.Waiting(); got != room*size {
			t.Errorf("%d bytes are said to wait, want %d", got, room*size)
		}
		close(g.open)
		c.Sync(t.Context())
		if left := c.Waiting(); counted != n || left != 0 {
			t.Errorf("settled: %d of %d records are counted, %d bytes wait", counted, n, left)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
}

// describe writes a summary down; it holds functions, which cannot be compared.
func describe(stages []metric.StageStats) []string {
	var out []string
	for _, s := range stages {
		out = append(out, fmt.Sprintf("%d %d %+v %+v %+v", s.Seen, s.Warmup, s.Whole.Totals, s.Counts, s.Objectives))
		for _, f := range s.Failures {
			out = append(out, fmt.Sprintf("%s %d %d %s", f.Class, f.Status, f.Count, f.Example))
		}
		var ids []string
		for id, st := range s.Whole.Stats {
			ids = append(ids, fmt.Sprintf("%s %d %v %v %v %v %v", id, st.N, st.Avg, st.Min, st.Max, st.Std, st.Quantiles))
		}
		slices.Sort(ids)
		out = append(out, ids...)
	}
	return out
}

type nothing struct{}

func (nothing) Add(*record.Record) {}

// What was decoded before a Flush can be read from the file after it, with nothing
// more ever written.
func TestFlushMakesRecordsReadable(t *testing.T) {
	var file bytes.Buffer
	w, err := record.NewWriter(&file, record.Header{})
	if err != nil {
		t.Fatal(err)
	}
	const n = 50
	var judged sync.WaitGroup
	judged.Add(n)
	c := New(Config{Decoder: decoder(t), Writer: w, Now: noon, Folds: []Consumer{nothing{}, nothing{}},
		Judge: func(record.Class) { judged.Done() }})
	for i := range n {
		put(c, i)
	}
	judged.Wait()
	if err := c.Flush(); err != nil {
		t.Fatal(err)
	}
	if got := len(requests(t, bytes.NewReader(file.Bytes()))); got != n {
		t.Errorf("%d records can be read after a flush, want %d", got, n)
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

// full is a disk that has room for so many bytes.
type full struct{ room int }

var errFull = errors.New("no space left on device")

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestFullDiskIsReportedAtTheEnd(t *testing.T) {
	w, err := record.NewWriter(&full{room: 1000}, record.Header{})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	c := New(Config{Decoder: decoder(t), Writer: w, Now: noon, KeepRaw: true, Folds: []Consumer{counter{&count}}})
	const n = 3000
	for i := range n {
		put(c, i)
	}
	if err := c.Close(); !errors.Is(err, errFull) {
		t.Errorf("closing says %v, want %v", err, errFull)
	}
	if count != n {
		t.Errorf("%d of %d records were counted: those that could not be written must be too", count, n)
	}
}

type counter struct{ n *int }

func (c counter) Add(*record.Record) { *c.n++ }

func TestBlankRecordsAreBlank(t *testing.T) {
	c := New(Config{Decoder: decoder(t), Folds: []Consumer{nothing{}}})
	defer c.Close()
	for i := range 100 {
		rec := c.Blank(0)
		blank := record.Exchange{Record: record.Record{Cached: -1}}
		if diff := cmp.Diff(blank, *rec, cmp.Transformer("nil", func(b []byte) string { return string(b) }),
			cmp.Transformer("marks", func(m []record.Read) int { return len(m) }),
			cmp.Transformer("events", func(e []record.Event) int { return len(e) }), cmpopts.IgnoreUnexported(record.Exchange{})); diff != "" {
			t.Fatalf("record %d (-blank +got):\n%s", i, diff)
		}
		c.workers[0].recycle(rec)
		put(c, i)
	}
}

// A slot is given the records of slots on its core again, but for large ones, which are not kept for it.
func TestBlanksStayWithTheirSlots(t *testing.T) {
	c := New(Config{Decoder: decoder(t), Folds: []Consumer{nothing{}, nothing{}}})
	defer c.Close()
	first, large := c.Blank(1), c.Blank(1)
	first.Slot, large.Slot, large.Body = 1, 1, make([]byte, smallBody+1)
	c.Put(first)
	c.Sync(t.Context())
	c.Put(large)
	c.Sync(t.Context())
	if n := len(c.workers[0].blanks.list); n != 0 {
		t.Errorf("the other worker has %d blank records", n)
	}
	if got := c.Blank(3); got != first {
		t.Error("the slot is given another record than the one that was put")
	}
	for range mostBlanks + 1 {
		c.workers[0].recycle(new(record.Exchange))
	}
	if n := len(c.workers[0].blanks.list); n != mostBlanks {
		t.Errorf("%d records are kept, want %d", n, mostBlanks)
	}
}
