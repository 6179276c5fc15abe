// Package docs holds the pages of the documentation, which the program shows in a terminal:
// inferometer help TOPIC.
package docs

import (
	"embed"
	"io/fs"
	"strings"
)

//go:embed *.md
var files embed.FS

// Page is the text of a page, such as "plan"; false: there is none of that name.
func Page(name string) (string, bool) {
	text, err := files.ReadFile(name + ".md")
	return string(text), err == nil
}

// Has reports whether there is a page of that name.
func Has(name string) bool {
	_, err := fs.Stat(files, name+".md")
	return err == nil
}

// Names are the names of all pages, in alphabetical order.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic("docs: the pages are in the program: " + err.Error())
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".md"))
	}
	return names
}
