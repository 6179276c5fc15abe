package args

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/inferometer/inferometer/internal/lib/nearest"
	"github.com/inferometer/inferometer/internal/plan"
)

// flag is a leaf of the schema on the command line.
type flag struct {
	name string // with its dashes
	path []string
	form form
	help string
}

// flagsOf lists a flag for every key of the schema. Sections are flags too, in JSON, or
// null where there shall be none.
func flagsOf(f form, path []string) []flag {
	var all []flag
	for _, k := range f.keys {
		sub := append(slices.Clip(path), k.name)
		if k.form.kind == object {
			all = append(all, flag{name: "--" + strings.Join(sub, "."), path: sub, form: k.form, help: k.help})
			all = append(all, flagsOf(k.form, sub)...)
			continue
		}
		all = append(all, flag{name: "--" + strings.Join(sub, "."), path: sub, form: k.form, help: k.help})
		if k.also != "" {
			older := append(slices.Clip(path), k.also)
			all = append(all, flag{name: "--" + strings.Join(older, "."), path: older, form: k.form, help: "The older name of " + k.name + "."})
		}
	}
	return all
}

// allFlags are the general ones and one for each key of the schema.
var allFlags = sync.OnceValue(func() []flag { return append(general(), flagsOf(root(), nil)...) })

// override is a flag that was given.
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
		case len(doc.Content) == 1:
			n = doc.Content[0]
		}
	}
	for _, name := range slices.Backward(o.flag.path) {
		n = &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, n}}
	}
	return n
}

// command is a command line, taken apart.
type command struct {
	file        string
	analyze     bool
	dirs        []string
	unified     string
	logLevel    string
	percentiles []string
	help        bool
	version     bool
	dryRun      bool
	strict      bool
	faithful    bool
	overrides   []override
	faults      plan.Faults
}

// general are the flags that are no part of the schema.
func general() []flag {
	return []flag{
		{name: "--config_file", form: textForm, help: "Config file (-c). Without any arguments: ./config.yml."},
		{name: "--analyze", help: "Directories of reports to draw charts of (-a)."},
		{name: "--unified_analysis_dir", form: textForm, help: "Directory for the charts of all of them in one (-u)."},
		{name: "--log-level", form: words("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"), help: "How much is told."},
		{name: "--percentiles", form: textForm, help: "Of --analyze: percentiles to draw instead of means, such as 50,99. Inferometer extension."},
		{name: "--dry-run", help: "Print the plan and stop. Inferometer extension."},
		{name: "--strict", help: "A result that cannot be trusted is a failure. Inferometer extension."},
		{name: "--faithful", help: "Where the original has its own ways, those. Inferometer extension."},
		{name: "--version", help: "Print the version."},
		{name: "--help", help: "Print this (-h)."},
	}
}

func short(arg string) string {
	switch {
	case strings.HasPrefix(arg, "--") || len(arg) < 2 || arg[0] != '-':
		return arg
	case arg == "-h":
		return "--help"
	}
	long := map[byte]string{'c': "--config_file", 'a': "--analyze", 'u': "--unified_analysis_dir"}[arg[1]]
	switch {
	case long == "":
		return arg
	case len(arg) > 2:
		return long + "=" + strings.TrimPrefix(arg[2:], "=")
	}
	return long
}

func (c *command) fault(where, text, hint string) {
	c.faults = append(c.faults, plan.Fault{Where: where, Text: text, Hint: hint})
}

// scan takes a command line apart.
func (c *command) scan(args []string) {
	table := allFlags()
	for i := 0; i < len(args); i++ {
		arg, value, attached := strings.Cut(short(args[i]), "=")
		if !strings.HasPrefix(arg, "--") {
			c.fault(fmt.Sprintf("argument %d", i+1), "unexpected "+quote(args[i]), "the config file is given with --config_file")
			continue
		}
		f := c.find(table, arg)
		if f == nil {
			if !attached && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++ // its value
			}
			continue
		}
		if f.name == "--analyze" {
			c.analyze = true
			if attached {
				c.dirs = append(c.dirs, value)
			}
			for i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
				c.dirs = append(c.dirs, args[i])
			}
			continue
		}
		if c.word(f.name) {
			continue
		}
		if !attached {
			if i+1 >= len(args) || strings.HasPrefix(args[i+1], "--") {
				c.fault(f.name, "needs a value: "+f.form.takes(), "")
				continue
			}
			i++
			value = args[i]
		}
		c.set(f, value)
	}
	if c.analyze && len(c.dirs) == 0 && len(c.faults) == 0 {
		c.fault("--analyze", "names no directory", "")
	}
	if c.analyze && len(c.overrides) > 0 {
		c.fault(c.overrides[0].flag.name, "has no meaning for --analyze", "leave it out")
	}
}

