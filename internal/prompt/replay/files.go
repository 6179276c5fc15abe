// Package replay has what sources of recorded sessions share: where the files are that
// a plan names, and the order in which sessions are played.
package replay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/remote/hub"
)

// File is where sessions are read from.
type File struct {
	Name string // for people
	Path string
}

// Files is where files are looked for.
type Files struct {
	Replay plan.Replay
	Usual  string              // file that a data set of the hub may have all of its sessions in; empty: none
	Env    func(string) string // has the hub's settings
	Tell   func(string)
	// Downloads is the limit of a file of the hub.
	Downloads limitio.Limit
}

// Files are all files that a plan names, in order.
func (p *Files) Files(ctx context.Context) ([]File, error) {
	if p.Replay.Hub != (plan.Hub{}) {
		return p.fetch(ctx)
	}
	patterns, dir := p.Replay.Files, p.Replay.Dir
	if dir != "" {
		patterns = []string{filepath.Join(dir, "*.json"), filepath.Join(dir, "*.jsonl")}
	}
	var names []string
	for _, pattern := range patterns {
		found, err := expand(pattern)
		if err != nil {
			return nil, plan.Faults{{Path: "data.replay.files", Text: fmt.Sprintf("%q is not a valid pattern: %v", pattern, err)}}
		}
		if len(found) == 0 && dir == "" {
			return nil, plan.Faults{{Path: "data.replay.files", Text: "there is no file " + pattern, Hint: "files are JSON, or JSON lines"}}
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, plan.Faults{{Path: "data.replay.dir", Text: "no files of traces: " + strings.Join(patterns, ", "), Hint: "files end in .json or .jsonl"}}
	}
	slices.Sort(names)
	out := make([]File, 0, len(names))
	for _, name := range slices.Compact(names) {
		out = append(out, File{name, name})
	}
	return out, nil
}

// expand gives the files that a pattern stands for. In it ** is any number of folders.
func expand(pattern string) ([]string, error) {
	if _, err := os.Stat(pattern); err == nil {
		return []string{pattern}, nil
	}
	before, rest, deep := strings.Cut(filepath.ToSlash(pattern), "**/")
	if !deep {
		return filepath.Glob(pattern)
	}
	if _, err := path.Match(rest, ""); err != nil {
		return nil, err
	}
	if before == "" {
		before = "."
	}
	var out []string
	err := filepath.WalkDir(filepath.FromSlash(before), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil // what cannot be looked into has no files that fit
		}
		parts := strings.Split(filepath.ToSlash(name), "/")
		if n := strings.Count(rest, "/") + 1; n <= len(parts) {
			if ok, _ := path.Match(rest, strings.Join(parts[len(parts)-n:], "/")); ok {
				out = append(out, name)
			}
		}
		return nil
	})
	return out, err
}

// fetch gets the files of a data set.
func (p *Files) fetch(ctx context.Context) ([]File, error) {
	h, err := hub.New(p.Env, nil)
	if err != nil {
		return nil, err
	}
	h.Limit(p.Downloads)
	at := p.Replay.Hub
	repo := hub.Dataset(at.Name)
	p.Tell("Reading the traces of " + at.Name + ".")
	get := func(name string) (File, error) {
		here, err := h.File(ctx, repo, at.Revision, name)
		if err != nil {
			return File{}, fmt.Errorf("getting the traces of %s: %w", at.Name, err)
		}
		return File{at.Name + "/" + name, here}, nil
	}
	if p.Usual != "" {
		switch f, err := get(p.Usual); {
		case err == nil:
			return []File{f}, nil
		case !errors.Is(err, hub.ErrNotFound):
			return nil, err
		}
	}
	all, err := h.Files(ctx, repo, at.Revision)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", at.Name, err)
	}
	var out []File
	for _, name := range Pick(all, at, isTrace) {
		f, err := get(name)
		if err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	if len(out) == 0 {
		return nil, plan.Faults{{Path: "data.replay.hub", Text: at.Name + " has no files of traces", Hint: "files end in .jsonl, .json or .parquet"}}
	}
	return out, nil
}

// isTrace reports whether a name is that of a file of sessions.
func isTrace(name string) bool {
	return slices.Contains([]string{".json", ".jsonl", ".parquet"}, strings.ToLower(path.Ext(name)))
}

// Pick picks the files of a configuration and a split among those that are wanted: those with
// the split's name in theirs, or all where none has.
func Pick(names []string, at plan.Hub, wanted func(name string) bool) []string {
	list := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		folder := at.Config == "" || strings.HasPrefix(name, at.Config+"/") || strings.Contains(name, "/"+at.Config+"/")
		return !folder || !wanted(name)
	})
	split := cmp.Or(at.Split, "train")
	if named := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !strings.Contains(name, split) }); len(named) > 0 {
		return named
	}
	return list
}
