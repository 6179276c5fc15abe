package load

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// kinds are the sleepers that every test below must hold for.
func kinds() map[string]func() Sleeper {
	return map[string]func() Sleeper{"best": NewSleeper, "timer": NewTimerSleeper}
}

func TestSleepIsNeverShort(t *testing.T) {
	for name, make := range kinds() {
		t.Run(name, func(t *testing.T) {
			s := make()
			defer s.Close()
			for _, d := range []time.Duration{-time.Second, 0, 1, time.Microsecond, 300 * time.Microsecond, 3 * time.Millisecond} {
				start := time.Now()
				if !s.Sleep(d) {
					t.Errorf("Sleep(%v) says it was interrupted", d)
				}
				if took := time.Since(start); took < d {
					t.Errorf("Sleep(%v) took %v", d, took)
				}
			}
		})
	}
}

func TestInterruptEndsTheSleepUnderWay(t *testing.T) {
	for name, make := range kinds() {
		t.Run(name, func(t *testing.T) {
			s := make()
			defer s.Close()
			var wg sync.WaitGroup
			for range 200 {
				wg.Go(s.Interrupt)
				if s.Sleep(time.Hour) {
					t.Fatal("Sleep(1h) says it was not interrupted")
				}
				wg.Wait()
			}
		})
	}
}

func TestInterruptsBeforeASleepCountAsOne(t *testing.T) {
	for name, make := range kinds() {
		t.Run(name, func(t *testing.T) {
			s := make()
			defer s.Close()
			for _, d := range []time.Duration{0, time.Hour} {
				s.Interrupt()
				s.Interrupt()
				if s.Sleep(d) {
					t.Errorf("Sleep(%v) after Interrupt says it was not interrupted", d)
				}
				if !s.Sleep(time.Microsecond) {
					t.Error("the interrupt ended a second Sleep")
				}
			}
		})
	}
}

func TestTimerSleeperKeepsToTheTestClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := NewTimerSleeper()
		defer s.Close()
		start := time.Now()
		if !s.Sleep(48 * time.Hour) {
			t.Error("interrupted")
		}
		if took := time.Since(start); took != 48*time.Hour {
			t.Errorf("slept %v", took)
		}
		go func() {
			time.Sleep(time.Minute)
			s.Interrupt()
		}()
		if s.Sleep(time.Hour) || time.Since(start) != 48*time.Hour+time.Minute {
			t.Errorf("woke %v after the start, want an interrupt after 48h1m", time.Since(start))
		}
	})
}

func TestSleepAllocatesNothing(t *testing.T) {
	for name, make := range kinds() {
		s := make()
		if n := testing.AllocsPerRun(20, func() { s.Sleep(50 * time.Microsecond) }); n > 0 {
			t.Errorf("%s: %v allocations for each Sleep", name, n)
		}
		s.Close()
	}
}

// BenchmarkSleep reports how late a program wakes that does nothing else, and one
// whose only core always has another goroutine to run.
func BenchmarkSleep(b *testing.B) {
	for name, make := range kinds() {
		for _, d := range []time.Duration{200 * time.Microsecond, 3400 * time.Microsecond} {
			b.Run(name+"/idle/"+d.String(), func(b *testing.B) { measureLateness(b, make(), d) })
			b.Run(name+"/busy/"+d.String(), func(b *testing.B) {
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				var stop atomic.Bool
				defer stop.Store(true)
				go func() {
					for !stop.Load() {
						for start := time.Now(); time.Since(start) < 20*time.Microsecond; {
						}
						runtime.Gosched()
					}
				}()
				measureLateness(b, make(), d)
			})
		}
	}
}

func measureLateness(b *testing.B, s Sleeper, d time.Duration) {
	defer s.Close()
	var late []time.Duration
	for b.Loop() {
		due := time.Now().Add(d)
		s.Sleep(d)
		late = append(late, time.Since(due))
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2].Microseconds()), "µs-late-p50")
	b.ReportMetric(float64(late[len(late)*99/100].Microseconds()), "µs-late-p99")
}
