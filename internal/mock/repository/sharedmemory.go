package repository

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// sharedMemoryRoot is where a system keeps its shared memory, as files.
const sharedMemoryRoot = "/dev/shm"

// Region is part of the system's shared memory that a client has named.
type Region struct {
	Name   string `json:"name"`
	Key    string `json:"key"`
	Offset uint64 `json:"offset"`
	Size   uint64 `json:"byte_size"`
}

// SharedMemory are the regions by their names.
type SharedMemory struct {
	mu      sync.Mutex
	regions map[string]Region
}

// Register gives a region its name.
func (m *SharedMemory) Register(r Region) *StatusError {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.regions[r.Name]; known {
		return Refuse(CodeExists, "shared memory region '%s' already in manager", r.Name)
	}
	info, err := os.Stat(r.file())
	if err != nil || strings.Contains(strings.TrimPrefix(r.Key, "/"), "/") {
		return Refuse(CodeInternal, "Unable to open shared memory region: '%s'", r.Key)
	}
	if r.Offset+r.Size > uint64(info.Size()) {
		return Refuse(CodeInvalid, "failed to register shared memory region '%s': invalid args", r.Name)
	}
	if m.regions == nil {
		m.regions = make(map[string]Region)
	}
	m.regions[r.Name] = r
	return nil
}

func (r Region) file() string { return filepath.Join(sharedMemoryRoot, filepath.Base(r.Key)) }

// Unregister forgets a region, or all of them.
func (m *SharedMemory) Unregister(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "" {
		m.regions = nil
		return
	}
	delete(m.regions, name)
}

// Status lists the regions of a name, or all of them.
func (m *SharedMemory) Status(name string) ([]Region, *StatusError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []Region
	for _, r := range m.regions {
		if name == "" || r.Name == name {
			all = append(all, r)
		}
	}
	if name != "" && len(all) == 0 {
		return nil, Refuse(CodeNotFound, "Unable to find system shared memory region: '%s'", name)
	}
	slices.SortFunc(all, func(a, b Region) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// find returns the part of a region that a tensor lies in.
func (m *SharedMemory) find(name string, offset, size int64) (Region, *StatusError) {
	m.mu.Lock()
	r, ok := m.regions[name]
	m.mu.Unlock()
	if !ok {
		return r, Refuse(CodeNotFound, "Unable to find shared memory region: '%s'", name)
	}
	if offset < 0 || size < 0 || size > maxTensor || uint64(offset)+uint64(size) > r.Size {
		return r, Refuse(CodeInvalid, "Invalid offset + byte size for shared memory region: '%s'", name)
	}
	return r, nil
}

func (m *SharedMemory) read(name string, offset, size int64) ([]byte, *StatusError) {
	r, failure := m.find(name, offset, size)
	if failure != nil {
		return nil, failure
	}
	f, err := os.Open(r.file())
	if err != nil {
		return nil, Refuse(CodeInternal, "Unable to open shared memory region: '%s'", r.Key)
	}
	defer f.Close()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, int64(r.Offset)+offset); err != nil {
		return nil, Refuse(CodeInternal, "Unable to read shared memory region: '%s'", r.Key)
	}
	return b, nil
}

// Write puts the bytes of a tensor where a client wants them.
func (m *SharedMemory) Write(w RequestedOutput, data []byte) *StatusError {
	r, failure := m.find(w.Region, w.offset, int64(len(data)))
	if failure != nil {
		return failure
	}
	if int64(len(data)) > w.size {
		return Refuse(CodeInvalid, "shared memory size specified with the request for output '%s' (%d bytes) should be at least %d bytes to hold the results", w.Name, w.size, len(data))
	}
	f, err := os.OpenFile(r.file(), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(data, int64(r.Offset)+w.offset)
		_ = f.Close()
	}
	if err != nil {
		return Refuse(CodeInternal, "Unable to open shared memory region: '%s'", r.Key)
	}
	return nil
}
