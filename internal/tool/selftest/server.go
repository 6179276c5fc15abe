package selftest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
)

// Starter starts a mock that writes its truth to a file.
type Starter func(ctx context.Context, c config.Server, truth string) (*MockServer, error)

// MockServer is a running mock.
type MockServer struct {
	URL   string
	Apart bool  // it is a process of its own
	Cores []int // that it has to itself; none: it shares them

	file  string
	close func() error
	once  sync.Once
	err   error
}

// Stop ends the server. It may be called again.
func (s *MockServer) Stop() error {
	s.once.Do(func() { s.err = s.close() })
	return s.err
}

// Truth ends the server and reads what it has written down.
func (s *MockServer) Truth() ([]truthfile.Request, error) {
	if err := s.Stop(); err != nil {
		return nil, fmt.Errorf("stopping the mock: %w", err)
	}
	f, err := os.Open(s.file)
	if err != nil {
		return nil, fmt.Errorf("reading what the mock sent: %w", err)
	}
	defer f.Close()
	return truthfile.Read(f)
}

// InProcess starts mocks in this process, where they share everything with what is tested.
func InProcess() Starter {
	return func(_ context.Context, c config.Server, truth string) (*MockServer, error) {
		c.Truth = truth
		m, err := mock.New(c)
		if err != nil {
			return nil, err
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, errors.Join(err, m.Close())
		}
		go func() { _ = m.Serve(l) }()
		return &MockServer{URL: "http://" + l.Addr().String(), file: truth, close: m.Close}, nil
	}
}

// patience is how long a mock may take to come up and to go.
const patience = time.Minute

// Process starts mocks as processes of the program, on cores of their own where there are
// enough.
func Process(program string) Starter {
	return func(ctx context.Context, c config.Server, truth string) (*MockServer, error) {
		args := []string{
			"mock", "--listen", "127.0.0.1:0", "--truth", truth, "--model", c.Models[0],
			"--ttft", c.Latency.TTFT.String(), "--itl", c.Latency.ITL.String(),
		}
		if c.HTTP2 {
			args = append(args, "--http2")
		}
		cmd := exec.Command(program, args...)
		out, err := cmd.StderrPipe()
		if err != nil {
			return nil, err
		}
		cores, err := startApart(cmd)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", program, err)
		}
		s := &MockServer{Apart: true, Cores: cores, file: truth}
		s.close = func() error { return end(cmd) }
		address, err := listening(ctx, bufio.NewScanner(out))
		if err != nil {
			return nil, errors.Join(err, s.Stop())
		}
		s.URL = "http://" + address
		return s, nil
	}
}

// listening waits for the line in which a mock says where it listens.
func listening(ctx context.Context, lines *bufio.Scanner) (string, error) {
	found, ended := make(chan string, 1), make(chan string, 1)
	go func() {
		said := "it printed nothing"
		for lines.Scan() { // to the end, so that the mock never waits for a reader
			if at, ok := strings.CutPrefix(lines.Text(), "mock listening on "); ok {
				found <- at
			} else {
				said = lines.Text()
			}
		}
		ended <- said
	}()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case at := <-found:
		return at, nil
	case said := <-ended:
		return "", fmt.Errorf("it exited before it was listening: %s", said)
	case <-timer.C:
		return "", fmt.Errorf("it was not listening within %v", patience)
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// end asks a mock to complete its file and waits for it.
func end(cmd *exec.Cmd) error {
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		_ = cmd.Process.Kill()
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case err := <-ended:
		return err
	case <-timer.C:
		_ = cmd.Process.Kill()
		<-ended
		return fmt.Errorf("it did not stop within %v", patience)
	}
}
