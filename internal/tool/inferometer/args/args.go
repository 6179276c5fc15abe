package args

import (
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan"
)

// option is one flag of a command.
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

// values are what a command line says: the values of each flag, in order, and
// the arguments that are not flags.
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

// collect is a pflag.Value that keeps the text: what it means is found out
// afterwards, so that all faults are found and not only the first.
type collect struct {
	to     map[string][]string
	name   string
	toggle bool
	// Of an alias: its own name, where that is kept, what else it gives, and whether a number alone
	// is one of seconds.
	as      string
	typed   map[string]string
	with    string
	seconds bool
}

func (c collect) String() string { return "" }
func (c collect) Type() string   { return "text" }

func (c collect) Set(s string) error {
	if c.toggle {
		on, err := strconv.ParseBool(s)
		if s = strconv.FormatBool(on); err != nil {
			s = "bad"
		}
	}
	if _, err := strconv.ParseFloat(s, 64); err == nil && c.seconds {
		s += "s"
	}
	if c.as != "" {
		c.typed[c.name] = c.as
	}
	if c.with != "" {
		c.to[c.with] = []string{"true"}
	}
	c.to[c.name] = append(c.to[c.name], s)
	return nil
}

// parse splits a command line by the flags in groups. Every unknown flag and
// every flag without its value is among the faults.
func parse(groups []group, args []string, also ...alias) (values, plan.Faults) {
	v := values{flags: map[string][]string{}, typed: map[string]string{}}
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	paths := map[string]string{}
	for _, g := range groups {
		for _, o := range g.options {
			paths[o.name] = o.path
			f := set.VarPF(collect{to: v.flags, name: o.name, toggle: o.arg == ""}, o.name, o.short, o.help)
			if o.arg == "" {
				f.NoOptDefVal = "true"
			}
		}
	}
	other := addAliases(set, v, paths, also)
	s := scanner{set: set, paths: paths, not: other.text}
	clean := s.scan(args)
	if err := set.Parse(clean); err != nil {
		s.faults = append(s.faults, plan.Fault{Text: err.Error()})
	}
	s.faults = append(s.faults, other.faults(set)...)
	for _, g := range groups {
		for _, o := range g.options {
			switch given := v.flags[o.name]; {
			case o.arg == "" && v.last(o.name) == "bad":
				s.faults = append(s.faults, plan.Fault{Where: "--" + o.name, Path: o.path, Text: "takes no value, true or false"})
			case o.arg != "" && o.path != "" && len(given) > 1:
				s.faults = append(s.faults, plan.Fault{Where: "--" + o.name, Path: o.path, Text: "is given " + times(len(given)) + ", and only one value can be used", Hint: twiceHint(o.name)})
			}
		}
	}
	v.args = set.Args()
	return v, s.faults
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

// scanner goes over a command line ahead of pflag, which stops at the first
// unknown flag.
type scanner struct {
	set    *pflag.FlagSet
	paths  map[string]string // flag → the field that it sets
	not    map[string]string // flags that are refused
	faults plan.Faults
}

// scan returns args without what pflag would refuse.
func (s *scanner) scan(args []string) []string {
	var clean []string
	for i := 0; i < len(args); i++ {
		arg := args[i]
		if arg == "--" {
			return append(clean, args[i:]...)
		}
		if len(arg) < 2 || arg[0] != '-' {
			clean = append(clean, arg)
			continue
		}
		f, wantsValue := s.flag(arg)
		switch {
		case f == nil:
			// What follows an unknown flag is probably its value: no fault of its own.
			if !strings.Contains(arg, "=") && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") && !isTarget(args[i+1]) {
				i++
			}
		case !wantsValue:
			clean = append(clean, arg)
		case i+1 == len(args):
			s.faults = append(s.faults, plan.Fault{Where: arg, Path: s.paths[f.Name], Text: "needs a value"})
		default:
			clean = append(clean, arg, args[i+1])
			i++
		}
	}
	return clean
}

// flag is the flag that arg gives, nil when it is unknown, and whether its value
// is the next argument.
func (s *scanner) flag(arg string) (f *pflag.Flag, wantsValue bool) {
	if name, ok := strings.CutPrefix(arg, "--"); ok {
		name, _, hasValue := strings.Cut(name, "=")
		if f = s.set.Lookup(name); f == nil {
			s.unknown("--"+name, name)
			return nil, false
		}
		return f, !hasValue && f.NoOptDefVal == ""
	}
	if name, _, _ := strings.Cut(arg[1:], "="); len(name) > 1 && s.set.Lookup(name) != nil {
		s.unknown("-"+name, name) // a dash too few: -c is a flag, -concurrency is not -c oncurrency
		return nil, false
	}
	for i := 1; i < len(arg); i++ {
		if f = s.set.ShorthandLookup(arg[i : i+1]); f == nil {
			name, _, _ := strings.Cut(arg[1:], "=")
			s.unknown("-"+name, name)
			return nil, false
		}
		if f.NoOptDefVal == "" {
			return f, i+1 == len(arg)
		}
		if i+1 < len(arg) && arg[i+1] == '=' {
			return f, false
		}
	}
	return f, false
}

// unknown says which flag was probably meant. It never repeats a value, which
// may be a key.
func (s *scanner) unknown(shown, name string) {
	var names []string
	s.set.VisitAll(func(f *pflag.Flag) {
		if s.not[f.Name] == "" {
			names = append(names, f.Name)
		}
	})
	slices.SortStableFunc(names, func(a, b string) int { return strings.Compare(s.usage(b), s.usage(a)) })
	fault := plan.Fault{Where: printable(shown), Text: "unknown flag", Hint: "see --help"}
	if n := suggest.Name(name, names); n != "" {
		fault.Hint = "did you mean --" + n + "?"
		fault.Path = s.paths[n] // what that field lacks is no second fault
	}
	s.faults = append(s.faults, fault)
}

// usage is the help of a flag, which those of other tools do not have.
func (s *scanner) usage(name string) string {
	if s.set.Lookup(name).Usage == "" {
		return ""
	}
	return "ours"
}

// printable is a flag as it was typed, if that fits a line of text.
func printable(s string) string {
	quoted := strconv.Quote(shorten(s))
	if quoted != `"`+s+`"` {
		return "--" + quoted
	}
	return s
}

// isTarget reports whether an argument is a URL or names a plan file.
func isTarget(arg string) bool {
	return strings.Contains(arg, "://") || isPlanName(arg) || strings.Contains(arg, ":") && schemed(arg) != ""
}

func isPlanName(arg string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(arg))
}
