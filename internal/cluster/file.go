package cluster

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
)

// file is where a worker keeps its records: the directory can be reported like that of a run.
type file struct {
	*os.File
	mu    sync.Mutex
	size  int64
	spans []span // written before there was an outbox
	box   *bus.Outbox
	added uint64
	err   error // the first of writing
}

type span struct {
	offset int64
	length int
}

func newFile(dir string, p *plan.Plan) (*file, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("creating the record file: %w", err)
	}
	text, err := planfile.Encode(p)
	if err == nil {
		err = atomicfile.Bytes(filepath.Join(dir, rundir.PlanFile), text)
	}
	if err != nil {
		return nil, fmt.Errorf("writing the plan: %w", err)
	}
	f, err := record.Create(filepath.Join(dir, rundir.RecordsFile))
	return &file{File: f}, err
}

// Write writes a frame, and ships it.
func (f *file) Write(frame []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.File.Write(frame)
	if err != nil {
		f.err = cmp.Or(f.err, err)
		return n, err
	}
	s := span{f.size, len(frame)}
	if f.size += int64(n); f.box != nil {
		f.added = f.box.Add(s.offset, s.length)
	} else {
		f.spans = append(f.spans, s)
	}
	return n, nil
}

// ship ships frames from now on, and those written before, but for the first, which is the header;
// nil means it ships no more.
func (f *file) ship(box *bus.Outbox) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.box = box; box == nil {
		return
	}
	for _, s := range f.spans[1:] {
		f.added = box.Add(s.offset, s.length)
	}
	f.spans = nil
}

// fault says why records cannot be written; empty: they can.
func (f *file) fault() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		return ""
	}
	return f.err.Error()
}

// shipped is how many frames were handed over to be shipped.
func (f *file) shipped() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.added
}
