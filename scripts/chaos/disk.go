//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

// smallDisk is the size of one that fills up.
const smallDisk = "300k"

// mount makes a directory that holds little.
func mount(dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := syscall.Mount("chaos", dir, "tmpfs", 0, "size="+smallDisk); err != nil {
		return fmt.Errorf("mounting a small disk: %w", err)
	}
	return nil
}

// unmount takes it away; what is kept of it goes to another directory.
func unmount(dir string, keep bool) error {
	if keep {
		_ = os.CopyFS(filepath.Clean(dir)+".kept", os.DirFS(dir)) // as far as it goes
	}
	return syscall.Unmount(dir, syscall.MNT_DETACH)
}
