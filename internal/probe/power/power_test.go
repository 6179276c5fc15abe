//go:build unix

package power

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/record"
)

// installed puts a shell script in the place of the tool.
func installed(t *testing.T, script string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, Tool), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	t.Setenv("DIR", dir)
	return dir
}

// taker keeps what a meter hands on.
type taker struct {
	mu  sync.Mutex
	all []record.Power
}

func (k *taker) take(p record.Power) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.all = append(k.all, p)
}

// watts are all readings of a GPU.
func (k *taker) watts(index string) (out []float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, p := range k.all {
		for _, g := range p.GPUs {
			if g.Index == index {
				out = append(out, g.Watts...)
			}
		}
	}
	return out
}

func begin(t *testing.T, k *taker, devices ...string) (*Process, error) {
	start := time.Now()
	return Start(t.Context(), Options{Devices: devices, Every: 10 * time.Millisecond, Now: func() time.Duration { return time.Since(start) },
		Take: k.take})
}

func TestMeter(t *testing.T) {
	dir := installed(t, `echo $$ >$DIR/pid
echo "$@" >$DIR/args
i=0
while :; do
  i=$((i+1))
  stamp=$(date -u '+%Y/%m/%d %H:%M:%S.000')
  echo "$stamp, 0, GPU-a, 4$i.50"
  echo "$stamp, 1, GPU-b, [N/A]"
  echo "$stamp, 2, GPU-c, 100.00"
  sleep 0.01
done`)
	var k taker
	m, err := begin(t, &k, "0", "GPU-c")
	if err != nil {
		t.Fatal(err)
	}
	m.Wait(t.Context(), m.opt.Now())
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	got := k.watts("0")
	if len(got) < 2 || got[0] != 41.5 || got[1] != 42.5 || len(k.watts("1")) != 0 || !slices.Contains(k.watts("2"), 100) {
		t.Errorf("readings %v, %v, %v", got, k.watts("1"), k.watts("2"))
	}
	gone(t, filepath.Join(dir, "pid"))
	text, _ := os.ReadFile(filepath.Join(dir, "args"))
	args := strings.TrimSpace(string(text))
	if want := "--query-gpu=timestamp,index,uuid,power.draw.instant --format=csv,noheader,nounits --loop-ms=10 --id=0,GPU-c"; args != want {
		t.Errorf("called with %s, want %s", args, want)
	}
	if k.all[0].Field != fieldInstant || k.all[0].Source != Tool || k.all[len(k.all)-1].Error != "" {
		t.Errorf("%+v", k.all)
	}
}

func TestOldDriver(t *testing.T) {
	installed(t, `case "$1" in
*instant) echo 'Field "power.draw.instant" is not a valid field to query.'; exit 2 ;;
esac
echo '2026/11/17 10:00:00.000, 0, GPU-a, 77.00 W'
exec sleep 100`)
	var k taker
	m, err := begin(t, &k)
	if err != nil {
		t.Fatal(err)
	}
	_ = m.Close()
	if m.field != fieldDraw || !slices.Equal(k.watts("0"), []float64{77}) {
		t.Errorf("%s: %v", m.field, k.watts("0"))
	}
}

