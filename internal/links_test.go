package internal

import (
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode"
)

// markdown is a page of this repository: where it leads, and where in it links can lead.
type markdown struct {
	links   []link
	anchors map[string]bool
}

type link struct {
	line   int
	target string
}

// TestLinks: every link of every page leads to a file of this repository and, in pages, to a place in it.
// What is on the web is not looked up.
func TestLinks(t *testing.T) {
	pages, links := allMarkdown(t), 0
	for name, page := range pages {
		for _, l := range page.links {
			links++
			if problem := follow(pages, name, l.target); problem != "" {
				t.Errorf("%s:%d: the link to %s is dead: %s", name, l.line, l.target, problem)
			}
		}
	}
	if links < 200 {
		t.Errorf("only %d links found: this test looks for the wrong thing", links)
	}
}

// TestContents: the lists of docs/README.md have every page of docs once. The site and the help follow their order.
func TestContents(t *testing.T) {
	pages := allMarkdown(t)
	text, err := os.ReadFile("../docs/README.md")
	if err != nil {
		t.Fatal(err)
	}
	lines, listed := strings.Split(string(text), "\n"), map[string]int{}
	for _, l := range pages["docs/README.md"].links {
		if strings.HasPrefix(lines[l.line-1], "- ") {
			listed[path.Join("docs", l.target)]++
		}
	}
	for name := range pages {
		if path.Dir(name) == "docs" && name != "docs/README.md" && listed[name] != 1 {
			t.Errorf("docs/README.md lists %s %d times, wanted once: it is the table of contents of the site and of inferometer help", name, listed[name])
		}
	}
}

// TestDeadLinks: the checks above find what they are for.
func TestDeadLinks(t *testing.T) {
	text := "# One `two_three` & [four](x.md)\n## Ein **fettes** Wort, größer\n## Again\n## Again\n<a id=\"here\"></a>\n" +
		"````\n[code](nowhere.md)\n```\n# not a heading\n````\nand `[more\n](nowhere.md)`, a lone ` and\n\n" +
		"[a](#again-1) [b](README.md) ![c](<nowhere.png> \"with a title\")\n[d]: gone.md\n<img src=\"lost.svg\"> [e](page_(1).md) ` [f](https://example.com/x)"
	page := readMarkdown(text)
	if got, want := slices.Sorted(maps.Keys(page.anchors)), []string{"again", "again-1", "ein-fettes-wort-größer", "here", "one-two_three--four"}; !slices.Equal(got, want) {
		t.Errorf("anchors %q, want %q", got, want)
	}
	var targets []string
	for _, l := range page.links {
		targets = append(targets, fmt.Sprint(l.line, " ", l.target))
	}
	if want := []string{"1 x.md", "14 #again-1", "14 README.md", "14 nowhere.png", "16 page_(1).md", "16 https://example.com/x", "15 gone.md", "16 lost.svg"}; !slices.Equal(targets, want) {
		t.Errorf("links %q, want %q", targets, want)
	}
	pages := map[string]markdown{"docs/a.md": page, "README.md": {}}
	for target, want := range map[string]string{
		"#again-1": "", "../README.md": "", "https://example.com/#x": "", "mailto:a@example.com": "", "../internal": "", "a.md#here": "", "b.md": "there is no docs/b.md",
		"#again-2": "has no heading", "../README.md#x": "has no heading", "/README.md": "begins at the root", "../../x.md": "out of the repository",
		"../LICENSE#x": "is not a page", "%zz": "invalid URL",
	} {
		if got := follow(pages, "docs/a.md", target); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

// follow says what is wrong with a link, if anything.
func follow(pages map[string]markdown, from, target string) string {
	u, err := url.Parse(target)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme != "" || u.Host != "":
		return ""
	case strings.HasPrefix(u.Path, "/"):
		return "it begins at the root, where GitHub and a file system have different things"
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	if strings.HasPrefix(to, "../") {
		return "it leads out of the repository"
	}
	page, isPage := pages[to]
	if _, err := os.Stat(filepath.Join("..", to)); err != nil && !isPage {
		return "there is no " + to
	}
	switch {
	case u.Fragment == "" || page.anchors[u.Fragment]:
		return ""
	case !isPage:
		return to + " is not a page, and has no anchors"
	}
	return fmt.Sprintf("%s has no heading #%s", to, u.Fragment)
}

func allMarkdown(t *testing.T) map[string]markdown {
	t.Helper()
	pages, err := readPages()
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// readPages reads the pages of the repository by their paths; what tests compare with is none.
var readPages = sync.OnceValues(func() (map[string]markdown, error) {
	pages := map[string]markdown{}
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, d fs.DirEntry, err error) error {
		base := path.Base(name)
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if strings.HasPrefix(base, ".") && name != "." || slices.Contains([]string{"testdata", "node_modules", "site", "dist", "bin", "out"}, base) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".md":
			return nil
		}
		text, err := os.ReadFile(filepath.Join("..", name))
		pages[name] = readMarkdown(string(text))
		return err
	})
	return pages, err
})

