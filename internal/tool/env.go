package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/lib/suggest"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/screen"
)

// Env is what a command sees of the world.
type Env struct {
	Args           []string // without the program's name
	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	Build
	// Program is the path of this program, which runs a self-test's mock; empty: in this process.
	Program string
	// Pages are the report pages that the command line asks for, or nil.
	Pages *Pages
	// Gates are the conditions under which the command fails; nil means it takes none.
	Gates *Gates
	// Interrupts yields a value for each Ctrl-C.
	Interrupts <-chan os.Signal
	// Restore gives Ctrl-C its usual meaning back.
	Restore func()
	// OutlivePipes: what is printed may have nobody to go to, which does not end the program from then on.
	OutlivePipes func()
	// HungUp reports whether a signal says that the terminal is gone.
	HungUp func(os.Signal) bool
	// Terminal says what a writer leads to.
	Terminal func(io.Writer) Terminal
	// Besides are the flags that the command takes besides its own.
	Besides []clidoc.Group
	// Records is told where the records of a run are when it begins, for who says so where the program
	// comes to no orderly end; with an empty name it is told that a run may begin soon. nil means nobody
	// needs to know.
	Records func(dir string)
	// Live is what the command line says about the live page, or nil.
	Live *LiveOptions
}

// Build says which build of the program this is. What is not known is empty.
type Build struct {
	Version string
	Commit  string // in full
	Date    string // the commit's, as RFC 3339 in UTC
}

// Terminal describes where text goes.
type Terminal struct {
	TTY   bool // it is one
	Drawn bool // and can be drawn on
	Color bool
	ASCII bool // it may show no other characters
	Cuts  bool // it cuts lines off where its window gets narrower, and does not wrap them
	Width func() int
	Lines func() int // 0: not known
}

// ResetInterrupts gives Ctrl-C its usual meaning back, for commands without an end to bring about.
func (e Env) ResetInterrupts() {
	if e.Restore != nil {
		e.Restore()
	}
}

// Fail prints an error, every fault of it on a line of its own, and gives the exit code. Whoever stops the
// reading of records has made no mistake in what was asked for.
func (e Env) Fail(command string, err error, code int) int {
	if code == ExitUsage && errors.Is(err, record.ErrStopped) {
		code = ExitRun
	}
	faults := faultsOf(err)
	if len(faults) == 1 || code != ExitUsage {
		fmt.Fprintf(e.Stderr, "inferometer %s: %s\n", command, strings.ReplaceAll(err.Error(), "\n", "\n  "))
		return code
	}
	fmt.Fprintf(e.Stderr, "inferometer %s: %d errors:\n", command, len(faults))
	for _, f := range faults {
		fmt.Fprintf(e.Stderr, "  %s\n", strings.ReplaceAll(f, "\n", "\n    "))
	}
	return code
}

// faultsOf takes apart an error that holds several and says nothing of its own.
func faultsOf(err error) []string {
	var parts []error
	//lint:ignore errorlint it takes apart what is wrapped by itself
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

// Warn prints warnings, each on a line of its own behind a word.
func (e Env) Warn(word string, warnings []string) {
	for _, w := range warnings {
		fmt.Fprintf(e.Stderr, "%s: %s\n", word, w)
	}
}

// PrintPlan prints the plan that a command line stands for.
func (e Env) PrintPlan(command string, plans ...*plan.Plan) int {
	for i, p := range plans {
		p.Conditions = p.Conditions.With(e.Gates.gating().Conditions)
		if i > 0 {
			fmt.Fprintln(e.Stdout, "---")
		}
		text, err := planfile.Encode(p)
		if err == nil {
			_, err = e.Stdout.Write(text)
		}
		if err != nil {
			return e.Fail(command, err, ExitRun)
		}
	}
	return ExitOK
}

// Inputs is the limit of files that a command line names, ahead of any plan.
func Inputs() limitio.Limit {
	return limitio.Limit{Name: plan.LimitFile, Bytes: int64(plan.DefaultLimits().File)}
}

// ReadFile reads a file that a command line names.
func ReadFile(name string) ([]byte, error) { return Inputs().ReadFile(name) }

// Readable refuses a path that holds nothing to be read again, such as a pipe.
func Readable(path string) error { return limitio.Saved(path) }

// UnwrapWriter is what a writer of messages writes to: who draws on a terminal moves its cursor.
func UnwrapWriter(w io.Writer) io.Writer {
	if m, ok := w.(*screen.Writer); ok {
		return m.Unwrap()
	}
	return w
}

// NearestFlag is a hint where an error is about a flag that does not exist.
func NearestFlag(flags *pflag.FlagSet, err error) string {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return ""
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if n := suggest.Name(unknown.GetSpecifiedName(), names); n != "" {
		return ", did you mean --" + n + "?"
	}
	return ""
}
