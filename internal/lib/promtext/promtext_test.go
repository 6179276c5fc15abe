package promtext

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestSample(t *testing.T) {
	for _, c := range []struct {
		line, name, labels string
		value              float64
	}{
		{`a 1`, "a", "", 1},
		{`a{} -1`, "a", "", -1},
		{"a\t0.25", "a", "", 0.25},
		{`vllm:a{version="1",model="m"} 12`, "vllm:a", `model="m",version="1"`, 12},
		{`a{ model = "with \"quotes\", commas, \\ and } braces", v="2", } 1.5e3 1700000000000`, "a", `model="with \"quotes\", commas, \\ and } braces",v="2"`, 1500},
		{`a_bucket{handle="x,le=\"9\"",le="5"} 3`, "a_bucket", `handle="x,le=\"9\"",le="5"`, 3},
		{`a{b="two\nlines"} 1`, "a", `b="two\nlines"`, 1},
		{`a{b="ü"} 1`, "a", `b="ü"`, 1},
		{`{"a.b","c.d"="e"} 1`, "a.b", `"c.d"="e"`, 1},
		// As OpenMetrics has them.
		{`a_bucket{le="1"} 3 # {trace="x"} 0.5 1.7e9`, "a_bucket", `le="1"`, 3},
		{`a_bucket{le="1"} 3 1.7e9 # {trace="x y"} 0.5`, "a_bucket", `le="1"`, 3},
		{`a{b="c d"} 3 1700000000.125`, "a", `b="c d"`, 3},
	} {
		got, err := NewReader().Sample(c.line)
		if want := (Sample{c.name, c.labels, c.value}); err != nil || got != want {
			t.Errorf("%s: %+v, %v, want %+v", c.line, got, err, want)
		}
	}
}

func TestSampleFaults(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"<html>", `invalid metric name in "<html>"`},
		{"404 page not found", `invalid metric name in "404 page not found"`},
		{"a", `expected float as value, got ""`},
		{"a{}", `expected float as value, got ""`},
		{"a one", `expected float as value, got "one" in "a one"`},
		{`a{b="c} 1`, "label value"},
		{`a{b=c} 1`, "expected '\"' at start of label value"},
		{`a{b`, "expected '=' after label name"},
		{`a{b="c\d"} 1`, "invalid escape sequence"},
		{`{} 1`, "invalid metric name"},
		{"", "no sample"},
	} {
		if _, err := NewReader().Sample(c.line); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %q", c.line, err, c.want)
		}
	}
}

func TestLabel(t *testing.T) {
	r := NewReader()
	for _, c := range []struct{ labels, name, want string }{
		{`handle="a",le="5"`, "le", "5"},
		{`le="5",handle="a"`, "le", "5"},
		{`le="+Inf"`, "le", "+Inf"},
		{`handle="a",scale="7"`, "le", ""},
		{`handle="x,le=\"9\"",le="5"`, "le", "5"},
		{`path="/a=b",le="1"`, "le", "1"},
		{`handle="le=",le="2"`, "le", "2"},
		{`gpu_uuid="GPU-1",gpu="0"`, "gpu", "0"},
		{`model="a\\b\nc"`, "model", "a\\b\nc"},
		{`a="1", le="3"`, "le", "3"},
		{`"c.d"="e"`, "c.d", "e"},
		{`le=5`, "le", ""},
		{`le="5`, "le", ""},
		{`nonsense`, "le", ""},
		{"", "le", ""},
	} {
		if got := r.Label(c.labels, c.name); got != c.want {
			t.Errorf("Label(%s, %s) is %q, want %q", c.labels, c.name, got, c.want)
		}
	}
	if got := r.Label(`gpu="0",gpu_uuid="u"`, "UUID", "gpu_uuid", "gpu"); got != "u" {
		t.Errorf("the first of three is %q", got)
	}
}

func TestHas(t *testing.T) {
	for _, c := range []struct {
		labels, name, value string
		want                bool
	}{
		{`engine="0",model_name="m"`, "model_name", "m", true},
		{`base_model_name="m",model_name="m"`, "model_name", "m", true},
		{`base_model_name="m",model_name="n"`, "model_name", "m", false},
		{`a="x,model_name=\"m\""`, "model_name", "m", false},
		{`model_name="m\"1"`, "model_name", `m"1`, true},
		{`model_name="mm"`, "model_name", "m", false},
		{"", "model_name", "m", false},
	} {
		if got := Has(c.labels, Pair(c.name, c.value)); got != c.want {
			t.Errorf("%s has %s: %v", c.labels, Pair(c.name, c.value), got)
		}
	}
}

// FuzzSample: what was read reads the same again.
func FuzzSample(f *testing.F) {
	f.Add(`a{b="c\"",d=""} 1 2`)
	f.Add(`{"a b",c="d"} 1`)
	f.Add("a{=}")
	mutate.Fuzz(f, func(t *testing.T, line string) {
		if strings.Contains(line, "\n") {
			return
		}
		r := NewReader()
		s, err := r.Sample(line)
		if err != nil || !IsName(s.Name) {
			return
		}
		again, err := r.Sample(s.Name + "{" + s.Labels + "} 1")
		if err != nil || again.Name != s.Name || again.Labels != s.Labels {
			t.Errorf("%q read again gives %+v, %v", s.Labels, again, err)
		}
	})
}