var (
	codeSpan   = regexp.MustCompile("``[^\n]*?``|`(?:[^`\n]|\n[^`\n])*`")
	fenceMarks = regexp.MustCompile("^(```+|~~~+)")
	heading    = regexp.MustCompile(`^#{1,6}\s+(.*?)\s*#*\s*$`)
	inlined    = regexp.MustCompile(`\]\(\s*<?([^\s<>()]*(?:\([^\s()]*\)[^\s<>()]*)*)>?(?:\s+"[^"]*")?\s*\)`)
	defined    = regexp.MustCompile(`(?m)^\[[^\]]+\]:\s*<?([^\s>]+)`)
	inHTML     = regexp.MustCompile(`(?:href|src|srcset)="([^"]*)"`)
	named      = regexp.MustCompile(`(?:id|name)="([^"]*)"`)
	linkText   = regexp.MustCompile(`!?\[([^\]]*)\]\([^)]*\)`)
	emphasis   = regexp.MustCompile(`\*\*?([^*]+)\*\*?`)
	outOfCode  = regexp.MustCompile("`")
)

// readMarkdown finds links and anchors. Code, in fences or in a line, has none.
func readMarkdown(text string) markdown {
	page, seen := markdown{anchors: map[string]bool{}}, map[string]int{}
	fence := ""
	var prose []string // without code, by lines
	for _, line := range strings.Split(text, "\n") {
		plain := strings.TrimLeft(line, " >")
		switch marks := fenceMarks.FindString(plain); {
		case fence == "" && marks != "":
			fence, line = marks, ""
		case fence != "":
			if strings.HasPrefix(marks, fence) {
				fence = ""
			}
			line = ""
		}
		if m := heading.FindStringSubmatch(line); m != nil {
			slug := anchor(m[1])
			n := seen[slug]
			seen[slug]++
			if n > 0 {
				slug = fmt.Sprintf("%s-%d", slug, n)
			}
			page.anchors[slug] = true
		}
		prose = append(prose, line)
	}
	// A span of code may go over the end of a line; its lines still count.
	words := codeSpan.ReplaceAllStringFunc(strings.Join(prose, "\n"), func(s string) string { return strings.Repeat("\n", strings.Count(s, "\n")) })
	for _, m := range named.FindAllStringSubmatch(words, -1) {
		page.anchors[m[1]] = true
	}
	for _, form := range []*regexp.Regexp{inlined, defined, inHTML} {
		for _, m := range form.FindAllStringSubmatchIndex(words, -1) {
			page.links = append(page.links, link{line: 1 + strings.Count(words[:m[0]], "\n"), target: words[m[2]:m[3]]})
		}
	}
	return page
}

// anchor is what GitHub calls a heading in links: its words in small letters, joined by hyphens.
func anchor(title string) string {
	title = linkText.ReplaceAllString(title, "$1")
	title = emphasis.ReplaceAllString(title, "$1")
	title = outOfCode.ReplaceAllString(title, "")
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
