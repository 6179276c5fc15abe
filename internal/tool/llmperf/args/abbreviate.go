package args

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// spellOut writes abbreviated flags in full, as Python's argparse does: --conc 1,4 is
// --concurrency 1,4, and one that fits several is an error.
func spellOut(args []string, set *pflag.FlagSet) ([]string, error) {
	var all []string
	set.VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	out := slices.Clone(args)
	for i := 0; i < len(out); i++ {
		arg := out[i]
		if arg == "--" {
			break
		}
		name, value, inline := strings.Cut(strings.TrimPrefix(arg, "--"), "=")
		if !strings.HasPrefix(arg, "--") {
			if takesNext(arg, set) {
				i++
			}
			continue
		}
		if set.Lookup(name) == nil {
			fits := fitting(originals(), name)
			if len(fits) == 0 {
				fits = fitting(all, name)
			}
			if len(fits) > 1 {
				return nil, fmt.Errorf("ambiguous option: --%s could match --%s", name, strings.Join(fits, ", --"))
			}
			if len(fits) == 0 {
				continue // the parser says so
			}
			name = fits[0]
			out[i] = "--" + name
			if inline {
				out[i] += "=" + value
			}
		}
		if !inline && set.Lookup(name).NoOptDefVal == "" {
			i++ // its value, whatever that looks like
		}
	}
	return out, nil
}

// takesNext reports whether a short flag has its value in the next argument.
func takesNext(arg string, set *pflag.FlagSet) bool {
	if len(arg) != 2 || arg[0] != '-' {
		return false
	}
	f := set.ShorthandLookup(arg[1:])
	return f != nil && f.NoOptDefVal == ""
}

func fitting(names []string, prefix string) []string {
	var fits []string
	for _, n := range names {
		if prefix != "" && strings.HasPrefix(n, prefix) {
			fits = append(fits, n)
		}
	}
	return fits
}
