//go:build linux

package host

import (
	"os"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestParseProcessStat(t *testing.T) {
	tests := []struct {
		name, text string
		want       time.Duration
		fails      bool
	}{
		{"plain", "12 (mock) S 1 12 12 0 -1 4194560 900 0 0 0 250 75 0 0 20 0 5 0 100 1 1\n", 3250 * time.Millisecond, false},
		{"name with spaces and a parenthesis", "12 (a ) b) R 1 12 12 0 -1 0 0 0 0 0 1 2 0 0\n", 30 * time.Millisecond, false},
		{"cut short", "12 (mock) S 1 12", 0, true},
		{"no name", "12 1 2 3", 0, true},
		{"not a number", "12 (m) S 1 12 12 0 -1 0 0 0 0 0 x 2 0 0\n", 0, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := parseProcessStat([]byte(tt.text))
			if got != tt.want || (err != nil) != tt.fails {
				t.Errorf("parseProcessStat = %v, %v; want %v, failure %v", got, err, tt.want, tt.fails)
			}
		})
	}
}

func FuzzParseProcessStat(f *testing.F) {
	f.Add([]byte("12 (mock) S 1 12 12 0 -1 4194560 900 0 0 0 250 75 0 0 20"))
	f.Add([]byte(")"))
	mutate.Fuzz(f, func(t *testing.T, text []byte) {
		_, _ = parseProcessStat(text) // it must not panic
	})
}

func TestParseCoreIdle(t *testing.T) {
	const text = "cpu  9 9 9 9 9 9\ncpu0 100 0 50 700 30 0 5 0 0 0\ncpu1 1 0 1 40 2 0 0 0 0 0\nintr 5\n"
	got, err := parseCoreIdle(text, []int{1})
	if err != nil || got != 420*time.Millisecond {
		t.Errorf("core 1: %v, %v; want 420ms", got, err)
	}
	got, err = parseCoreIdle(text, []int{0, 1})
	if err != nil || got != 7720*time.Millisecond {
		t.Errorf("cores 0 and 1: %v, %v; want 7.72s", got, err)
	}
	if _, err := parseCoreIdle(text, []int{2}); err == nil {
		t.Error("a core that is not there was read")
	}
}

func TestDealCores(t *testing.T) {
	if _, err := DealCores([]int{3}); err == nil {
		t.Error("one core was dealt to two processes")
	}
	l, err := DealCores([]int{2, 5, 7})
	if err != nil || l.Server[0] != 2 || l.Client[0] != 5 || l.Bench[0] != 7 {
		t.Errorf("dealCores = %+v, %v", l, err)
	}
}

func TestParsePeak(t *testing.T) {
	if got := parsePeak("Name:\tx\nVmPeak:\t  900 kB\nVmHWM:\t   120 kB\nVmRSS:\t 80 kB\n"); got != 120<<10 {
		t.Errorf("parsePeak = %d, want %d", got, 120<<10)
	}
	if got := parsePeak("Name:\tzombie\n"); got != 0 {
		t.Errorf("parsePeak of a process that is ending = %d, want 0", got)
	}
	if got := treePeak(os.Getpid()); got < 1<<20 {
		t.Errorf("this process has a peak of %d bytes", got)
	}
}

func TestOwnCPUIsSeen(t *testing.T) {
	if _, err := CPUOf(os.Getpid()); err != nil {
		t.Error(err)
	}
	if _, err := CPUOf(1 << 30); err == nil {
		t.Error("a process that is not there has CPU time")
	}
}
