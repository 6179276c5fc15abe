package inferometer

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/inferometer/inferometer/internal/compare"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/repeat"
	"github.com/inferometer/inferometer/internal/report/console"
	"github.com/inferometer/inferometer/internal/report/md"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/inferometer/args"
)

// reportRepeats reports the runs in the directory of a series; mine is false where there are
// none.
func reportRepeats(env tool.Env, action *args.ReportAction) (code int, mine bool) {
	if a, _ := compare.Rounds(action.Dir); a != nil {
		return env.Fail("report", fmt.Errorf("%s holds both sides of an A/B run: inferometer compare %s", action.Dir, action.Dir), tool.ExitUsage), true
	}
	dirs := compare.Repeats(action.Dir)
	if len(dirs) == 0 {
		return 0, false
	}
	for _, format := range action.Formats {
		if format == "csv" || format == args.HTML || action.HTML != "" {
			return env.Fail("report", plan.Faults{{Where: "--format", Text: fmt.Sprintf("%s holds %d runs, which are reported as console, json or md", action.Dir, len(dirs)), Hint: "or name one of them: " + dirs[0]}}, tool.ExitUsage), true
		}
	}
	d, err := readRepeats(env, action, dirs)
	if err != nil {
		return env.Fail("report", err, tool.ExitUsage), true
	}
	for _, format := range action.Formats {
		if err := printRepeats(env, d, format, action.All, action.Dir, subjectOf(dirs[0])); err != nil {
			return env.Fail("report", err, tool.ExitRun), true
		}
	}
	return repeatsCode(d), true
}

// readRepeats makes the document of runs again, from their records and what the series was
// asked for, and judges each.
func readRepeats(env tool.Env, action *args.ReportAction, dirs []string) (*repeat.Document, error) {
	var runs []repeat.Run
	var part []string
	for _, name := range dirs {
		saved, err := saved.Read(name, saved.Options{})
		if err == nil {
			err = saved.Judge(action.Conditions)
		}
		if err != nil {
			return nil, err
		}
		res := saved.Result
		if res.Interrupted || res.Incomplete {
			part = append(part, fmt.Sprintf("%s is not whole and is left out.", name))
			continue
		}
		env.Gates.Add(res)
		r := repeat.Run{Dir: filepath.Base(name), Result: res}
		if r.Within, err = within(name); err != nil {
			return nil, err
		}
		runs = append(runs, r)
	}
	d := repeat.Make(runs, len(dirs), env.Version)
	d.Notes = append(d.Notes, part...)
	if len(part) > 0 {
		d.Ended = repeat.EndedFailed
	}
	file := filepath.Join(action.Dir, repeatsFile)
	text, err := tool.ReadFile(file)
	if err != nil { // the series was killed
		return d, nil
	}
	var was repeat.Document
	if err := json.Unmarshal(text, &was); err != nil {
		return nil, fmt.Errorf("reading %s: %w", file, err)
	}
	if was.Schema != repeat.Schema {
		return nil, fmt.Errorf("%s: its schema is %q, this program reads %q: report it with the version that wrote it (%s)", file, was.Schema, repeat.Schema, cmp.Or(was.Version, "it does not say which"))
	}
	d.Requested, d.Ended, d.Until = was.Requested, was.Ended, was.Until
	return d, nil
}

// repeatsCode is the exit code that a series stands for.
func repeatsCode(d *repeat.Document) int {
	invalid := slices.ContainsFunc(d.Runs, func(r repeat.RunDoc) bool { return r.Verdict == result.Invalid || r.OK == 0 })
	switch {
	case !d.Valid && len(d.Runs) > 0 && !invalid && d.Ended != repeat.EndedInterrupted && d.Ended != repeat.EndedFailed:
		return tool.ExitInconclusive
	case !d.Valid || d.Ended == repeat.EndedInterrupted || d.Ended == repeat.EndedFailed:
		return tool.ExitRun
	case d.Until != nil && !d.Until.Met:
		return tool.ExitMissed
	}
	return tool.ExitOK
}

// printRepeats prints the document in a format. dir is where the runs are; empty: nowhere.
func printRepeats(env tool.Env, d *repeat.Document, format string, all bool, dir, subject string) error {
	switch format {
	case "json":
		return encode(env.Stdout, d)
	case "md":
		return md.Repeats(env.Stdout, d, md.Options{Name: d.Name, Subject: subject})
	}
	screen := env.Terminal(env.Stdout)
	o := console.Options{Width: min(screen.Width(), 140), Color: screen.Color, All: all, Subject: subject}
	if dir != "" && len(d.Runs) > 0 {
		o.Dir = dir
		if _, err := os.Stat(filepath.Join(dir, repeatsFile)); err == nil {
			o.Files = []string{repeatsFile}
		}
		for _, r := range d.Runs {
			o.Files = append(o.Files, r.Dir+"/")
		}
	}
	return console.Repeats(env.Stdout, d, o)
}
