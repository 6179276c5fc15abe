package main

import (
	"bytes"
	"errors"
	"fmt"
	"html"
	"html/template"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// site is what is made of a repository.
type site struct {
	root    string
	Version string

	Chapters []*chapter
	jobs     map[string][]string // what a page is for, as the contents have it, by source
	pages    map[string]*page    // by source
	order    []*page             // as they are reached
	records  []*page             // decisions
	copied   map[string]bool     // files that are taken as they are
	places   []place
	errs     []error
}

// place is where a link leads within a page.
type place struct{ from, to, id string }

func newSite(root, version string) *site {
	return &site{root: root, Version: version, pages: map[string]*page{}, copied: map[string]bool{}}
}

// read makes all pages: those of the contents, and whatever can be reached from them.
func (s *site) read() error {
	contents, err := os.ReadFile(s.path(contentsPage))
	if err != nil {
		return err
	}
	entries, jobs, err := readContents(contents)
	if err != nil {
		return err
	}
	s.jobs = jobs
	found, err := filepath.Glob(s.path("docs/*.md"))
	if err != nil {
		return err
	}
	for i, name := range found {
		found[i] = "docs/" + filepath.Base(name)
	}
	if err := unlisted(found, entries); err != nil {
		return err
	}
	for _, e := range entries {
		p, err := s.page(e.source)
		if err != nil {
			return fmt.Errorf("%s lists %s: %w", contentsPage, e.source, err)
		}
		p.Label, p.about, p.Chapter, p.kind = e.label, e.about, e.chapter, guide
		if len(s.Chapters) == 0 || s.Chapters[len(s.Chapters)-1].Title != e.chapter {
			s.Chapters = append(s.Chapters, &chapter{Title: e.chapter})
		}
		c := s.Chapters[len(s.Chapters)-1]
		c.Pages = append(c.Pages, p)
	}
	read := slices.IndexFunc(s.order, func(p *page) bool { return p.Chapter == reference })
	if read < 0 {
		read = len(s.order)
	}
	chain(slices.Clone(s.order[:read]))
	if _, err := s.page(contentsPage); err != nil {
		return err
	}
	for i := 0; i < len(s.order); i++ { // it grows meanwhile
		s.make(s.order[i])
	}
	s.decisions()
	for _, l := range s.places {
		if to := s.pages[l.to]; !to.ids[l.id] {
			s.errs = append(s.errs, fmt.Errorf("%s links to %s#%s, which has no such heading", l.from, l.to, l.id))
		}
	}
	return errors.Join(s.errs...)
}

// reference is the chapter of pages that are looked up. It and those after it are not read one page after the other.
const reference = "Reference"

// chain joins pages that are read one after the other.
func chain(pages []*page) {
	for i := 1; i < len(pages); i++ {
		pages[i].Previous, pages[i-1].Next = pages[i-1], pages[i]
	}
}

// decisions puts the records, which the contents list as a directory, in their order.
func (s *site) decisions() {
	for _, p := range s.order {
		if p.kind == decision {
			s.records = append(s.records, p)
		}
	}
	slices.SortFunc(s.records, func(a, b *page) int { return strings.Compare(a.Source, b.Source) })
	chain(s.records)
}

func (s *site) path(name string) string { return filepath.Join(s.root, filepath.FromSlash(name)) }

// page gives the page of a file or directory, a new one if it has none yet.
func (s *site) page(source string) (*page, error) {
	info, err := os.Stat(s.path(source))
	if err != nil {
		return nil, errors.New("there is no such file")
	}
	dir := path.Dir(source)
	if info.IsDir() {
		if _, err := os.Stat(s.path(path.Join(source, "README.md"))); err == nil {
			return s.page(path.Join(source, "README.md"))
		}
		dir = source
	}
	if p := s.pages[source]; p != nil {
		return p, nil
	}
	p := &page{Source: source, dir: dir, Label: source, Chapter: "File", kind: aside}
	switch {
	case info.IsDir():
		p.Out = path.Join(source, "index.html")
	case path.Base(source) == "README.md":
		p.Out = path.Join(dir, "index.html")
	case path.Ext(source) == ".md":
		p.Out = strings.TrimSuffix(source, ".md") + ".html"
	default:
		p.Out = source + ".html"
	}
	if path.Dir(source) == "docs/decisions" {
		p.kind, p.Chapter = decision, "Decisions"
	}
	s.pages[source] = p
	s.order = append(s.order, p)
	return p, nil
}

// make reads and renders a page; what it links to becomes part of the site.
func (s *site) make(p *page) {
	text, err := s.source(p)
	if err == nil {
		err = p.render(text)
	}
	if err != nil {
		s.errs = append(s.errs, err)
		return
	}
	p.Title = s.links(p, p.Title)
	p.Body = s.links(p, p.Body)
}

// source is the Markdown of a page: a file's own, the list of a directory, or the text of any other file as code.
func (s *site) source(p *page) ([]byte, error) {
	name := s.path(p.Source)
	if there, err := os.ReadDir(name); err == nil {
		return list(p, name, there)
	}
	text, err := os.ReadFile(name)
	if err != nil || path.Ext(name) == ".md" {
		return text, err
	}
	fence := "```"
	for bytes.Contains(text, []byte(fence)) {
		fence += "`"
	}
	return fmt.Appendf(nil, "# %s\n\n%s%s\n%s\n%s\n", p.Source, fence, strings.TrimPrefix(path.Ext(name), "."), bytes.TrimRight(text, "\n"), fence), nil
}

// list is a table of what is in a directory. Pages have their titles there; records, their numbers.
func list(p *page, dir string, there []os.DirEntry) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# %s\n\n%s\n\n| | |\n|---|---|\n", p.Label, p.about)
	for _, e := range there {
		label, number := e.Name(), ""
		if path.Ext(label) == ".md" {
			text, err := os.ReadFile(filepath.Join(dir, label))
			if err != nil {
				return nil, err
			}
			first, _, _ := strings.Cut(string(text), "\n")
			label = strings.TrimPrefix(first, "# ")
			if m := numbered.FindStringSubmatch(label); m != nil {
				label, number = m[2], m[1]
			}
		}
		fmt.Fprintf(&b, "| %s | [%s](%s) |\n", number, label, e.Name())
	}
	return b.Bytes(), nil
}

