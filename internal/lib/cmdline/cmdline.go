// Package cmdline takes command lines apart, as C's getopt_long does, Python's argparse or pflag.
// It knows the names of flags and how many values they take; what they mean, and words for
// mistakes, are the tool's.
package cmdline

import (
	"iter"
	"math"
	"slices"
	"strings"
)

// Many is any number of values.
const Many = math.MaxInt

// Flag is what has to be known of a flag.
type Flag struct {
	Long   []string // names, without dashes
	Short  string   // a letter; empty: none
	Values int      // how many it takes at most
	Whole  bool     // it cannot be abbreviated
	Added  bool     // abbreviations that fit others too mean those
}

// Style is how command lines are read.
type Style struct {
	Flag  func(arg string) bool          // whether an argument is a flag
	Value func(arg string, of Flag) bool // whether an argument is a value of the flag in front of it
	Ends  bool                           // "--" ends the flags
	Least int                            // letters that an abbreviation has at least
	Skip  int                            // values behind a flag that is not known, which are passed over
	// More: behind a value that is attached to a flag of many, others may follow.
	More bool
	// Equals: the value in -x=value begins behind the sign. Switches: a flag without may have one
	// so.
	Equals, Switches bool
	// Whole: letters behind one dash are a mistake as a whole if they are a long name, or one is unknown.
	Whole bool
}

// Kind says what a part of a command line is.
type Kind int

// The kinds of parts.
const (
	Given     Kind = iota // a flag
	Argument              // no flag, and no value of one
	Unknown               // no flag is called so
	Ambiguous             // an abbreviation of several flags
	Rest                  // what stands behind "--": its Values
)

// Part is part of a command line.
type Part struct {
	Kind     Kind
	At       int    // which argument it begins with
	As       string // as it is written: --name, -x, or the argument
	Flag     int    // of Given: its place in the table
	Fits     []int  // of Ambiguous: those of the flags
	Values   []string
	Attached bool // the first value is in the same argument
}

// Parts gives the parts of a command line, in their order.
func (s *Style) Parts(table []Flag, args []string) iter.Seq[Part] {
	return func(yield func(Part) bool) {
		more := "" // flags that share an argument with the one in front
		for i := 0; i < len(args); {
			p := Part{At: i, As: args[i], Kind: Argument}
			switch arg := args[i]; {
			case more != "":
				more = s.lettered(&p, table)
			case s.Ends && arg == "--":
				p.Kind, p.Values = Rest, args[i+1:]
				yield(p)
				return
			case !s.Flag(arg):
			case strings.HasPrefix(arg, "--"):
				s.named(&p, table)
			default:
				more = s.lettered(&p, table)
			}
			if more == "" {
				i++
			} else {
				args = slices.Replace(slices.Clone(args), i, i+1, more)
			}
			for most, of := s.most(&p, table); len(p.Values) < most && i < len(args) && s.Value(args[i], of); i++ {
				p.Values = append(p.Values, args[i])
			}
			if !yield(p) {
				return
			}
		}
	}
}

// named reads a flag with two dashes.
func (s *Style) named(p *Part, table []Flag) {
	name, value, attached := strings.Cut(p.As[2:], "=")
	p.As = "--" + name
	switch fits := Find(table, name, s.Least); len(fits) {
	case 0:
		p.Kind = Unknown
	case 1:
		p.Kind, p.Flag = Given, fits[0]
	default:
		p.Kind, p.Fits = Ambiguous, fits
	}
	if p.Attached = attached; attached {
		p.Values = []string{value}
	}
}

// lettered reads a flag of one letter. Where it takes no value and others stand behind it, it gives
// these, as an argument of their own.
func (s *Style) lettered(p *Part, table []Flag) (more string) {
	arg := p.As
	name, value, equals := strings.Cut(arg[1:], "=")
	if p.Flag = short(table, arg[1:]); p.Flag < 0 || s.Whole && mistaken(table, name) {
		if p.Kind, p.Attached = Unknown, equals; equals {
			p.Values = []string{value}
		}
		return ""
	}
	p.Kind, p.As = Given, arg[:2]
	switch rest := arg[2:]; {
	case rest == "":
	case table[p.Flag].Values == 0 && !(s.Switches && rest[0] == '='):
		return "-" + rest
	case s.Equals:
		p.Values, p.Attached = []string{strings.TrimPrefix(rest, "=")}, true
	default:
		p.Values, p.Attached = []string{rest}, true
	}
	return ""
}

// most is how many values a flag takes in all, and which flag that is, if it is known.
func (s *Style) most(p *Part, table []Flag) (int, Flag) {
	switch p.Kind {
	case Given:
		of := table[p.Flag]
		if p.Attached && (!s.More || of.Values != Many) {
			return 0, of
		}
		return of.Values, of
	case Unknown, Ambiguous:
		return s.Skip, Flag{}
	}
	return 0, Flag{}
}

// short is the flag of the letter that a text begins with; -1: there is none.
func short(table []Flag, text string) int {
	return slices.IndexFunc(table, func(f Flag) bool { return f.Short != "" && strings.HasPrefix(text, f.Short) })
}

func mistaken(table []Flag, letters string) bool {
	if len(letters) > 1 && len(Find(table, letters, Many)) == 1 {
		return true
	}
	for i := range letters {
		switch f := short(table, letters[i:]); {
		case f < 0:
			return true
		case table[f].Values > 0:
			return false
		}
	}
	return false
}

// Find gives the flag of a name, or those that it is an abbreviation of.
func Find(table []Flag, name string, least int) []int {
	var fits, added []int
	for i, f := range table {
		list := &fits
		if f.Added {
			list = &added
		}
		for _, n := range f.Long {
			switch {
			case n == name && name != "":
				return []int{i}
			case !f.Whole && len(name) >= max(least, 1) && strings.HasPrefix(n, name) && !slices.Contains(*list, i):
				*list = append(*list, i)
			}
		}
	}
	if len(fits) == 0 {
		return added
	}
	return fits
}
