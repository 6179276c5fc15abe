package mock

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// sharedMemoryRoot is where a system keeps its shared memory, as files.
const sharedMemoryRoot = "/dev/shm"

// region is a part of the system's shared memory that a client has named.
type region struct {
	name, key    string
	offset, size uint64
}

// sharedMemory are the regions by their names.
type sharedMemory struct {
	mu      sync.Mutex
	regions map[string]region
}

func (m *sharedMemory) register(r region) *rpcError {
	m.mu.Lock()
	defer m.mu.Unlock()
	if _, known := m.regions[r.name]; known {
		return refusal(codeExists, "shared memory region '%s' already in manager", r.name)
	}
	info, err := os.Stat(r.file())
	if err != nil || strings.Contains(strings.TrimPrefix(r.key, "/"), "/") {
		return refusal(codeInternal, "Unable to open shared memory region: '%s'", r.key)
	}
	if r.offset+r.size > uint64(info.Size()) {
		return refusal(codeInvalid, "failed to register shared memory region '%s': invalid args", r.name)
	}
	if m.regions == nil {
		m.regions = make(map[string]region)
	}
	m.regions[r.name] = r
	return nil
}

func (r region) file() string { return filepath.Join(sharedMemoryRoot, filepath.Base(r.key)) }

// unregister forgets a region, or all of them.
func (m *sharedMemory) unregister(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if name == "" {
		m.regions = nil
		return
	}
	delete(m.regions, name)
}

// status lists the regions of a name, or all of them.
func (m *sharedMemory) status(name string) ([]region, *rpcError) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []region
	for _, r := range m.regions {
		if name == "" || r.name == name {
			all = append(all, r)
		}
	}
	if name != "" && len(all) == 0 {
		return nil, refusal(codeNotFound, "Unable to find system shared memory region: '%s'", name)
	}
	slices.SortFunc(all, func(a, b region) int { return strings.Compare(a.name, b.name) })
	return all, nil
}

// find returns the part of a region that a tensor lies in.
func (m *sharedMemory) find(name string, offset, size int64) (region, *rpcError) {
	m.mu.Lock()
	r, ok := m.regions[name]
	m.mu.Unlock()
	if !ok {
		return r, refusal(codeNotFound, "Unable to find shared memory region: '%s'", name)
	}
	if offset < 0 || size < 0 || size > maxBody || uint64(offset)+uint64(size) > r.size {
		return r, refusal(codeInvalid, "Invalid offset + byte size for shared memory region: '%s'", name)
	}
	return r, nil
}

// read returns the bytes of a tensor.
func (m *sharedMemory) read(name string, offset, size int64) ([]byte, *rpcError) {
	r, failure := m.find(name, offset, size)
	if failure != nil {
		return nil, failure
	}
	f, err := os.Open(r.file())
	if err != nil {
		return nil, refusal(codeInternal, "Unable to open shared memory region: '%s'", r.key)
	}
	defer f.Close()
	b := make([]byte, size)
	if _, err := f.ReadAt(b, int64(r.offset)+offset); err != nil {
		return nil, refusal(codeInternal, "Unable to read shared memory region: '%s'", r.key)
	}
	return b, nil
}

// deliver puts results where the request wants them, and takes them out of the answer.
func (c *call) deliver() *rpcError {
	for i := range c.t.results {
		o := &c.t.results[i]
		if w := c.t.wish(o.name); w.region != "" {
			if failure := c.s.triton.regions.write(w, o.data); failure != nil {
				return failure
			}
			o.data = nil
		}
	}
	return nil
}

// write puts the bytes of a tensor where a client wants them.
func (m *sharedMemory) write(w outputWish, data []byte) *rpcError {
	r, failure := m.find(w.region, w.offset, int64(len(data)))
	if failure != nil {
		return failure
	}
	if int64(len(data)) > w.size {
		return refusal(codeInvalid, "shared memory size specified with the request for output '%s' (%d bytes) should be at least %d bytes to hold the results", w.name, w.size, len(data))
	}
	f, err := os.OpenFile(r.file(), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteAt(data, int64(r.offset)+w.offset)
		_ = f.Close()
	}
	if err != nil {
		return refusal(codeInternal, "Unable to open shared memory region: '%s'", r.key)
	}
	return nil
}
