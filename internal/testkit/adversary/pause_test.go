//go:build linux

package adversary

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"
)

// signal sends a signal to the program and to those that it has started.
func (p *play) signal(s syscall.Signal) {
	for _, pid := range family(p.process.Pid) {
		_ = syscall.Kill(pid, s)
	}
}

// family is a process with all that descend from it.
func family(pid int) []int {
	list := []int{pid}
	for i := 0; i < len(list); i++ {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", list[i], list[i]))
		for child := range strings.FieldsSeq(string(text)) {
			if n, err := strconv.Atoi(child); err == nil {
				list = append(list, n)
			}
		}
	}
	return list
}

// stop stops the client for a time.
func (p *play) stop(length time.Duration) {
	p.signal(syscall.SIGSTOP)
	p.pass(length)
	p.signal(syscall.SIGCONT)
}

// paused stops the client a number of times.
func paused(every, length time.Duration, times int) func(*play) {
	return func(p *play) {
		p.called(1)
		for range times {
			p.pass(every)
			p.stop(length)
		}
	}
}

// flicker stops the client again and again while it lasts.
func flicker(on, off time.Duration) func(*play) {
	return func(p *play) {
		p.called(1)
		for p.pass(on) {
			p.stop(off)
		}
	}
}

// firstWave stops the client once, when so many calls have come: those of the run itself
// follow the one ahead of it.
func firstWave(calls int, length time.Duration) func(*play) {
	return func(p *play) {
		if p.called(calls) {
			p.stop(length)
		}
	}
}

// group counts the control groups that were made, so that each has a name of its own.
var group atomic.Int64

// throttled gives the client so much of a core in every 100 ms, by a control group; where
// none can be made, by stopping it for the rest of the time.
func throttled(share float64) (before, during func(*play)) {
	before = func(p *play) {
		dir, err := makeGroup(share)
		if err != nil {
			return
		}
		p.limit = "echo $$ > " + filepath.Join(dir, "cgroup.procs")
		p.ends = append(p.ends, func() { removeGroup(dir) })
	}
	on := time.Duration(share * float64(100*ms))
	during = func(p *play) {
		if p.limit == "" {
			flicker(on, 100*ms-on)(p)
		}
	}
	return before, during
}

// makeGroup makes a control group of version 1 or 2, whichever this host has its CPUs in.
func makeGroup(share float64) (string, error) {
	name := fmt.Sprintf("liar-%d-%d", os.Getpid(), group.Add(1))
	quota := strconv.Itoa(int(share * 100_000))
	var failed []error
	for _, g := range []struct{ root, file, text string }{
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", quota},
		{"/sys/fs/cgroup", "cpu.max", quota + " 100000"},
	} {
		dir := filepath.Join(g.root, name)
		err := os.Mkdir(dir, 0o755)
		if err == nil {
			if err = os.WriteFile(filepath.Join(dir, g.file), []byte(g.text), 0o644); err == nil {
				return dir, nil
			}
			_ = os.Remove(dir)
		}
		failed = append(failed, err)
	}
	return "", errors.Join(failed...)
}

// removeGroup removes a control group once its processes are gone.
func removeGroup(dir string) {
	for range 100 {
		if os.Remove(dir) == nil {
			return
		}
		time.Sleep(10 * ms)
	}
}

// with is a situation that is also played under a name and a wire of its own.
func (s situation) with(name string, how ...wire) situation {
	s.name += ", " + name
	s.over = how
	s.args = slices.Clone(s.args)
	for _, w := range how {
		s.args = append(s.args, map[wire]string{overH2: "--http2", overTLS: "--insecure"}[w])
	}
	return s
}
