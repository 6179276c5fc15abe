package html

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/result"
)

// dataOf are the two data elements of a page.
func dataOf(t *testing.T, text string) (data, planes string) {
	t.Helper()
	element := func(id string) string {
		_, rest, ok := strings.Cut(text, `id="`+id+`">`)
		if !ok {
			t.Fatalf("the page has no %s", id)
		}
		inner, _, _ := strings.Cut(rest, "</script>")
		return inner
	}
	return element("document"), element("planes")
}

func TestTextsOfAComparisonAreInert(t *testing.T) {
	raw, err := json.Marshal(map[string]string{"warning": hostile})
	if err != nil {
		t.Fatal(err)
	}
	// An encoder may have left < as it is.
	raw = bytes.ReplaceAll(raw, []byte(`\u003c`), []byte("<"))
	var out bytes.Buffer
	if err := WriteComparison(&out, json.RawMessage(raw), []Side{{Name: hostile, Runs: []*pagedata.Document{nil}}, {Name: "b"}}); err != nil {
		t.Fatal(err)
	}
	data, planes := dataOf(t, out.String())
	if i := strings.IndexAny(data, "<>&\u2028\u2029\x00\x1b"); i >= 0 {
		t.Errorf("the data hold %q", data[max(0, i-20):min(len(data), i+20)])
	}
	var back struct {
		Comparison struct{ Warning string }
		Sides      []struct {
			Name string
			Of   int
			Runs []any
		}
	}
	if err := json.Unmarshal([]byte(data), &back); err != nil {
		t.Fatal(err)
	}
	want := strings.ToValidUTF8(hostile, "\ufffd")
	if back.Comparison.Warning != want || back.Sides[0].Name != want || back.Sides[0].Of != 1 || len(back.Sides[0].Runs) != 0 || planes != "" {
		t.Errorf("it reads %+v", back)
	}
}

// A page of many long runs in many levels is as large as any other, and draws some of each side.
func TestComparisonIsBounded(t *testing.T) {
	run := func(seed float64) *pagedata.Document {
		d := &pagedata.Document{Result: &result.Result{}}
		var curve pagedata.Curve
		for i := range 180 {
			curve = append(curve, [2]float64{float64(i) / 180, seed * float64(i) * 1.2345678})
		}
		for range 12 {
			d.Stages = append(d.Stages, pagedata.StageData{Curves: map[string]pagedata.Sides[pagedata.Curve]{"time_to_first_token": {Sent: curve, Due: curve}, "request_latency": {Sent: curve, Due: curve}}})
			d.Result.Stages = append(d.Result.Stages, result.Stage{})
		}
		return d
	}
	for _, c := range []struct{ runs, least int }{{2, 2}, {30, 4}} {
		sides := []Side{{Name: "a"}, {Name: "b"}}
		for i := range c.runs {
			sides[0].Runs = append(sides[0].Runs, run(float64(i+1)))
			sides[1].Runs = append(sides[1].Runs, run(float64(i+2)))
		}
		var out bytes.Buffer
		if err := WriteComparison(&out, struct{}{}, sides); err != nil {
			t.Fatal(err)
		}
		if out.Len() > 2_000_000 {
			t.Errorf("%d runs a side: a page of %d bytes", c.runs, out.Len())
		}
		data, planes := dataOf(t, out.String())
		var back comparison
		if err := json.Unmarshal([]byte(data), &back); err != nil {
			t.Fatal(err)
		}
		for _, s := range back.Sides {
			if len(s.Runs) < c.least || s.Of != c.runs || len(s.Runs) != len(back.Sides[0].Runs) {
				t.Errorf("%d of %d runs are drawn, %d are named", len(s.Runs), c.runs, s.Of)
			}
		}
		if n := strings.Count(planes, "\n"); n != 2*len(back.Sides[0].Runs) {
			t.Errorf("%d lines of planes for %d runs a side", n, len(back.Sides[0].Runs))
		}
	}
}
