package main

import (
	"bytes"
	"embed"
	"errors"
	"html/template"
	"os"
)

//go:embed assets
var assets embed.FS

// colours are those of the report page: the two are of one family.
const colours = "page/src/style/colours.css"

// files gives everything that the site consists of.
func (s *site) files() (map[string][]byte, error) {
	files := map[string][]byte{}
	shape, err := template.ParseFS(assets, "assets/page.html")
	if err != nil {
		return nil, err
	}
	for _, p := range s.order {
		var b bytes.Buffer
		if err := shape.Execute(&b, view{p, s}); err != nil {
			return nil, err
		}
		files[p.Out] = b.Bytes()
	}
	for name := range s.copied {
		text, err := os.ReadFile(s.path(name))
		s.errs = append(s.errs, err)
		files[name] = text
	}
	palette, err := os.ReadFile(s.path(colours))
	s.errs = append(s.errs, err)
	style, err := assets.ReadFile("assets/style.css")
	s.errs = append(s.errs, err)
	files["assets/style.css"] = append(palette, style...)
	for _, name := range []string{"assets/site.js", "assets/ranking.js"} {
		files[name], err = assets.ReadFile(name)
		s.errs = append(s.errs, err)
	}
	files[mark], err = s.index()
	s.errs = append(s.errs, err)
	return files, errors.Join(s.errs...)
}

// view is what the template shows: a page in its site.
type view struct {
	*page
	Site *site
}

// Records are the decisions, beside one of them and their list.
func (v view) Records() []*page {
	if v.kind != decision && v.Source != "docs/decisions" {
		return nil
	}
	return v.Site.records
}

// Home says whether this is the first page.
func (v view) Home() bool { return v.Out == "index.html" }

// Summary is what others show of the page in one line.
func (v view) Summary() string {
	const most = 160
	if words := []rune(v.summary); len(words) > most {
		return string(words[:most]) + "…"
	}
	return v.summary
}
