package args

import (
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/cmdline"
	"github.com/inferometer/inferometer/internal/lib/number"
	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/lib/truncate"
)

// The kinds of flags.
const (
	kindBool  = "bool"
	kindInt   = "int"
	kindFloat = "float"
	kindText  = "text"
	kindJSON  = "json"
	kindPair  = "pair" // with a --no- form
)

// How flags are taken.
const (
	Same    = "same"
	Differs = "differs"
	Refused = "refused"
)

// Flag is a flag of the original, or one of our own.
type Flag struct {
	Name    string
	Kind    string
	Default any
	Values  string // "*" or "+": it takes several
	Choices []string
	Bare    bool // its default is a text that Python shows as it is
	Whole   bool // its default is a whole number, which Python shows as one
	Is      string
	Why     string // it differs or is refused
	Help    string
	Added   bool // it is ours
	Fork    bool // only the fork has it
	Forked  any  // its default there, where it is another
}

//go:embed flags.yaml script.yaml
var tables embed.FS

// flagsOf reads a table.
func flagsOf(file string) func() []Flag {
	return sync.OnceValue(func() []Flag {
		text, err := tables.ReadFile(file)
		var list []Flag
		if err == nil {
			err = yaml.Unmarshal(text, &list)
		}
		if err != nil {
			panic(file + ": " + err.Error())
		}
		return list
	})
}

var current, script = flagsOf("flags.yaml"), flagsOf("script.yaml")

// Flags are those of a program, in the original's order.
func Flags(p Program) []Flag {
	if p == Script {
		return script()
	}
	return current()
}

// values are those of the flags of a command line.
type values struct {
	flags  []Flag
	of     map[string]any // nil: the flag was not given and has no value without it
	given  map[string]bool
	twice  []string // that were given more than once
	wanted bool     // the help is
}

func (v *values) text(name string) string    { s, _ := v.of[name].(string); return s }
func (v *values) int(name string) int        { n, _ := v.of[name].(int); return n }
func (v *values) float(name string) float64  { f, _ := v.of[name].(float64); return f }
func (v *values) bool(name string) bool      { b, _ := v.of[name].(bool); return b }
func (v *values) texts(name string) []string { l, _ := v.of[name].([]string); return l }
func (v *values) has(name string) bool       { return v.of[name] != nil }
func (v *values) json(name string) map[string]any {
	m, _ := v.of[name].(map[string]any)
	return m
}

// UsageError is a command line that has no such form.
type UsageError struct{ Text string }

// Error implements error.
func (e *UsageError) Error() string { return e.Text }

func usage(format string, args ...any) error { return &UsageError{fmt.Sprintf(format, args...)} }

// numeral is what argparse takes for a negative number rather than a flag.
var numeral = pattern.New(`^-\d+$|^-\d*\.\d+$`)

func isFlag(arg string) bool {
	name, _, _ := strings.Cut(arg, "=")
	return len(arg) > 1 && arg[0] == '-' && !numeral().MatchString(arg) && !strings.Contains(name, " ")
}

// read takes a command line apart as the original's parser does.
func read(line []string, p Program) (*values, error) {
	v := &values{flags: Flags(p), of: map[string]any{}, given: map[string]bool{}}
	flags := v.flags
	table := make([]cmdline.Flag, 0, len(flags)+2)
	for _, f := range flags {
		one := cmdline.Flag{Long: []string{f.Name}, Values: 1, Added: f.Added}
		switch {
		case f.Kind == kindBool:
			one.Values = 0
		case f.Kind == kindPair:
			one.Values, one.Long = 0, append(one.Long, "no-"+f.Name)
		case f.Values != "":
			one.Values = cmdline.Many
		}
		table = append(table, one)
		if v.of[f.Name] = f.Default; f.Kind == kindBool {
			v.of[f.Name] = false
		}
	}
	table = append(table, cmdline.Flag{Long: []string{"help"}, Short: "h"}, cmdline.Flag{Long: []string{"config"}, Values: 1})
	line, err := undotted(line)
	if err != nil {
		return nil, err
	}
	argparse := cmdline.Style{
		Flag: isFlag, Value: func(arg string, _ cmdline.Flag) bool { return !isFlag(arg) }, Ends: true, Skip: 1, Equals: true,
	}
	for p := range argparse.Parts(table, line) {
		switch {
		case p.Kind == cmdline.Given && p.Flag == len(flags):
			v.wanted = true
		case p.Kind == cmdline.Given && p.Flag > len(flags):
			return nil, usage("--config is not supported: the original puts the file's settings in front of the word serve, and fails")
		case p.Kind == cmdline.Given:
			if err := v.setFlag(&flags[p.Flag], p); err != nil {
				return nil, err
			}
		case p.Kind == cmdline.Ambiguous:
			return nil, usage("ambiguous option: %s could match --%s, --%s", p.As, flags[p.Fits[0]].Name, flags[p.Fits[1]].Name)
		case p.Kind == cmdline.Unknown:
			return nil, unknown(flags, p.As)
		default:
			return nil, usage("unrecognized arguments: %s", truncate.Text(strings.Join(append([]string{p.As}, p.Values...), " "), 200))
		}
	}
	return v, nil
}