// What is wrong before the first reading is an error, and nothing is left running.
func TestNoReading(t *testing.T) {
	for _, c := range []struct{ name, script, want string }{
		{"no driver", "echo \"NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.\"; exit 9", "ended with exit status 9: NVIDIA-SMI has failed"},
		{"no GPU", "echo 'No devices were found'; exit 6", "No devices were found"},
		{"nothing", "exit 0", "nvidia-smi ended"},
		{"nonsense", "while :; do echo '\033[31m{\"x\":1}, 2, 3, four'; done", "prints no power: "},
		{"no line ends", "while :; do printf 'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx,,,'; done | head -c 100000", "nvidia-smi ended"},
		{"not supported", "while :; do echo '2026/11/17 10:00:00.000, 0, GPU-a, [N/A]'; done", "[N/A]"},
		{"no field", "echo 'Field \"power\" is not a valid field to query.'; exit 2", "does not report power"},
	} {
		t.Run(c.name, func(t *testing.T) {
			installed(t, c.script)
			var k taker
			m, err := begin(t, &k)
			if m != nil || err == nil || !strings.Contains(err.Error(), c.want) || len(k.all) > 0 {
				t.Errorf("%v, %v, want %q", m, err, c.want)
			}
			if strings.ContainsAny(err.Error(), "\n\033") {
				t.Errorf("%q", err)
			}
		})
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := begin(t, new(taker)); !errors.Is(err, ErrAbsent) {
		t.Errorf("%v", err)
	}
}

// One that hangs is ended, and so is what it has started.
func TestHangs(t *testing.T) {
	dir := installed(t, "echo $$ >$DIR/pid\nsleep 1000")
	_, err := Start(t.Context(), Options{Now: func() time.Duration { return 0 }, Patience: 100 * time.Millisecond})
	if err == nil || !strings.Contains(err.Error(), "gave no reading in 100ms") {
		t.Errorf("%v", err)
	}
	gone(t, filepath.Join(dir, "pid"))
}

// One that dies midway has said why; what it read before is kept.
func TestDiesMidway(t *testing.T) {
	installed(t, `echo '2026/11/17 10:00:00.000, 0, GPU-a, 70.00'
echo 'Unable to determine the device handle: GPU is lost' >&2
exit 15`)
	var k taker
	m, err := begin(t, &k)
	if err != nil {
		t.Fatal(err)
	}
	<-m.done
	m.Wait(t.Context(), time.Hour) // does not hang
	_ = m.Close()
	last := k.all[len(k.all)-1]
	if !slices.Equal(k.watts("0"), []float64{70}) || !strings.Contains(last.Error, "exit status 15: Unable to determine the device handle: GPU is lost") {
		t.Errorf("%+v", k.all)
	}
}

// A grandchild that outlives the tool and holds its output does not hold up the run.
func TestGrandchild(t *testing.T) {
	dir := installed(t, `sleep 1000 & echo $! >$DIR/pid
echo '2026/11/17 10:00:00.000, 0, GPU-a, 70.00'
wait`)
	m, err := begin(t, new(taker))
	if err != nil {
		t.Fatal(err)
	}
	_ = m.Close()
	gone(t, filepath.Join(dir, "pid"))
}

// gone checks that a process is no more.
func gone(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		return // it did not come so far
	}
	pid := strings.TrimSpace(string(text))
	for range 100_000 { // the system takes a moment to bury it
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %s is still there", pid)
}

func TestParse(t *testing.T) {
	now := time.Date(2026, 11, 17, 10, 0, 5, 0, time.UTC)
	for _, c := range []struct {
		line  string
		watts float64
		lag   time.Duration
		ok    bool
	}{
		{"2026/11/17 10:00:04.250, 3, GPU-a, 412.30", 412.3, 750 * time.Millisecond, true},
		{"2026/11/17 10:00:05.000, 3, GPU-a, 412.30 W", 412.3, 0, true},
		{"2026/11/17 10:00:06.000, 3, GPU-a, 1", 1, 0, true}, // its clock is ahead
		{"2026/11/17 08:00:00.000, 3, GPU-a, 1", 1, 0, true}, // or of another zone
		{"yesterday, 3, GPU-a, 1", 1, 0, true},
		{"2026/11/17 10:00:04.250, 3, GPU-a, [N/A]", 0, 0, false},
		{"2026/11/17 10:00:04.250, 3, GPU-a, -1", 0, 0, false},
		{"2026/11/17 10:00:04.250, 3, GPU-a, NaN", 0, 0, false},
		{"2026/11/17 10:00:04.250, 3, GPU-a, inf", 0, 0, false},
		{"2026/11/17 10:00:04.250, x, GPU-a, 1", 0, 0, false},
		{"1, 2, 3", 0, 0, false}, {"", 0, 0, false}, {`"`, 0, 0, false},
	} {
		gpu, watts, lag, ok := parse(c.line, now)
		if ok != c.ok || ok && (watts != c.watts || lag != c.lag || gpu.Index != "3" || gpu.UUID != "GPU-a") {
			t.Errorf("%q: %+v, %v W, %v, %v", c.line, gpu, watts, lag, ok)
		}
	}
}

// A line that the tool held back is a reading of when it was measured, not of when it came.
func TestReadingIsAtItsOwnTime(t *testing.T) {
	var k taker
	const now = 90 * time.Second
	p := &readingBuffer{meter: &Process{opt: Options{Now: func() time.Duration { return now }, Take: k.take},
		seen: map[string]time.Duration{}, news: make(chan struct{})}}
	measured := time.Now().UTC().Add(-20 * time.Second)
	p.read(strings.NewReader(measured.Format("2006/01/02 15:04:05.000") + ", 3, GPU-a, 250.5 W\n"))
	if len(k.all) != 1 || len(k.all[0].GPUs) != 1 || len(k.all[0].GPUs[0].At) != 1 {
		t.Fatalf("handed on: %+v", k.all)
	}
	if at := k.all[0].GPUs[0].At[0]; at > now-20*time.Second || at < now-mostLag {
		t.Errorf("a reading of 20 s ago is at %v, now is %v", at, now)
	}
}
