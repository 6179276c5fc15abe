package prompt

import (
	"context"
	"sync"
)

// FIFO has the requests of a lane go one after the other, in the order of their places. The
// zero Line is ready for use.
type FIFO struct {
	mu   sync.Mutex
	next uint64                   // the request whose turn it is
	left map[uint64]bool          // requests behind it that will not go
	wait map[uint64]chan struct{} // are closed when it is a request's turn
}

// Await waits until all requests before the one with this number have left. With the context's
// error the request has left the line itself.
func (l *FIFO) Await(ctx context.Context, number uint64) error {
	if turn := l.turn(number); turn != nil {
		select {
		case <-turn:
		case <-ctx.Done():
		}
	}
	err := ctx.Err()
	if err != nil {
		l.Leave(number)
	}
	return err
}

// turn is closed when it is a request's turn; nil means that is now.
func (l *FIFO) turn(number uint64) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number <= l.next {
		return nil
	}
	if l.wait == nil {
		l.wait, l.left = map[uint64]chan struct{}{}, map[uint64]bool{}
	}
	turn := make(chan struct{})
	l.wait[number] = turn
	return turn
}

// Leave lets the next request go.
func (l *FIFO) Leave(number uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case number > l.next:
		delete(l.wait, number)
		l.left[number] = true
		return
	case number < l.next:
		return
	}
	for l.next++; l.left[l.next]; l.next++ {
		delete(l.left, l.next)
	}
	if turn := l.wait[l.next]; turn != nil {
		close(turn)
		delete(l.wait, l.next)
	}
}
