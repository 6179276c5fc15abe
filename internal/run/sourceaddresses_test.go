package run

import (
	"io"
	"maps"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
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
			c := config.Default()
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
			p.Target.Model, p.Target.NoPreflight, p.Target.SourceAddresses = "mock", false, []netip.Prefix{netip.MustParsePrefix("127.0.3.1/32"), netip.MustParsePrefix("127.0.4.0/30")}
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

// What a loopback address cannot reach is told before the run, and nothing else is tried.
func TestLoopbackReachesNoOtherMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("127.0.0.2 is an address of Linux machines")
	}
	p := closedPlan(t, "http://198.51.100.1:8000", 1, 1)
	p.Target.SourceAddresses = []netip.Prefix{netip.MustParsePrefix("127.0.0.2/32")}
	_, err := Run(t.Context(), p, options(io.Discard))
	wantPrepareError(t, err, "198.51.100.1:8000 cannot be reached from 127.0.0.2 of --source-address")
	if strings.Contains(err.Error(), "target 1") {
		t.Errorf("the target was asked all the same: %v", err)
	}
}
