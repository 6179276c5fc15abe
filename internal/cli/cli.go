// Package cli is the program's edge: arguments, environment, terminal, signals and
// exit codes. It is the only package that knows them.
package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"strings"

	"golang.org/x/term"

	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/tool"
)

// System is the real world. What is empty of version, commit and date is what go build recorded.
func System(version, commit, date string) tool.Env {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, stopSignals()...)
	program, _ := os.Executable() // without it, mocks run in this process
	return tool.Env{
		Program: program, Build: tool.Build{Version: version, Commit: commit, Date: date},
		Args: byName(os.Args[0], os.Args[1:]), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Interrupts: interrupts, Restore: func() { signal.Stop(interrupts) },
	}
}

// Exit ends the program.
func Exit(code int) { os.Exit(code) }

// Main runs the command that the arguments name and gives the exit code.
func Main(env tool.Env) int {
	env.Build = recorded(env.Build)
	env.HungUp, env.OutlivePipes = hungUp, outlivePipes
	env.Terminal = func(w io.Writer) tool.Terminal { return terminalOf(w, env.Getenv) }
	// What servers, files and arguments say is shown, and never obeyed by a terminal.
	env.Stderr = screen.Messages(env.Stderr, false)
	if env.Terminal(env.Stdout).TTY {
		env.Stdout = screen.Messages(env.Stdout, true)
	}
	if len(env.Args) == 0 {
		fmt.Fprint(env.Stderr, help(commands(), env.HelpWidth()))
		return tool.ExitUsage
	}
	name, rest := env.Args[0], env.Args[1:]
	var names []string
	all := commands()
	for _, c := range all {
		if c.Name == name {
			return carryOut(env, c, rest)
		}
		names = append(names, c.Name)
	}
	switch name {
	case "-h", "--help":
		fmt.Fprint(env.Stdout, help(all, env.HelpWidth()))
		return tool.ExitOK
	case "--version":
		return versionCommand(env, nil)
	case "__complete":
		return completeCommand(env, rest)
	case afterwardsName:
		return afterwards(env)
	}
	fmt.Fprintf(env.Stderr, "inferometer: unknown command %q", name)
	if instead := lead(name); instead != "" {
		fmt.Fprintf(env.Stderr, ": %s\n", instead)
		return tool.ExitUsage
	}
	if n := suggest.Name(name, names); n != "" {
		fmt.Fprintf(env.Stderr, ": did you mean %s?", n)
	}
	fmt.Fprintf(env.Stderr, "\nCommands: %s. See inferometer --help.\n", strings.Join(names, ", "))
	return tool.ExitUsage
}

// carryOut runs a command, and has somebody wait who says where its records are should it not come
// back.
func carryOut(env tool.Env, c tool.Tool, line []string) int {
	w := &witness{program: env.Program, stderr: env.Stderr}
	env.Records = w.setRecordsDir
	code := c.Run(env, line)
	w.dismiss() // not deferred: a panic is no end
	return code
}

func help(all []tool.Tool, width int) string {
	var b strings.Builder
	b.WriteString("inferometer measures generative-AI inference servers.\n\nUsage: inferometer COMMAND …\n\n")
	for _, c := range all {
		listed(&b, c.Name, c.Summary, 15, width)
	}
	b.WriteString("\nTry it without a server:     inferometer run\n" +
		"Measure a server:            inferometer run http://localhost:8000 -c 8\n" +
		"Flags of a command:          inferometer COMMAND --help\n" +
		"Pages of the documentation:  inferometer help\n" +
		"Search them:                 inferometer help WORDS\n")
	return b.String()
}

func terminalOf(w io.Writer, getenv func(string) string) tool.Terminal {
	t := tool.Terminal{Width: func() int { return 100 }, Lines: func() int { return 0 }}
	f, ok := tool.UnwrapWriter(w).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return t
	}
	t.TTY = true
	t.Drawn = getenv("TERM") != "dumb"
	t.Color = t.Drawn && getenv("NO_COLOR") == ""
	t.ASCII = !showsUnicode(getenv)
	t.Cuts = cuts(getenv)
	t.Lines = func() int {
		if _, n, err := term.GetSize(int(f.Fd())); err == nil {
			return n
		}
		return 0
	}
	t.Width = func() int {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
		return 100
	}
	return t
}

// showsUnicode reports whether text may have other characters than ASCII: the locale says so,
// but on Windows, where all consoles take them.
func showsUnicode(getenv func(string) string) bool {
	locale := strings.ToLower(cmp.Or(getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG")))
	return runtime.GOOS == "windows" || strings.Contains(locale, "utf-8") || strings.Contains(locale, "utf8")
}

// cuts reports whether a terminal is one of the few that cut lines off where their window
// gets narrower: xterm, the console of Linux and GNU screen.
func cuts(getenv func(string) string) bool {
	kind := getenv("TERM")
	return getenv("XTERM_VERSION") != "" || kind == "linux" || strings.HasPrefix(kind, "screen") && getenv("TMUX") == ""
}
