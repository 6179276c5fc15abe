package wekatrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// usual is what data sets of traces call their file.
const usual = "traces.jsonl"

// readFile reads the traces of a file. With a fault in it, a file of one trace is left out,
// of one with many only the trace, where that is asked for.
func (s *Source) readFile(ctx context.Context, f replay.File) error {
	in, err := open(f.Path, prompt.Files(s.limits))
	if err != nil {
		return fmt.Errorf("reading the traces of %s: %w", f.Name, err)
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
			err = s.addSession(raw, place, f.Name)
		}
		var wrong *filterError
		switch {
		case err == nil:
			continue
		case errors.As(err, &wrong) || !s.replay.SkipInvalid:
			return fmt.Errorf("reading trace %d of %s: %w", n, f.Name, err)
		}
		s.tell(fmt.Sprintf("Left out: trace %d of %s: %v.", n, f.Name, err))
		if last {
			return nil
		}
	}
	return nil
}

// filterError is a fault of the filter, not of a trace.
type filterError struct{ err error }

func (e *filterError) Error() string { return "the filter: " + e.err.Error() }

// addSession adds the session of a trace, if it is wanted. line gives the line of an offset in
// the trace.
func (s *Source) addSession(raw []byte, line func(int64) int, file string) error {
	t, err := decode(raw)
	if err != nil {
		var at *placeError
		if errors.As(err, &at) && line != nil {
			return &replay.LineError{Line: line(at.at), Err: at.err}
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
	s.All = append(s.All, &replay.Session{Name: fmt.Sprintf("wekatrace%d_%s", len(s.places)-1, t.ID), Graph: g})
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

// reader gives the traces of a file, and the lines that they stand in, or nil.
type reader interface {
	next() (raw []byte, line func(offset int64) int, err error)
	close()
}

func open(name string, files limitio.Limit) (reader, error) {
	if strings.EqualFold(filepath.Ext(name), ".parquet") {
		r, err := rows.Open(files, name, "id", "block_size", "hash_id_scope", "tool_tokens", "system_tokens", "requests")
		if err != nil {
			return nil, err
		}
		return &rowReader{r}, nil
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	return &textReader{f, replay.NewScanner(files.Reader(f, name))}, nil
}

type textReader struct {
	file    io.Closer
	scanner *replay.Scanner
}

func (t *textReader) next() ([]byte, func(int64) int, error) {
	raw, begin, err := t.scanner.Next()
	return raw, func(offset int64) int { return t.scanner.Line(begin + offset) }, err
}

func (t *textReader) close() { _ = t.file.Close() }

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
