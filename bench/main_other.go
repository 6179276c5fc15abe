//go:build !linux

// Command bench measures this program against the tools it replaces. It pins
// processes to cores and reads their CPU time from /proc, so it runs on Linux alone.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "bench: pinning and CPU accounting need Linux; run make bench there")
	os.Exit(1)
}
