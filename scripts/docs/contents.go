package main

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// contentsPage lists all pages in their order.
const contentsPage = "docs/README.md"

// chapter is a heading of the contents and the pages under it.
type chapter struct {
	Title string
	Pages []*page
}

// entry is a line of the contents.
type entry struct{ chapter, label, source, about string }

// readContents gives the lines of the contents, which are lists of links under headings, and by page the jobs of its
// table, whose rows begin with a job and link to pages.
func readContents(source []byte) (entries []entry, jobs map[string][]string, err error) {
	var errs []error
	title, seen := "", map[string]bool{}
	jobs = map[string][]string{}
	for n := range children(parser().Parse(text.NewReader(source))) {
		switch n := n.(type) {
		case *ast.Heading:
			title = plainText(n, source)
		case *extast.Table:
			for row := range children(n) {
				job := plainText(row.FirstChild(), source)
				for _, link := range allLinks(row) {
					to, _, _ := strings.Cut(path.Join("docs", string(link.Destination)), "#")
					jobs[to] = append(jobs[to], job)
				}
			}
		case *ast.List:
			for item := range children(n) {
				var link *ast.Link
				if links := allLinks(item); len(links) > 0 {
					link = links[0]
				}
				if link == nil || title == "" {
					errs = append(errs, fmt.Errorf("%s: %q is not a link to a page under a heading", contentsPage, plainText(item, source)))
					continue
				}
				e := entry{chapter: title, label: plainText(link, source), source: path.Join("docs", string(link.Destination))}
				e.about = strings.TrimPrefix(strings.TrimPrefix(plainText(item, source), e.label), ": ")
				if seen[e.source] {
					errs = append(errs, fmt.Errorf("%s lists %s twice", contentsPage, e.source))
				}
				seen[e.source] = true
				entries = append(entries, e)
			}
		}
	}
	return entries, jobs, errors.Join(errs...)
}

// unlisted gives the pages of docs/ that the contents lack.
func unlisted(pages []string, entries []entry) error {
	listed := map[string]bool{contentsPage: true}
	for _, e := range entries {
		listed[e.source] = true
	}
	var missing []string
	for _, p := range pages {
		if !listed[p] {
			missing = append(missing, p)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("%s does not list %s: add a line where readers should find it, such as\n- [Title](%s): what it is about", contentsPage, strings.Join(missing, ", "), path.Base(missing[0]))
}

func allLinks(n ast.Node) (links []*ast.Link) {
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if l, ok := n.(*ast.Link); ok && entering {
			links = append(links, l)
		}
		return ast.WalkContinue, nil
	})
	return links
}
