//go:build unix

package cli

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/testkit/binary"
	"github.com/inferometer/inferometer/internal/tool"
)

// killsVariable has how many runs TestKills kills; with it set, what is lost must also lie
// within two seconds, which a starved machine may not keep to.
const killsVariable = "INFEROMETER_KILLS"

// loads are what the runs that are killed put on the server.
var loads = []struct {
	name  string
	flags string
	slow  time.Duration // between two tokens
}{
	{"long answers", "--concurrency 8 --output-tokens 2000", 20 * time.Millisecond},
	{"short answers", "--concurrency 16 --output-tokens 5", time.Millisecond},
	{"arrivals", "--rate 40 --max-in-flight 500 --output-tokens 60", 10 * time.Millisecond},
	{"warm-up", "--concurrency 4 --warmup 1000000 --output-tokens 20", 20 * time.Millisecond},
	{"silent server", "--concurrency 8 --output-tokens 8", time.Hour},
}

// TestKills kills runs of the real program at random moments. Every request that the
// server had read before the client last looked at itself, as its file has it, is in the
// report; and no such report is VALID.
func TestKills(t *testing.T) {
	program := binary.Program(t)
	kills, strict := len(loads), false
	if n, err := strconv.Atoi(os.Getenv(killsVariable)); err == nil {
		kills, strict = n, true
	}
	var mu sync.Mutex
	held, lost := 0, 0
	t.Run("all", func(t *testing.T) {
		for i := range kills {
			t.Run(fmt.Sprintf("%d %s", i+1, loads[i%len(loads)].name), func(t *testing.T) {
				t.Parallel()
				k := kill(t, program, i, strict && i/len(loads)%2 == 1)
				n, gone := k.compare(t, strict)
				mu.Lock()
				defer mu.Unlock()
				held, lost = held+n, lost+gone
			})
		}
	})
	t.Logf("%d kills: %d requests had begun in time and are in the reports; %d that began later are not", kills, held, lost)
	if held == 0 {
		t.Error("no request was under way before any of the kills")
	}
}

// killed is a run that was killed.
type killed struct {
	dir    string
	at     time.Time
	truths []truthfile.Request
	text   string // of its report
	code   int
}

// kill starts a run and kills it: at any moment, or once two flushes have been seen.
func kill(t *testing.T, program string, i int, anyTime bool) *killed {
	c := config.Default()
	l := loads[i%len(loads)]
	c.Latency.TTFT, c.Latency.ITL = l.slow, l.slow
	var truth lockedText
	server, err := mock.New(c, mock.WithTruth(&truth))
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	k := &killed{dir: filepath.Join(t.TempDir(), "out")}
	args := append([]string{"run", "http://" + listener.Addr().String(), "--duration", "1h", "--no-preflight", "--quiet", "--out", k.dir}, strings.Fields(l.flags)...)
	cmd := exec.Command(program, args...)
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if !anyTime {
		awaitFlushes(t, filepath.Join(k.dir, rundir.RecordsFile), 2)
	}
	<-time.After(rand.N(2500 * time.Millisecond))
	k.at = time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Errorf("the run had ended by itself: %s", said.String())
	}
	_ = cmd.Wait()
	_ = server.Close()
	if k.truths, err = truthfile.Read(strings.NewReader(truth.String())); err != nil {
		t.Fatal(err)
	}
	again := exec.Command(program, "report", k.dir)
	out, err := again.CombinedOutput()
	if k.text, k.code = string(out), again.ProcessState.ExitCode(); k.code < 0 {
		t.Fatal(err)
	}
	return k
}

// awaitFlushes waits until a record file has grown so often after it was begun.
func awaitFlushes(t *testing.T, name string, n int) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	deadline := time.After(3 * time.Minute)
	last := int64(0)
	for grown := -1; grown < n; {
		select {
		case <-tick.C:
		case <-deadline:
			t.Fatalf("%s does not grow", name)
		}
		if info, err := os.Stat(name); err == nil && info.Size() > last {
			last = info.Size()
			grown++
		}
	}
}

