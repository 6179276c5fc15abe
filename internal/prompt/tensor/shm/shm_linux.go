package shm

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// directory is where the system keeps POSIX shared memory: shm_open("/x") opens the
// file x there.
const directory = "/dev/shm"

func create(name string, size int64) (*Region, error) {
	file, err := newFile(name)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r := &Region{Name: name, Key: "/" + filepath.Base(file.Name()), path: file.Name()}
	// Memory that is promised and not there would end the program at the first write.
	if err := allocate(file, size); err != nil {
		r.Close()
		return nil, fmt.Errorf("%s has no room: %w", directory, err)
	}
	r.data, err = syscall.Mmap(int(file.Fd()), 0, int(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func newFile(name string) (*os.File, error) {
	const tries = 100
	for range tries {
		path := fmt.Sprintf("%s/inferometer-%d-%08x-%s", directory, os.Getpid(), rand.Uint32(), plain(name))
		file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
		if !errors.Is(err, os.ErrExist) {
			return file, err
		}
	}
	return nil, fmt.Errorf("no free name in %s", directory)
}

func allocate(file *os.File, size int64) error {
	for {
		err := syscall.Fallocate(int(file.Fd()), 0, 0, size)
		if !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func unlink(path string) error {
	err := os.Remove(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil // somebody has tidied up
	}
	return err
}

func unmap(data []byte) error { return syscall.Munmap(data) }
