package clidoc

import (
	"embed"
	"strings"
)

//go:embed scripts
var scripts embed.FS

// Shells are those that completion has a script for.
func Shells() []Verb {
	return []Verb{
		{"bash", "source <(inferometer completion bash)"}, {"zsh", "source <(inferometer completion zsh)"},
		{"fish", "inferometer completion fish | source"}, {"powershell", "inferometer completion powershell | Out-String | Invoke-Expression"},
	}
}

// Script is what a shell runs to complete the arguments of programs; false: there is none for it.
// It knows no command and no flag: it calls the program with what is typed.
func Script(shell string, programs []string) (string, bool) {
	text, err := scripts.ReadFile("scripts/" + shell)
	if err != nil || strings.ContainsAny(shell, "./") {
		return "", false
	}
	between := " "
	if shell == "powershell" {
		between = ", "
	}
	return strings.ReplaceAll(string(text), "NAMES", strings.Join(programs, between)), true
}
