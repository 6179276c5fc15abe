package prometheus

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
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
	only, err := Parse([]byte(page), func(name string) bool { return name == "nv_b" })
	if err != nil || len(only) != 2 {
		t.Errorf("kept %d samples, %v", len(only), err)
	}
}

func TestParseFaults(t *testing.T) {
	for _, c := range []struct{ page, want string }{
		{"a 1\n<html>", `line 2 of the metrics page: invalid metric name in "<html>"`},
		{"# TYPE a gauge\na one", `line 2 of the metrics page: expected float as value, got "one" in "a one"`},
	} {
		_, err := Parse([]byte(c.page), every)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q gives %v, want %q", c.page, err, c.want)
		}
	}
	// A line that nobody wants may be what it will.
	got, err := Parse([]byte("rest{path=\"C:\\dir\"} 1\nnv_a 1\n# HELP x \\d\n# TYPE x info\nx{ 1\n"), func(name string) bool { return name == "nv_a" })
	if err != nil || len(got) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("# TYPE a counter\na{b=\"c\\\"\",d=\"\"} 1 2\nb 2e9\n")
	f.Add("a{=}")
	mutate.Fuzz(f, func(t *testing.T, page string) {
		samples, err := Parse([]byte(page), every)
		if err != nil {
			return
		}
		for _, s := range samples {
			if s.Value != s.Value || s.Name == "" {
				t.Errorf("sample %+v", s)
			}
		}
	})
}
