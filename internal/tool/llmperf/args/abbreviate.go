package args

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// abbreviate lets flags be abbreviated, as Python's argparse does: --conc 1,4 is
// --concurrency 1,4. The error, once the set has parsed a command line, tells of a flag that
// fits several.
func abbreviate(set *pflag.FlagSet) (ambiguous *error) {
	var all []string
	set.VisitAll(func(f *pflag.Flag) { all = append(all, f.Name) })
	ambiguous = new(error)
	set.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		fits := fitting(originals(), name)
		if len(fits) == 0 {
			fits = fitting(all, name)
		}
		switch {
		case slices.Contains(all, name):
		case len(fits) == 1:
			name = fits[0]
		case len(fits) > 1:
			*ambiguous = fmt.Errorf("ambiguous option: --%s could match --%s", name, strings.Join(fits, ", --"))
		}
		return pflag.NormalizedName(name)
	})
	return ambiguous
}

func fitting(names []string, prefix string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(n string) bool { return !strings.HasPrefix(n, prefix) })
}
