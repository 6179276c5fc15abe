package inferometer

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/cluster"
	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/lib/access"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// tokenVariable holds what a worker must present to join.
const tokenVariable = "INFEROMETER_TOKEN"

// joinFor is how long workers may take to join and to prepare.
const joinFor = 10 * time.Minute

// fleet is what a run with workers has besides itself.
type fleet struct {
	*cluster.Coordinator
	id     string // of the run
	bus    *bus.Bus
	server *bus.Server // nil means the user's own NATS is used
	local  []*local    // the workers that this process has started
	begun  bool        // all workers are ready
	dir    string      // where those keep their records until they are here; empty: there are none
}

// newFleet starts what a run with workers needs that writes to a directory, and the workers
// themselves where they are on this machine.
func newFleet(ctx context.Context, env tool.Env, a *args.Action, out string, s *tool.Session) (_ *fleet, err error) {
	f := &fleet{id: cmp.Or(a.RunID, run.NewID())}
	defer func() {
		if err != nil {
			f.close(err)
		}
	}()
	here := a.JoinAt == "" && a.NATS == ""
	token, at := env.Getenv(tokenVariable), a.NATS
	if token == "" && here {
		token = rand.Text()
	}
	if at == "" {
		if f.server, err = bus.Serve(bus.ServerOptions{Listen: a.JoinAt, Token: token}); err != nil {
			var guessed *access.TokenError
			if errors.As(err, &guessed) {
				err = fmt.Errorf("%w; set %s here and for the workers", err, tokenVariable)
			}
			return nil, err
		}
		at = f.server.URL()
	}
	if f.bus, err = bus.Dial(ctx, bus.DialOptions{
		URL: at, Run: f.id, Name: "inferometer coordinator", Token: token, CA: a.NATSCA, Credentials: a.NATSCreds, Changed: connectionLog(s.Log),
	}); err != nil {
		return nil, err
	}
	o := cluster.Options{Bus: f.bus, Workers: a.Workers, Version: env.Version, Wait: joinFor, Own: f.server != nil, Chosen: a.RunID != "", Log: s.Log}
	if f.Coordinator, err = cluster.Open(o); err != nil {
		return nil, err
	}
	if !here {
		fmt.Fprintf(s.Log, "Run %s waits for %d workers: inferometer worker --join %s\n", f.id, a.Workers, cmp.Or(a.NATS, joinURL(a.JoinAt, at)))
		return f, nil
	}
	return f, f.start(env, a.Workers, out, at, token)
}

// connectionLog reports when NATS is cut off and when it is back.
func connectionLog(log io.Writer) func(up bool, reason error) {
	return func(up bool, reason error) {
		switch {
		case up:
			fmt.Fprintln(log, "NATS is back.")
		case reason != nil:
			fmt.Fprintf(log, "warning: NATS is gone since %s: %v; trying again\n", time.Now().Format("15:04:05"), reason)
		default:
			fmt.Fprintf(log, "warning: NATS is gone since %s; trying again\n", time.Now().Format("15:04:05"))
		}
	}
}

// joinURL is where other machines find the NATS of this process, which listens at an address and can be reached at
// a URL from here. One that listens everywhere is found by this machine's name.
func joinURL(listen, here string) string {
	at, err := url.Parse(here)
	host, _, splits := net.SplitHostPort(listen)
	if ip, _ := netip.ParseAddr(host); err != nil || splits != nil || host != "" && !ip.IsUnspecified() {
		return here
	}
	if name, err := os.Hostname(); err == nil {
		at.Host = net.JoinHostPort(name, at.Port())
	}
	return at.String()
}

// start starts the workers of this machine, each with its share of the cores.
func (f *fleet) start(env tool.Env, n int, out, at, token string) (err error) {
	if env.Program == "" {
		return errors.New("--workers: the program does not know where it is, and cannot start more of itself")
	}
	if f.dir = filepath.Join(out, "workers"); out == "" || strings.Contains(out, plan.PlaceModel) { // which is not known yet
		if f.dir, err = os.MkdirTemp("", "inferometer-workers-*"); err != nil {
			return fmt.Errorf("creating the directory for worker records: %w", err)
		}
	}
	cores := max(1, runtime.GOMAXPROCS(0)/n)
	for i := range n {
		name := "worker-" + strconv.Itoa(i+1)
		l := &local{name: name, cmd: exec.Command(env.Program, "worker", "--join", at, "--run", f.id, "--name", name, "--dir", filepath.Join(f.dir, name))}
		l.cmd.Env = append(l.cmd.Environ(), tokenVariable+"="+token, "GOMAXPROCS="+strconv.Itoa(cores))
		if err := l.start(); err != nil {
			return err
		}
		f.local = append(f.local, l)
	}
	return nil
}

// Prepare implements executor.Workers.
func (f *fleet) Prepare(ctx context.Context, p *plan.Plan, in *executor.WorkerRecords) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	for _, l := range f.local {
		go func() {
			select {
			case <-l.ended:
				cancel(l.err)
			case <-ctx.Done():
			}
		}()
	}
	err := f.Coordinator.Prepare(ctx, p, in)
	f.begun = err == nil
	return err
}

// local is a worker that this process has started.
type local struct {
	name  string
	cmd   *exec.Cmd
	said  tail
	ended chan struct{} // closed when the process has ended
	err   error         // what it ended with
}

func (l *local) start() error {
	l.cmd.Stderr = &l.said
	apart(l.cmd)
	if err := l.cmd.Start(); err != nil {
		return fmt.Errorf("starting %s: %w", l.name, err)
	}
	l.ended = make(chan struct{})
	go func() {
		defer close(l.ended)
		if err := l.cmd.Wait(); err != nil {
			l.err = fmt.Errorf("%s: %w: %s", l.name, err, l.said.String())
		}
	}()
	return nil
}

// goFor is how long a worker may take to end by itself.
const goFor = 15 * time.Second

// close ends the workers, and what carries their records; why is what ended the run, or nil.
func (f *fleet) close(why error) error {
	var errs []error
	if f.Coordinator != nil {
		errs = append(errs, f.Coordinator.Close(why))
	}
	wait := goFor
	if !f.begun { // what is wrong was said, and nothing was recorded
		wait = 0
	}
	kill := time.AfterFunc(wait, func() {
		for _, l := range f.local {
			_ = l.cmd.Process.Kill()
		}
	})
	for _, l := range f.local {
		if <-l.ended; f.begun {
			errs = append(errs, l.err)
		}
	}
	kill.Stop()
	if f.bus != nil {
		f.bus.Close()
	}
	if f.server != nil {
		errs = append(errs, f.server.Close())
	}
	err := errors.Join(errs...)
	if f.dir != "" && err == nil { // what a worker could not ship is only there
		err = os.RemoveAll(f.dir)
	}
	return err
}

type tail struct {
	mu  sync.Mutex
	end []byte
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const most = 2000
	t.end = append(t.end, p...)
	t.end = t.end[max(0, len(t.end)-most):]
	return len(p), nil
}

// String is the last line.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	lines := bytes.Split(bytes.TrimSpace(t.end), []byte("\n"))
	return string(lines[len(lines)-1])
}
