package clidoc

import (
	"path"
	"regexp"
	"strings"
	"unicode/utf8"
)

// Marks within text: what is between them is drawn in bold. They have no width.
const (
	boldOn  = '\x01'
	boldOff = '\x02'
)

func bold(text string) string { return string(boldOn) + text + string(boldOff) }

// wide is how many columns text takes.
func wide(text string) int {
	return utf8.RuneCountInString(text) - strings.Count(text, string(boldOn)) - strings.Count(text, string(boldOff))
}

// syntax is that of Markdown, as far as the pages use it.
type syntax struct{ images, links, strong, emphasis, comments, escapes, headings, items, dividers *regexp.Regexp }

func newSyntax() syntax {
	return syntax{
		images:   regexp.MustCompile(`!\[([^]]*)\]\([^)]*\)`),
		links:    regexp.MustCompile(`\[((?:[^][]|\[[^]]*\])*)\]\(([^()\s]*(?:\([^()]*\)[^()\s]*)*)\)`),
		strong:   regexp.MustCompile(`\*\*([^*]+)\*\*`),
		emphasis: regexp.MustCompile(`(^|[\s(])\*([^*\s][^*]*)\*`),
		comments: regexp.MustCompile(`(?s)<!--.*?-->`),
		escapes:  regexp.MustCompile("\\\\([][\\\\`*_{}()#+.!|<>~-])"),
		headings: regexp.MustCompile(`^(#{1,6}) +(.*?)#*$`),
		items:    regexp.MustCompile(`^(\s*)([-*+]|[0-9]+\.) +(.*)$`),
		dividers: regexp.MustCompile(`^\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$`),
	}
}

// inline is a piece of Markdown as text: links say where they lead, once in a page each.
func (p *page) inline(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(text, "`") {
		if i%2 == 1 { // code
			b.WriteString(string(boldOn) + strings.ReplaceAll(part, `\|`, "|") + string(boldOff))
			continue
		}
		b.WriteString(strings.ReplaceAll(part, "&nbsp;", " "))
	}
	text = p.syntax.images.ReplaceAllString(b.String(), "[picture: $1]")
	text = p.syntax.links.ReplaceAllStringFunc(text, p.link)
	text = p.syntax.strong.ReplaceAllString(text, string(boldOn)+"$1"+string(boldOff))
	text = p.syntax.emphasis.ReplaceAllString(text, "$1$2")
	return p.syntax.escapes.ReplaceAllString(text, "$1")
}

func (p *page) link(text string) string {
	m := p.syntax.links.FindStringSubmatch(text)
	label, target := m[1], m[2]
	file, _, _ := strings.Cut(target, "#")
	where := ""
	switch {
	case strings.Contains(target, "://"):
		where = "<" + target + ">"
	case file == "":
	case !strings.Contains(file, "/") && strings.HasSuffix(file, ".md") && isTopic(strings.TrimSuffix(file, ".md")):
		where = "(help " + strings.TrimSuffix(file, ".md") + ")"
	default:
		where = "(" + path.Join("docs", file) + ")"
	}
	if where == "" || p.linked[where] || strings.Contains(where, label) && strings.HasPrefix(where, "<") {
		return label
	}
	p.linked[where] = true
	return label + " " + where
}
