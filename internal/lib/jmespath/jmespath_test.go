package jmespath_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/lib/jmespath"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

const document = `{
	"start_time": 1.5, "end_time": 4, "zero": 0, "empty": "", "none": [],
	"info": {"input_tokens": 7, "response_metrics": {"output_token_times": [2, 2.5, 4]}},
	"error": {"error_type": "HTTP Error 503", "error_msg": "it's over` + "`" + `loaded"}, "odd name": true,
	"tries": [{"status": 503, "tags": ["a", "b"]}, {"status": 200, "tags": []}, {"status": 429, "tags": ["c"]}]
}`

// TestSearch: the results are those of the jmespath that inference-perf 0.7.0 uses.
func TestSearch(t *testing.T) {
	var doc any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ expr, want string }{
		{"end_time", "4"}, {"@.zero", "0"}, {`"odd name"`, "true"}, {"end_time.deeper", "null"}, {"tries[5]", "null"},
		{"info.response_metrics.output_token_times[-1]", "4"},
		{"info.response_metrics.output_token_times[::-1]", "[4,2.5,2]"}, {"info.response_metrics.output_token_times[1:]", "[2.5,4]"},
		{"tries[?status >= `400`].status", "[503,429]"}, {"tries[?status > `400` && status < `500`]", `[{"status":429,"tags":["c"]}]`},
		{"tries[?contains(tags, 'c')] | [0].status", "429"},
		{"tries[*].tags[]", `["a","b","c"]`}, {"tries[].tags | [0]", `["a","b"]`}, {"tries[*].nothing", "[]"}, {"*.error_type", `["HTTP Error 503"]`},
		{"{a: end_time, b: zero}", `{"a":4,"b":0}`}, {"[start_time, end_time]", "[1.5,4]"},
		{"sort_by(tries, &status)[0].status", "200"}, {"max_by(tries, &status).status", "503"}, {"map(&status, tries)", "[503,200,429]"},
		{"length(tries[?status == `200`])", "1"}, {"to_array(zero)", "[0]"}, {"reverse(info.response_metrics.output_token_times)", "[4,2.5,2]"},
		{"join(', ', tries[0].tags)", `"a, b"`}, {"values({a: zero})", "[0]"}, {"keys({a: zero})", `["a"]`}, {"not_null(nothing, zero)", "0"}, {"type(tries)", `"array"`},
		{"merge({a: zero}, {x: end_time})", `{"a":0,"x":4}`},
		{"starts_with(error.error_type, 'HTTP')", "true"}, {"contains(error.error_msg, 'over`loaded')", "true"},
		{"avg(none)", "null"}, {"sum(none)", "0"}, {"abs(`-1`)", "1"}, {"to_number('3.5')", "3.5"}, {"to_string(none)", `"[]"`},
		{"`\"text\"`", `"text"`}, {"'it\\'s'", `"it's"`}, {"`1` == `1.0`", "true"},
		{"end_time > error", "null"}, {"nothing > `1`", "null"}, {"!zero", "false"}, {"zero || 'other'", "0"},
		{"error && end_time > `3`", "true"}, {"nothing || error && `false`", "false"},
		// Beyond the original's:
		{"end_time - start_time > `2`", "true"},
	} {
		e, err := jmespath.Parse(c.expr)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
			continue
		}
		v, err := e.Search(doc)
		if err != nil {
			t.Errorf("%s: %v", c.expr, err)
		}
		got, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, string(got)); diff != "" {
			t.Errorf("%s: %s", c.expr, diff)
		}
	}
	for expr, want := range map[string]bool{
		"zero": false, "empty": false, "none": false, "nothing": false, "error": true, "end_time": true, "@": true, "length(nothing)": false, "length()": false,
		"tries[?status == `404`]": false, "tries[?status == `429`]": true, "error.error_type == 'HTTP Error 503'": true, "end_time / zero": true,
	} {
		if e, err := jmespath.Parse(expr); err != nil || e.Holds(doc) != want {
			t.Errorf("%s holds: %v, %v", expr, !want, err)
		}
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct{ expr, want string }{
		{"", "SyntaxError"}, {"a b", "SyntaxError"}, {"a ==", "SyntaxError"}, {"a.", "SyntaxError"}, {"a[1", "SyntaxError"}, {"a[?b", "SyntaxError"},
		{"(a", "SyntaxError"}, {"'a", "Unclosed"}, {"a = b", "compare values with =="}, {"tries[?status = `200`]", "compare values with =="},
		{"end_time > 3", "write numbers in backticks, as in `500`"},
		{"exec('x')", "unknown function exec; available: abs avg"}, {"tries[?__import__('os')]", "unknown function __import__"},
		{"pad_left('a', `1000000000`)", "unknown function pad_left"},
		{strings.Repeat("a", 5000), "more than 4096"},
	} {
		_, err := jmespath.Parse(c.expr)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60s: %v", c.expr, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"a.b[0] > `3` && !c", "contains(a, 'x') || -`1` + `2` * `3`", `"q"."r" | @`, "`[1,{\"a\":null}]`[1].a", "[0][-1]", "tries[?status > `1`].tags[] | sort(@)[::2]"} {
		f.Add(s)
	}
	var doc any
	if err := json.Unmarshal([]byte(document), &doc); err != nil {
		f.Fatal(err)
	}
	mutate.Fuzz(f, func(_ *testing.T, text string) {
		if e, err := jmespath.Parse(text); err == nil {
			e.Holds(doc)
		}
	})
}
