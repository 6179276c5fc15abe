package args

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/lib/cmdline"
)

var originals = strings.Fields("uri protocol triton-model concurrency measurement-interval input-data tokenizer-path profile-export-file help")

// scan sets the flags of a command line up to the first fault, and gives the arguments that are none.
func scan(set *pflag.FlagSet, args []string) (rest []string, err error) {
	var flags []*pflag.Flag
	var table []cmdline.Flag
	set.VisitAll(func(f *pflag.Flag) {
		one := cmdline.Flag{Long: []string{f.Name}, Short: f.Shorthand, Values: 1, Added: !slices.Contains(originals, f.Name)}
		if f.NoOptDefVal != "" {
			one.Values = 0
		}
		flags, table = append(flags, f), append(table, one)
	})
	style := cmdline.Style{
		Flag:  func(arg string) bool { return len(arg) > 1 && arg[0] == '-' },
		Value: func(string, cmdline.Flag) bool { return true },
		Ends:  true, Equals: true, Switches: true,
	}
	for p := range style.Parts(table, args) {
		switch p.Kind {
		case cmdline.Argument:
			rest = append(rest, p.As)
		case cmdline.Rest:
			return append(rest, p.Values...), nil
		case cmdline.Unknown:
			return nil, fmt.Errorf("unknown flag: %s", p.As)
		case cmdline.Ambiguous:
			names := make([]string, len(p.Fits))
			for i, at := range p.Fits {
				names[i] = "--" + flags[at].Name
			}
			return nil, fmt.Errorf("ambiguous option: %s could match %s", p.As, strings.Join(names, ", "))
		case cmdline.Given:
			f := flags[p.Flag]
			value := f.NoOptDefVal
			switch {
			case len(p.Values) > 0:
				value = p.Values[0]
			case value == "":
				return nil, fmt.Errorf("flag needs an argument: %s", p.As)
			}
			if err := set.Set(f.Name, value); err != nil {
				return nil, err
			}
		}
	}
	return rest, nil
}

// levelTexts are the values of --concurrency, of which the last holds: the original reads
// each of them, and ends at the first that is no list of numbers.
type levelTexts []string

func (l *levelTexts) Set(text string) error {
	*l = append(*l, text)
	return nil
}

func (*levelTexts) Type() string { return "string" }

func (l *levelTexts) String() string {
	if len(*l) == 0 {
		return ""
	}
	return (*l)[len(*l)-1]
}

// levels goes through the concurrencies, and notes what is none.
func (p *parser) levels() iter.Seq[int] {
	return func(yield func(int) bool) {
		for i, text := range p.concurrency {
			last := i == len(p.concurrency)-1
			for part := range strings.SplitSeq(text, ",") {
				c, err := strconv.Atoi(strings.TrimSpace(part))
				switch {
				case err != nil || last && c < 1:
					p.fault("--concurrency", strconv.Quote(shorten(part))+" is not a concurrency", "such as 1,4,8")
				case last && !yield(c):
					return
				}
			}
		}
	}
}
