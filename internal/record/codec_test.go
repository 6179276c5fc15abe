package record

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

var update = flag.Bool("update", false, "write the golden files anew")

// full is a record with every field set.
func full() *Record {
	return &Record{
		Seq: 7, Stage: 1, Phase: Warmup, Slot: 3, Worker: 4, Target: 2, Prompt: 0xfedcba9876543210,
		Session: "a \"b\"", Turn: 4, Ends: true, Model: "adapter", Call: "event \"1\"", Labels: [][2]string{{"b\"", "c\n"}, {"tenant", "a"}},
		Due: 1000, Think: 30, Held: 40, Ready: 1100, Sent: 1250, Written: 1300, End: 99_000, Resent: 1, Unterminated: true, Sparse: true,
		Retries: 2, LastTry: 1600,
		Conn: Conn{Reused: true, Resolve: 5, Connect: 6, TLS: 7},
		Size: 9, RequestBody: []byte(`{"q":"ü"}`),
		Marks: []Read{
			{Off: 100, Kernel: 2000, User: 2100},
			{Off: 350, Kernel: Never, User: 50_000, Blur: 7_000, Loose: true},
			{Off: 351, Kernel: 98_000, User: 97_999},
		},
		Status: 200, ContentType: "text/event-stream", RetryAfter: "30", Streamed: true,
		Body: []byte("data: {\"a\":\"ü\"}\n\n"),
		Text: []byte("Hi \"there\"\n\\ \x01é🙂"),
		Events: []Event{
			{Mark: 0, Label: Role, Merged: true},
			{Mark: 0, Label: Content, Text: 10, Tokens: 2},
			{Mark: 1, Label: Reasoning, Text: 5, Tokens: -1, Merged: true},
			{Mark: 1, Label: Content, Text: 5, Tokens: 1},
			{Mark: 2, Label: Done},
		},
		In:              Tokens{N: 12, Source: FromServer, Local: 11, Claimed: 7, Expected: 13},
		Out:             Tokens{N: 4, Source: FromEvents, Local: 5, Claimed: 7, Expected: 6},
		RequestedTokens: 16, Cached: 8, Finish: "length", Cut: 77, Tail: fullTail(),
		Failure: &Failure{Class: HTTPStatus, Status: 503, Message: "over\tload", At: 99_001},
	}
}

func fullTail() *Tail {
	t := &Tail{Events: 5, Others: 2, Tokens: -1, Text: 9, First: 99_100, Last: 99_500, Visible: 99_200, FirstBlur: 10, LastBlur: 20,
		VisibleBlur: 30, Reads: 4}
	for _, v := range []int64{100, -3, 1_000_000, 1_000_001} {
		t.Gap(v, v, v)
	}
	t.Gap(40_000_000_000, 30_000_000_000, 50_000_000_000)
	t.Delays.Add(12)
	return t
}

func TestPhasesAreKept(t *testing.T) {
	for _, p := range []Phase{Measured, Warmup, Closing} {
		var got Record
		if err := decodeLine(t, AppendJSON(nil, &Record{Phase: p}, false), &got); err != nil || got.Phase != p {
			t.Errorf("%v was read as %v, %v", p, got.Phase, err)
		}
	}
}

func decodeLine(t *testing.T, line []byte, rec *Record) error {
	t.Helper()
	r, err := NewReader(bytes.NewReader(line))
	if err != nil {
		t.Fatal(err)
	}
	got, err := r.Next()
	if err == nil {
		*rec = *got.Request
	}
	return err
}

func TestRoundTrip(t *testing.T) {
	odd := full()
	odd.Text = []byte("caf\xc3 \xff") // not UTF-8
	odd.Body = []byte{0, 1, 2, 0xff}
	odd.Events = []Event{{Mark: 1, Label: Echo}, {Mark: 2, Label: Whole, Text: 6, Tokens: 1, Merged: true}} // merged with none after it
	odd.Sent = Never
	empty := Record{Due: Never, Ready: Never, Sent: Never, Written: Never, End: Never}
	for name, rec := range map[string]*Record{"full": full(), "odd": odd, "zero": {}, "never": &empty} {
		var got Record
		line := AppendJSON(nil, rec, true)
		if err := decodeLine(t, line, &got); err != nil {
			t.Fatalf("%s: %v\n%s", name, err, line)
		}
		if diff := cmp.Diff(rec, &got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, line)
		}
		var v map[string]any
		if err := json.Unmarshal(line, &v); err != nil {
			t.Errorf("%s: not JSON: %v", name, err)
		}
	}
}

