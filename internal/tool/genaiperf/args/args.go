package args

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/cmdline"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

type value struct {
	flag *option
	as   string // how it was written: --isl
	text []string
}

type values struct {
	command string // profile and so on; empty: none, as releases before 24.08 had it
	used    map[string][]value
	unset   []value         // uses whose value is as good as none, where the default is another
	low     []value         // uses whose value is below its least
	there   map[string]bool // flags that are there, those included whose value is as good as none
	pass    []string        // what stands behind "--": flags of Perf Analyzer
	faults  plan.Faults
	beyond  int // faults that are values out of bounds: the original exits with 1 for them
}

// commands are the words that a command line may begin with.
func commands() []string {
	return []string{"profile", "analyze", "config", "create-template", "process-export-files", "compare"}
}

func (v *values) fault(where, text, hint string) {
	v.faults = append(v.faults, plan.Fault{Where: where, Text: text, Hint: hint})
}

func (v *values) faultIf(so bool, where, text, hint string) {
	if so {
		v.fault(where, text, hint)
	}
}

// allow finds the flags that do not apply to a command, which takes those of keys.
func (v *values) allow(command, hint string, keys ...string) {
	for _, key := range slices.Sorted(maps.Keys(v.used)) {
		v.faultIf(!slices.Contains(keys, key), v.used[key][0].as, "does not apply to "+command, hint)
	}
}

func (v *values) given(key string) bool { return len(v.used[key]) > 0 }

// says reports whether a flag is there, if with a value that is as good as none.
func (v *values) says(key string) bool { return v.there[key] || v.given(key) }

// last is the last use of a flag: it wins, as with argparse.
func (v *values) last(key string) (value, bool) {
	l := v.used[key]
	if len(l) == 0 {
		return value{}, false
	}
	return l[len(l)-1], true
}

func (v *values) text(key, without string) string {
	if u, ok := v.last(key); ok && len(u.text) > 0 {
		return u.text[0]
	}
	return without
}

// as is how the user wrote the flag.
func (v *values) as(key string) string {
	u, _ := v.last(key)
	return u.as
}

// number is the value of a flag as a number; what is none was found when it was read.
func (v *values) number(key string, without float64) float64 {
	if u, ok := v.last(key); ok && len(u.text) > 0 {
		if f, err := strconv.ParseFloat(u.text[0], 64); err == nil {
			return f
		}
	}
	return without
}

func (v *values) integer(key string, without int) int { return int(v.number(key, float64(without))) }

// scan reads a command line and finds all that is wrong with its form.
func scan(args []string) *values {
	v := &values{used: map[string][]value{}, there: map[string]bool{}}
	table := flags()
	if len(args) > 0 && slices.Contains(commands(), args[0]) {
		v.command, args = args[0], args[1:]
	}
	if len(args) > 0 && v.command == "" && !isFlag(args[0]) {
		v.fault("", fmt.Sprintf("unknown command %q", shorten(args[0])), suggest.Hint(args[0], commands()))
		args = args[1:]
	}
	known := scanned(table)
	for i := range table {
		if v.command == Compare && table[i].key == "file" { // there it takes several
			table[i] = *long(table, "files")
			known[i].Values = cmdline.Many
		}
	}
	value := func(arg string, _ cmdline.Flag) bool { return !isFlag(arg) }
	argparse := cmdline.Style{Flag: isFlag, Value: value, Ends: true, Skip: cmdline.Many, Equals: true}
	for p := range argparse.Parts(known, args) {
		switch p.Kind {
		case cmdline.Given:
			v.use(&table[p.Flag], p.As, p.Values)
		case cmdline.Argument:
			v.stray(p.As)
		case cmdline.Rest:
			v.pass = p.Values
		default:
			v.unknown(table, p.As)
		}
	}
	for _, u := range v.low {
		v.set(u)
	}
	return v
}

func scanned(table []option) []cmdline.Flag {
	all := make([]cmdline.Flag, len(table))
	for i := range table {
		f := &table[i]
		all[i] = cmdline.Flag{Long: append([]string{f.name}, f.same...), Short: f.short, Values: 1}
		switch {
		case f.kind == list || f.kind == wholes || f.kind == floats:
			all[i].Values = cmdline.Many
		case f.kind == toggle && f.key != "fixed-schedule": // of which the original wants a value
			all[i].Values = 0
		}
	}
	return all
}

// use notes a use of a flag. The last use wins.
func (v *values) use(f *option, as string, text []string) {
	u := value{flag: f, as: as, text: text}
	v.there[f.key] = true
	replaced := func(before value) bool { return before.flag.key == f.key }
	v.unset, v.low = slices.DeleteFunc(v.unset, replaced), slices.DeleteFunc(v.low, replaced)
	if f.key == "goodput" {
		delete(v.used, f.key)
	}
	if u.low() {
		v.low = append(v.low, u)
		return
	}
	if !f.unset(text) {
		v.set(u)
		return
	}
	delete(v.used, f.key)
	if f.least > 0 || slices.Contains(notZero(), f.key) {
		v.unset = append(v.unset, u)
	}
}

