// Package shm makes pieces of system shared memory for tensors that a server on the same machine
// reads and writes in place. Others tell the server of them.
package shm

import (
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Region is a piece of shared memory, gone once Close returns and the server has let go of it too.
type Region struct {
	Name string // what the server calls it
	Key  string // what the system calls it, as a registration names it: with a slash in front
	data []byte // mapped; nil after Close
	path string // of its file; empty once it is unlinked
}

// Bytes is the region's memory. It must not be used after Close.
func (r *Region) Bytes() []byte { return r.data }

// Size is the region's size in bytes.
func (r *Region) Size() int64 { return int64(len(r.data)) }

// Unlink takes the region's name from the system; the memory stays for those who have it mapped.
// Called once a server has it registered, nothing is left behind however this program ends.
func (r *Region) Unlink() error {
	if r.path == "" {
		return nil
	}
	err := unlink(r.path)
	r.path = ""
	if err != nil {
		return fmt.Errorf("removing the shared memory of %q: %w", r.Name, err)
	}
	return nil
}

// Close unmaps the region and removes it. A second call does nothing.
func (r *Region) Close() error {
	err := r.Unlink()
	if r.data != nil {
		if e := unmap(r.data); e != nil && err == nil {
			err = fmt.Errorf("unmapping the shared memory of %q: %w", r.Name, e)
		}
		r.data = nil
	}
	return err
}

// mostSize bounds a region.
const mostSize = 1 << 40

// Create makes a region of size bytes, all zero. name must be unique on the server.
func Create(name string, size int64) (*Region, error) {
	if name == "" || size < 1 || size > mostSize {
		return nil, fmt.Errorf("there is no shared memory region %q of %d bytes", name, size)
	}
	r, err := create(name, size)
	if err != nil {
		return nil, fmt.Errorf("making shared memory for %q (%d bytes): %w", name, size, err)
	}
	return r, nil
}

// plain is a name that a file can have.
func plain(name string) string {
	const most = 100
	name = strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, name)
	return name[:min(len(name), most)]
}

// Regions is all regions of a run, closed together. It is safe for concurrent use.
type Regions struct {
	mu      sync.Mutex
	regions []*Region
	closed  bool
}

// Create makes a region and remembers it.
func (s *Regions) Create(name string, size int64) (*Region, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("the shared memory of this run is given back already")
	}
	r, err := Create(name, size)
	if err != nil {
		return nil, err
	}
	s.regions = append(s.regions, r)
	return r, nil
}

// Put makes a region that holds data and no more.
func (s *Regions) Put(name string, data []byte) (*Region, error) {
	r, err := s.Create(name, int64(max(len(data), 1)))
	if err != nil {
		return nil, err
	}
	copy(r.data, data)
	return r, nil
}

// Close removes all regions. The server must have let go of them, or must not care.
func (s *Regions) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	var all []error
	for _, r := range s.regions {
		all = append(all, r.Close())
	}
	s.regions = nil
	return errors.Join(all...)
}
