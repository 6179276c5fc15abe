package args

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/cmdline"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan"
)

type option struct {
	name, short string
	arg         string // what its value is called in the help; empty: it has none
	help        string
	path        string   // the field of the plan that it sets, where it sets one as it stands
	values      []string // the words that it takes, where the field of the plan does not have them
}

// group is a set of options that the help shows together.
type group struct {
	title   string
	options []option
}

// values are what a command line says: each flag's values, in order, and other arguments.
type values struct {
	flags map[string][]string
	args  []string
	typed map[string]string // flag → the name of another tool that it was given by
}

func (v values) given(name string) bool { return len(v.flags[name]) > 0 }

func (v values) last(name string) string {
	if l := v.flags[name]; len(l) > 0 {
		return l[len(l)-1]
	}
	return ""
}

// is reports whether a flag without a value is on.
func (v values) is(name string) bool { return v.last(name) == "true" }

// entry is a name that a flag can be given by.
type entry struct {
	name, short string
	to          string // the flag of ours
	toggle      bool   // it takes no value
	// Of a name of another tool: that it is one, whether a number alone is one of seconds, what else
	// it gives, and of one that means something else, how.
	alias, seconds bool
	with, differs  string
}

// parse splits a command line by the flags in groups. Unknown flags, and missing values, are
// faults.
func parse(groups []group, args []string, also ...alias) (values, plan.Faults) {
	v := values{flags: map[string][]string{}, typed: map[string]string{}}
	paths := map[string]string{}
	var known []entry
	for _, g := range groups {
		for _, o := range g.options {
			paths[o.name] = o.path
			known = append(known, entry{name: o.name, short: o.short, to: o.name, toggle: o.arg == ""})
		}
	}
	known = addAliases(known, paths, also)
	flags := make([]cmdline.Flag, len(known))
	for i, e := range known {
		flags[i] = cmdline.Flag{Long: []string{e.name}, Short: e.short, Values: 1, Whole: true}
		if e.toggle {
			flags[i].Values = 0
		}
	}
	pflag := cmdline.Style{
		Flag: func(arg string) bool { return len(arg) > 1 && arg[0] == '-' },
		Value: func(arg string, of cmdline.Flag) bool { // what follows an unknown flag is probably its value: no fault of its own
			if of.Values > 0 {
				return !isKnown(known, arg) // nobody means --html -n
			}
			return !strings.HasPrefix(arg, "-") && !isTarget(arg)
		},
		Ends: true, Skip: 1, Equals: true, Switches: true, Whole: true,
	}
	var faults plan.Faults
	differing := map[string]string{} // flags of another meaning that are given
	for p := range pflag.Parts(flags, args) {
		switch e := &known[max(p.Flag, 0)]; p.Kind {
		case cmdline.Argument:
			v.args = append(v.args, p.As)
		case cmdline.Rest:
			v.args = append(v.args, p.Values...)
		case cmdline.Given:
			switch {
			case !e.toggle && len(p.Values) == 0:
				faults = append(faults, plan.Fault{Where: p.As, Path: paths[e.name], Text: "needs a value"})
			case e.differs != "":
				differing[e.name] = e.differs
			default:
				v.add(e, append(p.Values, "true")[0])
			}
		default:
			shown, _, _ := strings.Cut(args[p.At], "=")
			faults = append(faults, unknown(known, paths, shown))
		}
	}
	faults = append(faults, faultsOf(differing)...)
	for _, g := range groups {
		for _, o := range g.options {
			switch given := v.flags[o.name]; {
			case o.arg == "" && v.last(o.name) == "bad":
				faults = append(faults, plan.Fault{Where: "--" + o.name, Path: o.path, Text: "takes no value, true or false"})
			case o.arg != "" && o.path != "" && len(given) > 1:
				faults = append(faults, plan.Fault{Where: "--" + o.name, Path: o.path, Text: "is given " + times(len(given)) + ", and only one value can be used", Hint: twiceHint(o.name)})
			}
		}
	}
	return v, faults
}

// add keeps the text of a value: what it means is found out later, and so all faults are found.
func (v values) add(e *entry, text string) {
	if e.toggle {
		on, err := strconv.ParseBool(text)
		if text = strconv.FormatBool(on); err != nil {
			text = "bad"
		}
	}
	if _, err := strconv.ParseFloat(text, 64); err == nil && e.seconds {
		text += "s"
	}
	if e.alias {
		v.typed[e.to] = e.name
	}
	if e.with != "" {
		v.flags[e.with] = []string{"true"}
	}
	v.flags[e.to] = append(v.flags[e.to], text)
}

func times(n int) string {
	if n == 2 {
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// twiceHint is what to do about a flag that is given more than once.
func twiceHint(name string) string {
	if name == "model" {
		return "keep one; to spread requests over several models, use data.adapters in a plan file"
	}
	return "keep one of them"
}

// unknown says which flag was probably meant. It never repeats a value, which
// may be a key.
func unknown(known []entry, paths map[string]string, shown string) plan.Fault {
	var names, others []string
	for _, e := range known {
		switch {
		case e.differs != "":
		case e.alias:
			others = append(others, e.name)
		default:
			names = append(names, e.name)
		}
	}
	slices.Sort(names)
	slices.Sort(others)
	names = append(names, others...)
	fault := plan.Fault{Where: printable(shown), Text: "unknown flag", Hint: "see --help"}
	if n := suggest.Name(strings.TrimLeft(shown, "-"), names); n != "" {
		fault.Hint = "did you mean --" + n + "?"
		fault.Path = paths[n] // what that field lacks is no second fault
	}
	return fault
}

// printable is a flag as it was typed, if that fits a line of text.
func printable(s string) string {
	quoted := strconv.Quote(shorten(s))
	if quoted != `"`+s+`"` {
		return "--" + quoted
	}
	return s
}

// isKnown reports whether an argument is a flag that there is.
func isKnown(known []entry, arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return slices.ContainsFunc(known, func(e entry) bool { return name == "--"+e.name || e.short != "" && name == "-"+e.short })
}

// isTarget reports whether an argument is a URL or names a plan file.
func isTarget(arg string) bool {
	return strings.Contains(arg, "://") || isPlanName(arg) || strings.Contains(arg, ":") && schemed(arg) != ""
}

func isPlanName(arg string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg))
}
