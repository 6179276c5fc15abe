package dataset

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/remote/hub"
)

type file struct {
	name string // on the hub
	path string // on this machine; empty: not fetched
}

// isData reports whether a name is that of a file with rows in it.
func isData(name string) bool {
	name = strings.TrimSuffix(strings.ToLower(name), ".gz")
	switch path.Ext(name) {
	case ".json", ".jsonl", ".ndjson", ".parquet":
		return true
	}
	return false
}

// local finds the files of a path on this machine.
func local(name string) ([]file, error) {
	fault := func(text, hint string) ([]file, error) {
		return nil, plan.Faults{{Path: "data.dataset.path", Text: text, Hint: hint}}
	}
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return fault("there is no "+name, "give a file or a directory of files; without a path the hub is used")
	}
	if err != nil {
		return fault(err.Error(), "")
	}
	if !info.IsDir() {
		return []file{{path: name}}, nil
	}
	entries, err := os.ReadDir(name)
	if err != nil {
		return fault(err.Error(), "")
	}
	var files []file
	for _, e := range entries {
		if !e.IsDir() && isData(e.Name()) {
			files = append(files, file{path: filepath.Join(name, e.Name())})
		}
	}
	if len(files) == 0 {
		return fault(name+" has no .json, .jsonl or .parquet files in it", "name the file itself if it is called otherwise")
	}
	return files, nil
}

type remote struct {
	hub      *hub.Hub
	repo     hub.Repo
	revision string
}

// find says which files of the hub are meant. They are fetched later.
func (r *remote) find(ctx context.Context, d plan.Dataset, k kind) ([]file, error) {
	split := d.Hub.Split
	if split == "" {
		split = "train"
	}
	var names []string
	switch {
	case d.Files != "" && !strings.ContainsAny(d.Files, "*?["):
		names = []string{d.Files}
	case d.Files == "" && k.files != nil && r.repo.Name == k.repo:
		names = k.files(d.Hub.Config, split)
	default:
		all, err := r.hub.Files(ctx, r.repo, r.revision)
		if err != nil {
			return nil, err
		}
		if d.Files != "" {
			names = match(all, d.Files)
		} else {
			names = replay.Pick(all, d.Hub, isData)
		}
		if len(names) == 0 {
			return nil, plan.Faults{{Path: "data.dataset.files", Text: fmt.Sprintf("the data set %s has no files that fit; it has %s", r.repo.Name, some(all)), Hint: "name them"}}
		}
	}
	files := make([]file, len(names))
	for i, name := range names {
		files[i].name = name
	}
	return files, nil
}

// match picks the names that fit a pattern, as a whole or without their folders.
func match(names []string, pattern string) []string {
	// "**/" is any number of folders, which matching the last part alone allows, too.
	short := pattern[strings.LastIndex(pattern, "**/")+1:]
	short = strings.TrimPrefix(short, "*/")
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		whole, err := path.Match(pattern, name)
		last, err2 := path.Match(short, path.Base(name))
		return err != nil || err2 != nil || !whole && !last
	})
}

func some(names []string) string {
	if len(names) == 0 {
		return "none at all"
	}
	const most = 8
	if len(names) > most {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", len(names)-most)
	}
	return strings.Join(names, ", ")
}
