package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/loader"
	"github.com/inferometer/inferometer/internal/wire/timedconn"
)

// process is a coordinator or a worker of a simulation.
type process struct {
	name   string
	run    int
	client *natsClient
	link   *bus.Link
	born   time.Time
	drift  float64 // by which its clock is too fast
	log    syncBuffer

	stop    chan struct{} // a signal to stop
	once    sync.Once
	ctx     context.Context // until it is stopped at once, or killed
	abort   context.CancelFunc
	ended   time.Time // when it ended, by itself or killed
	killed  bool
	err     error
	dir     string
	res     *result.Result
	prepped bool // the coordinator's run has begun
}

// uptime is how long the process has been there, by its clock.
func (p *process) uptime() time.Duration { return p.time().Sub(p.born) }

// time is what its clock shows, which cannot be read while the process stands still. One that was killed is beyond all time.
func (p *process) time() time.Time {
	if !p.client.Thawed() {
		return p.born.Add(time.Hour)
	}
	gone := time.Since(p.born)
	return p.born.Add(gone + time.Duration(float64(gone)*p.drift))
}

// signal has the process stop: orderly, then at once.
func (p *process) signal() {
	first := false
	p.once.Do(func() { close(p.stop); first = true })
	if !first {
		p.abort()
	}
}

// kill kills the process.
func (p *process) kill() {
	p.killed = true
	p.client.Kill()
	p.abort()
}

// sent is a request as the server saw it.
type sent struct {
	worker    string
	at, ended time.Time
}

// request is one of a run.
type request struct {
	run int
	seq int64
}

// world is a simulation: processes, a network and a server.
type world struct {
	t    *testing.T
	net  *natsNet
	took func(seq int64) time.Duration // how long the server takes

	mu    sync.Mutex
	saw   map[request][]sent
	procs []*process
}

// spawn makes a process with a connection to NATS.
func (w *world) spawn(name string, run int, drift float64) *process {
	p := &process{name: name, run: run, born: time.Now(), drift: drift, stop: make(chan struct{}), dir: filepath.Join(w.t.TempDir(), name)}
	p.ctx, p.abort = context.WithCancel(context.Background())
	p.link = bus.NewLink(func(text string) { fmt.Fprintln(&p.log, "bus:", text) })
	p.client = w.net.Connect(name, p.link.Lost, p.link.Restored)
	p.link.Join(p.client, p.client.JetStream(), 1<<20)
	w.procs = append(w.procs, p)
	return p
}

// options are what a process runs with.
func (w *world) options(p *process) run.Options {
	parts := registry.Offline(func(string) string { return "" })
	parts.Protocols = map[string]endpoint.Protocol{"sim": w.protocol(p)}
	parts.Tokenizers = func(context.Context, string, string, plan.Limits) (*loader.Found, error) {
		return &loader.Found{Tokenizer: token.Words{}, Chat: &chat.Config{}}, nil
	}
	return run.Options{Kit: parts, Version: "test", Log: &p.log, NewSleeper: load.NewTimerSleeper}
}

// protocol speaks to the simulated server.
func (w *world) protocol(p *process) endpoint.Protocol {
	return endpoint.Protocol{
		Name:   "sim",
		Settle: func(context.Context, *plan.Target, endpoint.Options, message.Log) error { return nil },
		Open: func(_ plan.Target, o endpoint.Options) (endpoint.Endpoint, error) {
			return endpoint.Endpoint{
				Prepare: func(q *prompt.Prompt) (endpoint.Call, error) { return &simCall{w, p, o.Clock, q.Seq}, nil },
				Close:   func() error { return nil }, URLs: []string{"http://sim"},
			}, nil
		},
		Decoder: func(plan.Target, prompt.Tokenizer, bool) endpoint.Decoder {
			return endpoint.Decoder{Decode: func(x *record.Exchange) {
				x.Text, x.Events = []byte("yes"), []record.Event{{Label: record.Content, Text: 3}}
			}}
		},
	}
}

// simCall is a request to the simulated server.
type simCall struct {
	w     *world
	p     *process
	clock *timedconn.Clock
	seq   int64
}

// Do implements endpoint.Call.
func (c *simCall) Do(ctx context.Context, x *record.Exchange) {
	if !c.p.client.Thawed() || x.Barred() {
		x.Sent = record.Never
		x.End = c.clock.Now()
		x.Failure = &record.Failure{Class: record.Cancelled, At: x.End}
		return
	}
	x.Sent = c.clock.Now()
	x.Flight.SetSent(x.Sent)
	c.w.mu.Lock()
	key := request{c.p.run, c.seq}
	c.w.saw[key] = append(c.w.saw[key], sent{worker: c.p.name, at: time.Now()})
	c.w.mu.Unlock()
	select {
	case <-time.After(c.w.took(c.seq)):
	case <-ctx.Done():
		x.Failure = &record.Failure{Class: record.Cancelled, Message: "cancelled", At: c.clock.Now()}
	}
	c.p.client.Thawed()
	x.End = c.clock.Now()
	x.Body, x.Marks = append(x.Body, "yes"...), append(x.Marks, record.Read{Off: 3, User: x.End, Kernel: record.Never})
	c.w.mu.Lock()
	defer c.w.mu.Unlock()
	list := c.w.saw[key]
	for i := range list {
		if list[i].worker == c.p.name {
			list[i].ended = time.Now()
		}
	}
}

// work runs a worker until it ends.
func (w *world) work(p *process, id string) {
	o := w.options(p)
	p.err = RunWorker(p.ctx, WorkerOptions{
		Bus: p.link, RunID: id, Name: p.name, Dir: p.dir, Run: o, Wait: 30 * time.Second, Leave: p.stop, Log: &p.log,
		Uptime:   p.uptime,
		NewClock: func(at time.Duration) *timedconn.Clock { return timedconn.NewClockBy(p.time, at) },
	})
	p.ended = time.Now()
	p.link.Close()
}

// coordinate runs a coordinator until it ends.
func (w *world) coordinate(p *process, id string, text *plan.Plan, workers int) {
	defer func() {
		p.ended = time.Now()
		p.link.Close()
	}()
	c, err := Open(Options{Bus: p.link.Bus(id), Workers: workers, Version: "test", Wait: 20 * time.Second, Log: &p.log})
	if err != nil {
		p.err = err
		return
	}
	o := w.options(p)
	o.Fleet, o.ID, o.Stop = c, id, p.stop
	o.Ready = func(target.Setup) { p.prepped = true }
	text.Output.Dir = p.dir
	p.res, p.err = run.Run(p.ctx, text, o)
	if err := c.Close(p.err); err != nil {
		fmt.Fprintln(&p.log, "warning:", err)
	}
}

// syncBuffer is a log that many write to.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

var _ io.Writer = (*syncBuffer)(nil)
