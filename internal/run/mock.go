package run

import (
	"fmt"
	"net"
	"time"

	"inferometer/internal/mock"
)

// startMock starts the built-in server and makes it the target.
func (r *run) startMock() error {
	cfg := mock.Default()
	cfg.Seed = r.plan.Seed
	cfg.HTTP2 = r.plan.Target.HTTP2
	cfg.Latency.TTFT = 50 * time.Millisecond
	cfg.Latency.ITL = 10 * time.Millisecond
	server, err := mock.New(cfg)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("starting the built-in mock: %w", err)
	}
	go server.Serve(l)
	r.mock = server
	r.plan.Target.URLs = []string{"http://" + l.Addr().String()}
	r.plan.Target.Model = cfg.Models[0]
	fmt.Fprintln(r.opt.Log, "No target given: measuring the built-in mock in this same process "+
		"(first token after 50 ms, then one every 10 ms, 64 tokens).")
	return nil
}
