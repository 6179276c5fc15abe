package perfanalyzer

import (
	"context"
	"io"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensordata"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/tool/perfanalyzer/args"
	"github.com/inferometer/inferometer/internal/tool/profileexport"
	"github.com/inferometer/inferometer/internal/tool/profileexport/export"
)

// kit is the kit of the run: encoding and decoding are timed, and data are taken as the original
// takes them. Where sessions are the load, each is begun once.
func (t *job) kit() registry.Kit {
	k := t.env.Kit
	k.Protocols = t.coding.timed(k.Protocols)
	k.Sources = map[string]prompt.Factory{
		plan.SourceTensors: func(d plan.Data, _ prompt.Tokenizer, seed uint64) (prompt.Source, error) {
			sessions := t.action.Load == args.LoadSessions
			s, err := tensordata.Exact(d, seed, sessions)
			if err != nil {
				return s, err
			}
			if t.action.Load != args.LoadSchedule { // whose entries are sent once
				s.Warmup = uint64(t.action.Warmup)
			}
			if !sessions {
				return s, nil
			}
			t.delays = s.Delays()
			return once(s)
		},
	}
	return k
}

// see takes note of what a request carries, for the export.
func (t *job) see(p *prompt.Prompt) {
	if t.action.Export != "" && t.action.Load != args.LoadSessions {
		seen := *p
		t.inputs.Add(p.Hash, func() profileexport.Fields { return t.fields(&seen) })
	}
}

// singly is a source of sessions that ends when each was begun.
type singly struct {
	*tensordata.Source
	most int
}

func once(s *tensordata.Source) (prompt.Source, error) {
	n := s.Sessions()
	if n == 0 {
		return nil, plan.Faults{{Where: "--session-concurrency", Text: "the data has no sessions", Hint: `give entries a "session_id", or a list of entries for each session`}}
	}
	return &singly{s, n}, nil
}

// Prompt implements prompt.Source.
func (s *singly) Prompt(ctx context.Context, at prompt.Position) (prompt.Prompt, error) {
	if at.I >= uint64(s.most) {
		return prompt.Prompt{}, io.EOF
	}
	return s.Source.Prompt(ctx, at)
}

// fields are what a request carries: of a batch its first item, as in the original.
func (t *job) fields(p *prompt.Prompt) profileexport.Fields {
	if p.Body != nil {
		return profileexport.Fields{profileexport.Text("payload", string(p.Body))}
	}
	model := t.setup.Tensors
	if p.Inputs == nil || model == nil {
		return nil
	}
	first := *p.Inputs
	first.Items = first.Items[:min(len(first.Items), 1)]
	inputs, _, err := first.Build(model.Inputs, model.Outputs, model.MaxBatch > 0)
	if err != nil {
		return nil // the request failed for it, which is told there
	}
	var f profileexport.Fields
	for i := range inputs {
		f = append(f, profileexport.FromTensor(&inputs[i], t.faithful()))
	}
	return f
}

func (t *job) faithful() bool { return t.plan.Measurement.Faithful }

// export writes every request that ended in a window, level by level.
func (t *job) export() error {
	return export.Write(export.Job{
		Name: t.action.Export, Records: t.records, Version: t.env.Version,
		Service: t.action.Service, Endpoint: t.action.Endpoint, Stages: t.loads, Inputs: &t.inputs,
		Target: t.setup.Target, Tensors: t.setup.Tensors, Faithful: t.faithful(),
		Sessions: t.action.Load == args.LoadSessions, Delay: t.delays, Periodic: t.action.Load == args.LoadPeriodic,
	})
}
