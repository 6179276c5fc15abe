//go:build linux

package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/inferometer/inferometer/bench/host"
)

type sample struct {
	at      time.Time
	served  int64
	running int64
	server  time.Duration // CPU time used so far
	client  time.Duration
	idle    time.Duration // of the server's cores
	spare   time.Duration // idle time of the client's cores
}

// sampleEvery is long enough not to be felt by what is measured.
const sampleEvery = 100 * time.Millisecond

// watch samples until the client has ended. The last sample follows its end.
func watch(ctx context.Context, s *server, client *host.Process) ([]sample, error) {
	var samples []sample
	for {
		ended := false
		select {
		case <-client.Done:
			ended = true
		case <-time.After(sampleEvery):
		}
		one, err := takeSample(ctx, s, client)
		if err != nil {
			return samples, err
		}
		samples = append(samples, one)
		if ended {
			return samples, nil
		}
	}
}

func takeSample(ctx context.Context, s *server, client *host.Process) (sample, error) {
	c, err := s.counters(ctx)
	if err != nil {
		return sample{}, err
	}
	one := sample{at: time.Now(), served: c.served, running: c.running}
	if one.server, err = host.ProcessCPU(s.Cmd.Process.Pid); err != nil {
		return sample{}, err
	}
	if one.idle, err = host.CoreIdle(s.cores); err != nil {
		return sample{}, err
	}
	if one.spare, err = host.CoreIdle(client.Cores); err != nil {
		return sample{}, err
	}
	// Between the client's end and its collection its times cannot be read;
	// the whole is known from its exit then.
	if one.client, err = host.CPUOf(client.Cmd.Process.Pid); err != nil {
		<-client.Done
		one.client = client.CPU()
	}
	return one, nil
}

type load struct {
	requests  int64         // answered in full, over the whole run
	rate      float64       // answered per second, in the middle of the run
	cpu       time.Duration // the client's, for each request, in the middle of the run
	wholeCPU  time.Duration // the client's, for each request, from start to exit
	serverCPU time.Duration // for each request
	busy      float64       // share of the server's cores that was not idle
	running   float64       // requests in the server's hands, on average
	// Shares of either side's cores that other processes took.
	serverNoise, clientNoise float64
	peak                     int64         // the client's largest resident set, bytes
	tail                     time.Duration // from the last response to the client's exit
	// The middle of the run, from which the figures above come.
	loadStart, loadEnd time.Time
	lastAnswer         time.Time // when the server was first seen to have answered all
}

// serverBound is the share of its core from which on a server is the bottleneck.
const serverBound = 0.90

// ceiling is the rate at which the server's cores would be wholly busy.
func (l load) ceiling(cores int) float64 {
	if l.serverCPU <= 0 {
		return 0
	}
	return float64(cores) * float64(time.Second) / float64(l.serverCPU)
}

// summariseLoad reads the load off the samples. before is the server's count when
// the client started. The middle of the run lies between a tenth and nine tenths
// of what was served: neither start-up nor drain is in it.
func summariseLoad(samples []sample, before int64, serverCores, clientCores int) (load, error) {
	if len(samples) == 0 {
		return load{}, fmt.Errorf("the client ended before it could be watched")
	}
	last := samples[len(samples)-1]
	l := load{requests: last.served - before}
	if l.requests <= 0 {
		return l, fmt.Errorf("the server answered none of the client's requests")
	}
	first, final := -1, -1
	for i, s := range samples {
		done := s.served - before
		if done == l.requests && l.lastAnswer.IsZero() {
			l.lastAnswer = s.at
		}
		if first < 0 && done*10 >= l.requests {
			first = i
		}
		if done*10 <= l.requests*9 {
			final = i
		}
	}
	if final-first < 5 {
		return l, fmt.Errorf("the load lasted for %d samples: too short to be measured", final-first)
	}
	a, z := samples[first], samples[final]
	wall, n := z.at.Sub(a.at), z.served-a.served
	if n <= 0 {
		return l, fmt.Errorf("the server answered nothing in the middle of the run")
	}
	l.loadStart, l.loadEnd = a.at, z.at
	l.rate = float64(n) / wall.Seconds()
	l.cpu = (z.client - a.client) / time.Duration(n)
	l.serverCPU = (z.server - a.server) / time.Duration(n)
	l.busy = 1 - float64(z.idle-a.idle)/float64(wall)/float64(serverCores)
	l.serverNoise = others(wall, z.idle-a.idle, z.server-a.server, serverCores)
	l.clientNoise = others(wall, z.spare-a.spare, z.client-a.client, clientCores)
	for _, s := range samples[first : final+1] {
		l.running += float64(s.running)
	}
	l.running /= float64(final - first + 1)
	return l, nil
}

// quietEnough is the share of a core that others may take from a measurement.
const quietEnough = 0.10

// awaitQuiet waits until the cores to be measured are nearly idle, as long as the
// bench has patience.
func (b *bench) awaitQuiet(ctx context.Context, client []int) {
	const look = 200 * time.Millisecond
	cores := append(slices.Clone(b.cores.Server), client...)
	if b.hogged {
		cores = b.cores.Server
	}
	for b.patience > 0 && ctx.Err() == nil {
		before, err := host.CoreIdle(cores)
		if err != nil {
			return
		}
		began := time.Now()
		time.Sleep(look)
		after, err := host.CoreIdle(cores)
		if err != nil || others(time.Since(began), after-before, 0, len(cores)) < quietEnough {
			return
		}
		b.patience -= look
	}
}

// others is the share of some cores that was neither idle nor used by the process
// that they were meant for.
func others(wall, idle, used time.Duration, cores int) float64 {
	return max(0, 1-float64(idle+used)/float64(wall)/float64(cores))
}

// drive runs a client against a server and tells what it did.
func (b *bench) drive(ctx context.Context, s *server, cores []int, c host.Command) (load, *host.Process, error) {
	before, err := s.counters(ctx)
	if err != nil {
		return load{}, nil, err
	}
	client, err := host.Start(ctx, cores, c)
	if err != nil {
		return load{}, nil, err
	}
	var memory sync.WaitGroup
	memory.Go(client.WatchPeak)
	samples, err := watch(ctx, s, client)
	if err != nil {
		client.Stop()
		memory.Wait()
		return load{}, client, err
	}
	memory.Wait()
	if err := client.Wait(); err != nil {
		return load{}, client, err
	}
	l, err := summariseLoad(samples, before.served, len(s.cores), len(cores))
	if err != nil {
		return l, client, fmt.Errorf("%s: %w", c.Args[0], err)
	}
	l.wholeCPU = client.CPU() / time.Duration(l.requests)
	l.peak = client.Peak
	l.tail = client.Ended.Sub(l.lastAnswer)
	return l, client, nil
}
