//go:build linux

// Package host runs programs on chosen cores of this machine and reads what they use of it.
package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Command is a program to be started.
type Command struct {
	Args    []string
	Env     []string      // besides this process's own
	Dir     string        // working directory; empty: this one's
	OKCodes []int         // exit codes that are no failure, besides 0
	Limit   time.Duration // it is ended after this long, which is no failure; 0: never
}

// Process is a started program, pinned to cores, in a process group of its own.
type Process struct {
	name    string
	Cmd     *exec.Cmd
	OKCodes []int
	Cores   []int
	Output  *bytes.Buffer // standard output and error together
	Started time.Time
	Done    chan struct{} // closed when it has ended
	Ended   time.Time
	err     error
	Cut     atomic.Bool // ended by us
	Peak    int64       // largest resident set seen, its children's included, bytes; valid when done
}

// Start starts c on the given cores. Cancelling ctx kills its process group.
func Start(ctx context.Context, cores []int, c Command) (*Process, error) {
	cmd := exec.CommandContext(ctx, c.Args[0], c.Args[1:]...)
	cmd.Env = append(os.Environ(), c.Env...)
	cmd.Dir = c.Dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	ch := &Process{name: filepath.Base(c.Args[0]), Cmd: cmd, OKCodes: c.OKCodes, Cores: cores, Output: out, Done: make(chan struct{})}
	if err := startPinned(cmd, cores); err != nil {
		return nil, fmt.Errorf("starting %s on cores %v: %w", c.Args[0], cores, err)
	}
	ch.Started = time.Now()
	var cut *time.Timer
	if c.Limit > 0 {
		cut = time.AfterFunc(c.Limit, func() {
			ch.Cut.Store(true)
			_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		})
	}
	go func() {
		ch.err = cmd.Wait()
		if cut != nil {
			cut.Stop()
		}
		ch.Ended = time.Now()
		close(ch.Done)
	}()
	return ch, nil
}

// WatchPeak follows the child's memory until it has ended. The kernel's own figure
// in rusage is of no use: it begins with what this process had when it forked.
func (c *Process) WatchPeak() {
	for {
		select {
		case <-c.Done:
			return
		case <-time.After(20 * time.Millisecond):
			c.Peak = max(c.Peak, treePeak(c.Cmd.Process.Pid))
		}
	}
}

// startPinned starts cmd from a thread that is pinned to cores: a child inherits
// the mask of the thread that made it, so it never runs a moment elsewhere.
func startPinned(cmd *exec.Cmd, cores []int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var own unix.CPUSet
	if err := unix.SchedGetaffinity(0, &own); err != nil {
		return err
	}
	set := CPUSet(cores)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return err
	}
	err := cmd.Start()
	return errors.Join(err, unix.SchedSetaffinity(0, &own))
}

// Wait waits for the child to end by itself.
func (c *Process) Wait() error {
	<-c.Done
	if c.err == nil || c.Cut.Load() {
		return nil
	}
	if exit := (*exec.ExitError)(nil); errors.As(c.err, &exit) && slices.Contains(c.OKCodes, exit.ExitCode()) {
		return nil
	}
	return fmt.Errorf("%s: %w; its last words: %s", c.name, c.err, LastLines(c.Output.String(), 5))
}

// Stop ends the child and whatever it started.
func (c *Process) Stop() {
	// It may be gone already: then there is nothing to signal.
	_ = unix.Kill(-c.Cmd.Process.Pid, unix.SIGTERM)
	select {
	case <-c.Done:
	case <-time.After(3 * time.Second):
	}
	_ = unix.Kill(-c.Cmd.Process.Pid, unix.SIGKILL)
	<-c.Done
}

// CPU is the user and system time of the ended child and what it waited for.
func (c *Process) CPU() time.Duration {
	<-c.Done
	return c.Cmd.ProcessState.UserTime() + c.Cmd.ProcessState.SystemTime()
}

// LastLines are the last n lines of text, on one.
func LastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
