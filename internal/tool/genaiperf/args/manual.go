package args

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
)

// Manual describes the command, for man pages and completion.
func Manual() clidoc.Command {
	c := clidoc.Command{
		Name:  "genai-perf",
		About: "Measure a generative-AI inference server with the command line, tables and files of NVIDIA's GenAI-Perf.",
		Usage: []clidoc.Usage{{Line: "genai-perf [COMMAND] -m MODEL [FLAG...] [-- PERF_ANALYZER_FLAG...]"}},
		Text:  "The release whose flags are used is recognised.",
		Page:  "genai-perf", Takes: clidoc.AnyFile, Rest: "perf_analyzer",
		Verbs: []clidoc.Verb{
			{Name: "profile", Help: "one run"},
			{Name: "analyze", Help: "one run for each value of --sweep-range or --sweep-list"},
			{Name: "config", Help: "run a YAML config file"},
			{Name: "create-template", Help: "write a config file with every key and its default"},
			{Name: "process-export-files", Help: "merge runs that were made in parallel into one result"},
			{Name: "compare", Help: "draw charts of several runs"},
		},
	}
	for _, f := range flags() {
		if n := len(c.Groups); n == 0 || c.Groups[n-1].Title != f.group {
			c.Groups = append(c.Groups, clidoc.Group{Title: f.group})
		}
		g := &c.Groups[len(c.Groups)-1]
		for i, name := range append([]string{f.name}, f.same...) {
			one := clidoc.Flag{Name: name, Arg: f.placeholder(), Help: f.help, Values: f.choices}
			if i == 0 {
				one.Short = f.short
			}
			switch {
			case strings.HasSuffix(name, "-dir"):
				one.Takes = clidoc.Directories
			case strings.HasSuffix(name, "file") || strings.HasPrefix(name, "tokenizer"):
				one.Takes = clidoc.AnyFile
			}
			g.Flags = append(g.Flags, one)
		}
	}
	return c
}

// placeholder stands for the value of a flag; empty: it has none.
func (f *option) placeholder() string {
	switch {
	case len(f.choices) > 0:
		return "{" + strings.Join(f.choices, ",") + "}"
	case f.kind == whole:
		return "N"
	case f.kind == number:
		return "X"
	case f.kind == word:
		return "TEXT"
	case f.kind == list || f.kind == wholes || f.kind == floats:
		return "TEXT…"
	}
	return ""
}

// HelpText is what --help prints.
func HelpText() string {
	var b strings.Builder
	b.WriteString("usage: genai-perf [profile] -m MODEL [FLAG…] [-- PERF_ANALYZER_FLAG…]\n\n" +
		"Measures a generative-AI inference server, with the command line, tables and files of\n" +
		"NVIDIA's GenAI-Perf. The release whose flags are used is recognised.\n" + commandsHelp)
	group := ""
	for _, f := range flags() {
		if f.group != group {
			group = f.group
			fmt.Fprintf(&b, "\n%s:\n", group)
		}
		writeFlag(&b, f)
	}
	return b.String()
}

// commandsHelp says what may stand in front of the flags.
const commandsHelp = `
Commands, in front of all flags:
  profile                 one run; releases before 24.08 have no command for it
  analyze                 one run for each value of --sweep-range or --sweep-list
  config -f FILE          run a YAML config file
  create-template         write a config file with every key and its default
  process-export-files    merge runs that were made in parallel into one result
  compare -f FILE…        draw charts of several runs
`

const column = 26

func writeFlag(b *strings.Builder, f option) {
	var names []string
	if f.short != "" {
		names = append(names, "-"+f.short)
	}
	for _, n := range append([]string{f.name}, f.same...) {
		names = append(names, "--"+n)
	}
	left := "  " + strings.Join(names, ", ")
	if p := f.placeholder(); p != "" {
		left += " " + p
	}
	if len(left) > column-2 {
		fmt.Fprintf(b, "%s\n%s%s\n", left, strings.Repeat(" ", column), f.help)
		return
	}
	fmt.Fprintf(b, "%-*s%s\n", column, left, f.help)
}
