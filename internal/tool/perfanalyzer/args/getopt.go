package args

import (
	"fmt"
	"strings"
)

// option is one row of the table of options.
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

// name is how messages call the option.
func (o *option) name() string {
	if o.long == "" {
		return "-" + string(o.short)
	}
	return "--" + o.long
}

// given is an option on the command line.
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
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--":
			return opts, append(rest, args[i+1:]...), nil
		case strings.HasPrefix(arg, "--"):
			name, value, has := strings.Cut(arg[2:], "=")
			o, err := findLong(table, name)
			if err != nil {
				return opts, nil, err
			}
			switch {
			case o.arg == "" && has:
				return opts, nil, usage("option '--%s' doesn't allow an argument", o.long)
			case o.arg != "" && !has:
				if i++; i == len(args) {
					return opts, nil, usage("option '--%s' requires an argument", o.long)
				}
				value = args[i]
			}
			opts = append(opts, given{option: o, value: value})
		case len(arg) > 1 && arg[0] == '-':
			more, taken, err := shorts(table, arg[1:], args[i+1:])
			if err != nil {
				return opts, nil, err
			}
			opts = append(opts, more...)
			i += taken
		default:
			rest = append(rest, arg)
		}
	}
	return opts, rest, nil
}

// shorts reads a bundle of short options. taken: the next argument was the value of
// the last of them.
func shorts(table []option, bundle string, next []string) (opts []given, taken int, err error) {
	for i := 0; i < len(bundle); i++ {
		o := findShort(table, bundle[i])
		if o == nil {
			return nil, 0, usage("Invalid short option '-%s'", printable(bundle[i:i+1]))
		}
		if o.arg == "" {
			opts = append(opts, given{o, "", true})
			continue
		}
		if i+1 < len(bundle) {
			return append(opts, given{o, bundle[i+1:], true}), 0, nil
		}
		if len(next) == 0 {
			return nil, 0, usage("option requires an argument -- '%c'", bundle[i])
		}
		return append(opts, given{o, next[0], true}), 1, nil
	}
	return opts, 0, nil
}

// findLong finds the option of a long name or of an abbreviation that fits no other.
func findLong(table []option, name string) (*option, error) {
	var found []*option
	for i := range table {
		o := &table[i]
		if o.long == name && name != "" {
			return o, nil
		}
		if !o.own && name != "" && strings.HasPrefix(o.long, name) {
			found = append(found, o)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return nil, unknown(table, name)
	}
	names := make([]string, len(found))
	for i, o := range found {
		names[i] = "'--" + o.long + "'"
	}
	return nil, usage("option '--%s' is ambiguous; possibilities: %s", printable(name), strings.Join(names, " "))
}

func findShort(table []option, c byte) *option {
	for i := range table {
		if table[i].short == c && c != 0 {
			return &table[i]
		}
	}
	return nil
}

// UsageError says what is wrong with a command line.
type UsageError struct {
	Text    string
	Generic bool // the original finds it once it knows the model, and ends with ExitGeneric
}

// Error is the text.
func (e *UsageError) Error() string { return e.Text }

func usage(format string, args ...any) error { return &UsageError{Text: fmt.Sprintf(format, args...)} }
