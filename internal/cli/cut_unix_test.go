//go:build unix

package cli

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/testkit/binary"
	"github.com/inferometer/inferometer/internal/testkit/stallproxy"
)

// noted is what a program says, while it does.
type noted struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write implements io.Writer.
func (n *noted) Write(p []byte) (int, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.Write(p)
}

// String implements fmt.Stringer.
func (n *noted) String() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.text.String()
}

// begin starts a process that is killed at the end of the test where it has not ended.
func begin(t *testing.T, program string, args ...string) (*exec.Cmd, *noted) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	t.Cleanup(cancel)
	cmd, said := exec.CommandContext(ctx, program, args...), &noted{}
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, said
}

// requestsIn is how many requests are in record files.
func requestsIn(dirs ...string) (n int) {
	for _, dir := range dirs {
		_ = record.File{Path: filepath.Join(dir, rundir.RecordsFile)}.Requests(func(*record.Record) error { n++; return nil })
	}
	return n
}

// A worker that is cut from NATS for longer than the limit is given up, and ends. The run goes on without it; what the two
// workers have kept is what the server saw.
func TestWorkerCutOff(t *testing.T) {
	program := binary.Program(t)
	t.Parallel()
	c := config.Default()
	c.Latency.TTFT, c.Output.Tokens, c.Truth = 200*time.Millisecond, 4, "-"
	truth := &noted{}
	server, err := mock.New(c, mock.WithTruth(truth))
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { _ = server.Close() })

	base := t.TempDir()
	out, dirs := filepath.Join(base, "out"), []string{filepath.Join(base, "a"), filepath.Join(base, "b")}
	coordinator, said := begin(t, program, "run", "http://"+l.Addr().String(), "--concurrency", "8", "--duration", "10s", "--workers", "2",
		"--join-at", "127.0.0.1:0", "--no-preflight", "--model", "mock", "--out", out)
	var address string
	waitFor(t, "an address to join at", func() bool {
		if found := regexp.MustCompile(`worker --join nats://(\S+)`).FindStringSubmatch(said.String()); found != nil {
			address = found[1]
		}
		return address != ""
	})
	proxy := stallproxy.New(t, address)
	cut, saidCut := begin(t, program, "worker", "--join", proxy.Address(), "--name", "a", "--dir", dirs[0])
	other, saidOther := begin(t, program, "worker", "--join", address, "--name", "b", "--dir", dirs[1])
	waitFor(t, "records of the workers", func() bool { return requestsIn(out) > 60 })
	proxy.Hold()
	_ = coordinator.Wait()
	text := strings.Join(strings.Fields(said.String()), " ")
	for _, want := range []string{"worker a was not heard for 6", "worker lost", "INVALID", "1 worker of 2 ended or was cut off before the run did (last heard: a at "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in: %s", want, said)
		}
	}
	if err := cut.Wait(); err == nil || !strings.Contains(saidCut.String(), "the coordinator is gone") || !strings.Contains(saidCut.String(), dirs[0]) {
		t.Errorf("the one that was cut off: %v: %s", err, saidCut)
	}
	if err := other.Wait(); err != nil {
		t.Errorf("the other one: %v: %s", err, saidOther)
	}
	proxy.Release()
	_ = server.Close()
	all, err := truthfile.Read(strings.NewReader(truth.String()))
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, one := range all {
		if strings.HasPrefix(one.ID, "inferometer-") {
			seen++
		}
	}
	if kept := requestsIn(dirs...); kept != seen {
		t.Errorf("the server saw %d requests, the workers kept %d", seen, kept)
	}
}
