// Package power reads the power of this machine's GPUs with nvidia-smi, NVIDIA's own front end to
// NVML, which runs as a child process for as long as power is wanted.
package power

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/inferometer/inferometer/internal/record"
)

// Tool is the program that reads.
const Tool = "nvidia-smi"

// Fields that the tool is asked for, the better one first: on GPUs newer than the A100 the other is
// the mean of the last second. Drivers before 530 do not know the first.
const (
	fieldInstant = "power.draw.instant"
	fieldDraw    = "power.draw"
)

const (
	// firstWait bounds the time to the first reading: a driver that has to wake GPUs takes seconds.
	firstWait = 15 * time.Second
	// lastWait bounds how long a reading is waited for at the end.
	lastWait = 2 * time.Second
	// batch is how long readings are gathered before they are handed on.
	batch = time.Second
	// mostLine bounds a line of the tool's output.
	mostLine = 4 << 10
)

// Options are what a Meter takes.
type Options struct {
	Devices []string             // by index or UUID; none: all
	Every   time.Duration        // how often they are read
	Now     func() time.Duration // the clock of the run
	Take    func(record.Power)   // is given what was read, from another goroutine
	// Patience bounds the time to the first reading; 0: firstWait.
	Patience time.Duration
}

// Process is the tool at work.
type Process struct {
	opt   Options
	field string
	stop  context.CancelFunc
	done  chan struct{}

	mu     sync.Mutex
	latest time.Duration // reading of the GPU that was read longest ago
	seen   map[string]time.Duration
	news   chan struct{} // closed at the next reading
}

// ErrAbsent: the tool is not there.
var ErrAbsent = errors.New(Tool + " is not installed here")

// errField: the driver does not know a field.
var errField = errors.New(Tool + " does not report power")

// Start has the tool read until the meter is closed, and returns at the first reading, or why there
// is none.
func Start(ctx context.Context, o Options) (*Process, error) {
	path, err := exec.LookPath(Tool)
	if err != nil {
		return nil, ErrAbsent
	}
	var m *Process
	for _, field := range []string{fieldInstant, fieldDraw} {
		if m, err = start(ctx, path, field, o); !errors.Is(err, errField) {
			return m, err
		}
	}
	return nil, err
}

func start(ctx context.Context, path, field string, o Options) (*Process, error) {
	life, stop := context.WithCancel(context.WithoutCancel(ctx))
	m := &Process{opt: o, field: field, stop: stop, done: make(chan struct{}), seen: map[string]time.Duration{}, news: make(chan struct{})}
	first, failed := m.next(), make(chan error, 1)
	go func() {
		defer close(m.done)
		failed <- m.run(life, path)
	}()
	wait := cmp.Or(o.Patience, firstWait)
	patience := time.NewTimer(wait)
	defer patience.Stop()
	var err error
	select {
	case <-first:
		return m, nil
	case err = <-failed:
		err = cmp.Or(err, errors.New(Tool+" ended without a reading"))
	case <-patience.C:
		err = fmt.Errorf("%s gave no reading in %v", Tool, wait)
	case <-ctx.Done():
		err = ctx.Err()
	}
	_ = m.Close()
	return nil, err
}

func (m *Process) next() <-chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.news
}

// Wait waits until every GPU has a reading that is later than a time, for a short time at most.
func (m *Process) Wait(ctx context.Context, after time.Duration) {
	patience := time.NewTimer(lastWait + 2*m.opt.Every)
	defer patience.Stop()
	for {
		m.mu.Lock()
		late, news := m.latest > after, m.news
		m.mu.Unlock()
		if late {
			return
		}
		select {
		case <-news:
		case <-m.done:
			return
		case <-patience.C:
			return
		case <-ctx.Done():
			return
		}
	}
}

// Close ends the tool, and returns when all that it read was handed on.
func (m *Process) Close() error {
	m.stop()
	<-m.done
	return nil
}

// run runs the tool and hands on what it reads. It returns what went wrong before the first reading; what
// does later is handed on too.
func (m *Process) run(life context.Context, path string) error {
	// Linux ends the child with the thread that made it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	args := []string{
		"--query-gpu=timestamp,index,uuid," + m.field, "--format=csv,noheader,nounits",
		fmt.Sprintf("--loop-ms=%d", max(m.opt.Every.Milliseconds(), 1)),
	}
	if len(m.opt.Devices) > 0 {
		args = append(args, "--id="+strings.Join(m.opt.Devices, ","))
	}
	child := exec.CommandContext(life, path, args...)
	child.Env = append(child.Environ(), "TZ=UTC", "LC_ALL=C")
	attach(child)
	out, err := child.StdoutPipe()
	if err != nil {
		return fmt.Errorf("run %s: %w", Tool, err)
	}
	complaints := new(head)
	child.Stderr = complaints
	child.WaitDelay = time.Second
	if err := child.Start(); err != nil {
		return fmt.Errorf("run %s: %w", Tool, err)
	}
	// A grandchild may hold the pipe open.
	defer context.AfterFunc(life, func() { _ = out.Close() })()
	p := &readingBuffer{meter: m, complaints: complaints, begun: m.opt.Now()}
	p.read(out)
	err = child.Wait()
	p.hand()
	if life.Err() != nil {
		return p.given // it was told to end
	}
	return p.ended(err)
}

// lines gives the lines of the tool's output until it ends. Overlong ones are cut.
func lines(out io.Reader, each func(line string)) {
	in := bufio.NewReaderSize(out, mostLine)
	for cut := false; ; {
		part, more, err := in.ReadLine()
		if err != nil {
			return
		}
		if !cut {
			each(string(part))
		}
		cut = more
	}
}

// head keeps the beginning of what is written to it.
type head struct {
	mu   sync.Mutex
	text []byte
}

const mostHead = 300

func (h *head) Write(b []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, b[:min(len(b), mostHead-len(h.text))]...)
	return len(b), nil
}

// String is what was written, in one line.
func (h *head) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	plain := strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(h.text), ""))
	return strings.Join(strings.Fields(plain), " ")
}
