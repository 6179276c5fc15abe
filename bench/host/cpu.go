//go:build linux

package host

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Cores says which cores do what.
type Cores struct {
	All    []int
	Server []int // one
	Client []int // one
	Bench  []int // where this program and its sampling run
}

// FindCores deals out the cores that this process may use.
func FindCores() (Cores, error) {
	all, err := AllowedCores()
	if err != nil {
		return Cores{}, err
	}
	return DealCores(all)
}

// AllowedCores are the cores that this process may use.
func AllowedCores() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("asking which cores may be used: %w", err)
	}
	var all []int
	for i := range len(set) * 64 {
		if set.IsSet(i) {
			all = append(all, i)
		}
	}
	return all, nil
}

// DealCores gives server, client and bench cores of their own, where there are enough.
func DealCores(all []int) (Cores, error) {
	if len(all) < 2 {
		return Cores{}, fmt.Errorf("%d core(s) may be used: client and server need one each", len(all))
	}
	l := Cores{All: all, Server: all[:1], Client: all[1:2], Bench: all[:1]}
	if len(all) > 2 {
		l.Bench = all[len(all)-1:]
	}
	return l, nil
}

// SetAffinity pins every thread of this process that is started from now on, and
// the calling one, to cores.
func SetAffinity(cores []int) error {
	set := CPUSet(cores)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return fmt.Errorf("listing own threads: %w", err)
	}
	for _, t := range tasks {
		tid, err := strconv.Atoi(t.Name())
		if err != nil {
			continue
		}
		if err := unix.SchedSetaffinity(tid, &set); err != nil {
			return fmt.Errorf("pinning to cores %v: %w", cores, err)
		}
	}
	return nil
}

// CPUSet is the set of cores as the kernel takes it.
func CPUSet(cores []int) unix.CPUSet {
	var set unix.CPUSet
	for _, c := range cores {
		set.Set(c)
	}
	return set
}

// tick is the unit of CPU times in /proc: USER_HZ is 100 on every Linux that Go runs on.
const tick = 10 * time.Millisecond

// ProcessCPU is the user and system time that a process has used so far.
func ProcessCPU(pid int) (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, fmt.Errorf("reading the CPU time of process %d: %w", pid, err)
	}
	return parseProcessStat(text)
}

// parseProcessStat reads user + system time from /proc/PID/stat. The command name
// may hold spaces and parentheses, so fields are counted from its last one.
func parseProcessStat(text []byte) (time.Duration, error) {
	_, rest, ok := CutLast(text, ')')
	fields := strings.Fields(string(rest))
	const user, system = 11, 12 // after the name: state is field 0
	if !ok || len(fields) <= system {
		return 0, fmt.Errorf("a stat line of %d bytes has no CPU times", len(text))
	}
	var total time.Duration
	for _, i := range []int{user, system} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("CPU time %q: %w", fields[i], err)
		}
		total += time.Duration(n) * tick
	}
	return total, nil
}

// CutLast slices text around the last sep.
func CutLast(text []byte, sep byte) (before, after []byte, ok bool) {
	i := bytes.LastIndexByte(text, sep)
	if i < 0 {
		return text, nil, false
	}
	return text[:i], text[i+1:], true
}

// CPUOf is the CPU time of a process and its live descendants.
func CPUOf(pid int) (time.Duration, error) {
	total, err := ProcessCPU(pid)
	if err != nil {
		return 0, err
	}
	for _, child := range children(pid) {
		if c, err := CPUOf(child); err == nil { // it may have ended meanwhile
			total += c
		}
	}
	return total, nil
}

// treePeak is the sum of the largest resident sets of a process and its live
// descendants, in bytes; what has ended counts as nothing.
func treePeak(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	total := parsePeak(string(text))
	for _, child := range children(pid) {
		total += treePeak(child)
	}
	return total
}

// parsePeak reads the largest resident set from /proc/PID/status; 0 where there is
// none, as in a process that is ending.
func parsePeak(text string) int64 {
	for l := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(l, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}

// children are the processes that a process has started and not yet collected.
func children(pid int) []int {
	var out []int
	tasks, _ := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	for _, t := range tasks {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", pid, t.Name()))
		for field := range strings.FieldsSeq(string(text)) {
			if child, err := strconv.Atoi(field); err == nil {
				out = append(out, child)
			}
		}
	}
	return out
}

// CoreIdle is the time that the given cores have spent idle since boot, all together.
func CoreIdle(cores []int) (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, fmt.Errorf("reading how busy the cores are: %w", err)
	}
	return parseCoreIdle(string(text), cores)
}

func parseCoreIdle(text string, cores []int) (time.Duration, error) {
	var total time.Duration
	found := 0
	for l := range strings.Lines(text) {
		fields := strings.Fields(l)
		if len(fields) < 6 || !strings.HasPrefix(fields[0], "cpu") {
			continue
		}
		id, err := strconv.Atoi(fields[0][3:])
		if err != nil || !slices.Contains(cores, id) {
			continue
		}
		for _, f := range fields[4:6] { // idle and waiting for I/O
			n, err := strconv.ParseInt(f, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("idle time %q of core %d: %w", f, id, err)
			}
			total += time.Duration(n) * tick
		}
		found++
	}
	if found != len(cores) {
		return 0, fmt.Errorf("/proc/stat has %d of the %d cores asked for", found, len(cores))
	}
	return total, nil
}

// Hog keeps a core busy until it is killed.
func Hog(ctx context.Context) {
	x := uint64(1)
	for ctx.Err() == nil {
		for range 1 << 20 {
			x = x*6364136223846793005 + 1442695040888963407
		}
	}
	_ = x
}
