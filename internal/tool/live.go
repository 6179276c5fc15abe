package tool

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/inferometer/inferometer/internal/clidoc"
	"github.com/inferometer/inferometer/internal/lib/pattern"
	"github.com/inferometer/inferometer/internal/live"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/run"
)

// LiveOptions is what a command line says about the live page; nil means there is to be none.
type LiveOptions struct {
	Address string
	Keep    time.Duration // how long it stays when all else is done
}

// liveFlags are the flags about it, of every tool.
func liveFlags() clidoc.Group {
	return clidoc.Group{Title: "Live page", Flags: []clidoc.Flag{
		{Name: "live", Arg: "HOST:PORT", Optional: true, Help: "show the run in a browser while it goes on, and as Prometheus metrics on /metrics (default " + live.Default + "; docs/live.md)"},
		{Name: "live-linger", Arg: "TIME", Help: "keep the live page this long after the run, or until Ctrl-C, such as 10m"},
	}}
}

// WithLiveFlags is a tool that can show its runs in a browser: it has --live besides its own flags.
func WithLiveFlags(t Tool) Tool {
	t = with(t, liveFlags)
	inner := t.Run
	t.Run = func(env Env, line []string) int {
		view, rest, err := takeLive(line)
		if err != nil {
			return env.Fail(t.Name, err, ExitUsage)
		}
		env.Live = view
		code := inner(env, rest)
		if code == ExitOK && t.Foreign && asksHelp(rest) {
			fmt.Fprint(env.Stdout, liveFlags().Help(env.HelpWidth()))
		}
		return code
	}
	return t
}

// asksHelp reports whether a command line asks for the help of another's tool.
func asksHelp(line []string) bool {
	return slices.ContainsFunc(ownArgs(line), func(a string) bool { return a == "--help" || a == "-h" })
}

// ownArgs is the part of a command line before what is handed on to another program.
func ownArgs(line []string) []string {
	if i := slices.Index(line, "--"); i >= 0 {
		return line[:i]
	}
	return line
}

// address is what can only be the address of a page, and not what a tool measures, which has a scheme.
var address = pattern.New(`^((\[[0-9A-Fa-f:.%]+\]|[0-9A-Za-z._-]*):)?[0-9]{1,5}$`)

// takeLive takes the flags of the live page out of a command line.
func takeLive(line []string) (view *LiveOptions, rest []string, err error) {
	mine := ownArgs(line)
	on := func() *LiveOptions {
		if view == nil {
			view = &LiveOptions{}
		}
		return view
	}
	for i := 0; i < len(mine); i++ {
		name, value, given := strings.Cut(mine[i], "=")
		next := i+1 < len(mine)
		switch name {
		case "--live":
			if !given && next && address().MatchString(mine[i+1]) {
				i++
				value = mine[i]
			}
			on().Address = value
		case "--live-linger":
			if !given && next {
				i++
				value = mine[i]
			}
			if on().Keep, err = time.ParseDuration(value); err != nil || view.Keep < 0 {
				return nil, nil, fmt.Errorf("--live-linger: %q is not a time: use one such as 90s or 10m", value)
			}
		default:
			rest = append(rest, mine[i])
		}
	}
	return view, append(rest, line[len(mine):]...), nil
}

// listen starts the server of the live page, and says where it is; nil means none is wanted.
func (e Env) listen() (*live.Server, error) {
	if e.Live == nil {
		return nil, nil
	}
	s, err := live.Listen(live.Options{Address: e.Live.Address, Token: e.Getenv(live.TokenVariable), Version: e.Version,
		Warn: func(text string) { fmt.Fprintf(e.Stderr, "warning: %s\n", text) }})
	if err != nil {
		return nil, err
	}
	fmt.Fprintf(e.Stderr, "Live page: %s\n", s.URL())
	return s, nil
}

// showing draws a run for the live page, if anybody looks or may do so later, besides what else it
// is drawn for. If that fails the page keeps what it had.
func showing(s *live.Server, file run.Drawer, later bool) run.Drawer {
	return func(document func() (*pagedata.Document, error)) (err error) {
		once := sync.OnceValues(document)
		if file != nil {
			err = file(once)
		}
		if later || s.Watched() {
			if d, failed := once(); failed == nil {
				s.Show(d)
			}
		}
		return err
	}
}

// closeLive shows what came of the run, for as long as the command line says, and ends the server.
func closeLive(s *live.Server, keep time.Duration, interrupts <-chan os.Signal, log io.Writer) {
	defer s.Close()
	if !s.End() || keep == 0 {
		return
	}
	fmt.Fprintf(log, "The live page stays for %v: press Ctrl-C to end it.\n", keep)
	select {
	case <-time.After(keep):
	case <-interrupts:
	}
}
