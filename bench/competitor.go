//go:build linux

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/inferometer/inferometer/bench/bare"
	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/stats"
	"github.com/inferometer/inferometer/bench/table"
	"github.com/inferometer/inferometer/internal/result"
)

// work is what a client is asked to do: a closed loop against a server, or an open
// one with Poisson arrivals.
type work struct {
	inFlight int
	rate     float64 // arrivals per second; 0: closed loop
	stream   bool
	events   int // output tokens asked for
	duration time.Duration
	requests int // in place of duration, for peers that want a number; 0: what they can do in that time
}

// promptWords is the length of every client's prompts.
const promptWords = 50

// prompts is how many different prompts every client sends, in turn.
const prompts = 100

// competitor is a client that can be given work.
type competitor struct {
	name string
	// command is the command line for the work; dir is the run's own directory.
	command func(b *bench, s *server, w work, dir string) (host.Command, error)
	// ttft reads, after the run, what the client reports as time to first token.
	ttft func(dir string, c *host.Process) (ttft, error)
	// installed says why the competitor cannot be used; nil means it can.
	installed func(b *bench) error
	// crowded: the client's other cores compute meanwhile.
	crowded bool
}

// ttft is a time to first token as a client reports it, in ms.
type ttft struct{ p50, p99 float64 }

// attempt is one measurement of a competitor.
type attempt struct {
	load
	ttft
	dir   string
	child *host.Process
}

func (b *bench) try(ctx context.Context, c competitor, s *server, w work) (attempt, error) {
	a, err := b.attempt(ctx, s, b.cores.Client, c.name, func(dir string) (host.Command, error) { return c.command(b, s, w, dir) })
	if err == nil && c.ttft != nil {
		a.ttft, err = c.ttft(a.dir, a.child)
	}
	return a, err
}

// attempt runs a client in a directory of its own. Where other processes took too
// much of a measured core it is run again, as long as the bench has patience left:
// what decides is the noise, never the figure.
func (b *bench) attempt(ctx context.Context, s *server, cores []int, name string,
	build func(dir string) (host.Command, error)) (attempt, error) {
	for {
		b.awaitQuiet(ctx, cores)
		dir, err := b.dir(name)
		if err != nil {
			return attempt{}, err
		}
		cmd, err := build(dir)
		if err != nil {
			return attempt{}, err
		}
		l, client, err := b.drive(ctx, s, cores, cmd)
		if err != nil {
			return attempt{}, err
		}
		noise := max(l.serverNoise, l.clientNoise)
		if b.hogged {
			noise = l.serverNoise
		}
		took := client.Ended.Sub(client.Started)
		if noise > quietEnough && b.patience > took {
			b.patience -= took
			continue
		}
		b.noise = max(b.noise, noise)
		return attempt{load: l, dir: dir, child: client}, nil
	}
}

// checked is attempt for the program under test, whose result must be there.
func (b *bench) checked(ctx context.Context, s *server, cores []int, name string,
	build func(dir string) (host.Command, error)) (attempt, error) {
	a, err := b.attempt(ctx, s, cores, name, build)
	if err == nil {
		_, err = readResult(a.dir)
	}
	return a, err
}

// field is what came of the competitors of a row: attempts, or why there are none.
type field struct {
	attempts map[string][]attempt
	missing  map[string]error
}

// compete measures the competitors in turn, reps times over, so that a slow spell
// of the machine falls on all of them.
func (b *bench) compete(ctx context.Context, s *server, w work, competitors []competitor) field {
	return b.competeTimes(ctx, s, w, competitors, b.reps)
}

func (b *bench) competeTimes(ctx context.Context, s *server, w work, competitors []competitor, times int) field {
	f := field{attempts: map[string][]attempt{}, missing: map[string]error{}}
	for range times {
		for _, c := range competitors {
			if f.missing[c.name] != nil {
				continue
			}
			err := c.installed(b)
			var a attempt
			if err == nil {
				a, err = b.try(ctx, c, s, w)
			}
			if err != nil {
				f.missing[c.name] = err
				delete(f.attempts, c.name)
				continue
			}
			f.attempts[c.name] = append(f.attempts[c.name], a)
		}
	}
	return f
}

// median is the field's median for a competitor of one figure.
func median[T stats.Number](f field, name string, figure func(attempt) T) T {
	return stats.MedianOf(f.attempts[name], figure)
}

