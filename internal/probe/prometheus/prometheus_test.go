package prometheus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"inferometer/internal/record"
)

func every(string) bool { return true }

func TestParse(t *testing.T) {
	page := strings.Join([]string{
		`# HELP nv_a Number of # things`,
		`# TYPE nv_a counter`,
		`nv_a{version="1",model="m"} 12`,
		`nv_a{model="with \"quotes\", commas and } braces", version="2",} 1.5e3 1700000000000`,
		`# TYPE nv_b gauge`,
		"nv_b\t0.25\r",
		`nv_b{} -1`,
		`# TYPE jobs counter`,
		`jobs_total 4`,
		``,
		`untyped{le="+Inf"} +Inf`,
		`nan_too NaN`,
		`# EOF`,
	}, "\n")
	got, err := Parse([]byte(page), every)
	if err != nil {
		t.Fatal(err)
	}
	want := []record.Sample{
		{Name: "nv_a", Labels: `model="m",version="1"`, Counter: true, Value: 12},
		{Name: "nv_a", Labels: `model="with \"quotes\", commas and } braces",version="2"`, Counter: true, Value: 1500},
		{Name: "nv_b", Value: 0.25},
		{Name: "nv_b", Value: -1},
		{Name: "jobs_total", Counter: true, Value: 4},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := Label(want[1].Labels, "model"); got != `with "quotes", commas and } braces` {
		t.Errorf("label model is %q", got)
	}
	if got := Label(want[1].Labels, "version") + Label(want[1].Labels, "none") + Label("nonsense", "none"); got != "2" {
		t.Errorf("other labels are %q", got)
	}
	only, err := Parse([]byte(page), func(name string) bool { return name == "nv_b" })
	if err != nil || len(only) != 2 {
		t.Errorf("kept %d samples, %v", len(only), err)
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"a 1\n<html>", `line 2 of the metrics page: "<html>" has no value`},
		{"<p> 1", `line 1 of the metrics page: "<p> 1" does not begin with a metric's name`},
		{"a", `has no value`},
		{"a{}", `a has no value`},
		{"a one", `the value of a is "one", no number`},
		{`a{b="c} 1`, `labels of a: the value of label "b" does not end`},
		{`a{b=c} 1`, `labels of a: the value of label "b" does not end`},
		{`a{b`, `labels of a: "b" is no label`},
	} {
		_, err := Parse([]byte(c.page), every)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %q", c.page, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# TYPE a counter\na{b=\"c\\\"\",d=\"\"} 1 2\nb 2e9\n")
	f.Add("a{=}")
	f.Fuzz(func(t *testing.T, page string) {
		samples, err := Parse([]byte(page), every)
		if err != nil {
			return
		}
		for _, s := range samples {
			if s.Value != s.Value || !validName(s.Name) {
				t.Errorf("sample %+v", s)
			}
			Label(s.Labels, "b")
			// What was read reads the same again.
			line := s.Name
			if s.Labels != "" {
				line += "{" + s.Labels + "}"
			}
			again, err := Parse([]byte(strings.ReplaceAll(line, "\n", " ")+" 1"), every)
			if err != nil || len(again) != 1 || again[0].Name != s.Name {
				t.Errorf("%q read again gives %+v, %v", line, again, err)
			}
		}
	})
}
