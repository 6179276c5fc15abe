package cmdline

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParts(t *testing.T) {
	table := []Flag{
		{Long: []string{"rate", "qps"}, Short: "r", Values: 1}, {Long: []string{"range"}, Values: Many, Short: "m"},
		{Long: []string{"verbose"}, Short: "v"}, {Long: []string{"verify"}, Whole: true},
		{Long: []string{"ranks"}, Added: true}, {Long: []string{"new"}, Added: true}, {Long: []string{"newest"}, Added: true},
	}
	dash := func(arg string) bool { return len(arg) > 1 && arg[0] == '-' }
	argparse := Style{Flag: dash, Value: func(arg string, _ Flag) bool { return !dash(arg) }, Ends: true, Skip: Many, Equals: true}
	getopt := Style{Flag: dash, Value: func(string, Flag) bool { return true }, Ends: true}
	long := Style{Flag: func(arg string) bool { return strings.HasPrefix(arg, "--") }, Value: argparse.Value, Least: 3, More: true}
	pflag := getopt
	pflag.Equals, pflag.Switches, pflag.Whole = true, true, true
	for _, c := range []struct {
		style *Style
		line  string
		want  string
	}{
		{&argparse, "x --rate 5 --qps=6 -r7 -r=8 -r 9 y", "x | --rate 0 [5] | --qps 0 [6]= | -r 0 [7]= | -r 0 [8]= | -r 0 [9] | y"},
		{&argparse, "--range 1 2 -m3 4 --ve --rat 1 --ra 1 2 --no a b -- --rate", "--range 1 [1 2] | -m 1 [3]= | 4 | --ve 2 | --rat 0 [1] | ambiguous --ra [0 1] | unknown --no [a b] | rest [--rate]"},
		{&argparse, "--ran 1 --rank --new --ne --newe", "--ran 1 [1] | --rank 4 | --new 5 | ambiguous --ne [5 6] | --newe 6"},
		{&argparse, "-v-rate -v- x", "-v 2 | unknown --rate | -v 2 | unknown -- [x]"},
		{&argparse, "-vvr5 -vq x --rate", "-v 2 | -v 2 | -r 0 [5]= | -v 2 | unknown -q [x] | --rate 0"},
		{&getopt, "-r -v --rate -- -- x", "-r 0 [-v] | --rate 0 [--] | rest [x]"},
		{&getopt, "-r=5 --verif --verify -", "-r 0 [=5]= | unknown --verif | --verify 3 | -"},
		{&pflag, "-vr=5 -v=no -vq -rate 6 -x=1", "-v 2 | -r 0 [5]= | -v 2 [no]= | unknown -vq | unknown -rate | 6 | unknown -x=1 [1]="},
		{&long, "--range=1 2 3 -v --ra 1 --rate -- x", "--range 1 [1 2 3]= | -v | unknown --ra | 1 | --rate 0 | unknown -- | x"},
	} {
		var got []string
		for p := range c.style.Parts(table, strings.Fields(c.line)) {
			values := ""
			if len(p.Values) > 0 {
				values = " " + fmt.Sprint(p.Values)
			}
			if p.Attached {
				values += "="
			}
			switch p.Kind {
			case Given:
				got = append(got, fmt.Sprintf("%s %d%s", p.As, p.Flag, values))
			case Argument:
				got = append(got, p.As)
			case Unknown:
				got = append(got, "unknown "+p.As+values)
			case Ambiguous:
				got = append(got, fmt.Sprintf("ambiguous %s %v", p.As, p.Fits))
			case Rest:
				got = append(got, "rest"+values)
			}
		}
		if d := cmp.Diff(c.want, strings.Join(got, " | ")); d != "" {
			t.Errorf("%s: %s", c.line, d)
		}
	}
}