// has reports whether a competitor was measured.
func (f field) has(name string) bool { return len(f.attempts[name]) > 0 }

func always(*bench) error { return nil }

// ours is the program under test. A closed loop at full speed leaves it short of
// CPU, which its verdict says and its exit code 1 shows: that is no failure here.
func ours() competitor {
	return competitor{name: table.NameOurs, installed: always, command: func(b *bench, s *server, w work, dir string) (host.Command, error) {
		argv := []string{b.program, "run", s.url, "--model", "mock", "--concurrency", strconv.Itoa(w.inFlight),
			"--duration", w.duration.String()}
		return host.Command{Args: append(argv, commonFlags(w, dir)...), OKCodes: []int{1}}, nil
	}, ttft: oursTTFT}
}

// oursCrowded is the program under test on cores whose neighbours are busy, as they are when it
// has them too: a core among idle ones runs at a higher clock than one of many.
func oursCrowded() competitor {
	c := ours()
	c.name, c.crowded = table.NameCrowded, true
	return c
}

// commonFlags are what every run of the program under test has.
func commonFlags(w work, dir string) []string {
	flags := []string{"--input-tokens", strconv.Itoa(promptWords), "--prompts", strconv.Itoa(prompts), "--output-tokens", strconv.Itoa(w.events),
		"--out", outDir(dir), "--quiet"}
	if !w.stream {
		flags = append(flags, "--no-stream")
	}
	return flags
}

// outDir is where the program under test writes: it makes that directory itself.
func outDir(dir string) string { return filepath.Join(dir, "out") }

func readResult(dir string) (result.Result, error) {
	var r result.Result
	text, err := os.ReadFile(filepath.Join(outDir(dir), "result.json"))
	if err != nil {
		return r, fmt.Errorf("reading the result of the run: %w", err)
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("reading the result of the run: %w", err)
	}
	if len(r.Stages) != 1 {
		return r, fmt.Errorf("the result has %d stages, not one", len(r.Stages))
	}
	if c := r.Stages[0].Counts; c.Failed > c.CutOff || c.OK == 0 {
		return r, fmt.Errorf("%d of %d requests failed: %v", c.Failed, c.Sent, r.Stages[0].Failures)
	}
	return r, nil
}

func oursTTFT(dir string, _ *host.Process) (ttft, error) {
	r, err := readResult(dir)
	if err != nil {
		return ttft{}, err
	}
	m, ok := r.Stages[0].Metrics["time_to_first_token"]
	if !ok || m.Distribution == nil { // not streamed
		return ttft{}, nil
	}
	return ttft{p50: m.P50, p99: m.P99}, nil
}

// bareLoop is the least that a Go client can do.
func bareLoop() competitor {
	return competitor{name: table.NameBare, installed: always, command: func(b *bench, s *server, w work, dir string) (host.Command, error) {
		body := filepath.Join(dir, "body.json")
		text, err := json.Marshal(chatBody(0, w))
		if err == nil {
			err = os.WriteFile(body, text, 0o644)
		}
		return host.Command{Args: []string{b.self, "bare", "-url", s.url + "/v1/chat/completions", "-body", body,
			"-concurrency", strconv.Itoa(w.inFlight), "-duration", w.duration.String()}}, err
	}, ttft: bareTTFT}
}

func bareTTFT(_ string, c *host.Process) (ttft, error) {
	var r bare.Result
	if err := json.Unmarshal(c.Output.Bytes(), &r); err != nil {
		return ttft{}, fmt.Errorf("reading what the bare loop printed: %w", err)
	}
	return ttft{p50: r.TTFT50, p99: r.TTFT99}, nil
}

// chatBody is the i-th request body for clients that send bodies as given.
func chatBody(i int, w work) map[string]any {
	body := map[string]any{
		"model":      "mock",
		"messages":   []map[string]string{{"role": "user", "content": promptText(i)}},
		"max_tokens": w.events,
	}
	if w.stream {
		body["stream"] = true
	}
	return body
}

// promptText is the i-th prompt.
func promptText(i int) string {
	words := strings.Repeat("the cat sat on the mat and the dog ", promptWords/9+1)
	return strings.Join(append(strings.Fields(words)[:promptWords-1], strconv.Itoa(i)), " ")
}
