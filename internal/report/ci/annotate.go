package ci

import (
	"fmt"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
)

// mostAnnotations is how many errors of a step GitHub shows.
const mostAnnotations = 10

// GitHub writes what is wrong as workflow commands, which GitHub Actions takes out of the log of
// a step: errors for gates that are missed and for verdicts, warnings for those that are undecided
// and for figures to be careful with.
func GitHub(w io.Writer, suites []Suite) error {
	errors, warnings := notes(suites)
	var b strings.Builder
	put := func(command string, list []note) {
		for i, n := range list {
			if i == mostAnnotations-1 && len(list) > mostAnnotations {
				n = note{"Inferometer", more(len(list) - i)}
			}
			if i < mostAnnotations {
				fmt.Fprintf(&b, "::%s title=%s::%s\n", command, property(n.title), data(n.text))
			}
		}
	}
	put("error", errors)
	put("warning", warnings)
	_, err := io.WriteString(w, b.String())
	return err
}

// GitLab writes the same for the log of a job of GitLab, which has no commands for annotations
// but shows colours.
func GitLab(w io.Writer, suites []Suite) error {
	errors, warnings := notes(suites)
	var b strings.Builder
	for _, n := range errors {
		fmt.Fprintf(&b, "\x1b[1;31m%s: %s\x1b[0m\n", n.title, screen.Clean(n.text))
	}
	for _, n := range warnings {
		fmt.Fprintf(&b, "\x1b[33m%s: %s\x1b[0m\n", n.title, screen.Clean(n.text))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type note struct{ title, text string }

// noted is a note without what a terminal would obey.
func noted(title, text string) note {
	var lines []string
	for l := range strings.Lines(text) {
		lines = append(lines, screen.Clean(l))
	}
	return note{screen.Clean(title), strings.Join(lines, "\n")}
}

func notes(suites []Suite) (errors, warnings []note) {
	for i := range suites {
		s := &suites[i]
		if s.Broken != "" {
			errors = append(errors, noted(s.Name, s.Broken))
		}
		if title, text := invalid(s.Verdict); title != "" {
			errors = append(errors, noted(title, text))
		}
		for k := range s.Gates {
			g := &s.Gates[k]
			text := found(g)
			if len(suites) > 1 {
				text = line(s.Name) + ": " + text
			}
			n := noted(word(g)+": "+g.Condition(), text)
			switch {
			case g.Failed:
				errors = append(errors, n)
			case g.Undecided || g.Why != "":
				warnings = append(warnings, n)
			}
		}
	}
	return errors, warnings
}

func word(g *result.Gate) string {
	switch {
	case g.Failed:
		return "Gate missed"
	case g.Undecided:
		return "Gate undecided"
	}
	return "Gate"
}

// data escapes the text of a workflow command, property a part of its head.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace(s)
}
