package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// linksCommand makes links to this program under the names of the tools that it
// stands in for.
func linksCommand(env Env, args []string) int {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		fmt.Fprint(env.Stdout, "Make links to inferometer under the names of the tools that it stands in for.\n\nUsage: inferometer links DIR\n")
		return exitOK
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") {
		return fail(env, "links", errors.New("give the directory in which to make the links: inferometer links DIR"), exitUsage)
	}
	program, err := os.Executable()
	if err != nil {
		return fail(env, "links", fmt.Errorf("finding this program: %w", err), exitRun)
	}
	if err := os.MkdirAll(args[0], 0o755); err != nil {
		return fail(env, "links", fmt.Errorf("making the directory: %w", err), exitRun)
	}
	for _, c := range frontEnds() {
		name := filepath.Join(args[0], c.name)
		if err := link(program, name); err != nil {
			return fail(env, "links", err, exitRun)
		}
		fmt.Fprintln(env.Stdout, name)
	}
	return exitOK
}

// link makes one link. A name that ends in .py is a script, since people give it to
// python3. What is there and is none of ours is left alone.
func link(program, name string) error {
	script := strings.HasSuffix(name, ".py")
	if err := mayReplace(name, script); err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("making the link %s: %w", name, err)
	}
	if script {
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

// mayReplace says whether what stands under a name may be replaced.
func mayReplace(name string, script bool) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("making the link %s: %w", name, err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil
	case script:
		if text, err := os.ReadFile(name); err == nil && strings.Contains(string(text), pythonMark) {
			return nil
		}
	}
	return fmt.Errorf("%s is there already and is no link: remove it, or choose another directory", name)
}
