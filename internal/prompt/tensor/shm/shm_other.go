//go:build !linux

package shm

import "errors"

func create(string, int64) (*Region, error) {
	return nil, errors.New("system shared memory is supported on Linux alone")
}

func unlink(string) error { return nil }

func unmap([]byte) error { return nil }
