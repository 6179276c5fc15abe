package clidoc

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Row is a flag as a table in a file has it.
type Row struct {
	Name     string   `yaml:"-"` // without dashes
	Title    string   `yaml:"-"` // of its group
	Short    string   // without its dash
	Same     []string // other names
	Arg      string   // what its value is called; empty: it has none, or one by its kind
	Help     string   //
	Values   []string // the words that it takes; empty: others
	Path     string   // where its value goes
	Kind     string   // what its value is, where not all are texts
	Least    float64  // of a number
	Releases string   // of a tool that has them one by one
	Config   string   // the key of a config file that says the same
}

// Rows reads a table of flags: the titles of groups, and below each the names of its flags. It
// keeps their order. A table is part of the program: that it cannot be read is a mistake there.
func Rows(table []byte) []Row {
	var doc yaml.Node
	if err := yaml.Unmarshal(table, &doc); err != nil {
		panic(fmt.Sprintf("a table of flags: %v", err))
	}
	var rows []Row
	groups := doc.Content[0].Content
	for i := 0; i < len(groups); i += 2 {
		flags := groups[i+1].Content
		for k := 0; k < len(flags); k += 2 {
			row := Row{Name: flags[k].Value, Title: groups[i].Value}
			if err := flags[k+1].Decode(&row); err != nil {
				panic(fmt.Sprintf("a table of flags: %s: %v", row.Name, err))
			}
			rows = append(rows, row)
		}
	}
	return rows
}
