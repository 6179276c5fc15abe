package jmes

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const document = `{
	"start_time": 1.5, "end_time": 4, "zero": 0, "empty": "", "none": [],
	"info": {"input_tokens": 7, "response_metrics": {"output_token_times": [2, 2.5, 4]}},
	"error": {"error_type": "HTTP Error 503", "error_msg": "it's over` + "`" + `loaded"}, "odd name": true
}`

func TestSearch(t *testing.T) {
	var doc any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		expr string
		want string // JSON
	}{
		{"end_time", "4"},
		{"info.input_tokens", "7"},
		{"info.response_metrics.output_token_times[0]", "2"},
		{"info.response_metrics.output_token_times[-1]", "4"},
		{"info.response_metrics.output_token_times[3]", "null"},
		{"nothing.at.all", "null"},
		{"end_time.deeper", "null"},
		{"@.zero", "0"},
		{`"odd name"`, "true"},
		{"`503`", "503"}, {"`\"text\"`", `"text"`}, {"`[1, 2]`", "[1,2]"}, {"`word`", `"word"`}, {"'it\\'s'", `"it's"`}, {"12.5", "12.5"}, {"`null`", "null"},
		{"end_time > `3`", "true"}, {"end_time >= 4", "true"}, {"end_time < 4", "false"}, {"end_time <= start_time", "false"},
		{"end_time > error", "null"}, {"nothing > `1`", "null"},
		{"error.error_type == 'HTTP Error 503'", "true"}, {"error.error_type != 'x'", "true"}, {"nothing == `null`", "true"},
		{"!error", "false"}, {"!nothing", "true"}, {"!zero", "false"}, {"!empty", "true"},
		{"error && end_time > 3", "true"}, {"nothing || 'other'", `"other"`}, {"zero || 'other'", "0"},
		{"nothing || error && false", "null"},
		{"nothing == `1` || end_time == `4` && start_time == 1.5", "true"},
		{"(nothing || error) && 1", "1"},
		{"end_time - start_time > 2", "true"}, {"1 + 2 * 3", "7"}, {"(1 + 2) * 3 / 9", "1"}, {"-end_time", "-4"}, {"7 - 2 - 1", "4"}, {"1 / 0", "null"},
		{"error | error_type", `"HTTP Error 503"`},
		{"contains(error.error_type, '503')", "true"}, {"contains(info.response_metrics.output_token_times, `2.5`)", "true"}, {"contains(nothing, 'x')", "null"},
		{"starts_with(error.error_type, 'HTTP')", "true"}, {"ends_with(error.error_type, 'HTTP')", "false"},
		{"length(info.response_metrics.output_token_times)", "3"}, {"length('äö')", "2"}, {"length(nothing)", "null"},
		{"max(info.response_metrics.output_token_times) - min(info.response_metrics.output_token_times)", "2"},
		{"avg(none)", "null"}, {"sum(info.response_metrics.output_token_times)", "8.5"},
		{"type(error)", `"object"`}, {"to_number('3.5')", "3.5"}, {"to_string(none)", `"[]"`}, {"not_null(nothing, zero)", "0"}, {"abs(floor(-1.5))", "2"}, {"ceil(1.2)", "2"},
		{"contains(error.error_msg, 'over`loaded')", "true"},
	} {
		e, err := Parse(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		got, err := json.Marshal(e.Search(doc))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: %s", c.expr, diff)
		}
		if e.String() != c.expr {
			t.Errorf("%q reads as %q", c.expr, e)
		}
	}
	for expr, want := range map[string]bool{"zero": false, "empty": false, "none": false, "nothing": false, "error": true, "end_time": true, "@": true} {
		if e, err := Parse(expr); err != nil || e.Holds(doc) != want {
			t.Errorf("%s holds: %v, %v", expr, !want, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"", "the expression ends where a field, a literal or a function should"},
		{"a b", `"b" stands where an operator or the end should`},
		{"a ==", "the expression ends where"},
		{"a.", "the expression ends where the name of a field should"},
		{"a[x]", "a whole number"}, {"a[1", `where "]" should`}, {"a[?b]", `'?' has no meaning`}, {"a[1.5]", "a whole number"},
		{"(a", `where ")" should`},
		{"'a", "' is not closed"}, {"`{`", "no JSON"}, {"`\"a`", "no JSON"},
		{"exec('x')", "there is no function exec; there are abs, avg,"},
		{"length()", "length takes 1 arguments, not 0"}, {"length(a b)", `where "," or ")" should`},
		{"__import__('os')", "there is no function"},
		{"a = b", "'=' has no meaning"},
		{"1e", "invalid syntax"},
		{strings.Repeat("(", 200) + "a" + strings.Repeat(")", 200), "nested more than 100 deep"},
		{strings.Repeat("!", 200) + "a", "nested more than 100 deep"},
		{strings.Repeat("a", 5000), "more than 4096"},
	} {
		_, err := Parse(c.expr)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v", c.expr, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a.b[0] > `3` && !c", "contains(a, 'x') || -1 + 2 * 3", `"q"."r" | @`, "`[1,{\"a\":null}]`[1].a", "[0][-1]"} {
		f.Add(s)
	}
	var doc any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		if _, err := json.Marshal(e.Search(doc)); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
