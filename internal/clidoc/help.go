package clidoc

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Width is how many columns text has where no terminal is narrower.
const Width = 80

// least is the width under which text is not broken any further.
const least = 24

// Help is the text of --help in so many columns: with the flags that people use, or all of them.
func (c *Command) Help(width int, all bool) string {
	width = max(width, least)
	var b strings.Builder
	paragraphs(&b, c.About, width)
	b.WriteByte('\n')
	c.usage(&b, width)
	if c.Text != "" {
		b.WriteByte('\n')
		paragraphs(&b, c.Text, width)
	}
	if len(c.Examples) > 0 {
		b.WriteString("\nExamples:\n")
		for _, e := range c.Examples {
			b.WriteString(commandLine(e, width))
		}
	}
	groups := c.shown(all)
	left := leftColumn(groups, width)
	for _, g := range groups {
		g.write(&b, left, width)
	}
	for _, text := range []string{c.After, c.more(all)} {
		if text != "" {
			b.WriteByte('\n')
			paragraphs(&b, text, width)
		}
	}
	return b.String()
}

// Help is the text of --help about flags that a tool has besides its own.
func (g Group) Help(width int) string {
	width = max(width, least)
	var b strings.Builder
	g.write(&b, leftColumn([]Group{g}, width), width)
	return b.String()
}

func (g Group) write(b *strings.Builder, left, width int) {
	b.WriteString("\n" + g.Title + ":\n")
	for i := range g.Flags {
		entry(b, flagHeading(&g.Flags[i]), g.Flags[i].Help, left, width)
	}
}

func (c *Command) more(all bool) string {
	var list []string
	if n := len(c.flags()); !all && len(c.Common) > 0 {
		list = append(list, fmt.Sprintf("inferometer %s --help-all lists all %d flags.", c.Name, n))
	}
	if c.Page != "" {
		list = append(list, "More: inferometer help docs/"+c.Page+".md")
	}
	return strings.Join(list, "\n\n")
}

// usage writes the forms of a command's line, each with what it does.
func (c *Command) usage(b *strings.Builder, width int) {
	left := 0
	for _, u := range c.Usage {
		if u.Help != "" {
			left = max(left, len(u.Line)+4)
		}
	}
	wide := left > width/2
	for _, u := range c.Usage {
		switch {
		case u.Help == "":
			b.WriteString(commandLine(u.Line, width))
		case wide:
			b.WriteString(commandLine(u.Line, width))
			for _, line := range Wrap(u.Help, width-6) {
				b.WriteString("      " + line + "\n")
			}
		default:
			entry(b, "  "+u.Line, u.Help, left, width)
		}
	}
}

// flagHeading is the left column of a flag, in which long names stand under one another.
func flagHeading(f *Flag) string {
	if f.Short == "" && !f.Single {
		return "      " + f.Heading()
	}
	return "  " + f.Heading()
}

// leftColumn is the width of the left column: its widest entry's, if that leaves room for the
// text.
func leftColumn(groups []Group, width int) int {
	most, left := min(30, width*2/5), 0
	for _, g := range groups {
		for i := range g.Flags {
			if n := utf8.RuneCountInString(flagHeading(&g.Flags[i])) + 2; n <= most {
				left = max(left, n)
			}
		}
	}
	if left == 0 {
		return 8
	}
	return left
}

// entry writes a heading with its text in a column beside it, or under it where it is too wide.
func entry(b *strings.Builder, head, text string, left, width int) {
	wide := utf8.RuneCountInString(head)
	if wide+2 > left {
		b.WriteString(head + "\n")
		head, wide = "", 0
	}
	for _, line := range Wrap(text, width-left) {
		b.WriteString(head + strings.Repeat(" ", left-wide) + line + "\n")
		head, wide = "", 0
	}
}

// paragraphs writes text with its lines broken anew; an empty line begins a paragraph.
func paragraphs(b *strings.Builder, text string, width int) {
	for i, p := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteByte('\n')
		}
		for _, line := range Wrap(p, width) {
			b.WriteString(line + "\n")
		}
	}
}

// commandLine is an indented command line, broken with backslashes where it is too long.
func commandLine(text string, width int) string {
	line, comment, _ := strings.Cut(text, "   ")
	comment = strings.TrimSpace(comment)
	if n := utf8.RuneCountInString("  " + line + "   # " + comment); comment != "" && n <= width {
		return "  " + line + "   # " + comment + "\n"
	}
	var b strings.Builder
	if comment != "" {
		for _, l := range Wrap(comment, width-4) {
			b.WriteString("  # " + l + "\n")
		}
	}
	indent, at := "  ", ""
	for _, w := range arguments(line) {
		if at != "" && utf8.RuneCountInString(indent+at+" "+w+" \\") > width {
			b.WriteString(indent + at + " \\\n")
			indent, at = "      ", ""
		}
		if at != "" {
			at += " "
		}
		at += w
	}
	b.WriteString(indent + at + "\n")
	return b.String()
}

// arguments are the words of a command line with their quotes, and each flag with its value.
func arguments(line string) []string {
	var words []string
	open := false
	for w := range strings.SplitSeq(line, " ") {
		joined := open
		if !joined && len(words) > 0 && !strings.HasPrefix(w, "-") && !strings.HasPrefix(w, "[") {
			before := words[len(words)-1]
			joined = strings.HasPrefix(before, "-") && !strings.Contains(before, " ")
		}
		if joined {
			words[len(words)-1] += " " + w
		} else {
			words = append(words, w)
		}
		if strings.Count(w, "'")%2 == 1 {
			open = !open
		}
	}
	return words
}

// Wrap breaks text into lines of at most so many characters, between words.
func Wrap(text string, width int) []string {
	var lines []string
	line, n := "", 0
	for _, w := range strings.Fields(text) {
		wide := utf8.RuneCountInString(w)
		if n > 0 && n+1+wide > width {
			lines, line, n = append(lines, line), "", 0
		}
		if n > 0 {
			line, n = line+" ", n+1
		}
		line, n = line+w, n+wide
	}
	return append(lines, line)
}
