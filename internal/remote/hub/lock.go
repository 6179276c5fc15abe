package hub

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/inferometer/inferometer/internal/lib/filelock"
)

// lock waits until this process alone may write a blob. The returned function
// gives the lock back.
func (h *Hub) lock(ctx context.Context, path string) (func(), error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, writeError(err)
	}
	for {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
		if err != nil {
			return nil, writeError(err)
		}
		ok, err := filelock.Try(f)
		if err != nil {
			f.Close()
			return nil, writeError(err)
		}
		// The other process may have removed the file: then no other looks at this lock.
		if ok && filelock.Same(f, path) {
			return func() { f.Close() }, nil
		}
		f.Close()
		if err := h.sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
	}
}
