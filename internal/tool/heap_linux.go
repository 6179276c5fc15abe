package tool

import "syscall"

// unback gives unused pages of memory back to the system: the runtime may have
// written zeros to them. Where that fails, they cost what they cost.
func unback(room []byte) { _ = syscall.Madvise(room, syscall.MADV_DONTNEED) }
