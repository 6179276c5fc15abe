package tool

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/html"
	"github.com/inferometer/inferometer/internal/run"
)

// pageFlag is the flag of the report page, on every command that measures.
const pageFlag = "--html"

// pageFlags is it, on the command line of a tool that others made.
func pageFlags() clidoc.Group {
	return clidoc.Group{Title: "Report page of inferometer", Flags: []clidoc.Flag{
		{Name: strings.TrimPrefix(pageFlag, "--"), Arg: "FILE", Help: "also write the report as a page: one file that opens in any browser"},
	}}
}

// Pages writes the report pages of a command: each of its runs has one.
type Pages struct {
	file string
	n    int
}

// NewPages makes sure that pages can be written to a file; nil where none is named.
func NewPages(file string) (*Pages, error) {
	if file == "" {
		return nil, nil
	}
	if faults := cannotWrite(pageFlag, file); faults != nil {
		return nil, faults
	}
	return &Pages{file: file}, nil
}

// cannotWrite finds why the file of a flag cannot be written; nil means it probably can.
func cannotWrite(flag, file string) plan.Faults {
	info, err := os.Stat(file)
	if err == nil && info.IsDir() {
		return plan.Faults{{Where: flag, Text: file + " is a directory", Hint: "name a file in it"}}
	}
	if _, err := os.Stat(filepath.Dir(file)); errors.Is(err, os.ErrNotExist) {
		return plan.Faults{{Where: flag, Text: "there is no directory " + filepath.Dir(file), Hint: "create it first"}}
	}
	return nil
}

// draws gives what a run tells of what is drawn; optional.
func (p *Pages) draws() run.Drawer {
	if p == nil {
		return nil
	}
	return func(document func() (*pagedata.Document, error)) error {
		d, err := document()
		if err != nil {
			return err
		}
		return p.Write(d)
	}
}

// Write writes the page of a run: to the file, and those of further runs beside it.
func (p *Pages) Write(d *pagedata.Document) error {
	p.n++
	name := p.file
	if p.n > 1 {
		ext := filepath.Ext(name)
		name = strings.TrimSuffix(name, ext) + "-" + strconv.Itoa(p.n) + ext
	}
	if err := atomicfile.Write(name, func(w io.Writer) error { return html.Write(w, d) }); err != nil {
		return fmt.Errorf("writing the report page: %w", err)
	}
	return nil
}

// Paged is a tool that others made whose command line takes our flag of the report page too.
func Paged(t Tool) Tool {
	t = with(t, pageFlags)
	inner := t.Run
	t.Run = func(env Env, line []string) int {
		line, file, err := takePage(line)
		if err == nil {
			env.Pages, err = NewPages(file)
		}
		if err != nil {
			return env.Fail(t.Name, err, ExitUsage)
		}
		code := inner(env, line)
		if code == ExitOK && asksHelp(line) {
			fmt.Fprint(env.Stdout, pageFlags().Help(env.HelpWidth()))
		}
		return code
	}
	return t
}

// takePage takes the flag of the report page out of a command line, up to a "--".
func takePage(line []string) (rest []string, file string, err error) {
	for i := 0; i < len(line); i++ {
		name, value, given := strings.Cut(line[i], "=")
		switch {
		case line[i] == "--":
			return append(rest, line[i:]...), file, nil
		case name != pageFlag:
			rest = append(rest, line[i])
			continue
		case !given && i+1 < len(line):
			i++
			value = line[i]
		}
		if value == "" || strings.HasPrefix(value, "-") {
			return nil, "", plan.Faults{{Where: pageFlag, Text: "needs the name of a file"}}
		}
		file = value
	}
	return rest, file, nil
}
