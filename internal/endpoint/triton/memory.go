package triton

import (
	"context"
	"crypto/rand"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/shm"
	"github.com/inferometer/inferometer/internal/prompt/tensor/v2http"
)

// sharer is a server that can be told of shared memory.
type sharer interface {
	register(ctx context.Context, name, key string, size int64) error
	unregister(ctx context.Context, name string) error
}

// memory is the shared memory of a run: a region for each tensor of the data, and one
// for each output, which all requests share.
type memory struct {
	set     shm.Regions
	prefix  string
	outputs []v2http.Output

	mu      sync.Mutex
	servers []sharer
	regions []*shm.Region // that the servers know
}

// shareTime bounds what is asked of a server about one region.
const shareTime = 10 * time.Second

// newMemory makes the regions of a model's outputs; nil means the plan wants none at all.
func newMemory(m *ModelInfo, t plan.Triton, runID string) (*memory, error) {
	if t.SharedMemory == "" {
		return nil, nil
	}
	// A server keeps the names of a client that died, so no two endpoints share any.
	s := &memory{prefix: runID + "-" + rand.Text()[:8]}
	for _, o := range m.Outputs {
		if t.OutputMemory == 0 {
			break
		}
		r, err := s.set.Create(s.prefix+"-out-"+o.Name, int64(t.OutputMemory))
		if err != nil {
			s.set.Close()
			return nil, err
		}
		s.regions = append(s.regions, r)
		s.outputs = append(s.outputs, v2http.Output{Name: o.Name, Region: v2http.MemoryRegion{Name: r.Name, Size: r.Size()}})
	}
	return s, nil
}

// wanted are the outputs that requests ask for; none: all, in the answer.
func (s *memory) wanted() []v2http.Output {
	if s == nil {
		return nil
	}
	return s.outputs
}

func (s *memory) join(ctx context.Context, server sharer) error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = append(s.servers, server)
	for _, r := range s.regions {
		if err := registerRegion(ctx, server, r); err != nil {
			return err
		}
	}
	return nil
}

func registerRegion(ctx context.Context, server sharer, r *shm.Region) error {
	ctx, cancel := context.WithTimeout(ctx, shareTime)
	defer cancel()
	if err := server.register(ctx, r.Name, r.Key, r.Size()); err != nil {
		return fmt.Errorf("the server cannot use the shared memory %s: %w; it must run on this machine and have access to it", r.Key, err)
	}
	return nil
}

// put lays tensors into shared memory and tells all servers.
func (s *memory) put(tensors []tensor.Tensor) ([]v2http.MemoryRegion, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []v2http.MemoryRegion
	for i := range tensors {
		r, err := s.set.Put(s.prefix+"-"+strconv.Itoa(len(s.regions))+"-"+tensors[i].Name, tensors[i].Data)
		if err != nil {
			return nil, err
		}
		for _, server := range s.servers {
			if err := registerRegion(context.Background(), server, r); err != nil {
				return nil, err
			}
		}
		s.regions = append(s.regions, r)
		all = append(all, v2http.MemoryRegion{Name: r.Name, Size: int64(len(tensors[i].Data))})
	}
	return all, nil
}

// close makes the servers forget the regions, and removes them.
func (s *memory) close() error {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), shareTime)
	defer cancel()
	for _, server := range s.servers {
		for _, r := range s.regions {
			// A server that is gone has forgotten them anyway, and one that still uses a
			// region keeps only that.
			_ = server.unregister(ctx, r.Name)
		}
	}
	s.regions, s.servers = nil, nil
	return s.set.Close()
}
