package inferometer

import (
	"slices"

	"github.com/inferometer/inferometer/internal/pagedata"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/report/html"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// pages looks whether the pages that a command line asks for can be written.
func pages(env *tool.Env, action *args.ReportAction) (err error) {
	if slices.Contains(action.Formats, args.HTML) && env.Terminal(env.Stdout).TTY {
		return plan.Faults{{Where: "--format", Text: "a page is not for a terminal", Hint: "write it to a file with --html FILE"}}
	}
	env.Pages, err = tool.NewPages(action.HTML)
	return err
}

// wantsPage reports whether a command line asks for a page.
func wantsPage(env tool.Env, action *args.ReportAction) bool {
	return env.Pages != nil || slices.Contains(action.Formats, args.HTML)
}

// reported is the result of a run of ours. Its page is written where the command line asks
// for one.
func reported(env tool.Env, action *args.ReportAction) (*result.Result, error) {
	var run *saved.Run
	err := env.Read(action.Dir, func(by *record.Reading) (err error) {
		if run, err = saved.Read(action.Dir, saved.Options{Draw: wantsPage(env, action), Reading: by}); err != nil {
			return err
		}
		return run.Judge(action.Conditions)
	})
	if err != nil {
		return nil, err
	}
	if run.Document == nil {
		return run.Result, nil
	}
	return run.Result, writePage(env, action, run.Document)
}

// writePage writes a page to where the command line wants it.
func writePage(env tool.Env, action *args.ReportAction, d *pagedata.Document) error {
	if slices.Contains(action.Formats, args.HTML) {
		if err := html.Write(env.Stdout, d); err != nil {
			return err
		}
	}
	if env.Pages == nil {
		return nil
	}
	return env.Pages.Write(d)
}
