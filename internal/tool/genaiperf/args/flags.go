package args

import (
	"cmp"
	_ "embed"
	"sync"

	"github.com/inferometer/inferometer/internal/clidoc"
)

type kind uint8

const (
	toggle kind = iota // no value
	word
	whole  // an integer
	number // a number that may have a fraction
	list   // one or more words
	wholes // one or more integers
	floats // one or more numbers
)

// The releases that a flag belongs to, as bits. Those after 24.04 count as the last.
const (
	in2403 = 1 << iota
	in2404
	inLast

	early  = in2403 | in2404
	later  = in2404 | inLast
	always = in2403 | in2404 | inLast
)

// option is one flag of genai-perf, of any release.
type option struct {
	name     string   // with its dashes left out
	same     []string // other names of the same release
	short    string
	key      string // what it sets; flags of several releases that mean the same share it
	kind     kind
	least    float64 // of a number
	choices  []string
	releases int
	group    string // headline of the help
	config   string // the key of a config file that says the same; empty: none
	help     string
}

// flagTable are all flags.
//
//go:embed flags.yaml
var flagTable []byte

var flagRows = sync.OnceValue(func() []clidoc.Row { return clidoc.Rows(flagTable) })

// kinds are the kinds by the words of the table.
func kinds() map[string]kind {
	return map[string]kind{"toggle": toggle, "word": word, "whole": whole, "number": number, "list": list, "wholes": wholes, "floats": floats}
}

// releasesByWord are those that the table's words stand for.
func releasesByWord() map[string]int {
	return map[string]int{"": always, "24.03": in2403, "24.04": in2404, "early": early, "last": inLast, "24.04 on": later}
}

func flags() []option {
	kinds, releases := kinds(), releasesByWord()
	var all []option
	for _, r := range flagRows() {
		all = append(all, option{
			name: r.Name, same: r.Same, short: r.Short, key: cmp.Or(r.Path, r.Name), kind: kinds[r.Kind], least: r.Least, choices: r.Values,
			releases: releases[r.Releases], group: r.Title, config: r.Config, help: r.Help,
		})
	}
	return all
}

// choicesOf are the words that a flag takes.
func choicesOf(name string) []string { return long(flags(), name).choices }