// low reports whether a value is a number below what its flag takes. The original checks that of the last use only, but for
// the number of entries, which it checks with the form.
func (u value) low() bool {
	f := u.flag
	if f.kind != whole && f.kind != number || f.name == "num-dataset-entries" || len(u.text) != 1 {
		return false
	}
	n, err := strconv.ParseFloat(u.text[0], 64)
	return err == nil && n < f.least && (f.kind == number || n == math.Trunc(n)) && !f.unset(u.text)
}

// isFlag tells a flag from a value: a dash in front, and no number behind it.
func isFlag(arg string) bool {
	if len(arg) < 2 || arg[0] != '-' {
		return false
	}
	_, err := strconv.ParseFloat(arg, 64)
	return err != nil
}

// long finds a flag by its name, or by a beginning of it that no other flag has.
func long(table []option, name string) *option {
	if fits := cmdline.Find(scanned(table), name, 1); len(fits) == 1 {
		return &table[fits[0]]
	}
	return nil
}

func (v *values) stray(arg string) {
	hint := "see --help"
	if n := suggest.Name(arg, commands()); n != "" {
		hint = "did you mean " + n + "? Commands go before all flags"
	}
	v.fault("", fmt.Sprintf("%q is not a flag", shorten(arg)), hint)
}

// unknown says which flag was probably meant. It never repeats a value, which may be
// a key.
func (v *values) unknown(table []option, arg string) {
	name, _, _ := strings.Cut(arg, "=")
	var names []string
	for _, f := range table {
		names = append(append(names, f.name), f.same...)
	}
	hint := "see --help"
	if n := suggest.Name(strings.TrimLeft(name, "-"), names); n != "" {
		hint = "did you mean --" + n + "?"
	}
	v.fault(shorten(name), "unknown flag", hint)
}

// set checks a use of a flag and keeps it.
func (v *values) set(u value) {
	f := u.flag
	switch {
	case f.key == "fixed-schedule":
		if len(u.text) > 0 && !slices.Contains([]string{"true", "True", "1"}, u.text[0]) {
			v.fault(u.as, fmt.Sprintf("takes no value, or true, not %q", shorten(u.text[0])), "leave the flag out for another load")
			v.beyond++ // any text is a value to the original
		}
	case f.kind == toggle && len(u.text) > 0:
		v.fault(u.as, "takes no value", "")
		return
	case f.kind != toggle && len(u.text) == 0:
		v.fault(u.as, "needs a value", f.help)
		return
	case len(f.choices) > 0 && !slices.Contains(f.choices, u.text[0]):
		v.fault(u.as, fmt.Sprintf("unknown value %q", shorten(u.text[0])), suggest.Hint(u.text[0], f.choices))
		return
	case f.kind == whole || f.kind == number || f.kind == wholes || f.kind == floats:
		for _, text := range u.text {
			if !v.checkNumber(u, text) {
				return
			}
		}
	}
	v.used[f.key] = append(v.used[f.key], u)
}

// notZero are the keys of flags that may be 0 and are something else without a value.
func notZero() []string {
	return []string{"request-rate", "stability", "prefix-length", "session-delay-ratio", "session-turns-mean"}
}

// unset reports whether a value on the command line is as good as none: the original takes what counts
// as false in Python for a flag that was not given. In a config file it is a value.
func (f *option) unset(text []string) bool {
	switch {
	case f.releases&inLast == 0 || f.key == "prompts" || len(text) != 1: // it reads the number of prompts by a rule of its own
		return false
	case f.key == "fixed-schedule":
		return text[0] == ""
	case f.kind == whole:
		n, err := strconv.Atoi(text[0])
		return err == nil && n == 0
	case f.kind == number:
		n, err := strconv.ParseFloat(text[0], 64)
		return err == nil && n == 0
	}
	return false
}

func (v *values) checkNumber(u value, text string) bool {
	n, err := strconv.ParseFloat(text, 64)
	const most = 1 << 52
	switch {
	case err != nil || math.IsNaN(n) || math.IsInf(n, 0):
		v.fault(u.as, fmt.Sprintf("%q is not a number", shorten(text)), "")
	case (u.flag.kind == whole || u.flag.kind == wholes) && (n != math.Trunc(n) || strings.ContainsAny(text, ".eExX_")):
		v.fault(u.as, fmt.Sprintf("must be a whole number, not %s", shorten(text)), "")
	case n < u.flag.least:
		v.fault(u.as, fmt.Sprintf("must be at least %v, is %s", u.flag.least, shorten(text)), "")
		if u.flag.name != "num-dataset-entries" { // which the original checks with the form
			v.beyond++
		}
	case n > most:
		v.fault(u.as, fmt.Sprintf("%s is too large", shorten(text)), "")
	default:
		return true
	}
	return false
}

func shorten(s string) string { return truncate.Text(strings.ToValidUTF8(s, "?"), 60) }
