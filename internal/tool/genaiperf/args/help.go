package args

import (
	"fmt"
	"strings"
)

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