var (
	numbered = regexp.MustCompile(`^(\d+)[.:] (.*)`)
	address  = regexp.MustCompile(`(<[a-z]+ [^<>]*?)\b(href|src|srcset)="([^"]*)"`)
)

// links turns the links of a page from files of the repository to files of the site.
func (s *site) links(p *page, body template.HTML) template.HTML {
	return template.HTML(address.ReplaceAllStringFunc(string(body), func(attribute string) string {
		m := address.FindStringSubmatch(attribute)
		to, err := s.link(p, m[2], html.UnescapeString(m[3]))
		if err != nil {
			s.errs = append(s.errs, fmt.Errorf("%s links to %s: %w", p.Source, m[3], err))
			return attribute
		}
		return m[1] + m[2] + `="` + html.EscapeString(to) + `"`
	}))
}

func (s *site) link(p *page, attribute, target string) (string, error) {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return "", err
	case (u.Scheme != "" || u.Host != "") && attribute != "href" && u.Scheme != "data":
		return "", errors.New("pictures must be in the repository: the site has no network")
	case u.Scheme != "" || u.Host != "":
		return target, nil
	case strings.HasPrefix(u.Path, "/"):
		return "", errors.New("it must be relative")
	}
	source := p.Source
	if u.Path != "" {
		source = path.Join(p.dir, u.Path)
	}
	if strings.HasPrefix(source, "../") {
		return "", errors.New("it leads out of the repository")
	}
	if attribute != "href" || s.isData(source) {
		s.copied[source] = true
		return p.to(source, ""), nil
	}
	to, err := s.page(source)
	if err != nil {
		return "", err
	}
	if u.Fragment != "" {
		s.places = append(s.places, place{p.Source, to.Source, u.Fragment})
	}
	if to == p && u.Fragment != "" {
		return "#" + u.EscapedFragment(), nil
	}
	return p.to(to.Out, u.Fragment), nil
}

// To is the address of another page from this one.
func (p *page) To(other *page) string { return p.to(other.Out, "") }

func (p *page) to(out, id string) string {
	relative, err := filepath.Rel(filepath.FromSlash(path.Dir(p.Out)), filepath.FromSlash(out))
	if err != nil {
		panic(err) // both are relative to the site
	}
	return (&url.URL{Path: filepath.ToSlash(relative), Fragment: id}).String()
}

// Root is the way from this page to the top of the site.
func (p *page) Root() string { return strings.Repeat("../", strings.Count(p.Out, "/")) }

// largest is the size up to which a text is shown as a page.
const largest = 200 << 10

// isData says whether a file is better opened by another program than shown as text.
func (s *site) isData(name string) bool {
	info, err := os.Stat(s.path(name))
	if err != nil || info.IsDir() || path.Ext(name) == ".md" {
		return false
	}
	text, err := os.ReadFile(s.path(name))
	return err == nil && (len(text) > largest || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 || path.Ext(name) == ".svg" || path.Ext(name) == ".html")
}
