//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/table"
)

// split says which cores serve and which are the client's.
type split struct{ server, client []int }

// mostPerServer is how many cores of clients one core with canned answers feeds.
const mostPerServer = 7

// splitFor gives the client so many cores, the bench one where there are enough, and
// the server the rest; false where the machine has too few.
func splitFor(all []int, client int) (split, bool) {
	least := client + (client+mostPerServer-1)/mostPerServer
	if client < 1 || len(all) < least {
		return split{}, false
	}
	end := len(all)
	if end > least {
		end--
	}
	return split{server: all[:end-client], client: all[end-client : end]}, true
}

// manyCores is on how many cores the client is to be fast.
const manyCores = 8

// scale is the split for manyCores, or for half or a quarter of them on a smaller
// machine. Whether bounds apply there is told by judged, which adds a note where not.
func (b *bench) scale() split {
	for n := manyCores; n > 1; n /= 2 {
		if s, ok := splitFor(b.cores.All, n); ok {
			return s
		}
	}
	return split{server: b.cores.Server, client: b.cores.Client}
}

// judged reports whether the bounds of a row apply: where the machine gives the client
// fewer cores than they are for, the row shows its figures and says so.
func (s split) judged(l *table.Line, cores int) bool {
	if len(s.client) >= cores {
		return true
	}
	l.AddNote("the bounds are for %d client cores; this machine has %d beside the server's", cores, len(s.client))
	l.Must("client cores", strconv.Itoa(len(s.client)), "", true)
	return false
}

// coreCount is a number of cores in words.
func coreCount(n int) string {
	if n == 1 {
		return "1 core"
	}
	return strconv.Itoa(n) + " cores"
}

// counts are the numbers of client cores to measure: powers of two up to all.
func (s split) counts() []int {
	var out []int
	for n := 1; n <= len(s.client); n *= 2 {
		out = append(out, n)
	}
	return out
}

// realCores counts the cores of which the given ones are threads; 0 where the machine
// does not tell.
func realCores(cores []int, root string) int {
	seen := map[string]bool{}
	for _, c := range cores {
		text, err := os.ReadFile(fmt.Sprintf("%s/cpu%d/topology/thread_siblings_list", root, c))
		if err != nil {
			return 0
		}
		seen[strings.TrimSpace(string(text))] = true
	}
	return len(seen)
}

// describeCores adds what linear scaling is worth on this machine: what its cores do
// when they share nothing.
func (b *bench) describeCores(ctx context.Context, l *table.Line, s split) {
	for _, kind := range []string{host.SpinArithmetic, host.SpinLoopback} {
		one, err := host.Spin(ctx, b.self, kind, s.client[:1], nil)
		if err != nil {
			l.Miss("machine", err)
			return
		}
		many, err := host.Spin(ctx, b.self, kind, s.client, nil)
		if err != nil {
			l.Miss("machine", err)
			return
		}
		crowded, err := host.Spin(ctx, b.self, kind, s.client, s.server)
		if err != nil {
			l.Miss("machine", err)
			return
		}
		l.Add("machine", fmt.Sprintf("%.2f ×", many/one), "what %s that shares nothing does on %s beside one core; %.2f × with the server's core(s) busy too",
			kind, coreCount(len(s.client)), crowded/one)
	}
	both := append(slices.Clone(s.client), s.server...)
	if n := realCores(both, "/sys/devices/system/cpu"); n > 0 && n < len(both) {
		l.AddNote("client %v and server %v are threads of %d real cores", s.client, s.server, n)
	}
}

// startCannedServer starts a server with canned answers and waits until it answers.
func (b *bench) startCannedServer(ctx context.Context, spec canned.Spec, cores []int) (*server, error) {
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{url: "http://" + addr, cores: cores}
	argv := []string{b.self, "canned", "-listen", addr, "-cores", strconv.Itoa(len(cores)),
		"-events", strconv.Itoa(spec.Events), "-writes", strconv.Itoa(max(1, spec.Writes)), "-prompt", strconv.Itoa(promptWords)}
	if s.Process, err = host.Start(ctx, cores, host.Command{Args: argv}); err != nil {
		return nil, err
	}
	if err := s.ready(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// withCanned is the measurement of a row that needs a server with canned answers beside
// a client on many cores.
func withCanned(spec canned.Spec,
	measure func(ctx context.Context, b *bench, s *server, sp split, l *table.Line)) func(context.Context, *bench) table.Line {
	return func(ctx context.Context, b *bench) (l table.Line) {
		sp := b.scale()
		s, err := b.startCannedServer(ctx, spec, sp.server)
		if err != nil {
			l.Miss("server", err)
			return l
		}
		defer s.Stop()
		measure(ctx, b, s, sp, &l)
		return l
	}
}

// driven has the program under test, or another client, do work on some cores.
func (b *bench) driven(ctx context.Context, s *server, c competitor, cores []int, w work) (attempt, error) {
	a, err := b.attempt(ctx, s, cores, "cores", func(dir string) (host.Command, error) { return c.command(b, s, w, dir) })
	if err == nil && c.ttft != nil {
		a.ttft, err = c.ttft(a.dir, a.child) // which fails where requests did
	}
	return a, err
}
