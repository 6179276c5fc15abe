package target

import (
	"cmp"
	"fmt"
	"io"
	"net"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// StartMock starts the built-in server and makes it the target.
func StartMock(p *plan.Plan, log io.Writer) (io.Closer, error) {
	cfg := config.Default()
	cfg.Seed = p.Seed
	cfg.HTTP2 = p.Target.HTTP2
	cfg.Latency.TTFT = 50 * time.Millisecond
	cfg.Latency.ITL = 10 * time.Millisecond
	target := &p.Target
	scheme, serve := "http://", (*mock.Server).Serve
	if target.Protocol == plan.ProtocolTriton {
		cfg.Models = []string{cmp.Or(target.Model, "vllm_model")}
		if target.Transport == plan.TransportGRPC {
			scheme, serve = "grpc://", (*mock.Server).ServeGRPC
		}
	}
	server, err := mock.New(cfg)
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("starting the built-in mock: %w", err)
	}
	go serve(server, l)
	target.URLs = []string{scheme + l.Addr().String()}
	target.Model = cfg.Models[0]
	fmt.Fprintln(log, "No target given: measuring the built-in mock in this same process "+
		"(first token after 50 ms, then one every 10 ms, 64 tokens).")
	return server, nil
}
