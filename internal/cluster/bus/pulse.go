package bus

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Beat gives a sign of life under a name, now and then every so often, until the context is over. While the connection is cut it
// gives none: a sign that comes late would say that somebody lived, not that they live.
func (b *Bus) Beat(ctx context.Context, name string, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		if b.nats.IsConnected() {
			if err := b.nats.Publish(b.subject("beat", name), []byte(name)); err != nil {
				b.log(fmt.Sprintf("sign of life of %s: %v", name, err))
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
	}
}

// Pulse knows when each name of a run was last heard.
type Pulse struct {
	mu   sync.Mutex
	last map[string]time.Time
	stop func()
}

// Pulse listens to the signs of life of this run.
func (b *Bus) Pulse() (*Pulse, error) {
	p := &Pulse{last: map[string]time.Time{}}
	all := strings.TrimSuffix(b.subject("beat", ""), ".") + ".*"
	s, err := b.nats.Subscribe(all, func(m *nats.Msg) {
		p.mu.Lock()
		p.last[string(m.Data)] = time.Now()
		p.mu.Unlock()
	})
	p.stop, err = b.listening(s, err, all)
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Since is how long ago a name was last heard, and whether it ever was.
func (p *Pulse) Since(name string) (time.Duration, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t, ok := p.last[name]
	if !ok {
		return 0, false
	}
	return time.Since(t), true
}

// Close stops listening.
func (p *Pulse) Close() { p.stop() }
