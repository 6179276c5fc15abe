package ci

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"
)

// What JUnit files consist of, in the order that their common schema wants.
type (
	xmlSuites struct {
		XMLName  xml.Name   `xml:"testsuites"`
		Name     string     `xml:"name,attr"`
		Tests    int        `xml:"tests,attr"`
		Failures int        `xml:"failures,attr"`
		Errors   int        `xml:"errors,attr"`
		Time     string     `xml:"time,attr"`
		Suites   []xmlSuite `xml:"testsuite"`
	}
	xmlSuite struct {
		Name       string         `xml:"name,attr"`
		Tests      int            `xml:"tests,attr"`
		Failures   int            `xml:"failures,attr"`
		Errors     int            `xml:"errors,attr"`
		Skipped    int            `xml:"skipped,attr"`
		Time       string         `xml:"time,attr"`
		Timestamp  string         `xml:"timestamp,attr,omitempty"`
		Properties *xmlProperties `xml:"properties"`
		Cases      []xmlCase      `xml:"testcase"`
	}
	xmlCase struct {
		Name    string   `xml:"name,attr"`
		Class   string   `xml:"classname,attr"`
		Time    string   `xml:"time,attr"`
		Skipped *xmlText `xml:"skipped"`
		Failure *xmlText `xml:"failure"`
		Error   *xmlText `xml:"error"`
		Out     string   `xml:"system-out,omitempty"`
	}
	xmlText struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// JUnit writes suites as JUnit XML: a test for the verdict of each run, and one for each gate at
// each level. A gate that is undecided is a test that was skipped: it neither fails the build nor
// counts as passed. Readers differ in what they show of a failure, so that its text says all.
func JUnit(w io.Writer, suites []Suite) error {
	all := xmlSuites{Name: "inferometer"}
	var seconds float64
	for i := range suites {
		s := suites[i].xml()
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
		all.Suites = append(all.Suites, s)
		seconds += suites[i].Seconds
	}
	all.Time = decimal(seconds)
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("writing JUnit XML: %w", err)
	}
	_, err := io.WriteString(w, "\n")
	return err
}

func (s *Suite) xml() xmlSuite {
	x := xmlSuite{Name: s.Name, Time: decimal(s.Seconds)}
	if !s.Started.IsZero() {
		x.Timestamp = s.Started.UTC().Format(time.DateOnly + "T" + time.TimeOnly)
	}
	seen := map[string]int{}
	add := func(c xmlCase) {
		// Readers take tests of one name for one test.
		if seen[c.Name]++; seen[c.Name] > 1 {
			c.Name += " #" + strconv.Itoa(seen[c.Name])
		}
		c.Class = s.Name
		x.Tests++
		if c.Failure != nil {
			x.Failures++
		}
		if c.Error != nil {
			x.Errors++
		}
		if c.Skipped != nil {
			x.Skipped++
		}
		x.Cases = append(x.Cases, c)
	}
	if s.Broken != "" {
		add(xmlCase{Name: "run", Time: x.Time, Error: &xmlText{Message: s.Broken, Type: "run", Text: s.Broken}})
	}
	if s.Verdict != nil {
		c := xmlCase{Name: "verdict", Time: x.Time}
		if title, text := invalid(s.Verdict); title != "" {
			c.Failure = &xmlText{Message: title, Type: "verdict", Text: title + "\n" + text}
		}
		add(c)
	}
	if s.Result != nil {
		x.Properties = properties(s.Result)
		add(searched(s.Result))
	}
	for i := range s.Gates {
		g := &s.Gates[i]
		c := xmlCase{Name: s.name(g), Time: "0", Out: found(g)}
		switch {
		case g.Failed && g.Unless:
			c.Failure = &xmlText{Message: found(g), Type: "gate", Text: "fails " + g.Condition() + ": " + found(g)}
		case g.Failed:
			c.Failure = &xmlText{Message: found(g), Type: "gate", Text: "fails if " + g.Gate + ": " + found(g)}
		case g.Undecided:
			c.Skipped = &xmlText{Message: "undecided: " + found(g)}
		}
		add(c)
	}
	return x
}

// decimal is a number of seconds as XML has them.
func decimal(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', 3, 64)
}
