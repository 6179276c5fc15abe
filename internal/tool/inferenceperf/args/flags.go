package args

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/cmdline"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan"
)

// flag is a key of the schema on the command line, or a flag of the tool's own.
type flag struct {
	name  string   // with its dashes
	short string   // a letter; empty: none
	path  []string // of the key; nil means it is none
	form  form
	help  string
	bare  bool                       // it takes no value
	take  func(c *command, v string) // of a flag that is no key
}

// flagsOf lists a flag for every key of the schema. Sections are flags too, in JSON, or null for
// none.
func flagsOf(f form, path []string) []flag {
	var all []flag
	add := func(k key, name, help string) []string {
		sub := append(slices.Clip(path), name)
		all = append(all, flag{name: "--" + strings.Join(sub, "."), path: sub, form: k.form, help: help})
		return sub
	}
	for _, k := range f.keys {
		sub := add(k, k.name, k.help)
		if k.form.kind == object {
			all = append(all, flagsOf(k.form, sub)...)
		} else if k.also != "" {
			add(k, k.also, "The older name of "+k.name+".")
		}
	}
	return all
}

// allFlags are the general ones and one for each key of the schema.
var allFlags = sync.OnceValue(func() []flag { return append(general(), flagsOf(root(), nil)...) })

type override struct {
	flag  *flag
	value string
}

// node is the override as a config file would have it.
func (o override) node(r *reader) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: o.value}
	if o.flag.form.kind != text {
		var doc yaml.Node
		switch err := yaml.Unmarshal([]byte(o.value), &doc); {
		case err != nil:
			r.fault(nil, strings.Join(o.flag.path, "."), "is not valid JSON: "+strings.TrimPrefix(err.Error(), "yaml: "), "")
			return &yaml.Node{Kind: yaml.MappingNode}
		case len(doc.Content) == 1 && !(o.flag.form.counts() && doc.Content[0].ShortTag() == "!!bool"):
			n = doc.Content[0] // a word is no number here, as true is in a file
		}
	}
	for _, name := range slices.Backward(o.flag.path) {
		n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, n}}
	}
	return n
}

// readable reports whether a value has the form of its kind. The original checks that of each use of a
// flag, and all else of the last use only.
func (o override) readable() bool {
	var err error
	switch o.flag.form.kind {
	case whole:
		_, err = strconv.Atoi(strings.TrimSpace(o.value))
	case number:
		_, err = strconv.ParseFloat(strings.TrimSpace(o.value), 64)
	case list, mapping, union:
		isObject := o.flag.form.kind == union && strings.HasPrefix(strings.TrimSpace(o.value), "{")
		return !isObject && json.Valid([]byte(o.value))
	case choice, object: // of an object, each use may say more
		return false
	}
	return err == nil
}

// replaces reports whether a flag puts something else in the place of what is wrong in the file: a
// section that is none gives way to a flag of its parts.
func (c *command) replaces(f plan.Fault) bool {
	return f.Path != "" && slices.ContainsFunc(c.overrides, func(o override) bool {
		path := strings.Join(o.flag.path, ".")
		return within(path, f.Path) || o.flag.form.kind == list && within(f.Path, path)
	})
}

type command struct {
	*Action
	help, version bool
	overrides     []override
	faults        plan.Faults
}

