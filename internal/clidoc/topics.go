package clidoc

import (
	"regexp"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/docs"
)

// contents is the page that lists the others.
const contents = "README"

// Chapter are topics that belong together.
type Chapter struct {
	Title  string
	Topics []Topic
}

// Topic is a page of docs/.
type Topic struct {
	Name    string // what it is called on the command line
	Summary string
}

// Chapters are all topics, in the order in which the list of pages has them.
func Chapters() []Chapter {
	list, _ := docs.Page(contents)
	entry := regexp.MustCompile(`^[-*] \[([^]]*)\]\(([^/()#]+)\.md\)(?:: (.*))?$`)
	var all []Chapter
	seen := map[string]bool{contents: true}
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\n")
		if title, ok := strings.CutPrefix(line, "## "); ok {
			all = append(all, Chapter{Title: title})
			continue
		}
		m := entry.FindStringSubmatch(line)
		if m == nil || len(all) == 0 || seen[m[2]] || !isTopic(m[2]) {
			continue
		}
		seen[m[2]] = true
		c, summary := &all[len(all)-1], m[1]
		if m[3] != "" {
			summary += ": " + m[3]
		}
		c.Topics = append(c.Topics, Topic{m[2], summary})
	}
	var rest Chapter
	for _, name := range docs.Names() {
		if !seen[name] {
			rest.Topics = append(rest.Topics, Topic{name, titleOf(name)})
		}
	}
	rest.Title = "Other pages"
	return slices.DeleteFunc(append(all, rest), func(c Chapter) bool { return len(c.Topics) == 0 })
}

func isTopic(name string) bool {
	return docs.Has(name) && name != contents
}

func titleOf(name string) string {
	text, _ := docs.Page(name)
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimLeft(line, "# ")
}

// Topics are the names of all topics.
func Topics() []string {
	return slices.DeleteFunc(docs.Names(), func(name string) bool { return name == contents })
}

// FindTopic is the name of the topic that someone means: gates, docs/gates.md or GATES. certain: it
// is that of a page and can be nothing else. Empty: there is none.
func FindTopic(typed string) (name string, certain bool) {
	short := strings.TrimSuffix(strings.TrimPrefix(typed, "docs/"), ".md")
	for _, topic := range Topics() {
		if strings.EqualFold(topic, short) {
			return topic, short != typed
		}
	}
	return "", false
}
