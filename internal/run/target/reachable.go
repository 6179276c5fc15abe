package target

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/lib/localaddr"
	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/remote/proxy"
)

// takesConnections makes sure that each URL of a target takes connections. No request is sent.
func takesConnections(ctx context.Context, t *plan.Target, getenv func(string) string) error {
	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()
	var errs []error
	for i, raw := range t.URLs {
		if err := connect(ctx, t, raw, getenv); err != nil {
			errs = append(errs, message.Errorf("target %d, %s, cannot be reached: %w%v", i+1, plan.SafeURL(raw), err, remedy(err, raw)))
		}
	}
	return errors.Join(errs...)
}

// connect opens a connection to a URL, or to the proxy in front of it, and closes it.
func connect(ctx context.Context, t *plan.Target, raw string, getenv func(string) string) error {
	u, err := url.Parse(raw)
	if err != nil {
		return bare(err)
	}
	through, err := proxy.For(*t, u, getenv)
	if err != nil {
		return err
	}
	if through != nil {
		u = through
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	conn, err := localaddr.NewDialer(t.SourceAddresses).DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return err
	}
	return conn.Close()
}

// Client is what asks the servers and reads their responses.
type Client struct {
	Protocol endpoint.Protocol
	Endpoint endpoint.Endpoint
	Decoder  endpoint.Decoder
	Secrets  Secrets
}

// Setup is what a run has found out about its target before the first request, if anything.
type Setup struct {
	endpoint.ServerInfo
	// Target is the plan's with what the server has said, and Tensors the model's inputs and
	// outputs.
	Target  plan.Target
	Tensors *tensor.Signature
}

// SetupOf is what an endpoint has found out about a target.
func SetupOf(e *endpoint.Endpoint, t plan.Target) Setup {
	if e.About == nil {
		return Setup{}
	}
	return Setup{ServerInfo: *e.About, Target: t, Tensors: e.Tensors}
}

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
