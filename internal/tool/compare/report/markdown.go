package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/report/md"
)

// widest is how much of a text of unknown origin Markdown shows.
const widest = 300

// Markdown prints a comparison for a pull request.
func Markdown(w io.Writer, c *compare.Comparison) error {
	var b bytes.Buffer
	var names []string
	for _, s := range c.Sides {
		names = append(names, md.Prose(s.Name, nameWidth))
	}
	fmt.Fprintf(&b, "### Comparison: %s\n\n", strings.Join(names, " against "))
	if n := first(c); n > 0 {
		fmt.Fprintf(&b, "> ⚠️ **%s**\n\n", md.Prose(c.Doubts[0], widest))
	}
	for i, s := range c.Sides {
		r := s.Runs[0]
		verdict := strings.ToUpper(r.Verdict)
		if r.Verdict == compare.NotKnown {
			verdict = "measured by " + r.By
		}
		text := fmt.Sprintf("- **%s**: %s", names[i], md.Prose(r.Path+", "+r.Subject+", "+verdict, widest))
		if n := len(s.Runs) - 1; n > 0 {
			text += " and " + more(n)
		}
		fmt.Fprintln(&b, text)
	}
	for _, n := range notes(c) {
		fmt.Fprintln(&b, "- "+md.Prose(n, widest))
	}
	var cautions []string
	cautions = append(cautions, c.Doubts[first(c):]...)
	for _, d := range c.Plans {
		cautions = append(cautions, "Plans differ in "+clash(c, d))
	}
	caution(&b, cautions)
	markdownCapacity(&b, c)
	for i := range c.Loads {
		for k := range c.Loads[i].Tables {
			markdownTable(&b, c, &c.Loads[i], &c.Loads[i].Tables[k])
		}
	}
	if len(c.Loads) == 0 && c.Capacity == nil {
		fmt.Fprint(&b, "\nThe sides have no load in common: there is nothing to compare.\n")
	}
	for _, u := range c.Unmatched {
		fmt.Fprintf(&b, "\nNot compared: %s of %s, which the other side does not have.\n", md.Prose(u.Load, widest), md.Prose(c.Sides[u.Side].Name, nameWidth))
	}
	_, err := w.Write(b.Bytes())
	return err
}

func caution(b *bytes.Buffer, list []string) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintln(b)
	for _, text := range list {
		fmt.Fprintln(b, "> ⚠️ "+md.Prose(text, widest)+"  ")
	}
}

func markdownTable(b *bytes.Buffer, c *compare.Comparison, l *compare.Load, t *compare.Table) {
	fmt.Fprintf(b, "\n**%s**: %s\n", md.Prose(l.Name, widest), md.Prose(about(c, l, t), widest))
	caution(b, t.Doubts)
	title := columns(c, t)
	fmt.Fprintf(b, "\n| | | %s | %s | %s | %s | %s | |\n|:--|:--|--:|--:|--:|--:|--:|:--|\n",
		md.Prose(title.a, nameWidth), md.Prose(title.b, nameWidth), title.difference, title.interval, title.p)
	last := ""
	for i := range t.Rows {
		r := &t.Rows[i]
		row, name := lineOf(r), ""
		if r.Metric != last {
			name = md.Prose(row.name, nameWidth*2)
		}
		last = r.Metric
		verdict := strings.ReplaceAll(row.verdict, "~", `\~`)
		if r.Verdict == compare.Better || r.Verdict == compare.Worse {
			verdict = "**" + verdict + "**"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", name, row.stat, row.a, row.b, row.difference, row.interval, strings.ReplaceAll(row.p, "<", "&lt;"), verdict)
	}
	fmt.Fprintln(b)
	for _, text := range []string{legend(t), t.Headline, t.Longer, method(t)} {
		if text != "" {
			fmt.Fprintln(b, md.Prose(text, 1000)+"  ")
		}
	}
}
