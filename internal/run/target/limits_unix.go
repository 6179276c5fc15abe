//go:build unix

package target

import "golang.org/x/sys/unix"

// openFileLimit is how many files this process may open; Go raises it to the hard limit. 0: not
// known.
func openFileLimit() int {
	var l unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &l) != nil {
		return 0
	}
	return int(min(uint64(l.Cur), 1<<30))
}
