package run

import (
	"context"
	"errors"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/plan"
)

// callers is a listener that takes down where connections come from.
type callers struct {
	net.Listener
	mu   sync.Mutex
	from map[string]int
}

func callersOf(t *testing.T) *callers {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return &callers{Listener: l, from: map[string]int{}}
}

func (w *callers) Accept() (net.Conn, error) {
	c, err := w.Listener.Accept()
	if err == nil {
		w.mu.Lock()
		w.from[c.RemoteAddr().(*net.TCPAddr).IP.String()]++
		w.mu.Unlock()
	}
	return c, err
}

// addresses are those that connections came from.
func (w *callers) addresses() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Join(slices.Sorted(maps.Keys(w.from)), " ")
}

// sources parses what a plan has under source_addresses.
func sources(text string) []netip.Prefix {
	var all []netip.Prefix
	for one := range strings.FieldsSeq(text) {
		if !strings.Contains(one, "/") {
			one += map[bool]string{true: "/128", false: "/32"}[strings.Contains(one, ":")]
		}
		all = append(all, netip.MustParsePrefix(one))
	}
	return all
}

// All that a run asks of its target comes from the plan's addresses: the list of models, the
// request ahead of the run, the statistics, the metrics page and the load itself.
func TestConnectionsComeFromTheSourceAddresses(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of Linux machines")
	}
	for _, tt := range []struct {
		name   string
		scheme string
		change func(p *plan.Plan)
	}{
		{"HTTP/1.1", "http://", func(p *plan.Plan) {}},
		{"HTTP/2", "http://", func(p *plan.Plan) { p.Target.HTTP2, p.Stages[0].Concurrency, p.Stages[0].Requests = true, 70, 140 }},
		{"Triton over gRPC", "grpc://", func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Transport, p.Target.Endpoint = plan.ProtocolTriton, plan.TransportGRPC, plan.EndpointStream
		}},
		{"Triton over HTTP", "http://", func(p *plan.Plan) {
			p.Target.Protocol, p.Target.Transport, p.Target.Endpoint = plan.ProtocolTriton, plan.TransportHTTP, plan.EndpointGenerate
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := mock.Default()
			c.HTTP2, c.Output.Tokens = true, 2
			m, err := mock.New(c)
			if err != nil {
				t.Fatal(err)
			}
			w := callersOf(t)
			go func() {
				if tt.scheme == "grpc://" {
					_ = m.ServeGRPC(w)
				} else {
					_ = m.Serve(w)
				}
			}()
			t.Cleanup(func() { _ = m.Close() })
			p := closedPlan(t, tt.scheme+w.Addr().String(), 6, 30)
			p.Target.Model, p.Target.NoPreflight, p.Target.SourceAddresses = "mock", false, sources("127.0.3.1 127.0.4.0/30")
			if tt.scheme == "http://" {
				p.Probes.Scrape = []string{"http://" + w.Addr().String() + "/metrics"}
			}
			tt.change(p)
			res := mustRun(t, p)
			if n := res.Stages[0].Counts.OK; int64(n) != p.Stages[0].Requests {
				t.Errorf("%d requests went well; failures %+v", n, res.Stages[0].Failures)
			}
			if got := w.addresses(); got != "127.0.3.1 127.0.4.1 127.0.4.2" {
				t.Errorf("connections came from %s", got)
			}
		})
	}
}

