package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/tool"
)

func linkManual() clidoc.Command {
	return clidoc.Command{
		Name:  "link",
		About: "Install drop-in links named after the tools that inferometer replaces.",
		Usage: []clidoc.Usage{{Line: "inferometer link DIR"}},
		Takes: clidoc.Directories,
	}
}

// linkCommand makes links to this program under the names of the tools that it
// stands in for.
func linkCommand(env tool.Env, args []string) int {
	if asksHelp(args) {
		return env.PrintHelp(linkManual(), true)
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return env.Fail("link", errors.New("no directory given: inferometer link DIR"), tool.ExitUsage)
	}
	program, err := os.Executable()
	if err != nil {
		return env.Fail("link", fmt.Errorf("locating this program: %w", err), tool.ExitRun)
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return env.Fail("link", fmt.Errorf("creating the directory: %w", err), tool.ExitRun)
	}
	for _, c := range others() { // all or none
		if err := mayReplace(filepath.Join(args[0], c.Name)); err != nil {
			return env.Fail("link", err, tool.ExitRun)
		}
	}
	for _, c := range others() {
		name := filepath.Join(args[0], c.Name)
		if err := makeLink(program, name); err != nil {
			return env.Fail("link", err, tool.ExitRun)
		}
		fmt.Fprintln(env.Stdout, name)
	}
	return tool.ExitOK
}

// isScript reports whether a link is a script: people give a name that ends in .py to
// python3.
func isScript(name string) bool { return strings.HasSuffix(name, ".py") }

func makeLink(program, name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("making the link %s: %w", name, err)
	}
	if isScript(name) {
		return os.WriteFile(name, []byte(python(program, strings.TrimSuffix(filepath.Base(name), ".py"))), 0o755)
	}
	if err := os.Symlink(program, name); err != nil {
		return fmt.Errorf("making the link %s: %w", name, err)
	}
	return nil
}

// pythonMark tells our own scripts.
const pythonMark = "import os, sys  # runs inferometer"

// python is a script that becomes this program under a name.
func python(program, name string) string {
	return "#!/usr/bin/env python3\n" + pythonMark + "\nos.execv(" + strconv.QuoteToASCII(program) + ", [" + strconv.Quote(name) + "] + sys.argv[1:])\n"
}

// mayReplace says whether what stands under a name may be replaced: what is not ours is
// left alone.
func mayReplace(name string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("making the link %s: %w", name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return ownLink(name)
	case isScript(name):
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), pythonMark) {
			return nil
		}
	}
	return fmt.Errorf("%s already exists and is not a link: remove it, or choose another directory", name)
}

// ownLink says whether a link may be replaced: it leads to this program, under whatever
// path that is or was.
func ownLink(name string) error {
	to, err := os.Readlink(name)
	if err != nil {
		return fmt.Errorf("making the link %s: %w", name, err)
	}
	if base := filepath.Base(to); base == programName || base == programName+".exe" {
		return nil
	}
	ours, err := os.Executable()
	if err == nil && sameFile(name, ours) {
		return nil
	}
	return fmt.Errorf("%s is a link to %s, which is another program: remove it, or choose another directory", name, to)
}

// programName is what this program is called unless someone has renamed it.
const programName = "inferometer"

func sameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
