package clidoc

import (
	"fmt"
	"strings"
)

// Release is which version of the program a man page is of.
type Release struct {
	Version string
	Day     string // such as 2026-11-17; empty: not known
}

// Man is the man page of a command of a program, as roff.
func (c *Command) Man(program string, r Release) string {
	name := program + "-" + c.Name
	b := &roff{}
	b.title(name, r)
	b.section("NAME")
	b.text(name + " \\- " + escape(c.Summary))
	b.section("SYNOPSIS")
	for i, u := range c.Usage {
		if i > 0 {
			b.line(".br")
		}
		b.line(".B " + quoted(u.Line))
	}
	b.section("DESCRIPTION")
	b.text(escape(c.About))
	for p := range strings.SplitSeq(c.Text, "\n\n") {
		if p != "" {
			b.line(".PP")
			b.text(escape(p))
		}
	}
	for _, u := range c.Usage {
		if u.Help != "" {
			b.entry(u.Line, u.Help)
		}
	}
	if len(c.Verbs) > 0 {
		b.section("COMMANDS")
		for _, v := range c.Verbs {
			b.entry(v.Name, v.Help)
		}
	}
	if len(c.Groups) > 0 {
		b.section("OPTIONS")
	}
	for _, g := range c.Groups {
		b.line(".SS " + quoted(g.Title))
		for i := range g.Flags {
			b.entry(g.Flags[i].Heading(), g.Flags[i].Help)
		}
	}
	if c.After != "" {
		b.section("NOTES")
		b.text(escape(c.After))
	}
	b.examples(c.Examples)
	b.section("SEE ALSO")
	b.text(`\fB` + escape(program) + `\fR(1)`)
	if c.Page != "" {
		b.line(".PP")
		b.text(escape(program + " help docs/" + c.Page + ".md"))
	}
	return b.String()
}

// ManOf is the man page of the program itself.
func ManOf(program, about string, commands []Entry, chapters []Chapter, codes []Verb, r Release) string {
	b := &roff{}
	b.title(program, r)
	b.section("NAME")
	b.text(program + " \\- " + escape(about))
	b.section("SYNOPSIS")
	b.line(".B " + quoted(program+" COMMAND [flags]"))
	b.section("COMMANDS")
	for _, e := range commands {
		b.entry(program+" "+e.Name, e.Summary)
	}
	b.section("TOPICS")
	b.text(escape("Pages of the documentation, which " + program + " help TOPIC prints."))
	for _, c := range chapters {
		b.line(".SS " + quoted(c.Title))
		for _, t := range c.Topics {
			b.entry(t.Name, t.Summary)
		}
	}
	b.section("EXIT STATUS")
	for _, v := range codes {
		b.entry(v.Name, v.Help)
	}
	b.section("SEE ALSO")
	var pages []string
	for _, e := range commands {
		pages = append(pages, `\fB`+escape(program+"-"+e.Name)+`\fR(1)`)
	}
	b.text(strings.Join(pages, ",\n"))
	return b.String()
}

// roff is a man page that is being written.
type roff struct{ strings.Builder }

func (b *roff) line(text string) { b.WriteString(text + "\n") }

// text writes lines that are escaped already; none is taken for a request.
func (b *roff) text(text string) {
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
			line = `\&` + line
		}
		b.line(line)
	}
}

func (b *roff) title(name string, r Release) {
	b.line(fmt.Sprintf(".TH %s 1 %s %s %s", quoted(strings.ToUpper(name)), quoted(r.Day), quoted(strings.TrimSpace("inferometer "+r.Version)), quoted("Inferometer")))
}

func (b *roff) section(name string) { b.line(".SH " + quoted(name)) }

func (b *roff) entry(head, text string) {
	b.line(".TP")
	b.line(".B " + quoted(head))
	b.text(escape(text))
}

func (b *roff) examples(list []string) {
	if len(list) == 0 {
		return
	}
	b.section("EXAMPLES")
	b.line(".EX")
	for _, e := range list {
		b.text(escape(strings.TrimSpace(commandLine(e, Width-8))))
	}
	b.line(".EE")
}

// escape is text in which roff sees nothing of its own.
func escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r == '…':
			b.WriteString("...")
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func quoted(text string) string { return `"` + strings.ReplaceAll(escape(text), `"`, `\(dq`) + `"` }
