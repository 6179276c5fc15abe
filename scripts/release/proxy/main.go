// Command proxy makes a directory that go takes for a module proxy, with one version of the module in it: what
// `go install` would fetch, were the commit published.
//
//	go run -C scripts/release ./proxy REPOSITORY VERSION DIR
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	"golang.org/x/mod/zip"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: proxy REPOSITORY VERSION DIR")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "proxy:", err)
		os.Exit(1)
	}
}

// write packs the repository's commit, not what lies about in its directory.
func write(root, version, dir string) error {
	show := exec.Command("git", "show", "HEAD:go.mod")
	show.Dir = root
	mod, err := show.Output()
	if err != nil {
		return fmt.Errorf("read go.mod of the commit in %s: %w", root, err)
	}
	m := module.Version{Path: modfile.ModulePath(mod), Version: version}
	if err := module.Check(m.Path, m.Version); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Unix(0, 0).UTC()})
	if err != nil {
		return err
	}
	at := filepath.Join(dir, filepath.FromSlash(m.Path), "@v")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	for name, data := range map[string][]byte{"list": []byte(version + "\n"), version + ".mod": mod, version + ".info": info} {
		if err := os.WriteFile(filepath.Join(at, name), data, 0o644); err != nil {
			return err
		}
	}
	packed, err := os.Create(filepath.Join(at, version+".zip"))
	if err != nil {
		return err
	}
	return errors.Join(pack(packed, m, root), packed.Close())
}

// pack writes the module of the commit. It is read from a clone: a worktree is not what x/mod takes for a repository.
func pack(to io.Writer, m module.Version, root string) error {
	clone, err := os.MkdirTemp("", "inferometer-clone-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(clone) }() // the system clears what is left of a temporary directory
	if out, err := exec.Command("git", "clone", "-q", "--shared", "--no-checkout", root, clone).CombinedOutput(); err != nil {
		return fmt.Errorf("clone %s: %w: %s", root, err, out)
	}
	return zip.CreateFromVCS(to, m, clone, "HEAD", "")
}
