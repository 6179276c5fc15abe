package clidoc

import (
	"regexp"
	"strings"

	"github.com/inferometer/inferometer/docs"
)

// allSections are the sections of all pages, in the order of the contents.
func allSections() []section {
	var all []section
	jobs, syntax := jobsOf(), newSyntax()
	for _, c := range Chapters() {
		for _, t := range c.Topics {
			label, about, _ := strings.Cut(t.Summary, ": ")
			of := &searched{wordsOf(label), wordsOf(t.Name), wordsOf(about + " " + strings.Join(jobs[t.Name], " "))}
			all = append(all, sectionsOf(t.Name, label, of, syntax)...)
		}
	}
	return all
}

// sectionsOf are the parts of a page between its headings.
func sectionsOf(name, label string, of *searched, syntax syntax) []section {
	text, _ := docs.Page(name)
	var list []section
	var lines []string
	heading, fenced := "", false
	flush := func() {
		s := section{Place: Place{Topic: name, Title: label, heading: heading, text: strings.Join(lines, "\n")}, of: of, words: wordsOf(heading)}
		if heading != "" {
			s.Title += " › " + heading
		}
		s.lower = strings.ToLower(syntax.plain(s.text))
		list, lines = append(list, s), nil
	}
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if m := syntax.headings.FindStringSubmatch(line); m != nil && len(m[1]) > 1 && !fenced {
			flush()
			heading = syntax.plain(m[2])
		}
		lines = append(lines, line)
	}
	flush()
	return list
}

// plain is what a reader sees of Markdown.
func (s syntax) plain(text string) string {
	text = s.comments.ReplaceAllString(text, "")
	text = s.images.ReplaceAllString(text, "$1")
	text = s.links.ReplaceAllString(text, "$1")
	return strings.Join(strings.Fields(strings.NewReplacer("`", "", "**", "", "|", " ").Replace(text)), " ")
}

// jobsOf are the jobs that pages are for, as the table of the contents has them.
func jobsOf() map[string][]string {
	list, _ := docs.Page(contents)
	link := regexp.MustCompile(`\]\(([^/()#]+)\.md[^)]*\)`)
	syntax, jobs := newSyntax(), map[string][]string{}
	for line := range strings.Lines(list) {
		job, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		for _, to := range link.FindAllStringSubmatch(job, -1) {
			jobs[to[1]] = append(jobs[to[1]], syntax.plain(job))
		}
	}
	return jobs
}
