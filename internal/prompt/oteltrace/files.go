package oteltrace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"inferometer/internal/hub"
	"inferometer/internal/plan"
	"inferometer/internal/rows"
)

// file is where traces are read from.
type file struct {
	name string // for people
	path string
}

// files are all files of traces, in order.
func (s *Source) files(ctx context.Context) ([]file, error) {
	if s.replay.Hub != (plan.Hub{}) {
		return s.fetch(ctx)
	}
	patterns := s.replay.Files
	if s.replay.Dir != "" {
		patterns = []string{filepath.Join(s.replay.Dir, "*.json"), filepath.Join(s.replay.Dir, "*.jsonl")}
	}
	var names []string
	for _, pattern := range patterns {
		found, err := expand(pattern)
		if err != nil {
			return nil, plan.Faults{{Path: "data.replay.files", Text: fmt.Sprintf("%q is no pattern: %v", pattern, err)}}
		}
		if len(found) == 0 && s.replay.Dir == "" {
			return nil, plan.Faults{{Path: "data.replay.files", Text: "there is no file " + pattern, Hint: "files are JSON, or JSON lines"}}
		}
		names = append(names, found...)
	}
	if len(names) == 0 {
		return nil, plan.Faults{{Path: "data.replay.dir", Text: "no files of traces: " + strings.Join(patterns, ", "), Hint: "files end in .json or .jsonl"}}
	}
	slices.Sort(names)
	out := make([]file, 0, len(names))
	for _, name := range slices.Compact(names) {
		out = append(out, file{name, name})
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
func (s *Source) fetch(ctx context.Context) ([]file, error) {
	h, err := hub.New(s.env, nil)
	if err != nil {
		return nil, err
	}
	at := s.replay.Hub
	repo := hub.Dataset(at.Name)
	s.tell("Reading the traces of " + at.Name + ".")
	all, err := h.Files(ctx, repo, at.Revision)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", at.Name, err)
	}
	var out []file
	for _, name := range pick(all, at) {
		here, err := h.File(ctx, repo, at.Revision, name)
		if err != nil {
			return nil, fmt.Errorf("getting the traces of %s: %w", at.Name, err)
		}
		out = append(out, file{at.Name + "/" + name, here})
	}
	if len(out) == 0 {
		return nil, plan.Faults{{Path: "data.replay.hub", Text: at.Name + " has no files of traces", Hint: "files end in .jsonl, .json or .parquet"}}
	}
	return out, nil
}

// pick picks the files of a configuration and a split: those with the split's name in
// theirs, or all where none has.
func pick(names []string, at plan.Hub) []string {
	list := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		folder := at.Config == "" || strings.HasPrefix(name, at.Config+"/") || strings.Contains(name, "/"+at.Config+"/")
		return !folder || !slices.Contains([]string{".json", ".jsonl", ".parquet"}, strings.ToLower(path.Ext(name)))
	})
	split := at.Split
	if split == "" {
		split = "train"
	}
	if named := slices.DeleteFunc(slices.Clone(list), func(name string) bool { return !strings.Contains(name, split) }); len(named) > 0 {
		return named
	}
	return list
}

// reader gives the traces of a file as JSON.
type reader interface {
	next() ([]byte, error)
	close()
}

func open(name string) (reader, error) {
	if strings.EqualFold(filepath.Ext(name), ".parquet") {
		r, err := rows.Open(name)
		if err != nil {
			return nil, err
		}
		return &table{r}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return &values{file: f, in: json.NewDecoder(f)}, nil
}

// values reads one JSON value after the other. A list is its values.
type values struct {
	file   io.Closer
	in     *json.Decoder
	queued []json.RawMessage
}

func (v *values) next() ([]byte, error) {
	for len(v.queued) == 0 {
		var raw json.RawMessage
		if err := v.in.Decode(&raw); err != nil {
			return nil, err
		}
		if !bytes.HasPrefix(raw, []byte("[")) {
			return raw, nil
		}
		if err := json.Unmarshal(raw, &v.queued); err != nil {
			return nil, err
		}
	}
	raw := v.queued[0]
	v.queued = v.queued[1:]
	return raw, nil
}

func (v *values) close() { _ = v.file.Close() }

// table reads the rows of a table.
type table struct{ rows *rows.Reader }

func (t *table) next() ([]byte, error) {
	row, err := t.rows.Next()
	if err != nil {
		return nil, err
	}
	// Spans may be a column of JSON texts.
	if text, ok := row["spans"].(string); ok {
		row["spans"] = json.RawMessage(text)
	}
	return json.Marshal(row)
}

func (t *table) close() { _ = t.rows.Close() }
