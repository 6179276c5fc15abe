package triton

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Server is a running Triton server.
type Server struct {
	HTTP, GRPC, Metrics string // addresses, host:port
	Dir                 string // its model repository

	launcher string
	models   []string
	log      *os.File
	shared   string // how the names of its shared memory begin
	process  *process
}

const (
	// startTime is how long a start may take: on a busy machine with few cores each
	// model takes seconds.
	startTime = 5 * time.Minute
	stopTime  = 15 * time.Second
)

// Start starts a server with some of the models, or with all of them where none is
// named. An ensemble brings its steps along. The server stops when the test ends; the log
// of a test that failed is kept.
func Start(t testing.TB, models ...string) *Server {
	t.Helper()
	s := &Server{launcher: launcher(t), models: models, Dir: repository(t)}
	if len(models) == 0 {
		s.models = Models()
	}
	var err error
	if s.log, err = os.CreateTemp("", "triton-*.log"); err != nil {
		t.Fatal(err)
	}
	s.shared = strings.TrimSuffix(filepath.Base(s.log.Name()), ".log")
	t.Cleanup(func() { s.cleanup(t) })
	// Somebody else may take a port between our choice and the server's start, and on a
	// busy machine the server may give up on the processes of its own Python models.
	for range 3 {
		s.HTTP, s.GRPC, s.Metrics = freeAddress(t), freeAddress(t), freeAddress(t)
		if err = s.start(); err == nil {
			break
		}
		t.Logf("starting Triton: %v", err)
	}
	if err != nil {
		t.Fatalf("starting Triton: %v", err)
	}
	return s
}

func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func port(address string) string { return address[strings.LastIndexByte(address, ':')+1:] }

// supervisor runs a program until that ends or the standard input does. So a
// server never outlives the test that started it, not even one that was killed.
const supervisor = `exec 3<&0
"$@" &
child=$!
(cat <&3 >/dev/null; kill -TERM $child 2>/dev/null) &
wait $child`

func (s *Server) start() error {
	args := []string{"-c", supervisor, "sh", s.launcher,
		"--model-repository=" + s.Dir, "--model-control-mode=explicit",
		"--http-address=127.0.0.1", "--http-port=" + port(s.HTTP),
		"--grpc-address=127.0.0.1", "--grpc-port=" + port(s.GRPC),
		"--metrics-address=127.0.0.1", "--metrics-port=" + port(s.Metrics), "--metrics-interval-ms=100",
		"--allow-gpu-metrics=false", "--cache-config=local,size=1048576", "--exit-timeout-secs=2",
		"--backend-config=python,shm-region-prefix-name=" + s.shared,
		"--backend-config=python,stub-timeout-seconds=300",
	}
	for _, m := range s.models {
		args = append(args, "--load-model="+m)
	}
	from, err := s.log.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if s.process, err = launch(s.log, args); err != nil {
		return err
	}
	if err = s.ready(); err == nil {
		return nil
	}
	s.Kill()
	return fmt.Errorf("%w; the end of its log:\n%s", err, s.tail(from))
}

// ready waits until every model can be used and its metrics, which it serves last, can be
// read.
func (s *Server) ready() error {
	client := &http.Client{Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	until := time.Now().Add(startTime)
	for time.Now().Before(until) {
		if answers(client, s.HTTP+"/v2/health/ready") && answers(client, s.Metrics+"/metrics") {
			return nil
		}
		select {
		case <-s.process.done:
			return errors.New("it ended before it was ready")
		case <-time.After(50 * time.Millisecond):
		}
	}
	return fmt.Errorf("it was not ready after %v", startTime)
}

// answers reports whether a page can be had.
func answers(client *http.Client, page string) bool {
	resp, err := client.Get("http://" + page)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

// Stop stops the server in order, as an operator would.
func (s *Server) Stop() {
	s.process.stop()
	s.forgetMemory()
}

// Kill ends the server at once, its models with it.
func (s *Server) Kill() {
	s.process.kill()
	s.forgetMemory()
}

// Restart starts the server again, on the same addresses and with nothing counted,
// after Stop or Kill.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	var err error
	for range 3 {
		if err = s.start(); err == nil {
			return
		}
	}
	t.Fatalf("starting Triton again: %v", err)
}

// Load loads a model.
func (s *Server) Load(t testing.TB, model string) { s.repositoryCall(t, model, "load") }

// Unload takes a model out of service.
func (s *Server) Unload(t testing.TB, model string) { s.repositoryCall(t, model, "unload") }

func (s *Server) repositoryCall(t testing.TB, model, what string) {
	t.Helper()
	resp, err := http.Post("http://"+s.HTTP+"/v2/repository/models/"+model+"/"+what, "application/json", nil)
	if err != nil {
		t.Fatalf("asking Triton to %s %s: %v", what, model, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(resp.Body)
		t.Fatalf("asking Triton to %s %s: %s: %s", what, model, resp.Status, text)
	}
}

// cleanup stops the server and keeps its log where it may be wanted.
func (s *Server) cleanup(t testing.TB) {
	if s.process != nil {
		s.Stop()
	}
	if t.Failed() {
		t.Logf("the log of Triton is kept in %s and ends with:\n%s", s.log.Name(), s.tail(0))
	} else {
		os.Remove(s.log.Name())
	}
	s.log.Close()
}

// forgetMemory removes what a killed server leaves behind in shared memory.
func (s *Server) forgetMemory() {
	names, _ := filepath.Glob("/dev/shm/" + s.shared + "*")
	for _, name := range names {
		os.Remove(name)
	}
}

// tail is the end of the log, from an offset at the earliest.
func (s *Server) tail(from int64) string {
	text, err := os.ReadFile(s.log.Name())
	if err != nil {
		return err.Error()
	}
	text = text[min(from, int64(len(text))):]
	lines := bytes.Split(bytes.TrimSpace(text), []byte("\n"))
	return string(bytes.Join(lines[max(0, len(lines)-40):], []byte("\n")))
}

// process is the supervisor with the server and its models, a process group.
type process struct {
	cmd   *exec.Cmd
	stdin io.Closer
	done  chan struct{}
	once  sync.Once
}

func launch(log *os.File, args []string) (*process, error) {
	p := &process{cmd: exec.Command("/bin/sh", args...), done: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in its log
	}()
	return p, nil
}

func (p *process) stop() {
	p.stdin.Close()
	select {
	case <-p.done:
	case <-time.After(stopTime):
	}
	p.kill()
}

// kill ends the whole group, once: its number may belong to others later.
func (p *process) kill() {
	p.once.Do(func() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		p.stdin.Close()
	})
	<-p.done
}
