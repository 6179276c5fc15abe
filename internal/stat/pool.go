package stat

import (
	"cmp"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

// Pool is the memory and the file that a number of columns share. Columns of one
// pool may be used from different goroutines at the same time.
type Pool struct {
	dir    string
	budget int64
	used   atomic.Int64 // bytes of full chunks in memory
	end    atomic.Int64 // length of the file
	// spare has a place for each core but one: a goroutine that helps another to read holds one.
	spare chan struct{}

	mu   sync.Mutex
	file *os.File
	left string // name of the file where it could not be removed while open
	err  error
}

// extent is a chunk in the pool's file.
type extent struct {
	off int64
	len int
}

// NewPool makes a pool whose columns keep up to budget bytes of full chunks in memory and the rest
// in a temporary file in dir, made when needed; empty: the system's place for them.
func NewPool(dir string, budget int64) *Pool {
	return &Pool{dir: dir, budget: budget, spare: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
}

// Column makes an empty column.
func (p *Pool) Column() *Column { return &Column{pool: p} }

// Spilled is the number of bytes in the pool's file.
func (p *Pool) Spilled() int64 { return p.end.Load() }

// Err is the first error of writing the file. Samples that could not be written
// are still in memory: what is lost is the bound on memory, not data.
func (p *Pool) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err
}

// Close removes the file. The pool's columns must not be used afterwards.
func (p *Pool) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.file == nil {
		return nil
	}
	err := p.file.Close()
	p.file = nil
	if p.left != "" {
		err = cmp.Or(err, os.Remove(p.left))
	}
	if err != nil {
		return fmt.Errorf("close the temporary file of spilled samples: %w", err)
	}
	return nil
}

// reserve takes n bytes of the budget, or none and gives false.
func (p *Pool) reserve(n int) bool {
	if p.used.Add(int64(n)) <= p.budget {
		return true
	}
	p.used.Add(-int64(n))
	return false
}

func (p *Pool) write(chunk []byte) (extent, bool) {
	f := p.open()
	if f == nil {
		return extent{}, false
	}
	e := extent{off: p.end.Add(int64(len(chunk))) - int64(len(chunk)), len: len(chunk)}
	if _, err := f.WriteAt(chunk, e.off); err != nil {
		p.fail(fmt.Errorf("spill samples to a temporary file: %w", err))
		return extent{}, false
	}
	return e, true
}

func (p *Pool) read(buf []byte, e extent) error {
	if _, err := p.file.ReadAt(buf, e.off); err != nil {
		return fmt.Errorf("read spilled samples back: %w", err)
	}
	return nil
}

// open gives the file, made on the first call; nil once anything has failed.
func (p *Pool) open() *os.File {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err != nil {
		return nil
	}
	if p.file != nil {
		return p.file
	}
	f, err := os.CreateTemp(p.dir, "samples-*.tmp")
	if err != nil {
		p.err = fmt.Errorf("make a temporary file for samples that outgrow memory: %w", err)
		return nil
	}
	// Removed at once where the system allows it: a killed process leaves none behind.
	if err := os.Remove(f.Name()); err != nil {
		p.left = f.Name()
	}
	p.file = f
	return f
}

func (p *Pool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
}
