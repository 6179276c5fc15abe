package record

import (
	"encoding/json"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestPageIsComplete: docs/records.md names every kind of line, every field of the
// lines that it describes, every class of failure and every letter of an event.
func TestPageIsComplete(t *testing.T) {
	text, err := os.ReadFile("../../docs/records.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	names := []string{
		kindHeader, kindRequest, kindBegun, kindUnderway, kindStage, kindHealth, kindEdge, kindProbe, kindFigures, kindPower, kindSession, Schema,
		string(ResolveFailed), string(ConnectFailed), string(TLSFailed), string(NoFirstByte), string(Stalled), string(TimedOut),
		string(Dropped), string(Reset), string(ClientResource),
		string(Truncated), string(HTTPStatus), string(GRPCStatus), string(StreamError), string(BadBody), string(Cancelled), string(CutOff),
	}
	for _, letter := range labelLetters {
		names = append(names, string(letter))
	}
	rec := full()
	rec.Events[1].Merged = true // as no column says by itself
	for _, line := range []any{
		json.RawMessage(AppendJSON(nil, rec, true)),
		Header{Schema: Schema, Start: time.Unix(1, 0), Template: true},
		StageSummary{}, Health{},
		underway{Seq: []int64{1}, Sent: []time.Duration{1}, Reads: []int64{1}, Bytes: []int64{1}, First: []time.Duration{1},
			Last: []time.Duration{1}},
	} {
		fields := fieldsOf(t, line)
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			names = append(names, name)
			if name == "conn" || name == "in" || name == "failure" {
				names = append(names, slices.Sorted(maps.Keys(fieldsOf(t, fields[name])))...)
			}
		}
	}
	for _, name := range names {
		if !strings.Contains(page, "`"+name+"`") {
			t.Errorf("the page does not mention `%s`", name)
		}
	}
}

// fieldsOf are the members of a value as JSON has it.
func fieldsOf(t *testing.T, v any) map[string]json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
