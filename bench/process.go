//go:build linux

package main

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

// command is a program to be started.
type command struct {
	argv []string
	env  []string      // besides this process's own
	dir  string        // working directory; empty: this one's
	fine []int         // exit codes that are no failure, besides 0
	most time.Duration // it is ended after this long, which is no failure; 0: never
}

// child is a started program, pinned to cores, in a process group of its own.
type child struct {
	name    string
	cmd     *exec.Cmd
	fine    []int
	cores   []int
	output  *bytes.Buffer // standard output and error together
	started time.Time
	done    chan struct{} // closed when it has ended
	ended   time.Time
	err     error
	cut     atomic.Bool // ended by us
	peak    int64       // largest resident set seen, its children's included, bytes; valid when done
}

// start starts c on the given cores. Cancelling ctx kills its process group.
func start(ctx context.Context, cores []int, c command) (*child, error) {
	cmd := exec.CommandContext(ctx, c.argv[0], c.argv[1:]...)
	cmd.Env = append(os.Environ(), c.env...)
	cmd.Dir = c.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }
	out := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = out, out
	ch := &child{name: filepath.Base(c.argv[0]), cmd: cmd, fine: c.fine, cores: cores, output: out, done: make(chan struct{})}
	if err := startPinned(cmd, cores); err != nil {
		return nil, fmt.Errorf("starting %s on cores %v: %w", c.argv[0], cores, err)
	}
	ch.started = time.Now()
	var cut *time.Timer
	if c.most > 0 {
		cut = time.AfterFunc(c.most, func() {
			ch.cut.Store(true)
			_ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL)
		})
	}
	go func() {
		ch.err = cmd.Wait()
		if cut != nil {
			cut.Stop()
		}
		ch.ended = time.Now()
		close(ch.done)
	}()
	return ch, nil
}

// watchPeak follows the child's memory until it has ended. The kernel's own figure
// in rusage is of no use: it begins with what this process had when it forked.
func (c *child) watchPeak() {
	for {
		select {
		case <-c.done:
			return
		case <-time.After(20 * time.Millisecond):
			c.peak = max(c.peak, treePeak(c.cmd.Process.Pid))
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
	set := coreSet(cores)
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return err
	}
	err := cmd.Start()
	return errors.Join(err, unix.SchedSetaffinity(0, &own))
}

// wait waits for the child to end by itself.
func (c *child) wait() error {
	<-c.done
	if c.err == nil || c.cut.Load() {
		return nil
	}
	if exit := (*exec.ExitError)(nil); errors.As(c.err, &exit) && slices.Contains(c.fine, exit.ExitCode()) {
		return nil
	}
	return fmt.Errorf("%s: %w; its last words: %s", c.name, c.err, lastLines(c.output.String(), 5))
}

// stop ends the child and whatever it started.
func (c *child) stop() {
	// It may be gone already: then there is nothing to signal.
	_ = unix.Kill(-c.cmd.Process.Pid, unix.SIGTERM)
	select {
	case <-c.done:
	case <-time.After(3 * time.Second):
	}
	_ = unix.Kill(-c.cmd.Process.Pid, unix.SIGKILL)
	<-c.done
}

// cpu is the user and system time of the ended child and what it waited for.
func (c *child) cpu() time.Duration {
	<-c.done
	return c.cmd.ProcessState.UserTime() + c.cmd.ProcessState.SystemTime()
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}
