// Package clidoc is what the program says of itself: what a command is, as data, and what is
// made of that: its help, its man page and the completion of its arguments in a shell; and the
// pages of docs/, for reading in a terminal.
package clidoc

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Command describes a command.
type Command struct {
	Name    string
	Summary string // a few words, for lists of commands
	About   string // a sentence
	Usage   []Usage
	Text    string // paragraphs, with empty lines between them
	// Examples are command lines; a comment may stand behind three blanks.
	Examples []string
	Groups   []Group
	Common   []string // the flags that its help shows; empty: all of them
	After    string   // a paragraph behind the flags
	Page     string   // of docs/, without its suffix; empty: none
	Verbs    []Verb   // what its first argument may be; empty: it has no such words
	Takes    Files    // what its other arguments are
	Rest     string   // the command whose flags stand behind "--"; empty: none
}

// Usage is one form of a command's line.
type Usage struct{ Line, Help string }

// Verb is a word of a fixed set, such as the first argument of a command.
type Verb struct{ Name, Help string }

// Group is a set of flags that are shown together.
type Group struct {
	Title string
	Flags []Flag
}

// Flag is a flag of a command.
type Flag struct {
	Name, Short string   // without dashes
	Single      bool     // the name has one dash alone
	Arg         string   // what its value is called; empty: it has none
	Optional    bool     // the value may be left out
	Help        string   //
	Values      []string // the words that it takes; empty: others
	Takes       Files    // what file its value names
}

// Files are the files that an argument may name: none where it is empty, or those with one of
// the suffixes in it, besides directories.
type Files string

// The files of an argument that does not mind their suffix.
const (
	AnyFile     Files = "*"
	Directories Files = "/"
	PlanFiles   Files = "yaml yml json"
)

// Typed is the flag as it stands on a command line.
func (f *Flag) Typed() string {
	if f.Single {
		return "-" + f.Name
	}
	return "--" + f.Name
}

// Heading is a flag with its value, as help and man pages have it: -H, --header NAME.
func (f *Flag) Heading() string {
	head := f.Typed()
	if f.Short != "" {
		head = "-" + f.Short + ", " + head
	}
	switch {
	case f.Arg != "" && f.Optional:
		head += " [" + f.Arg + "]"
	case f.Arg != "":
		head += " " + f.Arg
	}
	return head
}

// files is what file the value of a flag names: what it is called says that.
func (f *Flag) files() Files {
	switch {
	case f.Takes != "" || f.Arg == "":
		return f.Takes
	case strings.Contains(f.Arg, "FILE"):
		return AnyFile
	case strings.Contains(f.Arg, "DIR"):
		return Directories
	}
	return ""
}

// repeatable reports whether a flag may be given more than once.
func (f *Flag) repeatable() bool { return strings.Contains(f.Help, "repeat") }

func (c *Command) flags() []*Flag {
	var all []*Flag
	for i := range c.Groups {
		for j := range c.Groups[i].Flags {
			all = append(all, &c.Groups[i].Flags[j])
		}
	}
	return all
}

// shown are the groups with the flags that the help shows; all of them where all is true.
func (c *Command) shown(all bool) []Group {
	if all || len(c.Common) == 0 {
		return c.Groups
	}
	var groups []Group
	for _, g := range c.Groups {
		kept := slices.DeleteFunc(slices.Clone(g.Flags), func(f Flag) bool { return !slices.Contains(c.Common, f.Name) })
		if len(kept) > 0 {
			groups = append(groups, Group{g.Title, kept})
		}
	}
	return groups
}

// OfSet are the flags of a set, in its order. A word in backquotes names the value of a flag.
func OfSet(set *pflag.FlagSet) []Flag {
	var all []Flag
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		arg, help := pflag.UnquoteUsage(f)
		switch {
		case f.NoOptDefVal != "":
			arg = ""
		default:
			arg = valueName(arg)
		}
		one := Flag{Name: f.Name, Short: f.Shorthand, Arg: arg, Help: help}
		if usual := f.DefValue; usual != "" && usual != "false" && usual != "0" && usual != "0s" && usual != "[]" {
			one.Help += " (default " + strings.Trim(usual, "[]") + ")"
		}
		all = append(all, one)
	})
	return all
}

// valueName is what a value is called, of the word that pflag has for it.
func valueName(word string) string {
	switch word {
	case "string", "strings":
		return "TEXT"
	case "int", "uint":
		return "N"
	case "float", "float64":
		return "X"
	case "duration":
		return "TIME"
	}
	return strings.ToUpper(word)
}
