package tool

import (
	"context"
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/inferometer/inferometer/internal/live"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/report/progress"
	"github.com/inferometer/inferometer/internal/report/screen"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// Session is a run of a tool: what it works with, and how it is watched and stopped.
type Session struct {
	Kit     registry.Kit
	Version string
	Getenv  func(string) string
	Out     io.Writer // for the report
	Log     io.Writer // for what it says meanwhile
	Width   int       // columns for a chart
	// Stop is closed when no more is to be sent.
	Stop <-chan struct{}
	// Watch is told how a run goes; optional.
	Watch func(state func() run.Progress)
	// Name says in the live view which of several runs is going on; empty: there is one.
	Name string
	// Draw is told what is drawn of each run; optional.
	Draw run.Drawer
	// Gating is when a run fails although it is valid.
	Gating run.GateOptions

	display *progress.Display
	mode    progress.Mode
	page    *live.Server // nil means there is no live page
	note    func(dir string)
	end     func()
}

// Begin starts a session that Ctrl-C stops at its first, and aborts at its second press,
// with a live view of a mode on standard error, and a live page where the command line asks
// for one. The caller ends it. The error is that the page cannot be served.
func (e Env) Begin(mode progress.Mode) (context.Context, *Session, error) {
	page, err := e.listen()
	if err != nil {
		return nil, nil, err
	}
	to := e.Terminal(e.Stderr)
	display := progress.New(UnwrapWriter(e.Stderr), progress.Options{
		Mode: mode, Color: to.Color, ASCII: to.ASCII, Cuts: to.Cuts, Size: func() (int, int) { return to.Width(), to.Lines() },
	})
	// Whoever has something to say says it above the view, or between its lines.
	messages, ok := e.Stderr.(*screen.Writer)
	if ok && mode != progress.Quiet {
		messages.Redirect(display.Writer(messages.Unwrap()))
	}
	var current atomic.Pointer[func() run.Progress] // of the current run; nil: there is none
	ctx, abort := context.WithCancel(context.Background())
	stop, done, watched := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(watched)
		e.watchInterrupts(display, stop, abort, done, &current)
	}()
	e.TakeShortTurns()
	release := e.RaiseGCPercent()
	s := e.Unwatched()
	s.Stop, s.display, s.mode, s.page, s.note = stop, display, mode, page, e.setRecordsDir
	e.setRecordsDir("")
	s.Watch = func(state func() run.Progress) {
		current.Store(&state)
		e.setRecordsDir(state().Plan.Output.Dir)
		g := newGauge(state)
		g.run = s.Name
		display.Start(g.snapshot)
		if page != nil {
			page.Watch(state)
		}
	}
	if page != nil {
		s.Draw = showing(page, s.Draw, e.Live.Keep > 0)
	}
	s.end = func() {
		display.Stop()
		if ok {
			messages.Redirect(messages.Unwrap())
		}
		close(done)
		<-watched
		if page != nil {
			keep := e.Live.Keep
			if ctx.Err() != nil { // whoever was in a hurry does not want to look
				keep = 0
			}
			closeLive(page, keep, e.Interrupts, e.Stderr)
		}
		abort()
		release()
	}
	return ctx, s, nil
}

// Run carries out a plan. Options that a tool leaves out are the session's.
func (s *Session) Run(ctx context.Context, p *plan.Plan, opt run.Options) (*result.Result, error) {
	if opt.Kit.Protocols == nil {
		opt.Kit = s.Kit
	}
	opt.Version, opt.Log, opt.Stop, opt.OnReady, opt.Draw, opt.Gating = s.Version, s.Log, s.Stop, s.Watch, s.Draw, s.Gating
	return run.Run(ctx, p, opt)
}

// NoView leaves the terminal to what the tool prints itself: only a live page shows how a run
// goes.
func (s *Session) NoView() {
	s.Watch = func(state func() run.Progress) {
		s.note(state().Plan.Output.Dir)
		if s.page != nil {
			s.page.Watch(state)
		}
	}
}

func (e Env) setRecordsDir(dir string) {
	if e.Records != nil {
		e.Records(dir)
	}
}

// Unwatched is a session without a live view that nothing stops, for what sends nothing.
func (e Env) Unwatched() *Session {
	return &Session{Kit: registry.Default(e.Getenv), Version: e.Version, Getenv: e.Getenv, Out: e.Stdout, Log: e.Stderr,
		Draw: e.Pages.draws(), Gating: e.Gates.gating()}
}

// View is the mode of a live view on standard error: drawn where that is a terminal.
func (e Env) View() progress.Mode {
	if e.Terminal(e.Stderr).Drawn {
		return progress.Terminal
	}
	return progress.Plain
}

// Hide takes the live view from the screen.
func (s *Session) Hide() { s.display.Stop() }

// End ends the session.
func (s *Session) End() { s.end() }

// Output is a writer for reports that are printed while the live view goes on: both may be
// on one terminal.
func (s *Session) Output(w io.Writer) io.Writer { return s.display.Writer(w) }

// Warn tells of something that went wrong during a run, also where nothing else is told.
func (s *Session) Warn(to io.Writer, text string) {
	text = "warning: " + text
	if s.mode == progress.Quiet {
		fmt.Fprintln(to, text)
		return
	}
	s.display.Print(text)
}

// watchInterrupts stops sending at the first Ctrl-C and aborts at the second; a
// third one kills. Where nothing is sent any more the second one leaves without a report. A terminal that goes
// away is a first one and never a second: the system and the shell both tell of it.
func (e Env) watchInterrupts(display *progress.Display, stop chan<- struct{}, abort func(), done <-chan struct{},
	current *atomic.Pointer[func() run.Progress]) {
	for stopping := false; ; {
		var signal os.Signal
		select {
		case <-done:
			return
		case signal = <-e.Interrupts:
		}
		if e.HungUp(signal) && stopping {
			continue
		}
		var p run.Progress
		if state := current.Load(); state != nil {
			p = (*state)()
		}
		if !stopping {
			stopping = true
			display.Print(stoppingText(&p))
			close(stop)
			continue
		}
		if p.Reporting {
			p.Reading.Stop()
			display.Print(leavingText(&p))
		} else {
			display.Print("Stopping at once.")
		}
		e.Restore()
		abort()
		return
	}
}

// leavingText is for who leaves while the report is being made.
func leavingText(p *run.Progress) string {
	if p.Plan.Output.Dir == "" {
		return "Leaving without a report."
	}
	return "Leaving without a report: inferometer report " + p.Plan.Output.Dir + " makes it."
}

// stoppingText says what the first Ctrl-C does, and how long that may take.
func stoppingText(p *run.Progress) string {
	if p.Reporting {
		kept := ""
		if dir := p.Plan.Output.Dir; dir != "" {
			kept = " and its records are in " + dir
		}
		return "The run is over" + kept + ": its report is being made. Press Ctrl-C again to leave without it."
	}
	limit := ""
	if p.Plan != nil { // else nothing is in flight yet
		if grace := time.Duration(min(p.Plan.Grace, p.Plan.Drain)); grace > 0 {
			limit = ", " + grace.String() + " at most"
		}
	}
	return "Stopping: finishing in-flight requests" + limit + ". Press Ctrl-C again to stop at once."
}