// find finds a flag by its name or an abbreviation that fits no other.
func (c *command) find(table []flag, name string) *flag {
	var found []*flag
	var names []string
	for i := range table {
		f := &table[i]
		if f.name == name {
			return f
		}
		if strings.HasPrefix(f.name, name) && len(name) > 3 {
			found = append(found, f)
		}
		names = append(names, f.name)
	}
	switch len(found) {
	case 1:
		return found[0]
	case 0:
		hint := "inference-perf --help lists them"
		if n := cmp.Or(byKey(table, strings.TrimLeft(name, "-")), nearest.Name(name, names)); n != "" {
			hint = "did you mean " + n + "?"
		}
		if n := listAround(table, name); n != "" {
			hint = n + " takes the whole list, as JSON"
		}
		c.fault(clip(name), "there is no such flag", hint)
	default:
		c.fault(clip(name), "fits more than one flag", found[0].name+", "+found[1].name+" …")
	}
	return nil
}

// listAround is the flag of the list that a name goes into; empty: there is none.
func listAround(table []flag, name string) string {
	for i := range table {
		f := &table[i]
		if rest, ok := strings.CutPrefix(name, f.name); ok && f.form.kind == list && rest != "" && (rest[0] == '.' || rest[0] == '[') {
			return f.name
		}
	}
	return ""
}

// byKey is the flag whose last key is called so, or has the word at its begin or end; the
// one nearest to the top of the schema where there are several; empty: none is.
func byKey(table []flag, word string) string {
	var best *flag
	for i := range table {
		f := &table[i]
		if len(f.path) == 0 {
			continue
		}
		last := f.path[len(f.path)-1]
		fits := last == word || last == word+"s" || strings.HasPrefix(last, word+"_") || strings.HasSuffix(last, "_"+word)
		if fits && (best == nil || len(f.path) < len(best.path)) {
			best = f
		}
	}
	if best == nil {
		return ""
	}
	return best.name
}

// word takes a flag that has no value.
func (c *command) word(name string) bool {
	switch name {
	case "--help":
		c.help = true
	case "--version":
		c.version = true
	case "--dry-run":
		c.dryRun = true
	case "--strict":
		c.strict = true
	case "--faithful":
		c.faithful = true
	default:
		return false
	}
	return true
}

// set takes a flag with its value.
func (c *command) set(f *flag, value string) {
	switch f.name {
	case "--config_file":
		c.file = value
	case "--unified_analysis_dir":
		c.unified = value
	case "--percentiles":
		for p := range strings.SplitSeq(value, ",") {
			c.percentiles = append(c.percentiles, strings.TrimPrefix(strings.TrimSpace(p), "p"))
		}
	case "--log-level":
		level, err := f.form.parse(&yaml.Node{Kind: yaml.ScalarNode, Value: strings.ToUpper(value)})
		if err != nil {
			c.fault(f.name, err.Error(), "")
			return
		}
		c.logLevel = level.(string)
	default:
		c.overrides = append(c.overrides, override{flag: f, value: value})
	}
}

// HelpText is the text of --help.
func HelpText() string {
	var b strings.Builder
	b.WriteString("Measure a server as inference-perf does: a config file says all.\n\n" +
		"Usage: inference-perf [--config_file FILE] [--KEY.KEY VALUE …]\n       inference-perf --analyze DIR… [--unified_analysis_dir DIR]\n\n")
	line := func(f flag) {
		name := f.name
		switch {
		case f.form.kind == choice:
			name += " {" + strings.Join(f.form.words, ",") + "}" // written as they are
		case f.form.kind != text || f.form.item != nil:
			name += " " + strings.ToUpper(strings.ReplaceAll(f.form.short(), " ", "-"))
		}
		fmt.Fprintf(&b, "  %s\n        %s\n", strings.TrimRight(name, " "), f.help)
	}
	for _, f := range general() {
		fmt.Fprintf(&b, "  %s\n        %s\n", f.name, f.help)
	}
	b.WriteString("\nEvery key of the config is a flag; lists and mappings are JSON:\n\n")
	for _, f := range flagsOf(root(), nil) {
		if f.form.kind != object {
			line(f)
		}
	}
	return b.String()
}

// short is what a form takes, in a word.
func (f *form) short() string {
	switch f.kind {
	case whole, number:
		return "number"
	case boolean:
		return "true|false"
	case choice:
		return strings.Join(f.words, "|")
	case list, mapping, object, union:
		return "json"
	}
	return ""
}
