//go:build linux

// Command bench measures this program against the tools it replaces, on this
// machine, and fails when a bound is missed.
//
// A client is pinned to one core and the built-in mock server to another. What
// the server served, what either side's CPU did and how busy the server's core
// was are sampled from outside while the load runs, the same way for every
// client. A case is measured several times, the clients in turn, and medians are
// compared. A case whose peer is missing is NOT MEASURED, which fails too. Rows for many
// cores begin with these words; where a machine has fewer than their bounds are for, they
// show what they measured and say so.
//
// The same binary holds small programs that it starts as children: "bare", a plain
// net/http client that reads lines and takes the time; "canned", a server whose responses
// are made once; "hog", a loop that keeps a core busy; and "spin", which tells how much
// work cores do that have nothing to do with one another. "page" makes bench/performance.md
// out of saved runs.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/inferometer/inferometer/bench/bare"
	"github.com/inferometer/inferometer/bench/canned"
	"github.com/inferometer/inferometer/bench/host"
	"github.com/inferometer/inferometer/bench/table"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, unix.SIGTERM)
	code := dispatch(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

func dispatch(ctx context.Context, args []string) int {
	var err error
	switch {
	case len(args) > 0 && args[0] == "hog":
		host.Hog(ctx)
	case len(args) > 0 && args[0] == "bare":
		err = bare.Main(ctx, args[1:], os.Stdout)
	case len(args) > 0 && args[0] == "canned":
		err = canned.Main(ctx, args[1:])
	case len(args) > 0 && args[0] == "spin":
		err = host.SpinMain(args[1:], os.Stdout)
	case len(args) > 0 && args[0] == "page":
		err = table.PageMain(args[1:])
	default:
		err = benchMain(ctx, args)
	}
	switch {
	case err == nil:
		return 0
	case errors.Is(err, flag.ErrHelp):
		return 2
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	return 1
}

// options are the flags of the bench itself.
type options struct {
	full    bool
	reps    int
	load    time.Duration
	only    string
	program string
	peers   string
	work    string
	save    string
	title   string
}

func parseOptions(args []string) (options, error) {
	var o options
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.BoolVar(&o.full, "full", false, "all peers and the rows of a million requests")
	fs.IntVar(&o.reps, "reps", 3, "times each case is measured")
	fs.DurationVar(&o.load, "load", 5*time.Second, "length of one load")
	fs.StringVar(&o.only, "only", "", "measure only the rows whose name matches this `regexp`")
	fs.StringVar(&o.program, "program", "bin/inferometer", "the program under test")
	fs.StringVar(&o.peers, "peers", ".peers", "`directory` that scripts/peers.sh installed into")
	fs.StringVar(&o.work, "work", ".bench/runs", "`directory` for what the runs write; emptied first")
	fs.StringVar(&o.save, "save", "", "keep the run in this JSON `file`, of which bench page makes the page")
	fs.StringVar(&o.title, "title", "This machine", "heading of the run on the page")
	if err := fs.Parse(args); err != nil {
		return o, err
	}
	if fs.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", fs.Arg(0))
	}
	if o.reps < 1 {
		return o, fmt.Errorf("-reps %d: at least one repetition is needed", o.reps)
	}
	return o, nil
}

// bench is one run of the whole table.
type bench struct {
	options
	self  string // this binary, for bare and hog
	cores host.Cores
	seq   int // number of the last run directory made

	hogged   bool          // a process of our own keeps the client's core busy
	noise    float64       // largest share of a measured core that others took, in this row
	patience time.Duration // left for waiting for a quiet machine and for measuring again
}

// allPatience bounds what noise may cost, so that the table is made in a bounded time.
const allPatience = 150 * time.Second

func newBench(o options) (*bench, error) {
	b := &bench{options: o, patience: allPatience}
	var err error
	if b.self, err = os.Executable(); err != nil {
		return nil, fmt.Errorf("finding the bench's own binary: %w", err)
	}
	if b.cores, err = host.FindCores(); err != nil {
		return nil, err
	}
	for _, p := range []*string{&b.program, &b.peers, &b.work} {
		if *p, err = filepath.Abs(*p); err != nil {
			return nil, err
		}
	}
	if _, err := os.Stat(b.program); err != nil {
		return nil, fmt.Errorf("the program under test is missing (run make build): %w", err)
	}
	if err := os.RemoveAll(b.work); err != nil {
		return nil, err
	}
	return b, os.MkdirAll(b.work, 0o755)
}

// dir makes a new directory for one run.
func (b *bench) dir(name string) (string, error) {
	b.seq++
	d := filepath.Join(b.work, fmt.Sprintf("%03d-%s", b.seq, name))
	return d, os.MkdirAll(d, 0o755)
}

// errBounds says that the table was made and not every bound in it was met.
var errBounds = errors.New("not every bound was met")

func benchMain(ctx context.Context, args []string) error {
	o, err := parseOptions(args)
	if err != nil {
		return err
	}
	only, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("-only: %w", err)
	}
	b, err := newBench(o)
	if err != nil {
		return err
	}
	if err := host.SetAffinity(b.cores.Bench); err != nil {
		return err
	}
	began := time.Now()
	var lines []table.Line
	for _, r := range rows(b.full) {
		if !only.MatchString(r.name) {
			continue
		}
		fmt.Fprintf(os.Stderr, "bench: %s\n", r.name)
		b.noise = 0
		l := r.measure(ctx, b)
		l.Name = r.name
		if b.noise > quietEnough {
			l.AddNote("the machine was not quiet: other processes took up to %.0f %% of a measured core", 100*b.noise)
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		lines = append(lines, l)
		table.Print(os.Stdout, l)
	}
	took := time.Since(began).Round(time.Second)
	failed := table.Summarise(os.Stdout, lines, took)
	if b.save != "" {
		if err := table.Save(b.save, lines, b.title, describeMachine(b), took); err != nil {
			return err
		}
	}
	if failed > 0 {
		return errBounds
	}
	return nil
}

type row struct {
	name    string
	measure func(context.Context, *bench) table.Line
}

// rows are the rows of the table, in its order.
func rows(full bool) []row {
	all := throughputRows()
	all = append(all, ttftRow(), stampRow(), hoggedStampRow(), poissonRow(), reportRow(), memoryRow(), coresRow(), startupRow(), inFlightRow())
	all = append(all, tritonRows()...)
	all = append(all, inferencePerfRow())
	all = append(all, manyCoresRows(full)...)
	if full {
		all = append(all, millionRow(), millionEventsRow())
	}
	return all
}

// describeMachine says on what the figures were measured.
func describeMachine(b *bench) string {
	var u unix.Utsname
	kernel := "unknown kernel"
	if unix.Uname(&u) == nil {
		kernel = "Linux " + unix.ByteSliceToString(u.Release[:])
	}
	model := "unknown CPU"
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name"); ok {
			value, _, _ := strings.Cut(rest, "\n")
			model = strings.TrimLeft(value, "\t :")
		}
	}
	return fmt.Sprintf("%d cores of %s, %s; server on core %v, client on core %v",
		len(b.cores.All), model, kernel, b.cores.Server, b.cores.Client)
}
