// Package azure reads the traces of the Azure public data set: one request a line, with
// its time and the lengths of its prompt and of its response in tokens.
package azure

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

// Invocation is one request of a trace.
type Invocation struct {
	At     time.Duration // counted from the first request
	Input  int           // tokens of the prompt
	Output int           // tokens of the response
}

const (
	mostFaults = 20
	mostTokens = 100_000_000
)

// Parse reads a trace: TIMESTAMP,ContextTokens,GeneratedTokens, with or without that line at its
// head. The error is a plan.Faults with all that is wrong; name is the file's, path the plan's
// field.
func Parse(name, path string, data []byte) ([]Invocation, error) {
	var rows []Invocation
	var faults plan.Faults
	var first time.Time
	begun := false
	for i, line := range strings.Split(strings.TrimPrefix(string(data), "\ufeff"), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || !begun && isHead(line) {
			continue
		}
		row, at, problem := parseLine(line)
		if problem != "" {
			faults = append(faults, plan.Fault{Where: fmt.Sprintf("%s:%d", name, i+1), Text: problem, Hint: "a line is TIMESTAMP,ContextTokens,GeneratedTokens"})
			if len(faults) == mostFaults {
				return nil, faults
			}
			continue
		}
		if !begun {
			first, begun = at, true
		}
		row.At = at.Sub(first)
		rows = append(rows, row)
	}
	if len(faults) > 0 {
		return nil, faults
	}
	if len(rows) == 0 {
		return nil, plan.Faults{{Path: path, Text: name + " has no requests", Hint: "it must be a trace with lines such as 2023-11-16 18:15:46.680590,374,44"}}
	}
	return rows, nil
}

// isHead reports whether a line names the columns.
func isHead(line string) bool {
	return !strings.ContainsAny(line, "0123456789") && strings.Contains(line, ",")
}

func parseLine(line string) (row Invocation, at time.Time, problem string) {
	parts := strings.Split(line, ",")
	if len(parts) < 3 {
		return row, at, fmt.Sprintf("has %d columns, not 3", len(parts))
	}
	at, ok := parseTime(clean(parts[0]))
	if !ok {
		return row, at, fmt.Sprintf("%q is not a timestamp", clean(parts[0]))
	}
	for i, field := range []*int{&row.Input, &row.Output} {
		// Some traces write integers with a fraction of 0.
		text := strings.TrimSuffix(clean(parts[i+1]), ".0")
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > mostTokens {
			return row, at, fmt.Sprintf("%q is not a number of tokens", text)
		}
		*field = n
	}
	if row.Input == 0 {
		return row, at, "the prompt has no tokens"
	}
	return row, at, ""
}

func clean(field string) string { return strings.Trim(strings.TrimSpace(field), `"`) }

// parseTime reads a time with any fraction of a second, with a zone or, in UTC, without.
func parseTime(text string) (time.Time, bool) {
	text = strings.Replace(text, "T", " ", 1)
	for _, layout := range []string{"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at, true
		}
	}
	return time.Time{}, false
}
