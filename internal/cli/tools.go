package cli

import (
	"errors"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/aiperf"
	"github.com/inferometer/inferometer/internal/tool/compare"
	"github.com/inferometer/inferometer/internal/tool/genaiperf"
	genaiperfargs "github.com/inferometer/inferometer/internal/tool/genaiperf/args"
	"github.com/inferometer/inferometer/internal/tool/guidellm"
	"github.com/inferometer/inferometer/internal/tool/inferenceperf"
	"github.com/inferometer/inferometer/internal/tool/inferometer"
	"github.com/inferometer/inferometer/internal/tool/llmperf"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer"
	perfanalyzerargs "github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	"github.com/inferometer/inferometer/internal/tool/selftest"
	"github.com/inferometer/inferometer/internal/tool/sglang"
	"github.com/inferometer/inferometer/internal/tool/study"
	"github.com/inferometer/inferometer/internal/tool/vllmbench"
)

// ownTools are the commands that are ours. Those that read files read what the tools of a list write, too.
func ownTools(read []tool.Tool) []tool.Tool {
	studies := tool.Gated(tool.Paged(tool.WithLiveFlags(study.Tool())))
	return []tool.Tool{
		tool.WithLiveFlags(inferometer.Run()), tool.WithLiveFlags(inferometer.Capacity()), studies,
		inferometer.Report(append(read[:len(read):len(read)], studies)), compare.Tool(read), inferometer.Export(read),
		tool.WithLiveFlags(inferometer.Plan()), inferometer.Tokens(), selftest.Tool(), inferometer.Mock(), inferometer.Worker(),
		{Name: "link", Summary: "install drop-in links for the tools below", Manual: linkManual, Run: linkCommand},
		{Name: "completion", Summary: "print the completion script of a shell", Manual: completionManual, Run: completionCommand},
		{Name: "man", Summary: "write man pages", Manual: manManual, Run: manCommand},
		{Name: "version", Summary: "print the version", Manual: versionManual, Run: versionCommand},
	}
}

// topLevel are all commands but help, which knows them.
func topLevel() []tool.Tool {
	foreign := others()
	return append(ownTools(readers(foreign)), foreign...)
}

// commands are all of them.
func commands() []tool.Tool {
	return append(topLevel(), tool.Tool{Name: "help", Summary: "show a page of the documentation, or the help of a command", Manual: helpManual, Run: helpCommand})
}

// others are the tools that others made. A link to the program, or a copy of it, under
// the name of one behaves as that tool.
func others() []tool.Tool {
	script := llmperf.Tool()
	script.Name, script.Summary, script.Report = "llm_perf.py", "the same, under its script's name", nil
	list := []tool.Tool{genaiperf.Tool(analyzerLine), inferenceperf.Tool(), perfanalyzer.Tool(), llmperf.Tool(), script}
	list = append(list, vllmbench.Tools()...)
	for i, t := range list {
		t.Foreign = true
		list[i] = tool.Gated(tool.Paged(tool.WithLiveFlags(t)))
	}
	return list
}

// readers are the tools whose files can be read: those that others made, and the ones that are no commands.
func readers(foreign []tool.Tool) []tool.Tool {
	return append(foreign[:len(foreign):len(foreign)], aiperf.Tool(), guidellm.Tool(), sglang.Tool())
}

// byName puts the command in front of the arguments where the program is called by the
// name of another tool.
func byName(program string, args []string) []string {
	name := strings.TrimSuffix(filepath.Base(program), ".exe")
	if len(args) == 1 && args[0] == afterwardsName {
		return args
	}
	for _, t := range others() {
		if t.Name == name || t.Name == name+".py" {
			return append([]string{t.Name}, args...)
		}
	}
	return args
}

// analyzerLine reads a command line of Perf Analyzer for GenAI-Perf, which hands over what
// stands behind "--".
func analyzerLine(line []string) (*genaiperfargs.Passed, error) {
	files := perfanalyzer.Disk()
	onDisk := files.Kind
	files.Kind = func(name string) string {
		if name == genaiperfargs.Inputs {
			return "file"
		}
		return onDisk(name)
	}
	a, err := perfanalyzerargs.Parse(line, files)
	if err != nil {
		return nil, err
	}
	if a.Plan == nil {
		return nil, errors.New("--help and --version must go before --")
	}
	p := &genaiperfargs.Passed{Plan: a.Plan, Warnings: a.Warnings, DryRun: a.DryRun, Strict: a.Strict, Verbose: a.Verbose > 0}
	if a.CSV != "" {
		p.Files = append(p.Files, "-f")
	}
	if a.Export != "" {
		p.Files = append(p.Files, "--profile-export-file")
	}
	return p, nil
}
