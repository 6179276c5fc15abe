package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/tool"
)

func entries() []clidoc.Entry {
	var list []clidoc.Entry
	for _, t := range commands() {
		list = append(list, clidoc.Entry{Name: t.Name, Summary: t.Summary, Describe: func() clidoc.Command {
			c := t.Manual()
			c.Name, c.Summary = t.Name, t.Summary
			return c
		}})
	}
	return list
}

func completionManual() clidoc.Command {
	var names []string
	for _, s := range clidoc.Shells() {
		names = append(names, s.Name)
	}
	return clidoc.Command{
		Name:  "completion",
		About: "Print the script that lets a shell complete commands, flags, their values and files.",
		Usage: []clidoc.Usage{{Line: "inferometer completion " + strings.Join(names, "|")}},
		Examples: []string{
			"source <(inferometer completion bash)   in ~/.bashrc",
			"source <(inferometer completion zsh)   in ~/.zshrc, after compinit",
			"inferometer completion fish > ~/.config/fish/completions/inferometer.fish",
			"inferometer completion powershell | Out-String | Invoke-Expression   in $PROFILE",
		},
		Page: "install", Verbs: clidoc.Shells(),
	}
}

func completionCommand(env tool.Env, args []string) int {
	if asksHelp(args) {
		return env.PrintHelp(completionManual(), true)
	}
	var shells []string
	for _, s := range clidoc.Shells() {
		shells = append(shells, s.Name)
	}
	if len(args) != 1 {
		return env.Fail("completion", errors.New("name one shell: inferometer completion "+strings.Join(shells, "|")), tool.ExitUsage)
	}
	programs := []string{programName}
	for _, t := range others() {
		programs = append(programs, t.Name)
	}
	script, ok := clidoc.Script(args[0], programs)
	if !ok {
		return env.Fail("completion", fmt.Errorf("no completion for %q: %s", args[0], suggest.Hint(args[0], shells)), tool.ExitUsage)
	}
	fmt.Fprint(env.Stdout, script)
	return tool.ExitOK
}

// completeCommand answers the scripts: `__complete -- WORD...`, or `__complete --line TEXT`, in
// which case --word is the part of the last word that the shell replaces. Nobody types it, so that
// it says nothing where it is called in another way.
func completeCommand(env tool.Env, args []string) int {
	var words []string
	word, cut := "", false
	switch {
	case len(args) > 1 && args[0] == "--":
		words = args[1:]
	case len(args) >= 2 && args[0] == "--line":
		escape := '\\'
		if len(args) == 3 && args[2] == "--backquote" {
			escape = '`'
		}
		words = clidoc.Split(args[1], escape)
		if len(args) == 4 && args[2] == "--word" {
			word, cut = args[3], true
		}
	default:
		return tool.ExitUsage
	}
	answer := clidoc.Complete(entries(), words)
	if cut {
		answer = answer.Without(strings.TrimSuffix(words[len(words)-1], word))
	}
	fmt.Fprint(env.Stdout, answer)
	return tool.ExitOK
}

// asksHelp reports whether a command line is nothing but a call for help.
func asksHelp(args []string) bool { return len(args) == 1 && (args[0] == "--help" || args[0] == "-h") }