// Every field of Record and of what it holds has to survive, those added later too.
func TestEveryFieldIsWritten(t *testing.T) {
	rec := full()
	var visit func(v reflect.Value, path string)
	visit = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Pointer:
			visit(v.Elem(), path)
		case reflect.Struct:
			for i := range v.NumField() {
				if name := v.Type().Field(i).Name; !slices.Contains([]string{"Folded", "Raw"}, name) { // which stand for a part of Body
					visit(v.Field(i), path+"."+name)
				}
			}
		default:
			if v.IsZero() {
				t.Errorf("the test's record does not set %s, so nothing shows that it is kept", path)
			}
		}
	}
	visit(reflect.ValueOf(rec), "Record")
}

func TestBodyOnlyWhenAsked(t *testing.T) {
	var got Record
	if err := decodeLine(t, AppendJSON(nil, full(), false), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Body) != 0 || len(got.RequestBody) != 0 {
		t.Errorf("body %q, question %q were kept", got.Body, got.RequestBody)
	}
	want := full()
	want.Body, want.RequestBody, want.Cut = nil, nil, 0
	if diff := cmp.Diff(want, &got, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
}

func TestLineGolden(t *testing.T) {
	plain := &Record{
		Seq: 1, Due: 10, Ready: 10, Sent: 20, Written: 25, End: 10_000_300, Cached: -1,
		Marks:  []Read{{Off: 222, Kernel: 5_000_100, User: 5_000_200}, {Off: 444, Kernel: 10_000_100, User: 10_000_200}},
		Status: 200, ContentType: "text/event-stream", Streamed: true,
		Text: []byte("Hello"),
		Events: []Event{{Mark: 0, Label: Content, Text: 3, Tokens: 1}, {Mark: 1, Label: Content, Text: 2, Tokens: 1, Merged: true},
			{Mark: 1, Label: Done}},
		In: Tokens{N: 3, Source: FromServer, Local: -1}, Out: Tokens{N: 2, Source: FromServer, Local: -1}, Finish: "stop",
	}
	got := AppendJSON(AppendJSON(nil, full(), true), plain, false)
	const path = "testdata/lines.golden"
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}

func TestFaultyLines(t *testing.T) {
	for _, c := range []struct{ fields, want string }{
		{`"read_bytes":[1],"read_at":[1,2]`, "not the same number"},
		{`"read_bytes":[1],"read_at":[1],"event_label":"cc","event_read":[0],"event_text":[0]`, "not the same number"},
		{`"event_label":"c","event_read":[0],"event_text":[0]`, "points at read 0 of 0"},
		{`"read_bytes":[1],"read_at":[1],"event_label":"c","event_read":[1],"event_text":[0]`, "points at read 1 of 1"},
		{`"read_bytes":[1],"read_at":[1],"event_label":"c","event_read":[0],"event_text":[2],"text":"x"`, "more than there are"},
		{`"read_bytes":[1],"read_at":[1],"event_label":"cc","event_read":[0,0],"event_text":[1,9],"text":"xy","tail":{"events":0,"text":8}`, ""},
		{`"read_bytes":[-1],"read_at":[1]`, "has -1 bytes"},
		{`"event_label":"z"`, "letters of event labels"},
		{`"prompt":"xyz"`, "hexadecimal"},
		{`"text_base64":"*"`, "base64"},
		{`"in":{"source":"guess"}`, "source"},
		{`"seq":"one"`, "expected"},
		{`"seq":1`, ""},
		{`"from_the_future":{"a":[1]},"seq":1`, ""},
	} {
		var rec Record
		err := decodeLine(t, []byte(`{"kind":"request",`+c.fields+"}\n"), &rec)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "line 1")) {
			t.Errorf("%s: error %v, want %q", c.fields, err, c.want)
		}
	}
}

