// Package filelock locks files between processes. The system gives a lock back when the process that
// has it ends, however it ends.
package filelock

import "os"

// Same reports whether a path still leads to an open file: who had the lock before may have removed
// it, and then the lock is on a file that no other looks at.
func Same(f *os.File, path string) bool {
	a, err := f.Stat()
	if err != nil {
		return false
	}
	b, err := os.Stat(path)
	return err == nil && os.SameFile(a, b)
}
