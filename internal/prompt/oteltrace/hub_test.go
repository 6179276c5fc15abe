package oteltrace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/remote/hub/hubtest"
	"github.com/inferometer/inferometer/internal/token"
)

// row is a trace as data sets have it: a table has the same attributes in each row.
type row struct {
	SessionID string    `parquet:"session_id"`
	Benchmark string    `parquet:"benchmark"`
	Spans     []rowSpan `parquet:"spans,list"`
}

type rowSpan struct {
	ID         string        `parquet:"span_id"`
	Name       string        `parquet:"name"`
	Start      string        `parquet:"start_time"`
	End        string        `parquet:"end_time"`
	Attributes rowAttributes `parquet:"attributes"`
}

type rowAttributes struct {
	Operation string  `parquet:"gen_ai.operation.name"`
	In        *string `parquet:"gen_ai.input.messages,optional"`
	Out       *string `parquet:"gen_ai.output.messages,optional"`
	Tokens    *int64  `parquet:"gen_ai.usage.output_tokens,optional"`
	Tools     *string `parquet:"gen_ai.tool.definitions,optional"`
}

// tableOf is sessions of two calls and of a span that is none.
func tableOf(t *testing.T, names ...string) string {
	t.Helper()
	one := func(v string) *string { return &v }
	n := int64(7)
	var rows []row
	for _, name := range names {
		rows = append(rows, row{name, "bench", []rowSpan{
			{"s1", "chat m", "2026-01-31T12:00:00Z", "2026-01-31T12:00:01Z", rowAttributes{"chat", one("[" + hello + "]"), one("[" + parts + "]"), &n, nil}},
			{"s2", "chat m", "2026-01-31T12:00:02Z", "2026-01-31T12:00:03Z", rowAttributes{"chat", one("[" + hello + "," + answer + "]"), nil, nil, one("[]")}},
			{"s3", "plan", "2026-01-31T12:00:02Z", "2026-01-31T12:00:03Z", rowAttributes{"plan", nil, nil, nil, nil}},
		}})
	}
	var b bytes.Buffer
	if err := parquet.Write(&b, rows); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHub(t *testing.T) {
	const commit = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	h := hubtest.New(t)
	h.Add("datasets/me/table", commit, map[string]hubtest.FakeFile{
		"data/train-0.parquet": {Data: tableOf(t, "a", "b"), Large: true}, "data/train-1.parquet": {Data: tableOf(t, "c")}, "data/test-0.parquet": {Data: tableOf(t, "d")}, "README.md": {Data: "x"},
	})
	h.Add("datasets/me/lines", commit, map[string]hubtest.FakeFile{"traces.jsonl": {Data: flat(t, talk("e")) + "\n" + flat(t, talk("f"))}})
	h.Add("datasets/me/nothing", commit, map[string]hubtest.FakeFile{"README.md": {Data: "x"}})
	home := t.TempDir()
	env := func(name string) string { return map[string]string{"HF_ENDPOINT": h.URL, "HF_HOME": home}[name] }
	for _, tc := range []struct {
		replay plan.Replay
		want   string // sessions in any order, or a part of the error
	}{
		{plan.Replay{Hub: plan.Hub{Name: "me/table"}}, "a b c"},
		{plan.Replay{Hub: plan.Hub{Name: "me/table", Split: "test"}}, "d"},
		{plan.Replay{Hub: plan.Hub{Name: "me/table"}, Filter: "x['benchmark'] == 'bench' and x['session_id'] != 'b'"}, "a c"},
		{plan.Replay{Hub: plan.Hub{Name: "me/lines"}}, "e f"},
		{plan.Replay{Hub: plan.Hub{Name: "me/nothing"}}, "has no files of traces"},
		{plan.Replay{Hub: plan.Hub{Name: "me/none"}}, "me/none"},
	} {
		s, err := New(plan.Data{Replay: tc.replay}, token.Words{}, 1, env)
		if err != nil {
			t.Fatal(err)
		}
		err = s.Open(t.Context(), prompt.Use{Chat: true})
		got := fmt.Sprint(err)
		if err == nil {
			var names []string
			for _, one := range s.All {
				_, name, _ := strings.Cut(one.Name, "_")
				names = append(names, name)
				if len(one.Graph.Calls) < 2 || len(one.Graph.Calls[1].Segments) < 2 {
					t.Errorf("%v: %s has %d calls", tc.replay.Hub, one.Name, len(one.Graph.Calls))
				}
			}
			got = sorted(names)
		}
		if err == nil && got != tc.want || err != nil && !strings.Contains(got, tc.want) {
			t.Errorf("%v: %s, want %s", tc.replay.Hub, got, tc.want)
		}
	}
}

func sorted(names []string) string {
	slices.Sort(names)
	return strings.Join(names, " ")
}

// flat is JSON on one line.
func flat(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
