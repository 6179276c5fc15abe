package run

import (
	"fmt"

	"github.com/inferometer/inferometer/internal/lib/aside"
	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/run/executor"
	"github.com/inferometer/inferometer/internal/sweep"
)

// warn tells of what goes wrong beside the run.
func (o *Options) warn(text string) {
	if o.Warn != nil {
		o.Warn(text)
		return
	}
	fmt.Fprintln(o.Log, "warning: "+text)
}

// beside are options whose callbacks cannot end the run: one that panics is told of and not called
// again, or has failed with an error where it can.
func (o Options) beside() Options {
	to := &Options{Warn: o.Warn, Log: o.Log}
	watcher := func(name string) *aside.Watcher { return aside.New(name, to.warn) }
	o.OnReady = aside.Func(watcher("What shows the run"), o.OnReady)
	o.Ready = aside.Func(watcher("What is told that the run begins"), o.Ready)
	o.Prompt = aside.Func(watcher("What notes the prompts"), o.Prompt)
	o.Stage = aside.Func(watcher("What reports stages as they end"), o.Stage)
	if o.Observer != nil {
		o.Observer = &observerBeside{watcher("What reports levels as they go"), o.Observer}
	}
	if draws := o.Draw; draws != nil {
		o.Draw = func(document func() (*pagedata.Document, error)) error {
			return aside.Call("The report page", func() error { return draws(document) })
		}
	}
	if saved := o.Saved; saved != nil {
		o.Saved = func(dir string) error {
			return aside.Call("What takes the records", func() error { return saved(dir) })
		}
	}
	return o
}

// observerBeside is an observer that cannot end the run.
type observerBeside struct {
	watcher *aside.Watcher
	to      executor.Observer
}

// Begin implements Observer.
func (o *observerBeside) Begin(i int, s plan.Stage) { o.watcher.Do(func() { o.to.Begin(i, s) }) }

// Window implements Observer.
func (o *observerBeside) Window(i, trial int, w sweep.Window) {
	o.watcher.Do(func() { o.to.Window(i, trial, w) })
}

// End implements Observer.
func (o *observerBeside) End(i int, s plan.Stage, l *sweep.Level) {
	o.watcher.Do(func() { o.to.End(i, s, l) })
}
