// Command release makes what is published of one version: programs for six platforms in every form in which they
// are handed out, and the checksums of all of it.
//
//	go run -C scripts/release . [-version v1.2.3] [-out dist] [-only archives,deb] REPOSITORY
//
// The same commit and the same Go give the same bytes, wherever the repository lies. It publishes nothing.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, log io.Writer) error {
	flags := flag.NewFlagSet("release", flag.ContinueOnError)
	version := flags.String("version", "", "`version`, such as v1.2.3 (default: the commit's tag, else a pre-release made of the commit)")
	out := flags.String("out", "dist", "`directory` to write to, relative to the repository; what is in it is removed")
	only := flags.String("only", "", "make only these `forms`, separated by commas (default: all)")
	flags.Usage = func() {
		fmt.Fprintln(flags.Output(), "usage: release [flags] REPOSITORY")
		flags.PrintDefaults()
		fmt.Fprintln(flags.Output(), "forms:", strings.Join(names(forms()), ", "))
	}
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return nil
		}
		return err
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return errors.New("name one directory: the repository's root")
	}
	wanted, err := choose(forms(), *only)
	if err != nil {
		return err
	}
	r, err := describe(ctx, flags.Arg(0), *version, *out)
	if err != nil {
		return err
	}
	if r.Work, err = os.MkdirTemp("", "inferometer-release-"); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(r.Work) }() // the system clears what is left of a temporary directory
	return r.make(ctx, wanted, log)
}

// make builds the programs and hands them to each form in turn.
func (r *Release) make(ctx context.Context, wanted []form, log io.Writer) error {
	fmt.Fprintf(log, "%s, commit %.12s of %s\n", r.Version, r.Commit, r.Date.Format("2006-01-02"))
	if err := empty(r.Dir); err != nil {
		return err
	}
	if err := r.build(ctx, log); err != nil {
		return err
	}
	for _, f := range wanted {
		files, err := f.Make(r)
		if err != nil {
			return fmt.Errorf("make %s: %w", f.Name, err)
		}
		slices.Sort(files)
		for _, file := range files {
			fmt.Fprintf(log, "%-12s %s\n", f.Name, file)
		}
	}
	return nil
}

// ours is what a directory must hold before it is emptied: one that we did not make keeps what it has.
const ours = "SHA256SUMS"

// empty makes dir an empty directory, if it holds nothing but an earlier release.
func empty(dir string) error {
	inside, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, ours)); err != nil && len(inside) > 0 && filepath.Base(dir) != "dist" {
		return fmt.Errorf("%s holds files, but no release: name an empty directory with -out", dir)
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.MkdirAll(dir, 0o755)
}
