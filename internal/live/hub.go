package live

import (
	"bytes"
	"fmt"
	"net/http"
	"sync"
	"time"
)

// hub hands events to those who follow a run.
type hub struct {
	mu     sync.Mutex
	open   map[*watcher]struct{}
	closed bool
}

// watcher is a browser that follows. Of events that it is too slow for it gets the last.
type watcher struct{ next chan []byte }

// event is an event of a stream of server-sent events. The data is JSON, of one line.
func event(name string, data []byte) []byte {
	return fmt.Appendf(nil, "event: %s\ndata: %s\n\n", name, bytes.ReplaceAll(data, []byte("\n"), []byte(" ")))
}

// join lets another one follow; false: there are too many, or it is over.
func (h *hub) join() (*watcher, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || len(h.open) >= watchers {
		return nil, false
	}
	if h.open == nil {
		h.open = map[*watcher]struct{}{}
	}
	w := &watcher{next: make(chan []byte, 1)}
	h.open[w] = struct{}{}
	return w, true
}

func (h *hub) leave(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, ok := h.open[w]; ok {
		delete(h.open, w)
		close(w.next)
	}
}

// any reports whether anybody follows.
func (h *hub) any() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.open) > 0
}

// send hands an event to all, without waiting for any of them.
func (h *hub) send(event []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.open {
		select {
		case <-w.next:
		default:
		}
		w.next <- event // there is room: this is the only sender
	}
}

// close lets followers read what they were sent, and refuses new ones.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	for w := range h.open {
		delete(h.open, w)
		close(w.next)
	}
}

// follow sends a browser events, from now until it is gone, does not read, or all is over.
func (h *hub) follow(w http.ResponseWriter, r *http.Request, first func() ([]byte, error)) {
	me, ok := h.join()
	if !ok {
		refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("at most %d pages can follow a run", watchers))
		return
	}
	defer h.leave(me)
	text, err := first()
	if err != nil {
		refuse(w, http.StatusInternalServerError, err.Error())
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	for open := true; open; {
		// A client that does not read would keep this goroutine and its memory.
		_ = out.SetWriteDeadline(time.Now().Add(patience))
		if _, err := w.Write(text); err != nil || out.Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case text, open = <-me.next:
		}
	}
}