// compare holds the report against what the server saw: how many requests that had begun
// in time are in it, and how many that began later are not.
func (k *killed) compare(t *testing.T, strict bool) (held, lost int) {
	looked, classes := k.read(t)
	if looked.IsZero() {
		return 0, 0 // it was killed before it had looked at itself twice
	}
	for _, tr := range k.truths {
		i := strings.LastIndexByte(tr.ID, '-')
		seq, err := strconv.ParseInt(tr.ID[i+1:], 10, 64)
		if !strings.HasPrefix(tr.ID, "inferometer-") || err != nil {
			continue
		}
		class, kept := classes[seq]
		read := time.Unix(0, tr.Read)
		switch {
		case !kept && read.Before(looked):
			t.Errorf("request %d, which the server read %v before the client last looked at itself, is not in the report", seq, looked.Sub(read))
		case !kept && strict && k.at.Sub(read) > 2*time.Second:
			t.Errorf("request %d, which the server read %v before the kill, is not in the report", seq, k.at.Sub(read))
		case !kept:
			lost++
		case class == "" && tr.Finish == "abort":
			t.Errorf("request %d is said to have succeeded, and the server did not end it", seq)
		case strict && class == record.CutOff && tr.Finish != "abort" && looked.Sub(time.Unix(0, tr.End)) > 2*time.Second:
			t.Errorf("request %d, which had ended %v before, is said to have been cut off", seq, looked.Sub(time.Unix(0, tr.End)))
		default:
			held++
		}
	}
	if strings.Contains(k.text, "VALID:") && !strings.Contains(k.text, "INVALID:") || strings.Contains(k.text, "No request was sent") || k.code != tool.ExitRun {
		t.Errorf("the report exits with %d and says:\n%s", k.code, k.text)
	}
	if res, err := saved.Report(k.dir); err != nil || res.Stages[0].Counts.Sent+res.Stages[0].Counts.Warmup != int64(len(classes)) {
		t.Errorf("the report does not count the %d requests of the file: %v", len(classes), err)
	}
	return held, lost
}

// read gives the last moment at which the client had looked at itself, as far as that is
// in its file, and how its requests ended. All that began before that moment was written
// with it.
func (k *killed) read(t *testing.T) (looked time.Time, classes map[int64]record.Class) {
	t.Helper()
	name := filepath.Join(k.dir, rundir.RecordsFile)
	classes = map[int64]record.Class{}
	var start time.Time
	whole, err := record.File{Path: name}.Walk(func(line record.Line) error {
		switch {
		case line.Header != nil:
			start = line.Header.Start
		case line.Health != nil:
			looked = start.Add(line.Health.At)
		case line.Request != nil:
			class := record.Class("")
			if line.Request.Failure != nil {
				class = line.Request.Failure.Class
			}
			if _, twice := classes[line.Request.Seq]; twice {
				t.Errorf("request %d is there twice", line.Request.Seq)
			}
			classes[line.Request.Seq] = class
		}
		return nil
	})
	if start.IsZero() {
		return looked, classes // it was killed before the file was begun
	}
	if err != nil || whole {
		t.Errorf("reading ends with whole = %v and %v", whole, err)
	}
	if n := begun(t, name); n > len(classes) {
		t.Errorf("%d requests have begun in the file, %d are in the report", n, len(classes))
	}
	return looked, classes
}

// begun counts the requests of a record file without the reader that reports use.
func begun(t *testing.T, name string) int {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	seen := map[int64]bool{}
	for lines := bufio.NewReader(z); ; {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return len(seen)
		}
		var line struct {
			Kind string
			Seq  json.RawMessage
		}
		if err := json.Unmarshal(text, &line); err != nil {
			t.Fatal(err)
		}
		if line.Kind == "begun" || line.Kind == "request" {
			seq, err := strconv.ParseInt(string(line.Seq), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			seen[seq] = true
		}
	}
}

// lockedText is a text that a server writes and a test reads.
type lockedText struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// A terminal that goes away ends a run like SIGTERM: what is in flight comes to its end,
// and the result is written. A second hang-up changes nothing, and nobody reads the output.
func TestHangUpDrains(t *testing.T) {
	c := config.Default()
	c.Latency.TTFT, c.Latency.ITL = time.Millisecond, time.Millisecond
	server, err := mock.New(c)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "out")
	cmd := exec.Command(binary.Program(t), "run", "http://"+listener.Addr().String(), "--duration", "1h", "--concurrency", "4", "--output-tokens", "50", "--out", dir)
	pipe, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := binary.Start(cmd); err != nil {
		t.Fatal(err)
	}
	awaitFlushes(t, filepath.Join(dir, rundir.RecordsFile), 1)
	for range 2 {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	// What was on its way to the terminal before the signal came could still break the pipe.
	for lines := bufio.NewScanner(pipe); lines.Scan() && !strings.Contains(lines.Text(), "Stopping"); {
	}
	pipe.Close()
	_ = cmd.Wait()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		t.Fatalf("the run was killed by %v", s.Signal())
	}
	res, err := saved.Report(dir)
	if err != nil || res.Incomplete || !res.Interrupted {
		t.Fatalf("%+v, %v", res, err)
	}
	if st := res.Stages[0]; st.Counts.OK == 0 || st.Counts.Failed > 0 || st.Ended != record.StopInterrupted {
		t.Errorf("%+v, ended by %q", st.Counts, st.Ended)
	}
	if _, err := os.Stat(filepath.Join(dir, rundir.ResultFile)); err != nil {
		t.Error(err)
	}
}
