//go:build linux

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is one of a case. What it says goes to a file.
type process struct {
	name string
	pid  int
	// isWorker: it joins runs.
	isWorker bool
	log      string        // the file; empty: another process reads what it says
	done     chan struct{} // closed when it has ended

	mu    sync.Mutex
	ended time.Time
	code  int  // -1: by a signal, or not known
	hung  bool // it had to be killed
	asked int  // bytes of the log when it was asked where it hangs
}

func start(dir, name, program string, line []string) (*process, error) {
	p := &process{name: name, log: filepath.Join(dir, name+".log"), done: make(chan struct{}), code: -1}
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, line...)
	cmd.Stdout, cmd.Stderr, cmd.Dir = out, out, dir
	cmd.Env = append(os.Environ(), "GOTRACEBACK=all", "TMPDIR="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	p.pid = cmd.Process.Pid
	go func() {
		_ = cmd.Wait()
		p.end(cmd.ProcessState.ExitCode())
	}()
	return p, nil
}

// adopt watches a process that another one has started.
func adopt(name string, pid int) *process {
	p := &process{name: name, pid: pid, isWorker: true, done: make(chan struct{}), code: -1}
	go func() {
		for alive(pid) {
			time.Sleep(20 * time.Millisecond)
		}
		p.end(-1)
	}()
	return p
}

func (p *process) end(code int) {
	p.mu.Lock()
	p.ended, p.code = time.Now(), code
	p.mu.Unlock()
	close(p.done)
}

func (p *process) over() (time.Time, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended, !p.ended.IsZero()
}

// signal sends one, unless the process has ended.
func (p *process) signal(s syscall.Signal) bool {
	if _, over := p.over(); over {
		return false
	}
	return syscall.Kill(p.pid, s) == nil
}

// said is what it has said by itself, before it was asked where it hangs.
func (p *process) said() string {
	if p.log == "" {
		return ""
	}
	text, err := os.ReadFile(p.log)
	if err != nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked > 0 {
		text = text[:min(p.asked, len(text))]
	}
	return string(text)
}

// unhang ends a process that does not by itself. It says where its goroutines are first.
func (p *process) unhang() {
	said := len(p.said())
	p.mu.Lock()
	p.hung, p.asked = true, max(said, 1)
	p.mu.Unlock()
	p.signal(syscall.SIGCONT)
	p.signal(syscall.SIGQUIT)
	select {
	case <-p.done:
	case <-time.After(5 * time.Second):
		p.signal(syscall.SIGKILL)
		<-p.done
	}
}

func (p *process) remove() {
	if p != nil && p.signal(syscall.SIGKILL) {
		<-p.done
	}
}

// alive reports whether there is such a process, other than one that nobody has waited for.
func alive(pid int) bool {
	state, _, err := stat(pid)
	return err == nil && state != "Z" && state != "X"
}

func stat(pid int) (state string, parent int, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0, err
	}
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	if len(fields) < 2 {
		return "", 0, errors.New("a line of /proc without a parent")
	}
	parent, err = strconv.Atoi(fields[1])
	return fields[0], parent, err
}

// children are the workers that a coordinator has started, by name.
func children(of int) map[string]int {
	found := map[string]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		pid, err := strconv.Atoi(filepath.Base(d))
		if err != nil {
			continue
		}
		if _, parent, err := stat(pid); err != nil || parent != of {
			continue
		}
		line, err := os.ReadFile(d + "/cmdline")
		if err != nil {
			continue
		}
		words := strings.Split(string(line), "\x00")
		for i, w := range words[:len(words)-1] {
			if w == "--name" {
				found[words[i+1]] = pid
			}
		}
	}
	return found
}
