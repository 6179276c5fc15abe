package clidoc

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The ranking is that of scripts/docs/assets/ranking.js for the site; one table tests both.

// Found is what a search found.
type Found struct {
	Places []Place // best first
	Meant  string  // what was searched for instead of words that are written nowhere; empty: as typed
}

// Place is a section of a page.
type Place struct {
	Topic   string // the page
	Title   string // the page's title, and the section's
	heading string // empty: the top of the page
	text    string // Markdown
}

// Text is the section as text, as Page gives a page.
func (p Place) Text(width int, colour bool) string { return renderPage(p.text, width, colour) }

type section struct {
	Place
	of    *searched
	words []string // of the heading
	lower string   // all that is written in it
}

type searched struct{ words, names, told []string }

// Index is what is searched: all pages.
type Index struct {
	sections []section
	known    map[string]int
}

// NewIndex reads the pages.
func NewIndex() *Index {
	sections := allSections()
	return &Index{sections, vocabulary(sections)}
}

// Search looks for words in the pages. Places that have all of them are preferred to others.
func (x *Index) Search(query string) Found {
	sections, terms := x.sections, telling(query)
	asked := slices.Clone(terms)
	for i := range terms {
		terms[i] = correct(terms[i], x.known)
	}
	var f Found
	if !slices.Equal(terms, asked) {
		f.Meant = strings.Join(terms, " ")
	}
	f.Places = rank(sections, terms, len(terms))
	if len(f.Places) == 0 && len(terms) > 1 {
		f.Places = rank(sections, terms, 1)
	}
	f.Places = sectionFirst(f.Places, terms)
	return f
}

// sectionFirst prefers, where a page is found first, its section that has a term in its heading: it is what is read.
func sectionFirst(places []Place, terms []string) []Place {
	if len(places) == 0 || places[0].heading != "" {
		return places
	}
	i := slices.IndexFunc(places, func(p Place) bool {
		return p.Topic == places[0].Topic && p.heading != "" && slices.ContainsFunc(terms, func(term string) bool { return fit(wordsOf(p.heading), wordsOf(term)) == 1 })
	})
	if i < 0 {
		return places
	}
	return slices.Insert(slices.Delete(slices.Clone(places), i, i+1), 0, places[i])
}

const filler = " a an and are can do does for how i in is it my of on or the to use want what when where which why with "

// telling are the words of a query that say what it is about, at most eight.
func telling(query string) []string {
	var typed, told []string
	for _, w := range strings.Fields(strings.ToLower(query)) {
		if slices.Contains(typed, w) {
			continue
		}
		typed = append(typed, w)
		if !strings.Contains(filler, " "+strings.TrimSuffix(w, "?")+" ") {
			told = append(told, w)
		}
	}
	if len(told) == 0 {
		told = typed
	}
	return told[:min(len(told), 8)]
}

// rank gives the places that have so many of the terms, best first.
func rank(sections []section, terms []string, needed int) []Place {
	type scored struct {
		*section
		worth float64
	}
	var list []scored
	phrase := strings.Join(terms, " ")
	for i := range sections {
		s := &sections[i]
		sum, hits := 0.0, 0
		for _, term := range terms {
			if worth := s.score(term); worth > 0 {
				sum, hits = sum+worth, hits+1
			}
		}
		if hits < max(needed, 1) {
			continue
		}
		if len(terms) > 1 {
			sum += s.phrase(phrase)
		}
		share := float64(hits) / float64(len(terms))
		list = append(list, scored{s, sum * share * share})
	}
	slices.SortStableFunc(list, func(a, b scored) int { return cmp.Compare(b.worth, a.worth) })
	var places []Place
	perPage := map[string]int{}
	for _, s := range list {
		if perPage[s.Topic]++; perPage[s.Topic] <= 3 {
			places = append(places, s.Place)
		}
	}
	return places
}

// phrase is what a section is worth because it has the terms side by side.
func (s *section) phrase(phrase string) (worth float64) {
	label, _, _ := strings.Cut(s.Title, " › ")
	if strings.Contains(s.lower, phrase) {
		worth += 25
	}
	if strings.Contains(strings.ToLower(label), phrase) {
		worth += s.either(150, 20)
	}
	if strings.Contains(strings.ToLower(s.heading), phrase) {
		worth += 60
	}
	return worth
}

