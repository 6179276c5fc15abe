//go:build linux

// Command chaos runs the program with workers, as real processes on a real nats-server, and hurts one of them at a
// random time: kills it, freezes it, fills its disk, stops it. A server of its own logs every request that it gets,
// and is the judge of what was sent: each run must end by itself, have each request on record once or among those
// that docs/distributed.md says may be unknown, send nothing after its end, and name what happened.
//
//	chaos [-n 200] [-seed N] [-only REGEXP] [-keep] [-parallel 2] [-json FILE] INFEROMETER NATS-SERVER
//
// Case i has the seed N+i: a case that fails prints the command that runs it alone.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"time"
)

type options struct {
	cases    int
	seed     uint64
	only     *regexp.Regexp
	keep     bool
	list     bool
	parallel int
	json     string
	program  string // inferometer
	nats     string // nats-server
	dir      string // where the cases have their directories
}

func main() {
	o, err := parse(os.Args[1:])
	if err == nil {
		err = o.run()
	}
	if err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "chaos:", err)
		os.Exit(1)
	}
}

func parse(line []string) (o options, err error) {
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.IntVar(&o.cases, "n", 200, "how many `cases` to run")
	flags.Uint64Var(&o.seed, "seed", uint64(time.Now().UnixNano()%1e9), "seed of the first case; each later one has the next")
	only := flags.String("only", "", "only kinds that match this `REGEXP`")
	flags.BoolVar(&o.keep, "keep", false, "keep the directories of cases that fail")
	flags.BoolVar(&o.list, "list", false, "list the kinds and end")
	flags.IntVar(&o.parallel, "parallel", 2, "how many cases run at a time")
	flags.StringVar(&o.json, "json", "", "write a line of JSON for each case to this `FILE`")
	if err := flags.Parse(line); err != nil {
		return o, err
	}
	if o.only, err = regexp.Compile(*only); err != nil {
		return o, fmt.Errorf("-only: %w", err)
	}
	if o.list {
		return o, nil
	}
	if flags.NArg() != 2 {
		return o, errors.New("name the two programs: chaos [flags] INFEROMETER NATS-SERVER")
	}
	if o.program, err = filepath.Abs(flags.Arg(0)); err != nil {
		return o, err
	}
	o.nats, err = filepath.Abs(flags.Arg(1))
	return o, err
}

// run runs the cases, and fails where one does.
func (o options) run() (err error) {
	chosen := o.chosen()
	if len(chosen) == 0 {
		return fmt.Errorf("no kind matches -only %s: -list names them", o.only)
	}
	if o.list {
		for _, k := range chosen {
			fmt.Println(k.name)
		}
		return nil
	}
	if o.dir, err = os.MkdirTemp("", "chaos-*"); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	fmt.Printf("%d cases of %d kinds, the first with seed %d\n", o.cases, len(chosen), o.seed)
	began := time.Now()
	all, err := o.each(ctx, chosen)
	if err != nil {
		return err
	}
	failed := table(os.Stdout, all)
	fmt.Printf("%d cases in %s\n", len(all), time.Since(began).Round(time.Second))
	if o.keep && failed > 0 {
		fmt.Println("what failed is kept in", o.dir)
	} else if err := os.RemoveAll(o.dir); err != nil {
		return err
	}
	switch {
	case ctx.Err() != nil:
		return errors.New("stopped by a signal")
	case failed > 0:
		return fmt.Errorf("%d of %d cases failed", failed, len(all))
	}
	return nil
}

func (o options) chosen() (list []kind) {
	for _, k := range kinds() {
		if o.only.MatchString(k.name) {
			list = append(list, k)
		}
	}
	return list
}

// each runs the cases, some at a time, and gives what became of them.
func (o options) each(ctx context.Context, chosen []kind) (all []outcome, err error) {
	var lines *json.Encoder
	if o.json != "" {
		f, err := os.Create(o.json)
		if err != nil {
			return nil, err
		}
		defer f.Close()
		lines = json.NewEncoder(f)
	}
	next := make(chan int)
	go func() {
		defer close(next)
		for i := range o.cases {
			select {
			case next <- i:
			case <-ctx.Done():
				return
			}
		}
	}()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for range max(1, o.parallel) {
		wg.Go(func() {
			for i := range next {
				out := o.one(ctx, chosen[i%len(chosen)], o.seed+uint64(i))
				mu.Lock()
				if ctx.Err() == nil { // else it was cut short
					all = append(all, out)
					out.print(os.Stdout, len(all), o)
					if lines != nil {
						err = errors.Join(err, lines.Encode(out))
					}
				}
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return all, err
}