// Fields may stand in any order, as after a pass through another program.
func TestFieldOrderDoesNotMatter(t *testing.T) {
	line := AppendJSON(nil, full(), true)
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		t.Fatal(err)
	}
	sorted, err := json.Marshal(fields) // sorts the keys
	if err != nil {
		t.Fatal(err)
	}
	var got Record
	if err := decodeLine(t, append(sorted, '\n'), &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(full(), &got); diff != "" {
		t.Error(diff)
	}
}

func TestAppendJSONDoesNotAllocate(t *testing.T) {
	rec, dst := stream(64), make([]byte, 0, 64<<10)
	if n := testing.AllocsPerRun(100, func() { dst = AppendJSON(dst[:0], rec, true) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// stream is a record as a streamed chat leaves it, one event in each read.
func stream(events int) *Record {
	rec := full()
	rec.Tail = nil // of which there are few
	rec.Failure, rec.Phase = nil, Measured
	rec.Marks, rec.Events, rec.Text, rec.Body, rec.RequestBody = nil, nil, nil, nil, nil
	at := 50 * time.Millisecond
	for i := range events {
		at += 10*time.Millisecond + time.Duration(i*7919%400_000)
		rec.Marks = append(rec.Marks, Read{Off: 222 * (i + 1), Kernel: at, User: at + time.Duration(5000+i*31%3000)})
		rec.Events = append(rec.Events, Event{Mark: i, Label: Content, Text: 5, Tokens: 1})
		rec.Text = append(rec.Text, " word"...)
	}
	return rec
}

// What stands in a line as in the one before it is not read again, and comes to the same.
func TestEchoes(t *testing.T) {
	line := func(seq int, rest string) string {
		return fmt.Sprintf(`{"kind":"request","seq":%d,"stage":0,"prompt":"0000000000000001","sent":5,"end":9,"read_bytes":[9,9],"read_at":[1,2],%s}`, seq, rest)
	}
	usual := `"status":200,"content_type":"text/event-stream","streamed":true,"event_label":"ccd","event_read":[0,1,0],"event_text":[1,1,0],` +
		`"in":{"n":5,"source":"server"},"out":{"n":2,"source":"server"},"requested_tokens":2,"finish":"length","text":"ab"`
	other := func(old, new string) string {
		if !strings.Contains(usual, old) {
			t.Fatal(old)
		}
		return strings.Replace(usual, old, new, 1)
	}
	rests := []string{
		usual, other(`"ab"`, `"xy"`), usual, other(`200`, `2000`), usual, other(`[0,1,0]`, `[0,0,1]`), usual, other(`"length"`, `"length!"`),
		other(`"length"`, `"length","cached":3`), usual, other(`"requested_tokens":2,`, ``), usual, other(`"in":{"n":5,"source":"server"},`, ``),
		other(`"status":200,`, ``), usual, other(`,"content_type":"text/event-stream"`, ``), usual,
		`"cached":4,` + usual, usual, `"text":"q",` + usual, usual, `"event_text":[2,0,0],` + other(`,"event_text":[1,1,0]`, ``), usual,
		`"status":503,"failure":{"class":"http_status"}`, usual, other(`"streamed":true`, `"failure":{"class":"timeout"},"streamed":true`), usual,
		other(`"streamed":true`, `"status":201,"streamed":true`), usual, usual + `,"status":404,"event_label":"rrr","finish":"stop"`, usual,
		other(`"ccd"`, `"cc"`), usual, other(`[0,1,0]`, `[0, 1,0]`), usual, other(`"event_read":[0,1,0]`, `"new":{"status":[1]},"event_read":[0,1,0]`), usual,
	}
	for i := range 40 { // so that only now and then one is remembered
		rests = append(rests, other(`200`, strconv.Itoa(200+i)))
	}
	rests = append(rests, usual, usual, usual)
	for _, limit := range []int64{0, 150} {
		one := lineDecoder{most: limit}
		var rec Record
		for i, rest := range rests {
			fresh, want := lineDecoder{most: limit}, Record{}
			text := []byte(line(i, rest))
			err, wantErr := one.decode(text, &rec), fresh.decode(text, &want)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				t.Fatalf("line %d, %s: error %v, want %v", i, rest, err, wantErr)
			}
			if diff := cmp.Diff(want, rec, cmpopts.EquateEmpty()); err == nil && diff != "" {
				t.Fatalf("line %d, %s: (-alone +behind others):\n%s", i, rest, diff)
			}
		}
	}
}
