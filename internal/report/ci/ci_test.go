package ci_test

import (
	"encoding/xml"
	"flag"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/report/ci"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

var update = flag.Bool("update", false, "write the golden files")

const hostile = "\x1b[31m<b>&\"'\n::error::x\r%0A\x00\xff]]>"

// suites are two runs: one with gates at two levels, and one that is not to be trusted.
func suites() []ci.Suite {
	return []ci.Suite{{
		Name: "nightly", Started: time.Date(2026, 11, 17, 5, 34, 30, 0, time.UTC), Seconds: 61.5, Verdict: &result.Verdict{Status: result.Valid, Valid: true},
		Gates: []result.Gate{
			{Gate: "ttft.p99 > 200ms", Where: "stage 1 (8 in flight)", Value: 54.49, Bound: 200, Unit: "ms", Why: "p99 of 64 samples only: 662 are enough"},
			{Gate: "ttft.p99 > 200ms", Stage: 1, Where: "peak (40/s poisson)", Value: 200.00004, Bound: 200, Unit: "ms", Failed: true},
			{Gate: "goodput < 95%", Stage: 1, Where: "peak (40/s poisson)", Value: 0.91, Bound: 0.95, Unit: "share", Failed: true},
			{Gate: "goodput < 95%", Stage: 1, Where: "peak (40/s poisson)", Value: 0.91, Bound: 0.95, Unit: "share", Failed: true},
			{Gate: "ttft.p99 > +5%", Stage: 1, Where: "peak (40/s poisson)", Value: 0.04, Bound: 0.05, Unit: "share", Difference: true, Interval: &result.ConfidenceInterval{Lo: -0.02, Hi: 0.1}, Undecided: true,
				Sensitivity: &result.Sensitivity{Text: "+10 % would have been noticed 4 times in 10"}, More: "noticing +10 % 4 times in 5 takes 2,100 requests on each side, 2.1 times as many"},
			{Gate: "ttft.p99 < 200ms", Unless: true, Stage: 1, Where: "peak (40/s poisson)", Value: 190, Bound: 200, Unit: "ms", Interval: &result.ConfidenceInterval{Lo: 180, Hi: 205}, Undecided: true, Failed: true, Why: "not shown: 200 ms lies within what it can be"},
			{Gate: "itl.p99 > 30ms", Stage: -1, Failed: true, Absent: true, Unit: "ms", Why: "itl was not measured: no successful request has it"},
		},
	}, {
		Name: hostile, Verdict: &result.Verdict{Status: result.Invalid, Reasons: []string{hostile, "the client was slow"}},
		Gates: []result.Gate{{Gate: hostile, Where: hostile, Unit: "share", Why: hostile}},
	}, {
		Name: "search", Verdict: &result.Verdict{Status: result.Valid, Valid: true},
		Result: &result.Result{Capacity: &capacity.Result{Unit: "requests/s", Outcome: capacity.Found, Value: 38.2, Lo: 36.9, Hi: 39.5, Sentence: "38.2 requests/s, 95 % between 36.9 and 39.5."}},
	}, {
		Name: "search in vain", Verdict: &result.Verdict{Status: result.Valid, Valid: true},
		Result: &result.Result{Capacity: &capacity.Result{Unit: "requests/s", Outcome: capacity.Never, Hi: 1, Sentence: "No load was found that meets the objectives."}},
	}, {Name: "run", Broken: "there is no result: exit code 2"}}
}

func golden(t *testing.T, name string, write func(io.Writer, []ci.Suite) error) string {
	t.Helper()
	var b strings.Builder
	if err := write(&b, suites()); err != nil {
		t.Fatal(err)
	}
	name = "testdata/" + name
	if *update {
		if err := os.WriteFile(name, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("%s is not what it was:\n%s", name, b.String())
	}
	return b.String()
}

// element is any XML element.
type element struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []element  `xml:",any"`
}

func (e *element) attr(name string) string {
	for _, a := range e.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// TestJUnit: the file has the structure that the common schema of JUnit files asks for: which
// attributes an element must and may have, which elements it holds and in which order.
func TestJUnit(t *testing.T) {
	var root element
	if err := xml.Unmarshal([]byte(golden(t, "junit.xml", ci.JUnit)), &root); err != nil {
		t.Fatal(err)
	}
	schema := map[string]struct{ must, may, holds string }{
		"testsuites": {"", "name time tests failures disabled errors", "testsuite"},
		"testsuite":  {"name tests", "failures errors skipped disabled time timestamp hostname id package", "properties testcase system-out system-err"},
		"testcase":   {"name", "classname time assertions status", "skipped error failure system-out system-err"},
		"skipped":    {"", "message type", ""},
		"failure":    {"", "message type", ""},
		"error":      {"", "message type", ""},
		"system-out": {"", "", ""},
		"properties": {"", "", "property"},
		"property":   {"name", "value", ""},
	}
	var check func(e *element)
	check = func(e *element) {
		rule, ok := schema[e.XMLName.Local]
		if !ok {
			t.Errorf("there is no element %s", e.XMLName.Local)
		}
		for _, name := range strings.Fields(rule.must) {
			if e.attr(name) == "" {
				t.Errorf("%s lacks %s", e.XMLName.Local, name)
			}
		}
		for _, a := range e.Attrs {
			if !slices.Contains(strings.Fields(rule.must+" "+rule.may), a.Name.Local) {
				t.Errorf("%s may not have %s", e.XMLName.Local, a.Name.Local)
			}
		}
		for i := range e.Children {
			if !slices.Contains(strings.Fields(rule.holds), e.Children[i].XMLName.Local) {
				t.Errorf("%s may not hold %s", e.XMLName.Local, e.Children[i].XMLName.Local)
			}
			check(&e.Children[i])
		}
	}
	check(&root)
	tests, failures, names := 0, 0, map[string]bool{}
	for _, s := range root.Children {
		n, failed, skipped := 0, 0, 0
		for _, c := range s.Children {
			if c.XMLName.Local != "testcase" {
				continue
			}
			n++
			if key := c.attr("classname") + "|" + c.attr("name"); names[key] {
				t.Errorf("two tests are called %s", key)
			} else {
				names[key] = true
			}
			if slices.ContainsFunc(c.Children, func(e element) bool { return e.XMLName.Local == "failure" }) {
				failed++
			}
			if slices.ContainsFunc(c.Children, func(e element) bool { return e.XMLName.Local == "skipped" }) {
				skipped++
			}
		}
		if s.attr("tests") != strconv.Itoa(n) || s.attr("failures") != strconv.Itoa(failed) || s.attr("skipped") != strconv.Itoa(skipped) {
			t.Errorf("%s: %s tests, %s failures and %s skipped, has %d, %d and %d", s.attr("name"), s.attr("tests"), s.attr("failures"), s.attr("skipped"), n, failed, skipped)
		}
		tests, failures = tests+n, failures+failed
	}
	if root.attr("tests") != strconv.Itoa(tests) || root.attr("failures") != strconv.Itoa(failures) || root.attr("errors") != "1" {
		t.Errorf("totals: %v", root.Attrs)
	}
}

// TestGitHub: no text ends its command or begins another.
func TestGitHub(t *testing.T) {
	for _, l := range strings.Split(strings.TrimSuffix(golden(t, "github.txt", ci.GitHub), "\n"), "\n") {
		if !strings.HasPrefix(l, "::error title=") && !strings.HasPrefix(l, "::warning title=") || strings.ContainsAny(l, "\r") {
			t.Errorf("not a command: %q", l)
		}
	}
	many := ci.Suite{Name: "run"}
	for range 30 {
		many.Gates = append(many.Gates, result.Gate{Gate: "rps < 1", Failed: true})
	}
	var b strings.Builder
	if err := ci.GitHub(&b, []ci.Suite{many}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "::error"); n != 10 || !strings.Contains(b.String(), "21 more gates missed") {
		t.Errorf("%d errors:\n%s", n, b.String())
	}
}

// TestGitLab: no text changes the colour of what follows.
func TestGitLab(t *testing.T) {
	for l := range strings.Lines(golden(t, "gitlab.txt", ci.GitLab)) {
		if strings.Count(l, "\x1b") != 2 || !strings.HasSuffix(l, "\x1b[0m\n") {
			t.Errorf("not one coloured line: %q", l)
		}
	}
}