func unknown(flags []Flag, name string) error {
	var names []string
	for _, f := range flags {
		names = append(names, "--"+f.Name)
	}
	hint := ""
	if n := suggest.Name(name, names); n != "" {
		hint = ": did you mean " + n + "?"
	}
	return usage("unrecognized arguments: %s%s", truncate.Text(name, 100), hint)
}

// undotted turns underscores of names into dashes, and flags such as --extra-body.a.b into one
// of JSON.
func undotted(line []string) ([]string, error) {
	var out, order []string
	built := map[string]map[string]any{}
	for i := 0; i < len(line); i++ {
		arg := line[i]
		name, value, attached := strings.Cut(arg, "=")
		if !strings.HasPrefix(arg, "--") || arg == "--" {
			out = append(out, arg)
			continue
		}
		flag, path, dotted := strings.Cut(name, ".")
		flag = strings.ReplaceAll(flag, "_", "-")
		if !dotted {
			out = append(out, flag+strings.TrimPrefix(arg, name))
			continue
		}
		if !attached {
			if i++; i == len(line) {
				return nil, usage("argument %s: expected one argument", truncate.Text(arg, 100))
			}
			value = line[i]
		}
		var v any = valueOf(value)
		if bare, list := strings.CutSuffix(path, "+"); list {
			var elements []any
			for part := range strings.SplitSeq(value, ",") {
				elements = append(elements, part)
			}
			path, v = bare, elements
		}
		if built[flag] == nil {
			built[flag], order = map[string]any{}, append(order, flag)
		}
		put(built[flag], strings.Split(path, "."), v)
	}
	for _, flag := range order {
		text, err := json.Marshal(built[flag])
		if err != nil {
			return nil, err
		}
		out = append(out, flag, string(text))
	}
	return out, nil
}

// put sets what a path leads to.
func put(o map[string]any, path []string, v any) {
	if len(path) > 1 {
		inner, ok := o[path[0]].(map[string]any)
		if !ok {
			inner = map[string]any{}
			o[path[0]] = inner
		}
		put(inner, path[1:], v)
		return
	}
	have, isList := o[path[0]].([]any)
	if more, ok := v.([]any); ok && isList {
		v = append(have, more...)
	}
	o[path[0]] = v
}

var size = pattern.New(`^(\d+(?:\.\d+)?)([kKmMgGtT])$`)

// valueOf is the value of a dotted flag: JSON, a size such as 1k or 1K, or a text.
func valueOf(text string) any {
	if v, err := parseJSON(text); err == nil {
		return v
	}
	if parts := size().FindStringSubmatch(text); parts != nil {
		n, _ := strconv.ParseFloat(parts[1], 64)
		power := float64(strings.Index("kmgt", strings.ToLower(parts[2])) + 1)
		if parts[2] == strings.ToLower(parts[2]) {
			return int64(n * math.Pow(1000, power))
		}
		if n == math.Trunc(n) && !strings.Contains(parts[1], ".") {
			return int64(n * math.Pow(1024, power))
		}
	}
	return text
}

