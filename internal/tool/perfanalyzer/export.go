package perfanalyzer

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"strconv"
	"sync"

	frontend "inferometer/internal/frontend/perfanalyzer"
	"inferometer/internal/importer/profileexport"
	"inferometer/internal/kit"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/tensordata"
	"inferometer/internal/record"
	"inferometer/internal/result"
	"inferometer/internal/run"
	"inferometer/internal/tensor"
)

// inputs remembers what requests carried, by the hash of their content.
type inputs struct {
	mu     sync.Mutex
	fields map[uint64]profileexport.Fields
}

// kit is the kit of the run. Where requests are exported, it takes note of them.
func (t *tool) kit() kit.Kit {
	k := t.env.Kit
	if t.action.Export == "" {
		return k
	}
	t.inputs = &inputs{fields: map[uint64]profileexport.Fields{}}
	k.Sources = map[string]kit.SourceFactory{
		plan.SourceTensors: func(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			s, err := tensordata.New(d, seed)
			if err != nil {
				return nil, err
			}
			return &noting{s, t.inputs}, nil
		},
	}
	return k
}

// noting is a source that takes note of what it hands out.
type noting struct {
	*tensordata.Source
	to *inputs
}

// Next implements prompt.Source.
func (n *noting) Next(ctx context.Context) (prompt.Prompt, error) {
	p, err := n.Source.Next(ctx)
	if err == nil {
		n.to.add(&p)
	}
	return p, err
}

func (in *inputs) add(p *prompt.Prompt) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if _, known := in.fields[p.Hash]; known {
		return
	}
	var f profileexport.Fields
	switch {
	case p.Body != nil:
		f = profileexport.Fields{profileexport.Text("payload", string(p.Body))}
	case p.Inputs != nil && len(p.Inputs.Items) > 0:
		for i := range p.Inputs.Items[0].Values {
			v := &p.Inputs.Items[0].Values[i]
			f = append(f, profileexport.Field{Name: v.Name, Value: exported(v)})
		}
	}
	in.fields[p.Hash] = f
}

func (in *inputs) of(hash uint64) profileexport.Fields {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.fields[hash]
}

// exported is a tensor's value as the export has it: one element alone, or a list.
// What is not JSON is left empty.
func exported(v *tensor.Value) json.RawMessage {
	if v.Form != tensor.FormJSON {
		return json.RawMessage(`""`)
	}
	var list []json.RawMessage
	if json.Unmarshal(v.Text, &list) == nil && len(list) == 1 {
		return list[0]
	}
	if json.Valid(v.Text) {
		return v.Text
	}
	return json.RawMessage(`""`)
}

// experiment is a stage of the record file: its windows, from the first to the last.
type experiment struct {
	load    profileexport.Load
	windows []uint64
	edges   []record.Edge
}

// has reports whether a request is exported: it ended well within a window.
func (e *experiment) has(rec *record.Record) bool {
	if rec.Failure != nil || rec.Phase != record.Measured || len(e.edges) < 2 {
		return false
	}
	return e.edges[0].At < rec.End && rec.End <= e.edges[len(e.edges)-1].At
}

// export writes every request that ended in a window, level by level.
func (t *tool) export() error {
	path := filepath.Join(t.kept, run.RecordsFile)
	start, list, err := t.experiments(path)
	if err != nil {
		return err
	}
	return create(t.action.Export, func(w io.Writer) error {
		doc := profileexport.Document{Version: t.env.Version, ServiceKind: t.action.Service, Endpoint: t.action.Endpoint}
		if len(list) == 0 {
			list = []experiment{{load: profileexport.Load{Mode: "concurrency", Value: 1}}}
		}
		var file *profileexport.Writer
		for i := range list {
			if i == 0 {
				file = profileexport.NewWriter(w, doc, list[i].load)
			} else {
				file.Next(list[i-1].windows, list[i].load)
			}
			err := eachRequest(path, func(rec *record.Record) {
				if rec.Stage == i && list[i].has(rec) {
					r := t.request(rec, start)
					file.Add(&r)
				}
			})
			if err != nil {
				return err
			}
		}
		return file.Close(list[len(list)-1].windows)
	})
}

func (t *tool) request(rec *record.Record, start int64) profileexport.Request {
	fields := t.inputs.of(rec.Prompt)
	var r profileexport.Request
	if t.action.Service == frontend.OpenAI {
		r = profileexport.FromOpenAI(rec, start, fields)
	} else {
		r = profileexport.FromTriton(rec, start, fields)
	}
	if id, err := strconv.ParseUint(rec.Session, 10, 64); err == nil {
		r.SequenceID = id
	}
	return r
}

// experiments reads the windows of every stage.
func (t *tool) experiments(path string) (start int64, list []experiment, err error) {
	var edges []record.Edge
	err = eachLine(path, func(l record.Line) {
		switch {
		case l.Header != nil:
			start = l.Header.Start.UnixNano()
		case l.Edge != nil:
			edges = append(edges, *l.Edge)
		}
	})
	for i, s := range t.loads {
		e := experiment{load: profileexport.Load{Mode: "concurrency", Value: float64(s.Concurrency)}, edges: result.EdgesOf(edges, i)}
		if s.Concurrency == 0 {
			e.load = profileexport.Load{Mode: "request_rate", Value: s.Rate}
		}
		for _, edge := range e.edges {
			e.windows = append(e.windows, uint64(start+int64(edge.At)))
		}
		list = append(list, e)
	}
	return start, list, err
}

func eachRequest(path string, f func(*record.Record)) error {
	return eachLine(path, func(l record.Line) {
		if l.Request != nil {
			f(l.Request)
		}
	})
}

// eachLine reads a record file, its header first.
func eachLine(path string, f func(record.Line)) error {
	r, err := record.Open(path)
	if err != nil {
		return err
	}
	defer r.Close()
	h := r.Header()
	f(record.Line{Header: &h})
	for {
		line, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, record.ErrTruncated) {
			return nil
		}
		if err != nil {
			return err
		}
		f(line)
	}
}
