// Package prometheus reads the pages on which servers publish metrics, and asks Prometheus
// servers that have gathered them.
package prometheus

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"inferometer/internal/record"
)

// Parse reads a page of metrics and gives the samples whose names keep wants, in the
// order of the page. Values that are not finite are left out. An error names the line.
func Parse(page []byte, keep func(name string) bool) ([]record.Sample, error) {
	counters := map[string]bool{}
	var samples []record.Sample
	number := 0
	for line := range bytes.Lines(page) {
		number++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		if line[0] == '#' {
			if name, kind, ok := typeOf(line); ok {
				counters[name] = kind == "counter"
			}
			continue
		}
		s, err := sample(string(line))
		if err != nil {
			return nil, fmt.Errorf("line %d of the metrics page: %w", number, err)
		}
		if !keep(s.Name) || math.IsNaN(s.Value) || math.IsInf(s.Value, 0) {
			continue
		}
		// Servers of the newer form name a counter's family without its suffix.
		s.Counter = counters[s.Name] || counters[strings.TrimSuffix(s.Name, "_total")]
		samples = append(samples, s)
	}
	return samples, nil
}

// typeOf reads a line that says of which type a family of metrics is.
func typeOf(line []byte) (name, kind string, ok bool) {
	f := strings.Fields(string(line))
	if len(f) != 4 || f[0] != "#" || f[1] != "TYPE" {
		return "", "", false
	}
	return f[2], f[3], true
}

// sample reads a line with a value.
func sample(line string) (record.Sample, error) {
	var s record.Sample
	end := strings.IndexAny(line, "{ \t")
	if end < 0 {
		return s, fmt.Errorf("%.60q has no value", line)
	}
	s.Name = line[:end]
	if !validName(s.Name) {
		return s, fmt.Errorf("%.60q does not begin with a metric's name", line)
	}
	rest := line[end:]
	if rest[0] == '{' {
		var err error
		if s.Labels, rest, err = labels(rest[1:]); err != nil {
			return s, fmt.Errorf("labels of %s: %w", s.Name, err)
		}
	}
	f := strings.Fields(rest)
	if len(f) == 0 {
		return s, fmt.Errorf("%s has no value", s.Name)
	}
	v, err := strconv.ParseFloat(f[0], 64)
	if err != nil {
		return s, fmt.Errorf("the value of %s is %.40q, no number", s.Name, f[0])
	}
	s.Value = v
	return s, nil
}

func validName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || c == ':' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// labels reads what stands between braces, up to the value, and puts it in order.
func labels(text string) (sorted, rest string, err error) {
	var all []string
	for {
		text = strings.TrimLeft(text, " \t,")
		if after, ok := strings.CutPrefix(text, "}"); ok {
			slices.Sort(all)
			return strings.Join(all, ","), after, nil
		}
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			return "", "", fmt.Errorf("%.40q is no label", text)
		}
		value = strings.TrimLeft(value, " \t")
		end := closingQuote(value)
		if end < 0 {
			return "", "", fmt.Errorf("the value of label %.40q does not end", name)
		}
		all = append(all, strings.TrimSpace(name)+"="+value[:end+1])
		text = value[end+1:]
	}
}

// closingQuote is where the quoted text at the start of s ends; -1: there is none.
func closingQuote(s string) int {
	if s == "" || s[0] != '"' {
		return -1
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// Label is the value of a label in the form that Parse gives; empty: it has none.
func Label(labels, name string) string {
	for labels != "" {
		key, value, ok := strings.Cut(labels, "=")
		if !ok {
			return ""
		}
		end := closingQuote(value)
		if end < 0 {
			return ""
		}
		if key == name {
			text, err := strconv.Unquote(value[:end+1])
			if err != nil {
				return value[1:end]
			}
			return text
		}
		labels = strings.TrimPrefix(value[end+1:], ",")
	}
	return ""
}
