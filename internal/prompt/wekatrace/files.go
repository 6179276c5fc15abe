package wekatrace

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/replay"
	"github.com/inferometer/inferometer/internal/prompt/rows"
)

// usual is what data sets of traces call their file.
const usual = "traces.jsonl"

// job is a trace to be read.
type job struct {
	file    int // its place among those that are read
	n       int // its place in the file, from 1
	raw     []byte
	line    func(offset int64) int // of the file; nil: it has none
	session session
	err     error
	done    chan struct{}
}

// session is what a trace says.
type session struct {
	id    string
	kept  bool // by the filter
	long  bool // longer than a context
	graph *prompt.Graph
}

// readFiles reads the traces of all files, on all cores, and takes them in their order. With a fault in it, a file of one
// trace is left out, of one with many only the trace, where that is asked for.
func (s *Source) readFiles(ctx context.Context, files []replay.File) error {
	cores := runtime.GOMAXPROCS(0)
	ordered, open := make(chan *job, cores), make(chan *job) // no more than are read at a time are kept
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	all.Go(func() {
		defer close(open)
		defer close(ordered)
		for i, f := range files {
			s.split(ctx, i, f, func(j *job) bool { return send(ctx, ordered, j) && send(ctx, open, j) })
		}
	})
	for range cores {
		all.Go(func() {
			for j := range open {
				if j.err == nil {
					j.session, j.err = s.read(j.raw, j.line)
					j.raw = nil
				}
				close(j.done)
			}
		})
	}
	var errs []error
	faulty := -1 // a file of which no more is wanted
	for j := range ordered {
		select {
		case <-j.done:
		case <-ctx.Done():
			return ctx.Err()
		}
		if j.file == faulty {
			continue
		}
		if err := s.addJob(j, files[j.file].Name); err != nil {
			errs, faulty = append(errs, err), j.file
		}
		if s.full() {
			break
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return errors.Join(errs...)
}

func send(ctx context.Context, to chan<- *job, j *job) bool {
	select {
	case to <- j:
		return true
	case <-ctx.Done():
		return false
	}
}

// split gives the traces of a file, until give says that no more are wanted.
func (s *Source) split(ctx context.Context, file int, f replay.File, give func(*job) bool) {
	in, err := open(f.Path, prompt.Files(s.limits))
	if err != nil {
		give(&job{file: file, err: err, done: make(chan struct{})})
		return
	}
	defer in.close()
	for n := 1; ctx.Err() == nil; n++ {
		j := &job{file: file, n: n, done: make(chan struct{})}
		j.raw, j.line, j.err = in.next()
		if errors.Is(j.err, io.EOF) {
			return
		}
		last := j.err != nil
		if !give(j) || last {
			return
		}
	}
}

// addJob adds the session of a trace, if it is wanted.
func (s *Source) addJob(j *job, file string) error {
	if j.n == 0 {
		return fmt.Errorf("reading the traces of %s: %w", file, j.err)
	}
	err := j.err
	if err == nil {
		err = s.addSession(j, file)
	}
	var wrong *filterError
	switch {
	case err == nil:
	case errors.As(err, &wrong) || !s.replay.SkipInvalid:
		return fmt.Errorf("reading trace %d of %s: %w", j.n, file, err)
	default:
		s.tell(fmt.Sprintf("Left out: trace %d of %s: %v.", j.n, file, err))
	}
	return nil
}

// filterError is a fault of the filter, not of a trace.
type filterError struct{ err error }

func (e *filterError) Error() string { return "the filter: " + e.err.Error() }

// read reads a trace. line gives the line of an offset in it. It is used from many goroutines.
func (s *Source) read(raw []byte, line func(int64) int) (session, error) {
	t, err := decode(raw)
	if err != nil {
		var at *placeError
		if errors.As(err, &at) && line != nil {
			return session{}, &replay.LineError{Line: line(at.at), Err: at.err}
		}
		return session{}, err
	}
	one := session{id: t.ID, kept: true}
	if s.filter != nil {
		if one.kept, err = s.keeps(raw, t); err != nil || !one.kept {
			return one, err
		}
	}
	if most := s.replay.MaxContext; most > 0 {
		if longest, _, _ := t.tokens(); longest > most {
			one.long = true
			return one, nil
		}
	}
	one.graph, err = s.graph(t)
	return one, err
}

// addSession adds the session of a trace.
func (s *Source) addSession(j *job, file string) error {
	one := &j.session
	if !one.kept {
		return nil
	}
	place := file
	if j.line != nil {
		place = fmt.Sprintf("%s, line %d", file, j.line(0))
	}
	if first, ok := s.places[one.id]; ok {
		return fmt.Errorf("the id %q is that of another trace, in %s", one.id, first)
	}
	s.places[one.id] = place
	switch {
	case one.long:
		s.long++
		return nil
	case one.graph == nil:
		s.empty++
		return nil
	}
	s.All = append(s.All, &replay.Session{Name: fmt.Sprintf("wekatrace%d_%s", len(s.places)-1, one.id), Graph: one.graph})
	return nil
}

// keeps asks the filter. It sees the trace, and beside it the most tokens of a request,
// those of all, and the number of requests, with those of subagents.
func (s *Source) keeps(raw []byte, t *trace) (bool, error) {
	var doc map[string]any
	if err := json.Unmarshal(raw, &doc); err != nil {
		return false, err
	}
	most, total, n := t.tokens()
	doc["max_tokens"], doc["total_tokens"], doc["num_turns"] = float64(most), float64(total), float64(n)
	keep, err := s.filter.Keeps(doc)
	if err != nil {
		return false, &filterError{err}
	}
	return keep, nil
}

// tokens are the most of a request, prompt and response together, those of all, and how many requests there are.
func (t *trace) tokens() (most, total, n int) {
	for _, c := range t.conversations() {
		for _, r := range c.calls {
			tokens := *r.In + *r.Out
			most, total, n = max(most, tokens), total+tokens, n+1
		}
	}
	return most, total, n
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
	v, err := t.scanner.Next()
	return v.Raw, v.Line, err
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
