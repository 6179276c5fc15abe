// Package live shows a run to a browser and to Prometheus while it goes on. A Server takes a
// snapshot once a second, and no request reaches the run itself.
package live

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/netutil"

	"github.com/inferometer/inferometer/internal/lib/access"
	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/report/html"
	"github.com/inferometer/inferometer/internal/run"
)

// What a server allows, and how long it waits.
const (
	every       = time.Second      // between two snapshots
	connections = 64               // at a time
	watchers    = 16               // browsers that follow at a time
	patience    = 10 * time.Second // with a client that does not read
	farewell    = 2 * time.Second  // for clients that have yet to read the end
	mostBins    = 600              // of the history
)

// TokenVariable is the environment variable with the token that clients must present.
const TokenVariable = "INFEROMETER_LIVE_TOKEN"

// Default is the address that is listened on unless one is given: a free port of this
// machine, so that two runs do not get in each other's way.
const Default = "127.0.0.1:0"

// Options say where and how to serve.
type Options struct {
	Address string // host:port, :port or a port
	Token   string // that clients must present; empty: one is drawn where others can reach the address
	Version string // of the program
	// Warn is told once where the page has failed; optional.
	Warn func(text string)
}

// Server shows runs, one after another. Its methods may be called from any goroutine. One that fails
// by a mistake of this program says so, to the user and to browsers, and leaves the runs alone.
type Server struct {
	version string
	guard   guard
	url     string
	http    *http.Server
	hub     hub
	watcher *aside.Watcher // looks at the run, and draws it

	quit, done chan struct{}
	once       sync.Once

	mu       sync.Mutex // guards all below
	state    func() run.Progress
	history  *History
	progress run.Progress // the last snapshot; without a plan: no run has begun
	shown    shown        // what browsers get of it
	drawn    bool         // that is what was drawn of the whole run
	over     bool         // there will be no more
}

// shown is a document as browsers get it, made when the first one asks for it.
type shown struct {
	document *pagedata.Document
	message  []byte // of the stream of events
	page     []byte
}

// Listen starts a server. It shows nothing before Watch.
func Listen(o Options) (*Server, error) {
	address := cmp.Or(o.Address, Default)
	if _, err := strconv.Atoi(address); err == nil {
		address = "127.0.0.1:" + address
	}
	if o.Token != "" {
		if err := access.CheckToken(TokenVariable, o.Token); err != nil {
			return nil, err
		}
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--live %s is not HOST:PORT: %w", address, err)
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening for the live page on %s: %w; name a free port with --live=HOST:PORT, or 0 for any", address, reason(err))
	}
	s := &Server{version: o.Version, guard: guard{token: o.Token, host: strings.ToLower(host)}, quit: make(chan struct{}),
		done: make(chan struct{})}
	warn := o.Warn
	if warn == nil {
		warn = func(string) {}
	}
	s.watcher = aside.New("The live page", warn)
	query := ""
	at := l.Addr().(*net.TCPAddr)
	switch {
	case o.Token != "": // the user knows it, and it is secret
		query = "?token=$" + TokenVariable
	case !at.IP.IsLoopback():
		s.guard.token = rand.Text()
		query = "?token=" + url.QueryEscape(s.guard.token)
	}
	s.url = "http://" + visited(host, at) + "/" + query
	s.http = &http.Server{
		Handler: s.handler(), ReadHeaderTimeout: patience, IdleTimeout: 2 * patience, MaxHeaderBytes: 16 << 10,
		ErrorLog: silent(),
	}
	go s.loop()
	go func() { _ = s.http.Serve(netutil.LimitListener(l, connections)) }()
	return s, nil
}

// reason is why an address cannot be listened on, without the address.
func reason(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

// visited is the address that a user can open.
func visited(host string, at *net.TCPAddr) string {
	if host == "" || at.IP.IsUnspecified() {
		host = "localhost"
	}
	return net.JoinHostPort(host, strconv.Itoa(at.Port))
}

// URL is the address of the page.
func (s *Server) URL() string { return s.url }

// Watch shows another run: state tells how it goes.
func (s *Server) Watch(state func() run.Progress) {
	s.mu.Lock()
	s.state, s.history, s.drawn = state, NewHistory(mostBins), false
	s.mu.Unlock()
	s.refresh()
}

// loop takes snapshots until the server is closed.
func (s *Server) loop() {
	defer close(s.done)
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-s.quit:
			return
		case <-tick.C:
			s.refresh()
		}
	}
}

// refresh takes a snapshot, and hands it to those who follow.
func (s *Server) refresh() { s.watcher.Do(s.takeSnapshot) }

func (s *Server) takeSnapshot() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.state == nil || s.over {
		return
	}
	s.progress = s.state()
	if s.drawn {
		return
	}
	s.shown = shown{}
	s.history.Add(&s.progress)
	if s.hub.any() {
		s.publish()
	}
}

// publish hands the last snapshot to those who follow. The caller holds the lock.
func (s *Server) publish() {
	text, err := s.event()
	if err == nil {
		s.hub.send(text)
	}
}

// event is the last snapshot as an event. The caller holds the lock.
func (s *Server) event() (_ []byte, err error) {
	if s.shown.message == nil {
		s.shown.message, err = message(s.document())
	}
	if s.over {
		return event("end", s.shown.message), err
	}
	return event("document", s.shown.message), err
}

// document is that of the last snapshot. The caller holds the lock.
func (s *Server) document() *pagedata.Document {
	if s.shown.document == nil {
		s.shown.document = document(&s.progress, s.history, s.version)
	}
	return s.shown.document
}

// html is the page of the last snapshot.
func (s *Server) html() ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.document()
	return s.shown.html(html.Write)
}

// html is the page of a document, which is kept once it is whole.
func (s *shown) html(write func(io.Writer, *pagedata.Document) error) ([]byte, error) {
	if s.page == nil {
		var b bytes.Buffer
		if err := write(&b, s.document); err != nil {
			return nil, err
		}
		s.page = b.Bytes()
	}
	return s.page, nil
}

func (s *Server) snapshot() *run.Progress {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.progress
	return &p
}

// Watched reports whether anybody follows, who would see the end.
func (s *Server) Watched() bool { return s.hub.any() }

// Show shows a document in place of snapshots, until another run begins.
func (s *Server) Show(d *pagedata.Document) {
	s.watcher.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		d.Live = true // the page comes back for the end
		s.shown, s.drawn = shown{document: d}, true
		s.publish()
	})
}

// End says that there will be no more. It reports whether there is a run to show.
func (s *Server) End() (has bool) {
	s.refresh()
	s.watcher.Do(func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.state == nil {
			return
		}
		last := s.document()
		last.Live = false
		s.shown, s.over = shown{document: last}, true
		s.publish()
		has = true
	})
	return has
}

// Close ends the server. Those who follow get what they were sent.
func (s *Server) Close() {
	s.once.Do(func() {
		close(s.quit)
		<-s.done
		ctx, cancel := context.WithTimeout(context.Background(), farewell)
		defer cancel()
		s.hub.close()
		if s.http.Shutdown(ctx) != nil {
			_ = s.http.Close()
		}
	})
}
