package args

import (
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
)

const about = "Measure a server of language models as vLLM's serving benchmark does."

func line(p Program) string {
	if p == Script {
		return "benchmark_serving.py [flags]"
	}
	return "vllm bench serve [flags]"
}

// Help is the text of --help.
func Help(p Program) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nUsage: %s\n\n", about, line(p))
	for _, f := range Flags(p) {
		fmt.Fprintf(&b, "  --%s\n        %s%s\n", f.Name, f.Help, f.remarks())
	}
	return b.String()
}

// remarks are what the help says of a flag besides: its default, and that it is not supported.
func (f *Flag) remarks() string {
	var notes []string
	if f.Default != nil && f.Kind != kindBool {
		notes = append(notes, "default "+python(f.Default))
	}
	switch {
	case f.Added:
		notes = append(notes, "Inferometer extension")
	case f.Is == Refused:
		notes = append(notes, "not supported")
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + strings.Join(notes, ", ") + ")"
}

// ServeManual describes vllm bench serve, for man pages and completion.
func ServeManual() clidoc.Command { return manual(Serve) }

// ScriptManual describes the script.
func ScriptManual() clidoc.Command { return manual(Script) }

func manual(p Program) clidoc.Command {
	var flags []clidoc.Flag
	for _, f := range Flags(p) {
		one := clidoc.Flag{Name: f.Name, Help: f.Help + f.remarks(), Values: f.Choices}
		switch {
		case f.Kind == kindBool || f.Kind == kindPair:
		case f.Name == "dataset-path" || f.Name == "tokenizer":
			one.Arg, one.Takes = "FILE", clidoc.AnyFile
		case f.Name == "result-dir" || f.Name == "records":
			one.Arg, one.Takes = "DIR", clidoc.Directories
		default:
			one.Arg = strings.ToUpper(f.Kind)
		}
		flags = append(flags, one)
	}
	name, _, _ := strings.Cut(line(p), " ")
	return clidoc.Command{Name: name, About: about, Usage: []clidoc.Usage{{Line: line(p)}}, Groups: []clidoc.Group{{Title: "Flags", Flags: flags}}, Page: "vllm-bench"}
}