// either is the first for the top of a page, the second for other sections.
func (s *section) either(top, other float64) float64 {
	if s.heading == "" {
		return top
	}
	return other
}

// score is what a section is worth for a term; a plural finds its singular.
func (s *section) score(term string) float64 {
	best := s.form(term)
	if len(term) > 3 && strings.HasSuffix(term, "s") {
		best = max(best, 0.9*s.form(strings.TrimSuffix(term, "s")))
	}
	return best
}

func (s *section) form(form string) float64 {
	parts := wordsOf(form)
	share := func(list []string) float64 { return float64(len(parts)) / float64(max(len(list), 1)) }
	title := max(fit(s.of.words, parts)*(0.6+0.4*share(s.of.words)), fit(s.of.names, parts)*0.9)
	heading := fit(s.words, parts) * (0.7 + 0.3*share(s.words))
	times := 0
	for _, w := range s.of.told {
		if w == form {
			times++
		}
	}
	told := fit(s.of.told, parts) * float64(60+20*min(3, times))
	return s.either(150, 20)*title + s.either(told, 0) + 60*heading + occurrences(s.lower, form)
}

// fit says how well all parts of a term fit a few words: 1 is that they are among them, 0 that one is not.
func fit(list, parts []string) float64 {
	if len(parts) == 0 {
		return 0
	}
	worst := 1.0
	for _, p := range parts {
		best := 0.0
		for _, w := range list {
			switch {
			case w == p:
				best = 1
			case w == p+"s":
				best = max(best, 0.9)
			case strings.HasPrefix(w, p):
				share := 0.2
				if len(p) > 3 {
					share = 0.4
				}
				best = max(best, share*float64(len(p))/float64(len(w)))
			}
		}
		worst = min(worst, best)
	}
	return worst
}

// occurrences is what a text is worth that has a term: whole words more than beginnings of words, and those more than
// parts. Only the best kind counts.
func occurrences(text, term string) float64 {
	worth, count := 0.0, 0
	first, _ := utf8.DecodeRuneInString(term)
	for at, n := 0, 0; n < 20; n++ {
		i := strings.Index(text[at:], term)
		if i < 0 {
			break
		}
		i += at
		at = i + len(term)
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[at:])
		w := 10.0
		switch {
		case isWord(before) && isWord(first):
			w = 1
		case isWord(after):
			w = 4
		}
		if w > worth {
			worth, count = w, 0
		}
		if w == worth {
			count++
		}
	}
	if worth == 0 {
		return 0
	}
	return worth + min(4, math.Log2(float64(count)))
}

// vocabulary says how often a word is written, and far more if it names a page or a section.
func vocabulary(sections []section) map[string]int {
	known := map[string]int{}
	add := func(list []string, worth int) {
		for _, w := range list {
			known[w] += worth
		}
	}
	for _, s := range sections {
		if s.heading == "" {
			add(slices.Concat(s.of.words, s.of.names, s.of.told), 1000)
		}
		add(s.words, 100)
		add(wordsOf(s.lower), 1)
	}
	return known
}

// correct gives the word that was meant by one that is written nowhere: the best known of those one typing error away.
func correct(term string, known map[string]int) string {
	if parts := wordsOf(term); len(term) < 4 || len(parts) == 0 || parts[0] != term {
		return term
	}
	best, most := term, 0
	for _, w := range slices.Sorted(maps.Keys(known)) {
		if strings.Contains(w, term) {
			return term
		}
		if n := known[w]; n > most && near(term, w) {
			best, most = w, n
		}
	}
	return best
}

// near: one letter more, less, another one, or two that have changed places.
func near(a, b string) bool {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	switch len(a) - len(b) {
	case -1:
		return a[i:] == b[i+1:]
	case 1:
		return a[i+1:] == b[i:]
	case 0:
		return i == len(a) || a[i+1:] == b[i+1:] || i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
	}
	return false
}

func isWord(r rune) bool {
	return r == '_' || unicode.IsLetter(r) && r != utf8.RuneError || unicode.IsNumber(r)
}

func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !isWord(r) })
}
