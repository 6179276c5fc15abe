package main

import (
	"encoding/json"
	"path"
	"strings"
)

// index is what the search of the site looks through. It is a script, because a page that is opened from disk may not
// read files.
type index struct {
	Pages    []indexPage    `json:"pages"`
	Sections []indexSection `json:"sections"`
}

type indexPage struct {
	Title   string  `json:"title"`
	Name    string  `json:"name"`            // the file's: people know pages by it
	About   string  `json:"about,omitempty"` // what the contents say of it, and the jobs that it does
	Chapter string  `json:"chapter"`
	Address string  `json:"address"`
	Weight  float64 `json:"weight"`
}

type indexSection struct {
	Page  int    `json:"page"`
	ID    string `json:"id,omitempty"`
	Title string `json:"title,omitempty"`
	Text  string `json:"text"`
}

// weights: who searches wants guides first, then reasons, then files.
var weights = map[kind]float64{guide: 1, decision: 0.45, aside: 0.06}

func (s *site) index() ([]byte, error) {
	var x index
	for _, p := range s.order {
		if p.Source == contentsPage {
			continue
		}
		name := strings.TrimSuffix(path.Base(p.Source), ".md")
		x.Pages = append(x.Pages, indexPage{p.Label, name, strings.TrimSpace(p.about + " " + strings.Join(s.jobs[p.Source], " ")), p.Chapter, p.Out, weights[p.kind]})
		for i, section := range p.sections {
			text := section.text.String()
			if i == 0 && p.Name != p.Label { // the title of the page, where the contents have a shorter one
				text = p.Name + ". " + text
			}
			x.Sections = append(x.Sections, indexSection{len(x.Pages) - 1, section.id, section.title, text})
		}
	}
	text, err := json.Marshal(x)
	return append(append([]byte("window.inferometerDocs = "), text...), ";\n"...), err
}
