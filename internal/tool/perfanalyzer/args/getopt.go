package args

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/cmdline"
)

type option struct {
	long  string
	short byte   // 0: none
	arg   string // what its value is called; empty: it takes none
	help  string
	group string
	own   bool // not of the original: never abbreviated, so that its abbreviations stay what they were
	// set takes a value. The error is a sentence behind "Failed to parse".
	set func(value string) error
}

func (o *option) name() string {
	if o.long == "" {
		return "-" + string(o.short)
	}
	return "--" + o.long
}

type given struct {
	*option
	value string
	brief bool // by its letter
}

// called is the option as the command line names it.
func (g given) called() string {
	if g.brief {
		return "-" + string(g.short)
	}
	return g.name()
}

// getopt splits a command line as getopt_long does: -m x, -mx, -va, --opt v, --opt=v,
// abbreviations of long names that fit one option, options behind arguments, and --
// as the end of options. With an error it gives the options ahead of the fault.
func getopt(table []option, args []string) (opts []given, rest []string, err error) {
	flags := make([]cmdline.Flag, len(table))
	for i := range table {
		o := &table[i]
		if flags[i].Whole = o.own; o.long != "" {
			flags[i].Long = []string{o.long}
		}
		if o.short != 0 {
			flags[i].Short = string(o.short)
		}
		if o.arg != "" {
			flags[i].Values = 1
		}
	}
	style := cmdline.Style{
		Flag:  func(arg string) bool { return len(arg) > 1 && arg[0] == '-' },
		Value: func(string, cmdline.Flag) bool { return true },
		Ends:  true,
	}
	for p := range style.Parts(flags, args) {
		name, isLong := strings.CutPrefix(p.As, "--")
		switch p.Kind {
		case cmdline.Rest:
			return opts, append(rest, p.Values...), nil
		case cmdline.Argument:
			rest = append(rest, p.As)
		case cmdline.Unknown:
			if !isLong {
				return opts, nil, usage("Invalid short option '-%s'", printable(p.As[1:2]))
			}
			return opts, nil, unknown(table, name)
		case cmdline.Ambiguous:
			names := make([]string, len(p.Fits))
			for i, at := range p.Fits {
				names[i] = "'--" + table[at].long + "'"
			}
			return opts, nil, usage("option '--%s' is ambiguous; possibilities: %s", printable(name), strings.Join(names, " "))
		case cmdline.Given:
			o := &table[p.Flag]
			switch {
			case o.arg == "" && p.Attached:
				return opts, nil, usage("option '--%s' doesn't allow an argument", o.long)
			case o.arg != "" && len(p.Values) == 0 && isLong:
				return opts, nil, usage("option '--%s' requires an argument", o.long)
			case o.arg != "" && len(p.Values) == 0:
				return opts, nil, usage("option requires an argument -- '%c'", o.short)
			}
			opts = append(opts, given{option: o, value: strings.Join(p.Values, ""), brief: !isLong})
		}
	}
	return opts, rest, nil
}

// UsageError says what is wrong with a command line.
type UsageError struct {
	Text    string
	Generic bool // the original finds it once it knows the model, and ends with ExitGeneric
}

func (e *UsageError) Error() string { return e.Text }

func usage(format string, args ...any) error { return &UsageError{Text: fmt.Sprintf(format, args...)} }
