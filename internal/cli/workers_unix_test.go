//go:build unix

package cli

import (
	"bytes"
	"context"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/testkit/binary"
)

// slowServer is a mock that needs a while for each response, so that requests are under way.
func slowServer(t *testing.T) string {
	t.Helper()
	c := config.Default()
	c.Latency.TTFT, c.Output.Tokens = 200*time.Millisecond, 4
	s, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { _ = s.Close() })
	return "http://" + l.Addr().String()
}

// pids are the processes whose command line has a word that no other has.
func pids(t *testing.T, word string) []string {
	t.Helper()
	out, _ := exec.Command("pgrep", "-f", word).Output() // 1: there is none
	return strings.Fields(string(out))
}

// waitFor waits until a condition holds.
func waitFor(t *testing.T, what string, done func() bool) {
	t.Helper()
	for begin := time.Now(); !done(); {
		if time.Since(begin) > 2*time.Minute {
			t.Fatalf("waited in vain for %s", what)
		}
		<-time.After(50 * time.Millisecond)
	}
}

// A worker that is killed or stopped does not end the run, and is in the report; a coordinator
// that is killed does not leave workers behind.
func TestWorkersThatFail(t *testing.T) {
	program := binary.Program(t)
	t.Parallel()
	for name, hurt := range map[string]struct {
		worker bool // or the coordinator
		signal string
	}{
		"worker killed":      {true, "-KILL"},
		"worker stopped":     {true, "-STOP"},
		"coordinator killed": {false, "-KILL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "out")
			ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, "run", slowServer(t), "--concurrency", "8", "--duration", "10s", "--workers", "2", "--out", dir)
			var said bytes.Buffer
			cmd.Stdout, cmd.Stderr = &said, &said
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer func() {
				for _, p := range pids(t, dir) {
					_ = exec.Command("kill", "-KILL", p).Run()
				}
			}()
			// Records are shipped once a second: by then two shipments are here.
			waitFor(t, "records of the workers", func() bool {
				n := 0
				_, _ = record.File{Path: filepath.Join(dir, rundir.RecordsFile)}.Walk(func(l record.Line) error {
					if l.Request != nil {
						n++
					}
					return nil
				})
				return n > 60
			})
			victims := []string{strconv.Itoa(cmd.Process.Pid)}
			if hurt.worker {
				victims = pids(t, "name worker-1 --dir "+dir)
			}
			if out, err := exec.Command("kill", append([]string{hurt.signal}, victims...)...).CombinedOutput(); err != nil {
				t.Fatalf("kill: %v: %s", err, out)
			}
			_ = cmd.Wait()
			if !hurt.worker {
				waitFor(t, "the workers to end", func() bool { return len(pids(t, dir)) == 0 })
				kept := filepath.Join(dir, "workers")
				for want, dirs := range map[string][]string{
					"2 workers sent the requests":                        {"worker-1", "worker-2"},
					"The records of 1 worker of 2 are missing: worker-1": {"worker-2"},
				} {
					line := []string{"report"}
					for _, d := range dirs {
						line = append(line, filepath.Join(kept, d))
					}
					code, out, _ := here(t, line...)
					text := strings.Join(strings.Fields(out), " ")
					if code == 0 || !strings.Contains(text, want) || !strings.Contains(text, " ok") || strings.Contains(text, "VALID: all") {
						t.Errorf("what workers have kept, in %v: exit %d: %s", dirs, code, out)
					}
				}
				return
			}
			for _, want := range []string{"worker lost", "INVALID", "1 worker of 2 ended or was cut off"} {
				if !strings.Contains(said.String(), want) {
					t.Errorf("no %q in: %s", want, said.String())
				}
			}
			out, _ := exec.Command(program, "report", dir).CombinedOutput()
			if !bytes.Contains(out, []byte("worker lost")) {
				t.Errorf("the report made again: %s", out)
			}
		})
	}
}

// Who may not join is told why.
func TestWorkersThatMayNotJoin(t *testing.T) {
	for name, tt := range map[string]struct{ line, want string }{
		"no address":  {"worker", "--join: name the NATS"},
		"nobody":      {"worker --join nats://127.0.0.1:1 --wait 10ms", "no NATS server answers"},
		"no workers":  {"run --join-at 127.0.0.1:0", "give --workers too"},
		"two places":  {"run --workers 2 --join-at 127.0.0.1:0 --nats nats://127.0.0.1:1", "cannot be combined with --join-at"},
		"not many":    {"run --workers none", "is not a number of processes"},
		"no token":    {"run http://127.0.0.1:1 --workers 2 --join-at 0.0.0.0:0", "set a token of 16 characters or more, or listen on 127.0.0.1; set INFEROMETER_TOKEN"},
		"calibration": {"run --workers 2 --calibrate", "cannot be combined with --calibrate"},
	} {
		t.Run(name, func(t *testing.T) {
			if code, _, errs := here(t, strings.Fields(tt.line)...); code == 0 || !strings.Contains(errs, tt.want) {
				t.Errorf("exit %d: %s", code, errs)
			}
		})
	}
}
