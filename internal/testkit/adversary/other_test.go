//go:build linux

package adversary

import (
	"bufio"
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
)

// others are situations on other protocols, and on a host that has other things to do.
func others() []situation {
	return []situation{
		{name: "HTTP/2 connections dropped", lie: "sent again as if nothing had been", over: []wire{overH2}, server: always(func(c *call) {
			if c.nth > 0 && c.n%3 == 2 {
				c.wait(300 * ms)
				c.drop()
				return
			}
			c.stream(20*ms, 5*ms, 4)
		}), args: flags("--http2 --rate 10 --requests 40"), truth: []claim{never("requests were dropped")}, quick: true},
		{name: "gRPC connections dropped", lie: "sent again as if nothing had been", server: steady(0, 0, 1), before: mocked("--fault", "close=0.3", "--ttft", "100ms"),
			run: func(p *play) []string {
				return append([]string{"run", "grpc://" + p.mocks[1], "--model", "vllm_model", "--out", p.dir}, flags("--rate 10 --requests 40 --output-tokens 4")...)
			}, truth: []claim{never("requests were dropped")}},
		{name: "gRPC streams cut", lie: "what came is all that there was", server: steady(0, 0, 1), before: mocked("--fault", "truncate=0.3", "--ttft", "20ms"),
			run: func(p *play) []string {
				return append([]string{"run", "grpc://" + p.mocks[1], "--model", "vllm_model", "--out", p.dir}, flags("--concurrency 4 --requests 60 --output-tokens 4")...)
			}, truth: []claim{never("streams were cut")}},
		{name: "a host with other things to do", lie: "its delays are the server's", server: steady(50*ms, 10*ms, 8), args: flags("--concurrency 8 --requests 200"), during: hogs, truth: []claim{served}, alone: true},
		{name: "a host with other things, open loop", lie: "its delays are the server's", server: steady(50*ms, 10*ms, 8), args: flags("--rate 50 --requests 200"), during: hogs, truth: []claim{served}, alone: true},
	}
}

// hogs keep all cores busy while the program runs.
func hogs(p *play) {
	defer neighbours(runtime.NumCPU())()
	for p.pass(50 * ms) {
	}
}

// neighbours starts processes that do nothing but take time, and gives what ends them.
func neighbours(n int) (end func()) {
	var all []*exec.Cmd
	for range n {
		cmd := exec.Command("sh", "-c", "while :; do :; done")
		if cmd.Start() == nil {
			all = append(all, cmd)
		}
	}
	return func() {
		for _, cmd := range all {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
	}
}

// mocked starts the program's own mock, whose addresses are in play.mocks, HTTP's first.
func mocked(args ...string) func(*play) {
	return func(p *play) {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		cmd := exec.CommandContext(ctx, p.program, append([]string{"mock", "--listen", "127.0.0.1:0", "--grpc", "127.0.0.1:0"}, args...)...)
		out, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			p.t.Errorf("%s: starting the mock: %v", p.name, err)
			cancel()
			return
		}
		lines := bufio.NewScanner(out)
		for len(p.mocks) < 2 && lines.Scan() {
			address, _, _ := strings.Cut(strings.TrimPrefix(lines.Text(), "mock listening on "), " ")
			p.mocks = append(p.mocks, address)
		}
		var drain sync.WaitGroup
		drain.Go(func() { _, _ = io.Copy(io.Discard, out) })
		p.ends = append(p.ends, func() {
			_ = cmd.Process.Signal(os.Interrupt)
			drain.Wait()
			_ = cmd.Wait()
			cancel()
		})
	}
}
