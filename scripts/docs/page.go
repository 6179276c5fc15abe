package main

import (
	"bytes"
	"fmt"
	"html"
	"html/template"
	"iter"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	markdown "github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	htmlrenderer "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// page is one of the site.
type page struct {
	Source  string // path in the repository, of a file or a directory
	dir     string // where its links begin
	Out     string // path in the site
	Label   string // short name, as the contents have it
	about   string // a line on it, as the contents have it
	Chapter string
	kind    kind

	Name     string        // the title as plain text
	Title    template.HTML // what goes down to the end of the title
	Body     template.HTML // all that follows
	Headings []heading
	sections []*section
	ids      map[string]bool
	summary  string

	Previous, Next *page
}

// kind says how much a page is worth to a reader who searches.
type kind int

const (
	guide    kind = iota
	decision      // why something is as it is
	aside         // a file or a page that another one links to
)

type heading struct {
	Level    int
	ID, Text string
}

// section is what a search finds: a heading and the text below it.
type section struct {
	id, title string
	text      strings.Builder
}

func parser() markdown.Parser { return engine().Parser() }

var engine = sync.OnceValue(func() goldmark.Markdown {
	return goldmark.New(
		goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList, extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"https:"}))),
		goldmark.WithRendererOptions(htmlrenderer.WithUnsafe(), renderer.WithNodeRenderers(util.Prioritized(blocks{}, 100))),
	)
})

// render makes a page of Markdown. Links are still those of the source.
func (p *page) render(source []byte) error {
	doc := parser().Parse(text.NewReader(source))
	p.outline(doc, source)
	var b bytes.Buffer
	if err := engine().Renderer().Render(&b, source, doc); err != nil {
		return fmt.Errorf("%s: %w", p.Source, err)
	}
	body := b.String()
	body = strings.ReplaceAll(body, "<table>", `<div class="scroll"><table>`)
	body = strings.ReplaceAll(body, "</table>", "</table></div>")
	body = noHeader.ReplaceAllString(body, "<td></td>") // a cell without words is no header to those who listen
	body = cell.ReplaceAllStringFunc(body, roomy)
	p.ids = map[string]bool{}
	for _, m := range idAttribute.FindAllStringSubmatch(body, -1) {
		p.ids[html.UnescapeString(m[1])] = true
	}
	title, rest, ok := strings.Cut(body, "</h1>")
	if !ok {
		title, rest = "<h1>"+html.EscapeString(p.Name), body
	}
	p.Title, p.Body = template.HTML(title+"</h1>"), template.HTML(rest)
	return nil
}

var (
	noHeader = regexp.MustCompile(`<th(?: [^>]*)?></th>`)
	cell     = regexp.MustCompile(`<td(?: [^>]*)?>.*?</td>`)
	figure   = regexp.MustCompile(`^[~±≥≤<>−-]? ?\d`)
	tag      = regexp.MustCompile(`<[^>]*>`)
)

// roomy gives cells that hold sentences a width in which they can be read, and keeps figures with their units.
func roomy(cell string) string {
	class, text := "", html.UnescapeString(tag.ReplaceAllString(cell, ""))
	switch n := utf8.RuneCountInString(text); {
	case n > 70:
		class = ` class="long"`
	case n > 20:
		class = ` class="words"`
	case figure.MatchString(text):
		class = ` class="figure"`
	}
	return "<td" + class + strings.TrimPrefix(cell, "<td")
}

var idAttribute = regexp.MustCompile(` id="([^"]*)"`)

// outline gives headings their anchors, and collects what the table of contents and the search need.
func (p *page) outline(doc ast.Node, source []byte) {
	seen := map[string]int{}
	now := &section{}
	p.sections = []*section{now}
	for n := range children(doc) {
		h, ok := n.(*ast.Heading)
		if !ok {
			if now.text.Len() > 0 {
				now.text.WriteByte(' ')
			}
			words := plainText(n, source)
			now.text.WriteString(words)
			if _, ok := n.(*ast.Paragraph); ok && p.summary == "" {
				p.summary = words
			}
			continue
		}
		title := plainText(h, source)
		id := anchor(title)
		if seen[id]++; seen[id] > 1 {
			id = fmt.Sprintf("%s-%d", id, seen[id]-1)
		}
		h.SetAttributeString("id", []byte(id))
		if h.Level == 1 && p.Name == "" {
			p.Name = title
			continue
		}
		if h.Level <= 3 {
			p.Headings = append(p.Headings, heading{h.Level, id, title})
		}
		now = &section{id: id, title: title}
		p.sections = append(p.sections, now)
	}
	if p.Name == "" {
		p.Name = p.Label
	}
	if p.kind != guide {
		p.Label = p.Name
	}
}

// anchor is what GitHub calls a heading in links, so that they work in both places.
func anchor(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}

// plainText is what a reader sees of a node.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			if n.Type() == ast.TypeBlock && b.Len() > 0 {
				b.WriteByte(' ')
			}
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Text:
			b.Write(n.Segment.Value(source))
			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(n.Value)
		case *ast.AutoLink:
			b.Write(n.Label(source))
		case *ast.CodeBlock, *ast.FencedCodeBlock:
			b.Write(n.Lines().Value(source))
		}
		return ast.WalkContinue, nil
	})
	words := util.UnescapePunctuations([]byte(html.UnescapeString(b.String())))
	return strings.Join(strings.Fields(string(words)), " ")
}

func children(n ast.Node) iter.Seq[ast.Node] {
	return func(yield func(ast.Node) bool) {
		for c := n.FirstChild(); c != nil; c = c.NextSibling() {
			if !yield(c) {
				return
			}
		}
	}
}

// blocks renders what looks different here: headings that can be linked to, and code.
type blocks struct{}

func (blocks) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindHeading, renderHeading)
	r.Register(ast.KindFencedCodeBlock, renderCode)
	r.Register(ast.KindCodeBlock, renderCode)
	r.Register(ast.KindCodeSpan, renderSpan)
}

// option is a flag of a command line.
var option = regexp.MustCompile(`(^|\s)(--?[A-Za-z][\w-]*)`)

// renderSpan keeps what is short, and each flag, on one line: a flag that is cut at a hyphen cannot be read.
func renderSpan(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		code, class := "", ""
		for c := range children(n) {
			code += string(c.(*ast.Text).Segment.Value(source))
		}
		code = strings.ReplaceAll(code, "\n", " ")
		if utf8.RuneCountInString(code) <= 28 {
			class = ` class="whole"`
		}
		text := html.EscapeString(code)
		if class == "" {
			text = option.ReplaceAllString(text, `$1<span class="whole">$2</span>`)
		}
		fmt.Fprintf(w, "<code%s>%s</code>", class, text)
	}
	return ast.WalkSkipChildren, nil
}

func renderHeading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	value, _ := h.AttributeString("id")
	id := html.EscapeString(string(value.([]byte)))
	if entering {
		fmt.Fprintf(w, `<h%d id="%s">`, h.Level, id)
	} else if h.Level == 1 {
		fmt.Fprintln(w, "</h1>")
	} else {
		fmt.Fprintf(w, ` <a class="anchor" href="#%s" aria-label="Link to this section">#</a></h%d>`+"\n", id, h.Level)
	}
	return ast.WalkContinue, nil
}

func renderCode(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		language := ""
		if f, ok := n.(*ast.FencedCodeBlock); ok {
			language = string(f.Language(source))
		}
		fmt.Fprintf(w, "<div class=\"code\"><pre><code>%s</code></pre></div>\n", highlight(language, string(n.Lines().Value(source))))
	}
	return ast.WalkSkipChildren, nil
}
