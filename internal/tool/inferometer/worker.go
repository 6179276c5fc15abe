package inferometer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/cluster"
	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/tool"
)

// Worker sends a share of another process's run.
func Worker() tool.Tool {
	return tool.Tool{Name: "worker", Summary: "send a share of a run that another process coordinates", Manual: workerManual, Run: workerCommand}
}

type joining struct {
	url, run, name, dir, ca, creds string
	wait                           time.Duration
}

func (j *joining) flags() *pflag.FlagSet {
	flags := pflag.NewFlagSet("inferometer worker", pflag.ContinueOnError)
	flags.Usage = func() {}
	flags.StringVar(&j.url, "join", "", "NATS where the run is, as a `URL`: nats://HOST:PORT or tls://HOST:PORT")
	flags.StringVar(&j.run, "run", "", "`ID` of the run to join, as its coordinator prints it (default: any run that lacks a worker)")
	flags.StringVar(&j.name, "name", "", "name of this worker, its own in the run (default HOST-PROCESS)")
	flags.StringVar(&j.dir, "dir", "", "`DIR` for this worker's own records (default: a temporary one, which is kept if the run is lost)")
	flags.StringVar(&j.ca, "ca", "", "PEM `FILE` of the authority that signed the certificate of NATS")
	flags.StringVar(&j.creds, "creds", "", "credentials `FILE` of a NATS account, instead of "+tokenVariable)
	flags.DurationVar(&j.wait, "wait", joinFor, "how long to wait for a run to join")
	return flags
}

func workerManual() clidoc.Command {
	return clidoc.Command{
		Name:   "worker",
		About:  "Send a share of a run that another process coordinates (inferometer run … --workers N --join-at ADDRESS).",
		Usage:  []clidoc.Usage{{Line: "inferometer worker --join URL [flags]"}},
		Text:   "The token that it asks for is in " + tokenVariable + ".",
		Groups: []clidoc.Group{{Title: "Flags", Flags: clidoc.OfSet(new(joining).flags())}},
		Page:   "distributed",
	}
}

func workerCommand(env tool.Env, line []string) int {
	var j joining
	flags := j.flags()
	flags.SetOutput(env.Stderr)
	err := flags.Parse(line)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		return env.PrintHelp(workerManual(), true)
	case err == nil && flags.NArg() > 0:
		err = fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case err == nil && j.url == "":
		err = errors.New("--join: name the NATS where the run is, such as --join nats://10.0.0.7:4222")
	}
	if err != nil {
		return env.Fail("worker", fmt.Errorf("%w%s; inferometer worker --help lists the flags", err, tool.NearestFlag(flags, err)), tool.ExitUsage)
	}
	if err := j.work(env); err != nil {
		return env.Fail("worker", err, tool.ExitRun)
	}
	return tool.ExitOK
}

func (j *joining) work(env tool.Env) error {
	env.OutlivePipes() // the coordinator may be the one who reads what a worker prints, and ends first
	ctx, stop := context.WithCancelCause(context.Background())
	defer stop(nil)
	dialing, leave := context.WithCancelCause(ctx)
	go func() { // the first signal ends what is in flight, the second all, the third kills
		stopped := errors.New("stopped by a signal")
		for _, obey := range []func(){func() { leave(stopped) }, func() { env.Restore(); stop(stopped) }} {
			select {
			case <-env.Interrupts:
				obey()
			case <-ctx.Done():
				return
			}
		}
	}()
	if j.name == "" {
		host, _ := os.Hostname()
		j.name = cmp.Or(host, "worker") + "-" + strconv.Itoa(os.Getpid())
	}
	passing := j.dir == ""
	if passing {
		dir, err := os.MkdirTemp("", "inferometer-worker-*")
		if err != nil {
			return fmt.Errorf("creating the record file: %w", err)
		}
		j.dir = dir
	}
	b, err := bus.Dial(dialing, bus.DialOptions{
		URL: j.url, Run: "worker", Name: j.name, Token: env.Getenv(tokenVariable), Credentials: j.creds, CA: j.ca, Wait: j.wait,
	})
	if err != nil {
		return err
	}
	defer b.Close()
	env.TakeShortTurns()
	defer env.RaiseGCPercent()()
	session := env.Unwatched()
	err = cluster.RunWorker(ctx, cluster.WorkerOptions{
		Bus: b.Link, RunID: j.run, Name: j.name, Dir: j.dir, Wait: j.wait, Leave: dialing.Done(), Log: env.Stderr,
		Run: run.Options{Kit: session.Kit, Version: env.Version, Log: env.Stderr},
	})
	if err == nil && passing {
		return os.RemoveAll(j.dir)
	}
	return err
}
