package health

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// runQueueWait is how long threads of this process were ready to run without a core.
func runQueueWait() time.Duration {
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return 0
	}
	var sum time.Duration
	for _, t := range tasks {
		b, err := os.ReadFile("/proc/self/task/" + t.Name() + "/schedstat")
		if err != nil {
			continue // the thread has ended
		}
		if f := bytes.Fields(b); len(f) >= 2 {
			ns, _ := strconv.ParseInt(string(f[1]), 10, 64)
			sum += time.Duration(ns)
		}
	}
	return sum
}

// residentSet is the memory that this process has in use, in bytes.
func residentSet() int64 {
	b, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	f := bytes.Fields(b)
	if len(f) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(string(f[1]), 10, 64)
	return pages * int64(os.Getpagesize())
}

// cpuQuota is the share of cores that a control group grants.
func cpuQuota() (float64, bool) {
	b, err := os.ReadFile("/sys/fs/cgroup/cpu.max")
	if err != nil {
		return 0, false
	}
	return parseQuota(string(b))
}

// parseQuota reads "QUOTA PERIOD", both in microseconds; "max" is no bound.
func parseQuota(s string) (float64, bool) {
	quota, period, _ := strings.Cut(strings.TrimSpace(s), " ")
	q, err1 := strconv.ParseInt(quota, 10, 64)
	p, err2 := strconv.ParseInt(period, 10, 64)
	if err1 != nil || err2 != nil || q <= 0 || p <= 0 {
		return 0, false
	}
	return float64(q) / float64(p), true
}

func kernelVersion() string {
	b, _ := os.ReadFile("/proc/sys/kernel/osrelease")
	return strings.TrimSpace(string(b))
}

func cpuModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
