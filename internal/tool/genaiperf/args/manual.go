package args

import (
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
