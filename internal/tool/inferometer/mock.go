package inferometer

import (
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/tool"
)

// Mock serves a built-in inference server.
func Mock() tool.Tool {
	return tool.Tool{Name: "mock", Summary: "start a mock inference server", Manual: mockManual, Run: mockCommand}
}

func mockFlags(cfg *config.Server) *pflag.FlagSet {
	flags := pflag.NewFlagSet("inferometer mock", pflag.ContinueOnError)
	flags.Usage = func() {}
	config.Flags(flags, cfg)
	return flags
}

func mockManual() clidoc.Command {
	cfg := config.Default()
	return clidoc.Command{
		Name:   "mock",
		About:  "Start a mock inference server that speaks the OpenAI API and Triton's.",
		Usage:  []clidoc.Usage{{Line: "inferometer mock [flags]"}},
		Groups: []clidoc.Group{{Title: "Flags", Flags: clidoc.OfSet(mockFlags(&cfg))}},
		Page:   "mock",
	}
}

func mockCommand(env tool.Env, line []string) int {
	cfg := config.Default()
	flags := mockFlags(&cfg)
	flags.SetOutput(env.Stderr)
	err := flags.Parse(line)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return env.PrintHelp(mockManual(), true)
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	config.Infer(flags, &cfg)
	if err != nil {
		return env.Fail("mock", fmt.Errorf("%w%s; inferometer mock --help lists the flags", err, tool.NearestFlag(flags, err)), tool.ExitUsage)
	}
	server, err := mock.New(cfg)
	if err != nil {
		return env.Fail("mock", err, tool.ExitUsage)
	}
	listeners := make([]net.Listener, 0, 3)
	for _, at := range [...]struct{ address, what string }{{cfg.Listen, ""}, {cfg.Triton.GRPC, " for gRPC"}, {cfg.Triton.Metrics, " for metrics"}} {
		if at.address == "" {
			listeners = append(listeners, nil)
			continue
		}
		l, err := net.Listen("tcp", at.address)
		if err != nil {
			server.Close()
			return env.Fail("mock", err, tool.ExitUsage)
		}
		fmt.Fprintf(env.Stderr, "mock listening on %s%s\n", l.Addr(), at.what)
		listeners = append(listeners, l)
	}
	var stopped atomic.Bool
	go func() {
		<-env.Interrupts
		env.Restore()
		stopped.Store(true)
		server.Close()
	}()
	if err := serveAll(server, listeners); err != nil && !stopped.Load() {
		return env.Fail("mock", err, tool.ExitRun)
	}
	if err := server.Close(); err != nil {
		return env.Fail("mock", err, tool.ExitRun)
	}
	return tool.ExitOK
}

// serveAll serves until the first listener ends: HTTP, gRPC where it is wanted, and metrics.
func serveAll(server *mock.Server, listeners []net.Listener) error {
	ended := make(chan error, len(listeners))
	for i, l := range listeners {
		serve := server.Serve
		if i == 1 {
			serve = server.ServeGRPC
		}
		if l != nil {
			go func() { ended <- serve(l) }()
		}
	}
	return <-ended
}
