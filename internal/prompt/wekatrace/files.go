package wekatrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"inferometer/internal/hub"
	"inferometer/internal/plan"
	"inferometer/internal/rows"
)

// usual is what data sets of traces call their file.
const usual = "traces.jsonl"

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
	var out []file
	for _, pattern := range patterns {
		found := []string{pattern}
		if _, err := os.Stat(pattern); err != nil {
			if found, err = filepath.Glob(pattern); err != nil {
				return nil, plan.Faults{{Path: "data.replay.files", Text: fmt.Sprintf("%q is no pattern: %v", pattern, err)}}
			}
			if len(found) == 0 && s.replay.Dir == "" {
				return nil, plan.Faults{{Path: "data.replay.files", Text: "there is no file " + pattern, Hint: "files are JSON, or JSON lines"}}
			}
		}
		for _, name := range found {
			out = append(out, file{name, name})
		}
	}
	if len(out) == 0 {
		return nil, plan.Faults{{Path: "data.replay.dir", Text: "no files of traces: " + strings.Join(patterns, ", "), Hint: "files end in .json or .jsonl"}}
	}
	return out, nil
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
	name, err := h.File(ctx, repo, at.Revision, usual)
	if err == nil {
		return []file{{at.Name + "/" + usual, name}}, nil
	}
	if !errors.Is(err, hub.ErrNotFound) {
		return nil, fmt.Errorf("getting the traces of %s: %w", at.Name, err)
	}
	all, err := h.Files(ctx, repo, at.Revision)
	if err != nil {
		return nil, fmt.Errorf("listing the files of %s: %w", at.Name, err)
	}
	var out []file
	for _, name := range choose(all, at) {
		here, err := h.File(ctx, repo, at.Revision, name)
		if err != nil {
			return nil, fmt.Errorf("getting the traces of %s: %w", at.Name, err)
		}
		out = append(out, file{at.Name + "/" + name, here})
	}
	if len(out) == 0 {
		return nil, plan.Faults{{Path: "data.replay.hub", Text: fmt.Sprintf("%s has no %s, and no other files of traces", at.Name, usual), Hint: "files end in .jsonl, .json or .parquet"}}
	}
	return out, nil
}

// choose picks the files of a configuration and a split: those with the split's name in
// theirs, or all where none has.
func choose(names []string, at plan.Hub) []string {
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

// readFile reads the traces of a file. With a fault in it, a file of one trace is left out,
// of one with many only the trace, where that is asked for.
func (s *Source) readFile(ctx context.Context, f file) error {
	in, err := open(f.path)
	if err != nil {
		return fmt.Errorf("reading the traces of %s: %w", f.name, err)
	}
	defer in.close()
	for n := 1; !s.full(); n++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		raw, place, err := in.next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		last := err != nil // there is nothing to go on with
		if err == nil {
			err = s.take(raw, place, f.name)
		}
		var wrong *filterError
		switch {
		case err == nil:
			continue
		case errors.As(err, &wrong) || !s.replay.SkipInvalid:
			return fmt.Errorf("reading trace %d of %s: %w", n, f.name, err)
		}
		s.tell(fmt.Sprintf("Left out: trace %d of %s: %v.", n, f.name, err))
		if last {
			return nil
		}
	}
	return nil
}

// filterError is a fault of the filter, not of a trace.
type filterError struct{ err error }

func (e *filterError) Error() string { return "the filter: " + e.err.Error() }

// take adds the session of a trace, if it is wanted. line gives the line of an offset in
// the trace.
func (s *Source) take(raw []byte, line func(int64) int, file string) error {
	t, err := decode(raw)
	if err != nil {
		var at *placeError
		if errors.As(err, &at) && line != nil {
			return &lineError{line(at.at), at.err}
		}
		return err
	}
	if s.filter != nil {
		keep, err := s.keeps(raw, t)
		if err != nil {
			return err
		}
		if !keep {
			return nil
		}
	}
	place := file
	if line != nil {
		place = fmt.Sprintf("%s, line %d", file, line(0))
	}
	if first, ok := s.places[t.ID]; ok {
		return fmt.Errorf("the id %q is that of another trace, in %s", t.ID, first)
	}
	s.places[t.ID] = place
	g, err := s.graph(t)
	if err != nil {
		return err
	}
	if g == nil {
		s.empty++
		return nil
	}
	s.sessions = append(s.sessions, &session{name: fmt.Sprintf("wekatrace%d_%s", len(s.places)-1, t.ID), graph: g})
	return nil
}

// keeps asks the filter. It sees the trace, and beside it the most tokens of a request,
// those of all, and the number of requests, with those of subagents.
func (s *Source) keeps(raw []byte, t *trace) (bool, error) {
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return false, err
	}
	most, total, n := 0, 0, 0
	for _, c := range t.conversations() {
		for _, r := range c.calls {
			tokens := *r.In + *r.Out
			most, total, n = max(most, tokens), total+tokens, n+1
		}
	}
	doc["max_tokens"], doc["total_tokens"], doc["num_turns"] = float64(most), float64(total), float64(n)
	keep, err := s.filter.Keeps(doc)
	if err != nil {
		return false, &filterError{err}
	}
	return keep, nil
}

// reader gives the traces of a file, and the lines that they stand in; nil: there are none.
type reader interface {
	next() (raw []byte, line func(offset int64) int, err error)
	close()
}

func open(name string) (reader, error) {
	if strings.EqualFold(filepath.Ext(name), ".parquet") {
		r, err := rows.Open(name, "id", "block_size", "hash_id_scope", "tool_tokens", "system_tokens", "requests")
		if err != nil {
			return nil, err
		}
		return &rowReader{r}, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	return &textReader{f, newScanner(f)}, nil
}

// textReader reads JSON.
type textReader struct {
	file    io.Closer
	scanner *scanner
}

func (t *textReader) next() ([]byte, func(int64) int, error) {
	raw, begin, err := t.scanner.next()
	return raw, func(offset int64) int { return t.scanner.lines.at(begin + offset) }, err
}

func (t *textReader) close() { _ = t.file.Close() }

// rowReader reads the rows of a table.
type rowReader struct{ rows *rows.Reader }

func (r *rowReader) next() ([]byte, func(int64) int, error) {
	row, err := r.rows.Next()
	if err != nil {
		return nil, nil, err
	}
	// Requests may be a column of JSON texts.
	if text, ok := row["requests"].(string); ok {
		row["requests"] = json.RawMessage(text)
	}
	for name, value := range row {
		if value == nil {
			delete(row, name)
		}
	}
	raw, err := json.Marshal(row)
	return raw, nil, err
}

func (r *rowReader) close() { _ = r.rows.Close() }
