package genaiperf

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/genaiperf/args"
)

// checkpointFile is what was measured, within the checkpoint's directory.
const checkpointFile = "checkpoint.json"

// checkpoint are the runs that have ended, by what they measured.
type checkpoint struct {
	path string
	Runs map[string]done `json:"runs"`
}

// done is what the table of a sweep has of a run.
type done struct {
	Dir  string     `json:"dir"`
	Row  []string   `json:"row"`
	GPUs [][]string `json:"gpus,omitempty"`
}

// openCheckpoint reads the state of an earlier sweep, if there is one. Without a
// directory nothing is kept.
func openCheckpoint(dir string) (*checkpoint, error) {
	c := &checkpoint{Runs: map[string]done{}}
	if dir == "" {
		return c, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("--checkpoint-dir: %w", err)
	}
	c.path = filepath.Join(dir, checkpointFile)
	text, err := tool.Inputs().ReadFile(c.path)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err == nil {
		err = json.Unmarshal(text, c)
	}
	if err != nil {
		return nil, fmt.Errorf("--checkpoint-dir: cannot read %s: %w: delete it to start over", c.path, err)
	}
	if c.Runs == nil {
		c.Runs = map[string]done{}
	}
	return c, nil
}

// Single carries out a run, unless its checkpoint has it: then its reports are made again.
func Single(ctx context.Context, a *args.Action, env *tool.Session) (*Outcome, error) {
	if a.Settings.Checkpoint == "" {
		return Profile(ctx, a, env)
	}
	state, err := openCheckpoint(a.Settings.Checkpoint)
	if err != nil {
		return nil, tool.WrapPrepareError(err)
	}
	id, err := key(a)
	if err != nil {
		return nil, err
	}
	if before, ok := state.find(id); ok {
		fmt.Fprintf(env.Log, "%s was measured before: taken from the checkpoint.\n", before.Dir)
		return Report(ctx, before.Dir, a.Settings, env)
	}
	out, err := Profile(ctx, a, env)
	if out == nil || err != nil || ctx.Err() != nil || out.Result.Interrupted {
		return out, err
	}
	return out, state.keep(id, doneOf(0, a, out))
}

// doneOf is what the table of a sweep has of its i-th run.
func doneOf(i int, a *args.Action, out *Outcome) done {
	s := &a.Settings
	return done{Dir: s.Dir, Row: levelRow(i, s, out.Summary), GPUs: gpuRows(i, s, out.Report.Telemetry)}
}

// key says what a run measures: its plan, and what the plan leaves to the front end.
func key(level *args.Action) (string, error) {
	set := level.Settings
	set.Sweep = args.Sweep{} // what else is measured is another matter
	text, err := planfile.Encode(level.Plan)
	if err != nil {
		return "", err
	}
	settings, err := json.Marshal(set)
	return fmt.Sprintf("%016x", prompt.HashText(string(text)+string(settings))), err
}

// find gives a run that ended before and whose files are still there.
func (c *checkpoint) find(key string) (done, bool) {
	d, ok := c.Runs[key]
	return d, ok && IsFolder(d.Dir)
}

// keep takes down a run that has ended. A crash leaves the file as it was before.
func (c *checkpoint) keep(key string, d done) error {
	c.Runs[key] = d
	if c.path == "" {
		return nil
	}
	text, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = atomicfile.Bytes(c.path, text)
	}
	if err != nil {
		return fmt.Errorf("saving the state of the sweep: %w", err)
	}
	return nil
}
