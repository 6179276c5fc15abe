//go:build linux

package host

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The work that cores do to tell what a core is worth.
const (
	SpinArithmetic = "arithmetic"
	SpinLoopback   = "loopback"
)

// SpinMain does work on every core that it may use, in parallel and with nothing
// shared, and prints how much was done in a second. It is what linear scaling is worth
// on a machine: virtual cores may be two threads of a real one.
func SpinMain(args []string, out io.Writer) error {
	fs := flag.NewFlagSet("bench spin", flag.ContinueOnError)
	kind := fs.String("work", SpinArithmetic, "arithmetic: sums in registers; loopback: bytes sent to oneself over TCP")
	duration := fs.Duration("duration", time.Second, "how long to work")
	if err := fs.Parse(args); err != nil {
		return err
	}
	cores, err := AllowedCores()
	if err != nil {
		return err
	}
	rates, errs := make([]float64, len(cores)), make([]error, len(cores))
	var wg sync.WaitGroup
	for i, core := range cores {
		wg.Go(func() { rates[i], errs[i] = spinOn(core, *kind, *duration) })
	}
	wg.Wait()
	total := 0.0
	for i, r := range rates {
		if errs[i] != nil {
			return fmt.Errorf("working on core %d: %w", cores[i], errs[i])
		}
		total += r
	}
	return json.NewEncoder(out).Encode(SpinResult{total})
}

// SpinResult is what the program spin prints.
type SpinResult struct {
	PerSecond float64 `json:"per_second"` // of all cores together
}

// spinOn works on one core and returns how often a second it could.
func spinOn(core int, kind string, duration time.Duration) (float64, error) {
	runtime.LockOSThread() // for good: the thread ends with the goroutine
	set := CPUSet([]int{core})
	if err := unix.SchedSetaffinity(0, &set); err != nil {
		return 0, err
	}
	turn, done := spinSums, func() {}
	switch kind {
	case SpinArithmetic:
	case SpinLoopback:
		near, far, err := loopbackPair()
		if err != nil {
			return 0, err
		}
		done = func() { near.Close(); far.Close() }
		message := make([]byte, 512)
		turn = func() error { return exchange(near, far, message) }
	default:
		return 0, fmt.Errorf("-work %q: %s or %s", kind, SpinArithmetic, SpinLoopback)
	}
	defer done()
	began, n := time.Now(), 0
	for time.Since(began) < duration {
		if err := turn(); err != nil {
			return 0, err
		}
		n++
	}
	return float64(n) / time.Since(began).Seconds(), nil
}

// spinSums keeps the units of a core busy: sums that do not wait for one another leave
// little for a second thread of the same core.
func spinSums() error {
	var a, b, c, d, e, f uint64 = 1, 2, 3, 4, 5, 6
	for i := range uint64(4096) {
		a, b, c = a*3+i, b*5+i, c*7+i
		d, e, f = d^a>>3, e^b>>5, f^c>>7
	}
	if a+b+c+d+e+f == 0 { // never, which the compiler does not know
		return fmt.Errorf("the sum is zero")
	}
	return nil
}

// loopbackPair is a TCP connection to oneself.
func loopbackPair() (near, far net.Conn, err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, err
	}
	defer l.Close()
	if near, err = net.Dial("tcp", l.Addr().String()); err != nil {
		return nil, nil, err
	}
	if far, err = l.Accept(); err != nil {
		near.Close()
		return nil, nil, err
	}
	return near, far, nil
}

// exchange sends a message there and back.
func exchange(near, far net.Conn, message []byte) error {
	for _, way := range [][2]net.Conn{{near, far}, {far, near}} {
		if _, err := way[0].Write(message); err != nil {
			return err
		}
		if _, err := io.ReadFull(way[1], message); err != nil {
			return err
		}
	}
	return nil
}

// Spin starts self to measure what cores do in a second, while others are kept busy with the same.
func Spin(ctx context.Context, self, kind string, cores, others []int) (float64, error) {
	const duration = time.Second
	run := func(cores []int, duration time.Duration) (*Process, error) {
		return Start(ctx, cores, Command{Args: []string{self, "spin", "-work", kind, "-duration", duration.String()}})
	}
	if len(others) > 0 {
		c, err := run(others, duration+duration/2)
		if err != nil {
			return 0, err
		}
		defer func() { <-c.Done }()
	}
	c, err := run(cores, duration)
	if err != nil {
		return 0, err
	}
	if err := c.Wait(); err != nil {
		return 0, err
	}
	var r SpinResult
	if err := json.Unmarshal(c.Output.Bytes(), &r); err != nil {
		return 0, fmt.Errorf("reading what %d core(s) did: %w", len(cores), err)
	}
	return r.PerSecond, nil
}
