//go:build linux

package main

import (
	"fmt"
	"path/filepath"
	"time"
)

// runID is what a run is called, for those who have to say which they mean.
func runID(run int) string { return fmt.Sprintf("run-%d", run+1) }

func coordinatorLine(t *trial, r *liveRun) []string {
	s := t.scenario
	line := []string{
		"run", r.server.url(), "--model", "m", "--no-preflight", "--keep", "raw", "--out", r.out, "--seed", fmt.Sprint(t.seed%1e9 + uint64(r.index)),
		"--duration", s.Length.Round(time.Millisecond).String(), "--drain", drain.String(), "--input-tokens", "64", "--output-tokens", "16",
		"--workers", fmt.Sprint(s.Workers),
	}
	switch {
	case t.hasFault(coordinator, badPlan, r.index):
		line[1] = filepath.Join(t.dir, "no-such-plan.yaml")
	case t.hasFault(coordinator, refused, r.index):
		line[1] = "http://127.0.0.1:1" // nobody listens there
		line = append(line[:4], line[5:]...)
	}
	switch s.Topology {
	case embedded:
		line = append(line, "--join-at", t.natsAddress)
	case external:
		line = append(line, "--nats", "nats://"+t.natsAddress)
		if len(s.Starts) > 1 {
			line = append(line, "--run-id", runID(r.index))
		}
	}
	return append(line, s.Load...)
}

// workerLine is the command line of a worker that joins a run: the only one there, or by its ID.
func workerLine(t *trial, r *liveRun, name, dir string) []string {
	line := []string{"worker", "--join", "nats://" + t.natsAddress, "--name", name, "--dir", dir, "--wait", "5m"}
	if len(t.scenario.Starts) > 1 {
		line = append(line, "--run", runID(r.index))
	}
	return line
}
