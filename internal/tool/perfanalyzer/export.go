package perfanalyzer

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"

	frontend "inferometer/internal/frontend/perfanalyzer"
	"inferometer/internal/importer/profileexport"
	"inferometer/internal/kit"
	"inferometer/internal/plan"
	"inferometer/internal/prompt"
	"inferometer/internal/prompt/tensordata"
	"inferometer/internal/run"
	"inferometer/internal/tensor"
	"inferometer/internal/tool/export"
)

// kit is the kit of the run. Where requests are exported, it takes note of them.
func (t *tool) kit() kit.Kit {
	k := t.env.Kit
	sessions := t.action.Load == frontend.LoadSessions
	if t.action.Export == "" && !sessions {
		return k
	}
	k.Sources = map[string]kit.SourceFactory{
		plan.SourceTensors: func(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			s, err := tensordata.New(d, seed)
			if err != nil {
				return nil, err
			}
			if sessions {
				return once(s)
			}
			return &noting{s, &t.inputs}, nil
		},
	}
	return k
}

// singly is a source of sessions that ends when each was begun.
type singly struct {
	*tensordata.Source
	left int
}

func once(s *tensordata.Source) (prompt.Source, error) {
	n := s.Sessions()
	if n == 0 {
		return nil, plan.Faults{{Where: "--session-concurrency", Text: "the data has no sessions", Hint: `give entries a "session_id", or a list of entries for each session`}}
	}
	return &singly{s, n}, nil
}

// Next implements prompt.Source.
func (s *singly) Next(ctx context.Context) (prompt.Prompt, error) {
	if s.left == 0 {
		return prompt.Prompt{}, io.EOF
	}
	s.left--
	return s.Source.Next(ctx)
}

// noting is a source that takes note of what it hands out.
type noting struct {
	*tensordata.Source
	to *export.Inputs
}

// Next implements prompt.Source.
func (n *noting) Next(ctx context.Context) (prompt.Prompt, error) {
	p, err := n.Source.Next(ctx)
	if err == nil {
		n.to.Add(p.Hash, func() profileexport.Fields { return fields(&p) })
	}
	return p, err
}

// fields are what a request carries.
func fields(p *prompt.Prompt) profileexport.Fields {
	if p.Body != nil {
		return profileexport.Fields{profileexport.Text("payload", string(p.Body))}
	}
	var f profileexport.Fields
	if p.Inputs != nil && len(p.Inputs.Items) > 0 {
		for i := range p.Inputs.Items[0].Values {
			v := &p.Inputs.Items[0].Values[i]
			f = append(f, profileexport.Field{Name: v.Name, Value: exported(v)})
		}
	}
	return f
}

// exported is a tensor's value as the export has it: one element alone, or a list.
// What is not JSON is left empty.
func exported(v *tensor.Value) json.RawMessage {
	var list []json.RawMessage
	switch {
	case v.Form == tensor.FormJSON && json.Unmarshal(v.Text, &list) == nil && len(list) == 1:
		return list[0]
	case v.Form == tensor.FormJSON && json.Valid(v.Text):
		return v.Text
	}
	return json.RawMessage(`""`)
}

// export writes every request that ended in a window, level by level.
func (t *tool) export() error {
	return export.Write(export.Job{
		Name: t.action.Export, Records: filepath.Join(t.kept, run.RecordsFile), Version: t.env.Version,
		Service: t.action.Service, Endpoint: t.action.Endpoint, Stages: t.loads, Inputs: &t.inputs,
		Sessions: t.action.Load == frontend.LoadSessions, Periodic: t.action.Load == frontend.LoadPeriodic,
	})
}
