package timedconn

import "sync"

// pollers are those that the dialers of a run share: to one server or several, a slot stays on its
// core.
type pollers struct {
	mu    sync.Mutex
	users int
	all   []*poller
	ticks *ticks
}

// use gives them to one more, who releases them; none where the runtime's poller is to do it.
func (p *pollers) use(clock *Clock) []*poller {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		p.all = newPollers(clock)
		p.ticks = startTicks(clock, p.all)
	}
	p.users++
	return p.all
}

func (p *pollers) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users--; p.users > 0 {
		return
	}
	p.ticks.end()
	for _, one := range p.all {
		one.close()
	}
	p.all = nil
}
