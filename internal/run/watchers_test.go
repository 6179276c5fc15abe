package run

import (
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/run/target"
	"github.com/inferometer/inferometer/internal/sweep"
)

// clumsy is an observer that panics.
type clumsy struct{}

func (clumsy) Begin(int, plan.Stage)             { panic("Begin") }
func (clumsy) Window(int, int, sweep.Window)     { panic("Window") }
func (clumsy) End(int, plan.Stage, *sweep.Level) { panic("End") }

// Whatever looks on may panic: the run goes on to its end, and each is told of once.
func TestWatchersCannotEndARun(t *testing.T) {
	s := serve(t, nil)
	p := closedPlan(t, s.url, 2, 10)
	p.Stages = append(p.Stages, p.Stages[0])
	var mu sync.Mutex
	var warned []string
	opt := options(io.Discard)
	opt.Warn = func(text string) {
		mu.Lock()
		defer mu.Unlock()
		warned = append(warned, text)
	}
	opt.OnReady = func(func() Progress) { panic("Watch") }
	opt.Ready = func(target.Setup) { panic("Ready") }
	opt.Prompt = func(*prompt.Prompt) { panic("Prompt") }
	opt.Stage = func(*result.Stage) { panic("Stage") }
	opt.Observer = clumsy{}
	opt.Draw = func(func() (*pagedata.Document, error)) error { panic("Draw") }
	opt.Saved = func(string) error { panic("Saved") }
	res, err := Run(t.Context(), p, opt)
	if res == nil || res.Incomplete || len(res.Stages) != 2 || res.Stages[0].Counts.OK != 10 || res.Stages[1].Counts.OK != 10 {
		t.Fatalf("%+v, %v", res, err)
	}
	for _, want := range []string{"Watch", "Ready", "Prompt", "Stage", "Begin"} {
		n := 0
		for _, text := range warned {
			if strings.Contains(text, "program: "+want+" (") {
				n++
			}
		}
		if n != 1 {
			t.Errorf("%s is told of %d times: %q", want, n, warned)
		}
	}
	if len(warned) != 5 {
		t.Errorf("%d warnings: %q", len(warned), warned)
	}
	for _, want := range []string{"The report page has failed by a mistake of this program: Draw", "What takes the records has failed by a mistake of this program: Saved"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %s", err, want)
		}
	}
	if again, err := saved.Report(p.Output.Dir); err != nil || again.Stages[1].Counts.OK != 10 {
		t.Errorf("made again: %v", err)
	}
}