// parseJSON reads JSON whose numbers are whole or not as they are written.
func parseJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("it goes on behind its end")
	}
	return numbers(v), nil
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for name := range v {
			v[name] = numbers(v[name])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// setFlag sets a flag.
func (v *values) setFlag(f *Flag, p cmdline.Part) error {
	name := "argument --" + f.Name
	if f.Kind == kindPair {
		name += "/--no-" + f.Name
	}
	if v.given[f.Name] {
		v.twice = append(v.twice, "--"+f.Name)
	}
	v.given[f.Name] = true
	switch {
	case (f.Kind == kindBool || f.Kind == kindPair) && len(p.Values) > 0:
		return usage("%s: ignored explicit argument '%s'", name, truncate.Text(p.Values[0], 40))
	case f.Kind == kindBool:
		v.of[f.Name] = true
	case f.Kind == kindPair:
		v.of[f.Name] = !strings.HasPrefix(p.As, "--no")
	case f.Values == "*" || f.Values != "" && len(p.Values) > 0:
		v.of[f.Name] = append([]string{}, p.Values...)
	case f.Values != "":
		return usage("%s: expected at least one argument", name)
	case len(p.Values) == 0:
		return usage("%s: expected one argument", name)
	default:
		value, err := convert(f, p.Values[0])
		if err != nil {
			return usage("%s: %v", name, err)
		}
		v.of[f.Name] = value
	}
	return nil
}

func convert(f *Flag, text string) (any, error) {
	quoted := "'" + truncate.Text(text, 100) + "'"
	switch bare := strings.ReplaceAll(strings.TrimSpace(text), "_", ""); f.Kind {
	case kindInt:
		n, err := strconv.Atoi(bare)
		if err != nil {
			return nil, fmt.Errorf("invalid int value: %s", quoted)
		}
		return n, nil
	case kindFloat:
		n, err := strconv.ParseFloat(bare, 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || strings.ContainsAny(bare, "xXpP") {
			return nil, fmt.Errorf("invalid float value: %s", quoted)
		}
		return n, nil
	case kindJSON:
		v, err := parseJSON(text)
		if o, ok := v.(map[string]any); err == nil && ok {
			return o, nil
		}
		if err == nil && v == nil {
			return nil, nil
		}
		return nil, fmt.Errorf("invalid loads value: %s", quoted)
	}
	if f.Choices != nil && !slices.Contains(f.Choices, text) {
		return nil, fmt.Errorf("invalid choice: %s (choose from '%s')", quoted, strings.Join(f.Choices, "', '"))
	}
	return text, nil
}

// namespace is how Python shows the values.
func (v *values) namespace() string {
	var parts []string
	if len(v.flags) == len(current()) {
		parts = []string{"subparser='bench'", "bench_type='serve'"}
	}
	for _, f := range v.flags {
		if f.Added || f.Fork && !v.forked() {
			continue
		}
		value := v.of[f.Name]
		shown := python(value)
		switch text, isText := value.(string); {
		case f.Name == "header" && value != nil:
			shown = "'***'"
		case f.Bare && isText:
			shown = text
		case f.Whole && !v.given[f.Name]:
			shown = strings.TrimSuffix(shown, ".0")
		}
		parts = append(parts, strings.ReplaceAll(f.Name, "-", "_")+"="+shown)
	}
	return "Namespace(" + strings.Join(parts, ", ") + ")"
}

// forked reports whether flags are given that only the fork has.
func (v *values) forked() bool {
	return slices.ContainsFunc(v.flags, func(f Flag) bool { return f.Fork && v.given[f.Name] })
}

// python is how Python shows a value.
func python(v any) string {
	var parts []string
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return map[bool]string{true: "True", false: "False"}[v]
	case float64:
		return number.Python(v)
	case string:
		quote := "'"
		if strings.Contains(v, "'") && !strings.Contains(v, `"`) {
			quote = `"`
		}
		return quote + strings.NewReplacer(`\`, `\\`, quote, `\`+quote, "\n", `\n`, "\t", `\t`, "\r", `\r`).Replace(v) + quote
	case []string:
		for _, one := range v {
			parts = append(parts, python(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case []any:
		for _, one := range v {
			parts = append(parts, python(one))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		for _, name := range slices.SortedFunc(maps.Keys(v), cmp.Compare[string]) {
			parts = append(parts, python(name)+": "+python(v[name]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	return fmt.Sprint(v)
}
