// The simulated NATS: on the clock of testing/synctest, a network that delays, drops, doubles and reorders messages, is
// cut, stands still and comes back, as a seed has it. It has what package bus uses of NATS, and no more.

package cluster

import (
	"math"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
)

// Weather is how the network is.
type Weather struct {
	Seed   uint64
	Delay  time.Duration // of a message, one way, at least
	Jitter time.Duration // on top, up to
	Loss   float64       // share of messages that are lost
	Double float64       // share of messages that come twice
}

// natsNet is a NATS server, and the network around it.
type natsNet struct {
	weather Weather

	mu      sync.Mutex
	up      bool
	epoch   int // how often it was started
	gate    gate
	clients []*natsClient
	streams map[string]*stream
	counts  map[string]uint64 // messages so far, by sender and subject: what random numbers are made from
}

// newNATS starts a server.
func newNATS(w Weather) *natsNet {
	return &natsNet{weather: w, up: true, streams: map[string]*stream{}, counts: map[string]uint64{}}
}

// fate is what becomes of a message.
type fate struct {
	delay  time.Duration
	lost   bool
	double bool
}

// fate draws one. It depends on the seed, on who sends what, and on how often they did before, and on nothing that a scheduler decides.
func (n *natsNet) fate(who, what string) fate {
	what, _, _ = strings.Cut(what, "=2e") // keys of workers are random
	n.mu.Lock()
	key := who + " " + what
	n.counts[key]++
	count := n.counts[key]
	n.mu.Unlock()
	draw := func(salt uint64) float64 { return unit(n.weather.Seed, salt, count, key) }
	return fate{
		delay:  n.weather.Delay + time.Duration(draw(1)*draw(2)*float64(n.weather.Jitter)),
		lost:   draw(3) < n.weather.Loss,
		double: draw(4) < n.weather.Double,
	}
}

// unit is a number from 0 to 1 that follows from its arguments: FNV-1a, then a mix as of SplitMix64.
func unit(seed, salt, count uint64, text string) float64 {
	h := uint64(14695981039346656037)
	for _, c := range []byte(text) {
		h = (h ^ uint64(c)) * 1099511628211
	}
	h += seed*0x9e3779b97f4a7c15 + salt*0xbf58476d1ce4e5b9 + count*0x94d049bb133111eb
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	return float64((h^h>>31)>>11) / (1 << 53)
}

// route brings a message to all that listen.
func (n *natsNet) route(m *nats.Msg, epoch int) {
	n.gate.wait()
	n.mu.Lock()
	alive := n.up && n.epoch == epoch
	var subs []*subscription
	for _, c := range n.clients {
		subs = append(subs, c.subscribed(m.Subject)...)
	}
	n.mu.Unlock()
	if !alive {
		return
	}
	for _, s := range subs {
		f := n.fate("to "+s.client.name, m.Subject)
		copies := 1
		if f.lost {
			copies = 0
		} else if f.double {
			copies = 2
		}
		for i := range copies {
			time.AfterFunc(f.delay*time.Duration(i+1), func() { s.deliver(m) })
		}
	}
}

// Freeze has the server stand still for a time. Clients that hear nothing for some seconds take the connection for cut.
func (n *natsNet) Freeze(d, notice time.Duration) {
	n.gate.freeze(d)
	for _, c := range n.all() {
		time.AfterFunc(notice, func() {
			if n.gate.frozen() {
				c.lose()
			}
		})
		time.AfterFunc(d+c.reconnect(), c.restore)
	}
}

// Kill ends the server; what it held in memory is gone. Start starts it again.
func (n *natsNet) Kill() {
	n.mu.Lock()
	n.up, n.streams = false, map[string]*stream{}
	n.mu.Unlock()
	for _, c := range n.all() {
		c.lose()
	}
}

// Start starts the server again.
func (n *natsNet) Start() {
	n.mu.Lock()
	n.up = true
	n.epoch++
	n.mu.Unlock()
	for _, c := range n.all() {
		time.AfterFunc(c.reconnect(), c.restore)
	}
}

func (n *natsNet) all() []*natsClient {
	n.mu.Lock()
	defer n.mu.Unlock()
	return append([]*natsClient(nil), n.clients...)
}

// state is whether the server runs, and its epoch.
func (n *natsNet) state() (up bool, epoch int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.up, n.epoch
}

// gate lets nothing through while it is frozen. The zero value is open.
type gate struct {
	mu     sync.Mutex
	opened chan struct{} // closed when it opens; nil: it is open
	until  time.Time
}

// freeze closes it for a time. It opens by itself, the last time that was given.
func (g *gate) freeze(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened == nil {
		g.opened = make(chan struct{})
	}
	if until := time.Now().Add(d); until.After(g.until) {
		g.until = until
	}
	time.AfterFunc(d, g.open)
}

// open opens it if it is time.
func (g *gate) open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.opened != nil && !time.Now().Before(g.until) {
		close(g.opened)
		g.opened = nil
	}
}

func (g *gate) frozen() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.opened != nil
}

// wait waits until it is open.
func (g *gate) wait() {
	for {
		g.mu.Lock()
		opened := g.opened
		g.mu.Unlock()
		if opened == nil {
			return
		}
		<-opened
	}
}

// forever is a time that does not come within a test.
const forever = time.Duration(math.MaxInt64)