func TestSourceAddressesAreChecked(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of Linux machines")
	}
	v6 := true
	if l, err := net.Listen("tcp", "[::1]:0"); err != nil {
		v6 = false
	} else {
		l.Close()
	}
	for _, tt := range []struct {
		name, urls, from string
		pairs            int
		want             string // part of the error; empty: none
	}{
		{"none", "http://127.0.0.1:8000", "", 0, ""},
		{"one", "http://127.0.0.1:8000", "127.0.0.2", 1, ""},
		{"a range of a million", "http://127.0.0.1:8000", "127.16.0.0/12", 1<<20 - 2, ""},
		{"two targets", "http://127.0.0.1:8000 http://127.0.0.1:8001", "127.0.0.2 127.0.0.3", 4, ""},
		{"the same target twice", "http://127.0.0.1:8000/a http://127.0.0.1:8000/b", "127.0.0.2 127.0.0.3", 2, ""},
		{"both kinds", "http://127.0.0.1:8000 http://[::1]:8000", "127.0.0.2 127.0.0.3 ::1", 3, ""},
		{"IPv6", "grpc://[::1]", "::1", 1, ""},
		{"not here", "http://127.0.0.1:8000", "198.51.100.9", 1, "198.51.100.9 of --source-address is not an address of this machine: add it with ip addr add 198.51.100.9/32 dev lo"},
		{"one of them is not here", "http://127.0.0.1:8000", "127.0.0.2 198.51.100.9", 2, "198.51.100.9 of"},
		{"many are not here", "http://127.0.0.1:8000", "198.51.100.1 198.51.100.2 198.51.100.3 198.51.100.4 198.51.100.5 198.51.100.6", 6, "198.51.100.4/32 dev lo, or leave it out\n2 more of --source-address are not"},
		{"not here, IPv6", "http://[::1]:8000", "2001:db8::9", 1, "ip addr add 2001:db8::9/128 dev lo"},
		{"a range that is not here", "http://127.0.0.1:8000", "198.18.0.0/15", 1<<17 - 2, "198.18.0.1 and others in 198.18.0.0/15 of --source-address are not addresses of this machine: add each as in ip addr add 198.18.0.1/32 dev lo, or the whole range with ip route add local 198.18.0.0/15 dev lo"},
		{"an IPv6 range that is not here", "http://[::1]:8000", "2001:db8::/64", 1 << 30, "ip -6 route add local 2001:db8::/64 dev lo and sysctl net.ipv6.ip_nonlocal_bind=1"},
		{"the other kind", "http://127.0.0.1:8000", "::1", 0, "target 1, http://127.0.0.1:8000, is at 127.0.0.1, but --source-address has only IPv6 addresses: give an IPv4 address"},
		{"the other kind, IPv6", "http://[::1]:8000", "127.0.0.2", 0, "has only IPv4 addresses: give an IPv6 address"},
		{"of no use", "http://127.0.0.1:8000", "127.0.0.2 ::1", 1, "has the IPv6 address ::1, but no target has an IPv6 address"},
		{"no such target", "http://host.invalid:8000", "127.0.0.2", 0, ""}, // told by those who ask it
		{"no URL at all", "http://%zz", "127.0.0.2", 0, ""},
	} {
		if strings.Contains(tt.urls+tt.from, ":1") && strings.Contains(tt.urls+tt.from, "::") && !v6 {
			continue
		}
		target := plan.Target{URLs: strings.Fields(tt.urls), SourceAddresses: sources(tt.from)}
		pairs, err := checkSources(t.Context(), &target, nil)
		text := ""
		if err != nil {
			text = err.Error()
		}
		if pairs != tt.pairs || (text == "") != (tt.want == "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %d pairs, %q, want %d, %q", tt.name, pairs, text, tt.pairs, tt.want)
		}
	}
}

// What a loopback address cannot reach is told before the run, and nothing else is tried.
func TestLoopbackReachesNoOtherMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of Linux machines")
	}
	p := closedPlan(t, "http://198.51.100.1:8000", 1, 1)
	p.Target.SourceAddresses = sources("127.0.0.2")
	_, err := Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "198.51.100.1:8000 cannot be reached from 127.0.0.2 of --source-address")
	if strings.Contains(err.Error(), "target 1") {
		t.Errorf("the target was asked all the same: %v", err)
	}
}

// A look at names that takes too long does not hold up the run.
func TestSourcesOfARunThatWasStopped(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	target := plan.Target{URLs: []string{"http://host.invalid"}, SourceAddresses: sources("127.0.0.2")}
	if pairs, err := checkSources(ctx, &target, os.Getenv); pairs != 0 || err != nil {
		t.Error(pairs, err)
	}
}
