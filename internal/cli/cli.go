// Package cli is the program's edge: arguments, environment, terminal, signals and
// exit codes. It is the only package that knows them.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"

	"golang.org/x/term"

	"inferometer/internal/lib/nearest"
	"inferometer/internal/plan"
	"inferometer/internal/report/screen"
)

// Exit codes.
const (
	exitOK    = 0
	exitRun   = 1 // the run failed, or its figures cannot be trusted
	exitUsage = 2 // bad usage or input: nothing was sent
)

// Env is what a command sees of the world.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	// Program is the path of this program, which runs the mock of a self-test as a process;
	// empty: it runs in this one.
	Program string
	// Interrupts yields a value for each Ctrl-C.
	Interrupts <-chan os.Signal
	// Restore gives Ctrl-C its usual meaning back.
	Restore func()
}

// System is the real world.
func System() Env {
	interrupts := make(chan os.Signal, 2)
	signal.Notify(interrupts, stopSignals()...)
	program, _ := os.Executable() // without it, mocks run in this process
	return Env{
		Program: program,
		Args:    byName(os.Args[0], os.Args[1:]), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		Interrupts: interrupts, Restore: func() { signal.Stop(interrupts) },
	}
}

// leaveInterrupts gives Ctrl-C its usual meaning back, for commands that have nothing to
// bring to an end.
func (e Env) leaveInterrupts() {
	if e.Restore != nil {
		e.Restore()
	}
}

// Exit ends the program.
func Exit(code int) { os.Exit(code) }

// command is one of the program's words.
type command struct {
	name, summary string
	run           func(Env, []string) int
}

func commands() []command {
	return append([]command{
		{"run", "measure a server", runCommand},
		{"study", "measure how latency changes with the length of prompts", studyCommand},
		{"report", "make a run's reports again from its records", reportCommand},
		{"plan", "check or print a plan, or its schema", planCommand},
		{"tokens", "count, encode and decode text in a model's tokens", tokensMain},
		{"selftest", "measure the built-in mock and print the error bars of this host", selftestCommand},
		{"mock", "serve a built-in inference server to try things on", mockCommand},
		{"links", "make links under the names of the tools below", linksCommand},
		{"version", "print the version", versionCommand},
	}, frontEnds()...)
}

// Main runs the command that the arguments name and gives the exit code.
func Main(env Env) int {
	// What servers, files and arguments say is shown, and never obeyed by a terminal.
	env.Stderr = screen.Messages(env.Stderr, false)
	if terminalOf(env.Stdout, env.Getenv).tty {
		env.Stdout = screen.Messages(env.Stdout, true)
	}
	if len(env.Args) == 0 {
		fmt.Fprint(env.Stderr, help())
		return exitUsage
	}
	name, rest := env.Args[0], env.Args[1:]
	var names []string
	for _, c := range commands() {
		if c.name == name {
			return c.run(env, rest)
		}
		names = append(names, c.name)
	}
	switch name {
	case "-h", "--help", "help":
		fmt.Fprint(env.Stdout, help())
		return exitOK
	case "--version":
		return versionCommand(env, nil)
	}
	fmt.Fprintf(env.Stderr, "inferometer: there is no command %q", name)
	if n := nearest.Name(name, names); n != "" {
		fmt.Fprintf(env.Stderr, ": did you mean %s?", n)
	}
	fmt.Fprintf(env.Stderr, "\nCommands: %s. inferometer --help says what they do.\n", strings.Join(names, ", "))
	return exitUsage
}

func help() string {
	var b strings.Builder
	b.WriteString("inferometer measures generative-AI inference servers.\n\nUsage: inferometer COMMAND …\n\n")
	for _, c := range commands() {
		fmt.Fprintf(&b, "  %-14s %s\n", c.name, c.summary)
	}
	b.WriteString("\nTry it with nothing else installed:   inferometer run\n" +
		"Measure a server:                     inferometer run http://localhost:8000 --concurrency 8 --duration 30s\n" +
		"Every flag of a command:              inferometer COMMAND --help\n")
	return b.String()
}

// version is what `go build` was told, or what it knows.
func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "dev"
}

func versionCommand(env Env, _ []string) int {
	fmt.Fprintf(env.Stdout, "inferometer %s (%s, %s/%s)\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return exitOK
}

// fail prints an error, every fault of it on a line of its own.
func fail(env Env, command string, err error, code int) int {
	faults := faultsOf(err)
	if len(faults) == 1 || code != exitUsage {
		fmt.Fprintf(env.Stderr, "inferometer %s: %s\n", command, strings.ReplaceAll(err.Error(), "\n", "\n  "))
		return code
	}
	fmt.Fprintf(env.Stderr, "inferometer %s: %d faults:\n", command, len(faults))
	for _, f := range faults {
		fmt.Fprintf(env.Stderr, "  %s\n", strings.ReplaceAll(f, "\n", "\n    "))
	}
	return code
}

// faultsOf takes apart an error that holds several and says nothing of its own.
func faultsOf(err error) []string {
	var parts []error
	if faults, ok := err.(plan.Faults); ok {
		for _, f := range faults {
			parts = append(parts, f)
		}
	} else if joined, ok := err.(interface{ Unwrap() []error }); ok {
		parts = joined.Unwrap()
	} else if inner := errors.Unwrap(err); inner != nil {
		parts = []error{inner}
	}
	if len(parts) == 0 || errors.Join(parts...).Error() != err.Error() {
		return []string{err.Error()}
	}
	var list []string
	for _, p := range parts {
		list = append(list, faultsOf(p)...)
	}
	return list
}

// terminal describes where text goes.
type terminal struct {
	tty   bool // it is one
	is    bool // and can be drawn on
	color bool
	width func() int
}

// terminalOf looks at whether w is a terminal.
func terminalOf(w io.Writer, getenv func(string) string) terminal {
	t := terminal{width: func() int { return 100 }}
	f, ok := beneath(w).(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return t
	}
	t.tty = true
	t.is = getenv("TERM") != "dumb"
	t.color = t.is && getenv("NO_COLOR") == ""
	t.width = func() int {
		if n, _, err := term.GetSize(int(f.Fd())); err == nil && n > 0 {
			return n
		}
		return 100
	}
	return t
}

// beneath is what a writer of messages writes to: who draws on a terminal moves its cursor.
func beneath(w io.Writer) io.Writer {
	if m, ok := w.(*screen.Writer); ok {
		return m.Beneath()
	}
	return w
}
