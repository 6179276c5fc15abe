//go:build linux

package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/table"
)

// serverSpec is how the mock behaves in a case.
type serverSpec struct {
	ttft, itl time.Duration
	events    int  // output tokens, one per event
	coalesce  int  // events per write; 0: one
	truth     bool // log when each event was written
	grpc      bool // serve Triton's gRPC too; clients use that
	cores     []int
}

// server is a running mock.
type server struct {
	*host.Process
	spec  serverSpec
	url   string
	grpc  string // host:port; empty without gRPC
	truth string // file; empty without one
	cores []int
}

// startServer starts the mock and waits until it answers.
func (b *bench) startServer(ctx context.Context, spec serverSpec) (*server, error) {
	dir, err := b.dir("server")
	if err != nil {
		return nil, err
	}
	addr, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &server{spec: spec, url: "http://" + addr, cores: spec.cores}
	if s.cores == nil {
		s.cores = b.cores.Server
	}
	argv := []string{b.program, "mock", "--listen", addr, "--ttft", spec.ttft.String(), "--itl", spec.itl.String(),
		"--output-tokens", strconv.Itoa(spec.events)}
	if spec.coalesce > 1 {
		argv = append(argv, "--coalesce", strconv.Itoa(spec.coalesce))
	}
	if spec.grpc {
		if s.grpc, err = freeAddress(); err != nil {
			return nil, err
		}
		argv = append(argv, "--grpc", s.grpc)
	}
	if spec.truth {
		s.truth = filepath.Join(dir, "truth.jsonl")
		argv = append(argv, "--truth", s.truth)
	}
	if s.Process, err = host.Start(ctx, s.cores, host.Command{Args: argv}); err != nil {
		return nil, err
	}
	if err := s.ready(ctx); err != nil {
		s.Stop()
		return nil, err
	}
	return s, nil
}

// withServer is the measurement of a row that needs a server of one kind.
func withServer(spec serverSpec,
	measure func(ctx context.Context, b *bench, s *server, l *table.Line)) func(context.Context, *bench) table.Line {
	return func(ctx context.Context, b *bench) (l table.Line) {
		s, err := b.startServer(ctx, spec)
		if err != nil {
			l.Miss("server", err)
			return l
		}
		defer s.Stop()
		measure(ctx, b, s, &l)
		return l
	}
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("finding a free port: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

func (s *server) ready(ctx context.Context) error {
	for range 200 {
		if _, err := s.counters(ctx); err == nil {
			return nil
		}
		select {
		case <-s.Done:
			return fmt.Errorf("the mock ended before it answered: %s", host.LastLines(s.Output.String(), 5))
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(25 * time.Millisecond):
		}
	}
	return fmt.Errorf("the mock did not answer at %s within 5 s: %s", s.url, host.LastLines(s.Output.String(), 5))
}

type counters struct {
	served  int64 // requests answered in full since it started
	running int64 // requests in hand
}

func (s *server) counters(ctx context.Context) (counters, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/metrics", nil)
	if err != nil {
		return counters{}, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return counters{}, fmt.Errorf("asking the mock what it served: %w", err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return counters{}, fmt.Errorf("asking the mock what it served: %s", resp.Status)
	}
	return parseCounters(resp.Body)
}

// parseCounters reads the few of vLLM's metrics that the bench needs.
func parseCounters(r io.Reader) (counters, error) {
	var c counters
	found := false
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		text := scan.Text()
		name := text[:strings.IndexAny(text+" ", "{ ")]
		into := &c.served
		switch name {
		case "vllm:request_success_total":
			found = true
		case "vllm:num_requests_running":
			into = &c.running
		default:
			continue
		}
		_, value, _ := host.CutLast([]byte(text), ' ')
		v, err := strconv.ParseFloat(string(value), 64)
		if err != nil {
			return c, fmt.Errorf("metric line %q: %w", text, err)
		}
		*into += int64(v)
	}
	if err := scan.Err(); err != nil {
		return c, fmt.Errorf("reading the mock's metrics: %w", err)
	}
	if !found {
		return c, fmt.Errorf("the mock's metrics have no vllm:request_success_total")
	}
	return c, nil
}