// general are the flags that are no part of the schema.
func general() []flag {
	level := form{kind: choice, words: []string{"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}}
	return []flag{
		{name: "--config_file", short: "c", form: form{kind: text}, help: "Config file (-c). Without any arguments: ./config.yml.", take: func(c *command, v string) { c.File = v }},
		{name: analyzeFlag, short: "a", help: "Report directories to draw charts for (-a)."},
		{name: "--unified_analysis_dir", short: "u", form: form{kind: text}, help: "Directory for charts that overlay all of them (-u).", take: func(c *command, v string) { c.Unified = v }},
		{name: "--log-level", form: level, help: "Minimum severity of messages (default INFO).", take: func(c *command, v string) {
			c.LogLevel = strings.ToUpper(v)
			if _, err := level.parse(&yaml.Node{Kind: yaml.ScalarNode, Value: c.LogLevel}); err != nil {
				c.fault("--log-level", err.Error(), "")
			}
		}},
		{name: "--percentiles", form: form{kind: text}, help: "With --analyze: percentiles to draw instead of means, such as 50,99. Inferometer extension.", take: func(c *command, v string) {
			for p := range strings.SplitSeq(v, ",") {
				c.Percentiles = append(c.Percentiles, strings.TrimPrefix(strings.TrimSpace(p), "p"))
			}
		}},
		{name: "--dry-run", bare: true, help: "Print the equivalent plan file and exit. Inferometer extension.", take: func(c *command, _ string) { c.DryRun = true }},
		{name: "--strict", bare: true, help: "Exit with 1 if the result can't be trusted. Inferometer extension.", take: func(c *command, _ string) { c.Strict = true }},
		{name: "--faithful", bare: true, help: "Reproduce the original where ours differs. Inferometer extension.", take: func(c *command, _ string) { c.Options.Faithful = true }},
		{name: "--version", bare: true, help: "Print the version.", take: func(c *command, _ string) { c.version = true }},
		{name: "--help", short: "h", bare: true, help: "Print this help (-h).", take: func(c *command, _ string) { c.help = true }},
	}
}

// analyzeFlag takes every argument up to the next flag.
const analyzeFlag = "--analyze"

func (c *command) fault(where, text, hint string) {
	c.faults = append(c.faults, plan.Fault{Where: where, Text: text, Hint: hint})
}

func (c *command) scan(args []string) {
	table := allFlags()
	flags := make([]cmdline.Flag, len(table))
	for i, f := range table {
		flags[i] = cmdline.Flag{Long: []string{strings.TrimPrefix(f.name, "--")}, Short: f.short, Values: 1}
		switch {
		case f.bare:
			flags[i].Values = 0
		case f.name == analyzeFlag:
			flags[i].Values = cmdline.Many
		}
	}
	argparse := cmdline.Style{
		Flag: func(arg string) bool {
			return strings.HasPrefix(arg, "--") || slices.ContainsFunc(table, func(f flag) bool { return f.short != "" && strings.HasPrefix(arg, "-"+f.short) })
		},
		Value: func(arg string, of cmdline.Flag) bool {
			return !strings.HasPrefix(arg, "--") && (of.Values == 1 || !strings.HasPrefix(arg, "-"))
		},
		Least: 2, Skip: 1, More: true, Equals: true,
	}
	for p := range argparse.Parts(flags, args) {
		switch p.Kind {
		case cmdline.Argument:
			c.fault(fmt.Sprintf("argument %d", p.At+1), "unexpected "+quote(p.As), "pass the config file with --config_file")
		case cmdline.Unknown:
			c.unknown(table, p.As)
		case cmdline.Ambiguous:
			c.fault(clip(p.As), "is ambiguous", table[p.Fits[0]].name+", "+table[p.Fits[1]].name+" …")
		case cmdline.Given:
			c.given(&table[p.Flag], p.Values)
		}
	}
	if c.Command == Analyze && len(c.Dirs) == 0 && len(c.faults) == 0 {
		c.fault(analyzeFlag, "needs at least one directory", "")
	}
	if c.Command == Analyze && len(c.overrides) > 0 {
		c.fault(c.overrides[0].flag.name, "does not apply to --analyze", "leave it out")
	}
}

func (c *command) given(f *flag, values []string) {
	switch {
	case f.name == analyzeFlag:
		c.Command, c.Dirs = Analyze, append(c.Dirs, values...)
	case f.bare:
		f.take(c, "")
	case len(values) == 0:
		c.fault(f.name, "needs a value: "+f.form.takes(), "")
	case f.take != nil:
		f.take(c, values[0])
	default:
		c.overrides = slices.DeleteFunc(c.overrides, func(o override) bool { return o.flag == f && o.readable() })
		c.overrides = append(c.overrides, override{flag: f, value: values[0]})
	}
}

// unknown says which flag was probably meant.
func (c *command) unknown(table []flag, name string) {
	var names []string
	for _, f := range table {
		names = append(names, f.name)
	}
	hint := "see inference-perf --help"
	if n := cmp.Or(byKey(table, strings.TrimLeft(name, "-")), suggest.Name(name, names)); n != "" {
		hint = "did you mean " + n + "?"
	}
	if n := listAround(table, name); n != "" {
		hint = n + " takes the whole list, as JSON"
	}
	c.fault(clip(name), "unknown flag", hint)
}

// listAround is the flag of the list that a name goes into; empty: there is none.
func listAround(table []flag, name string) string {
	i := slices.IndexFunc(table, func(f flag) bool { return f.form.kind == list && within(name, f.name) })
	if i < 0 {
		return ""
	}
	return table[i].name
}

// byKey is the flag whose last key is called so, or has the word at its begin or end; the
// one nearest to the top of the schema where there are several; empty: none is.
func byKey(table []flag, word string) string {
	var best flag
	for _, f := range table {
		if len(f.path) == 0 {
			continue
		}
		last := f.path[len(f.path)-1]
		fits := last == word || last == word+"s" || strings.HasPrefix(last, word+"_") || strings.HasSuffix(last, "_"+word)
		if fits && (best.name == "" || len(f.path) < len(best.path)) {
			best = f
		}
	}
	return best.name
}

// HelpText is the text of --help.
func HelpText() string {
	var b strings.Builder
	b.WriteString("Measure an inference server with an inference-perf config file.\n\n" +
		"Usage: inference-perf [--config_file FILE] [--KEY.KEY VALUE …]\n       inference-perf --analyze DIR… [--unified_analysis_dir DIR]\n\n")
	for _, f := range general() {
		fmt.Fprintf(&b, "  %s\n        %s\n", f.name, f.help)
	}
	b.WriteString("\nEvery key of the config is a flag; lists and mappings are JSON:\n\n")
	for _, f := range flagsOf(root(), nil) {
		if f.form.kind != object {
			fmt.Fprintf(&b, "  %s%s\n        %s\n", f.name, f.form.placeholder(), f.help)
		}
	}
	return b.String()
}

// placeholder stands for the value of a flag in the help.
func (f *form) placeholder() string {
	switch f.kind {
	case whole, number:
		return " NUMBER"
	case boolean:
		return " TRUE|FALSE"
	case choice:
		return " {" + strings.Join(f.words, ",") + "}"
	case list, mapping, union:
		return " JSON"
	}
	return ""
}
