//go:build !linux

package tool

// unback does nothing: what the system does with pages of zeros is its own affair.
func unback([]byte) {}
