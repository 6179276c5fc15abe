// Package tensordata is a source of requests that are no prompts: tensors from Perf
// Analyzer's input data or made up, one after the other or in sequences that a server
// keeps state over, and whole request bodies in the same form of data.
package tensordata

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/tensor"
	"github.com/inferometer/inferometer/internal/prompt/tensor/inputdata"
)

// Source hands out the steps of the data in order, again and again, anew in each stage.
type Source struct {
	streams  [][]step // by stream, one for each step that a request can begin with
	flat     []step   // all of them, for requests that stand alone
	payloads bool     // steps are whole request bodies
	exact    bool     // data were read exactly
	turns    bool     // streams of payloads are sessions
	timed    bool     // steps of tensors say when they are due
	moments  []time.Duration

	settings plan.Sequences
	given    bool // the data says what is in a sequence
	sequence bool // requests form sequences

	seed uint64
	book book // of sequences that go in turn
	ids  *ids // of those that go one after the other in a slot; nil means each follows from its place

	// Warmup is how many requests go ahead of the measured ones, which begin anew. Sequences go on.
	Warmup uint64
}

// step is what is made of a step of the data.
type step struct {
	prompt prompt.Prompt
	think  time.Duration // pause after its response
	pauses bool          // it says how long that is
	name   string        // of its session; empty: it says none
	due    time.Duration // from the start; -1: it does not say
}

// New reads the data that d names. What is wrong with it is returned as plan.Faults.
func New(d plan.Data, seed uint64) (*Source, error) { return load(d, seed, false, true) }

// Exact is New for data that are read exactly ([inputdata.ReadExactly]). Ids of sequences are counted
// as they begin, over all stages, so that one process sends them all. Of several streams only the
// first is used where requests form no sequences. turns: streams of payloads, and payloads with a
// session, are the turns of sessions; else the former stand alone, too.
func Exact(d plan.Data, seed uint64, turns bool) (*Source, error) { return load(d, seed, true, turns) }

func load(d plan.Data, seed uint64, exact, turns bool) (*Source, error) {
	s := &Source{exact: exact, turns: turns, settings: d.Tensors.Sequences, seed: prompt.Mix(seed ^ 't')}
	s.book.source = s
	if s.settings.IDs > 0 || exact {
		s.ids = newIDs(max(s.settings.FirstID, 1), s.idCount())
	}
	s.sequence, s.timed = s.settings.Mode == plan.SequencesOn, d.Tensors.Timestamps
	rules, err := rulesOf(&d.Tensors, seed)
	if err != nil {
		return nil, err
	}
	rules.Exact = exact
	data := &inputdata.Data{Streams: [][]tensor.Item{{{}}}}
	if len(d.Tensors.Files) > 0 {
		s.given = true
		read := inputdata.Read
		if exact {
			read = inputdata.ReadExactly
		}
		data, err = read(prompt.Files(d), d.Tensors.Files...)
		if err != nil {
			return nil, err
		}
		if first := data.Streams[0][0].Values; exact && len(first) > 0 && first[0].Form == tensor.FormFile {
			s.given = false // a directory has a step to repeat
		}
	}
	if d.Prompts > data.Steps() {
		return nil, plan.Faults{{Path: "data.prompts", Text: fmt.Sprintf("%d steps are asked for, and the data has %d", d.Prompts, data.Steps()), Hint: "leave it out and all are used"}}
	}
	if d.Prompts > 0 && !data.Sequences {
		data.Streams[0] = data.Streams[0][:d.Prompts]
	}
	if err := s.addData(data, max(d.Tensors.Batch, 1), rules); err != nil {
		return nil, err
	}
	return s, nil
}

func rulesOf(t *plan.Tensors, seed uint64) (*tensor.Rules, error) {
	r := &tensor.Rules{Fill: tensor.Fill{Length: t.StringLength, String: t.StringData, Seed: seed}, Shapes: map[string][]int64{}}
	switch t.Fill {
	case plan.FillZero:
		r.Fill.Kind = tensor.FillZero
	case plan.FillRandom:
		r.Fill.Kind = tensor.FillRandom
	}
	for i, text := range t.Shapes {
		name, shape, err := tensor.ParseShape(text)
		if err != nil {
			return nil, plan.Faults{{Path: fmt.Sprintf("data.tensors.shapes[%d]", i), Text: err.Error()}}
		}
		r.Shapes[name] = shape
	}
	return r, nil
}

// addData makes the steps that requests are made of. A batch is as many steps as it has
// items, from where it begins, round to the first again.
func (s *Source) addData(data *inputdata.Data, batch int, rules *tensor.Rules) error {
	bodies, steps := 0, 0
	for _, items := range data.Streams {
		var stream []step
		items, err := s.bySchedule(items)
		if err != nil {
			return err
		}
		for i := range items {
			made, err := makeStep(items, i, batch, rules)
			if err != nil {
				return err
			}
			if made.prompt.Body != nil {
				bodies++
			}
			stream = append(stream, made)
		}
		s.streams = append(s.streams, stream)
		if !s.exact || len(s.streams) == 1 || s.turns {
			s.flat = append(s.flat, stream...)
		}
		steps += len(stream)
	}
	if bodies > 0 && bodies < steps {
		return plan.Faults{{Path: "data.tensors.files", Text: fmt.Sprintf("%d of the %d steps have a payload", bodies, steps), Hint: "give one to each, or to none"}}
	}
	s.payloads = bodies > 0
	if s.payloads && !data.Sequences {
		s.bySession()
	}
	turns := data.Sequences && s.turns || !data.Sequences && len(s.streams) > 1 || s.flat[0].name != ""
	if s.payloads && turns {
		s.sequence = true // of a session
	}
	if !s.payloads && batch > 1 {
		s.flat = strides(s.flat, batch)
	}
	return nil
}

// bySession makes a stream of each session that steps name, in the order in which
// sessions begin. A step that names none is one of its own.
func (s *Source) bySession() {
	if !slices.ContainsFunc(s.flat, func(st step) bool { return st.name != "" }) {
		return
	}
	s.streams = nil
	at := map[string]int{}
	for _, st := range s.flat {
		i, known := at[st.name]
		if !known || st.name == "" {
			i = len(s.streams)
			at[st.name] = i
			s.streams = append(s.streams, nil)
		}
		s.streams[i] = append(s.streams[i], st)
	}
}

// Sessions is how many sessions the data has; 0: its requests stand alone.
func (s *Source) Sessions() int {
	if !s.payloads || !s.sequence {
		return 0
	}
	return len(s.streams)
}

// strides are the steps at which batches begin, each where the last ended, until they repeat.
func strides(all []step, batch int) []step {
	var some []step
	for i := 0; ; {
		some = append(some, all[i])
		if i = (i + batch) % len(all); i == 0 {
			return some
		}
	}
}

func makeStep(items []tensor.Item, i, batch int, rules *tensor.Rules) (step, error) {
	out := step{due: -1}
	body, err := inputdata.Payload(&items[i])
	if err != nil {
		return out, err
	}
	if body != nil {
		out.prompt = prompt.Prompt{Body: body, Tokens: -1, Hash: prompt.HashText(string(body))}
		return out, out.times(&items[i])
	}
	in := &tensor.Inputs{Rules: rules}
	h := uint64(0)
	for k := range batch {
		item := items[(i+k)%len(items)]
		in.Items = append(in.Items, item)
		h = hash(h, item.Values)
	}
	out.prompt = prompt.Prompt{Inputs: in, Tokens: -1, Hash: h}
	return out, nil
}

func (st *step) times(item *tensor.Item) error {
	ms, ok, err := inputdata.Milliseconds(item, inputdata.TimestampMember)
	if err != nil {
		return err
	}
	if ok {
		st.due = time.Duration(ms) * time.Millisecond
	}
	ms, st.pauses, err = inputdata.Milliseconds(item, inputdata.DelayMember)
	st.think = time.Duration(ms) * time.Millisecond
	if err != nil {
		return err
	}
	st.name, err = inputdata.Session(item)
	return err
}

// hash is that of an item's content, on top of what came before it.
func hash(h uint64, values []tensor.Value) uint64 {
	for i := range values {
		h = prompt.Mix(h ^ prompt.HashText(values[i].Name))
		h = prompt.Mix(h ^ prompt.HashText(string(values[i].Text)))
	}
	return h
}

// mostFaults is how many faults are listed; the rest are counted.
const mostFaults = 20

// Fit implements prompt.ModelBinder.
func (s *Source) Fit(m *tensor.Signature) error {
	if s.payloads {
		return nil
	}
	if s.settings.Mode == "" {
		s.sequence = m.Sequences
	}
	if batch := len(s.flat[0].prompt.Inputs.Items); batch > max(m.MaxBatch, 1) {
		most := fmt.Sprintf("at most %d items", m.MaxBatch)
		if m.MaxBatch <= 1 {
			most = "one item at a time"
		}
		return plan.Faults{{Path: "data.tensors.batch", Text: fmt.Sprintf("is %d, and model %q takes %s", batch, m.Name, most)}}
	}
	if batch := len(s.flat[0].prompt.Inputs.Items); batch > 1 && s.sequence {
		return plan.Faults{{Path: "data.tensors.batch", Text: fmt.Sprintf("is %d, and model %q takes sequences, one item at a time", batch, m.Name)}}
	}
	var faults plan.Faults
	seen := map[string]bool{}
	for _, stream := range s.streams {
		for i := range stream {
			_, _, err := stream[i].prompt.Inputs.Build(m.Inputs, m.Outputs, m.MaxBatch > 0)
			if err == nil || seen[err.Error()] {
				continue
			}
			seen[err.Error()] = true
			if len(seen) <= mostFaults {
				faults = append(faults, plan.Fault{Text: err.Error()})
			}
		}
	}
	if len(seen) > mostFaults {
		faults = append(faults, plan.Fault{Text: fmt.Sprintf("and %d more faults", len(seen)-mostFaults)})
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// SetStage implements prompt.StageStarter.
func (s *Source) SetStage(i int) bool {
	s.book.reset(uint64(i))
	return true
}

// inTurn reports whether sequences are in flight side by side, their requests in turn.
func (s *Source) inTurn() bool { return s.sequence && s.settings.Live > 0 && !s.payloads }

// Lanes implements prompt.LaneSource. Where there are so many ids and no more, one is used again when
// the sequence that had it has ended: only who sends them all keeps to that.
func (s *Source) Lanes() int {
	switch {
	case !s.sequence || s.payloads:
		return 0
	case s.settings.IDs > 0:
		return 1
	}
	return s.settings.Live
}

// Session implements prompt.LaneSource.
func (s *Source) Session(at prompt.Position) uint64 {
	if s.inTurn() {
		return s.book.session(at)
	}
	return at.I
}

// Prompt implements prompt.Source. It never ends.
func (s *Source) Prompt(_ context.Context, at prompt.Position) (prompt.Prompt, error) {
	switch {
	case !s.sequence:
		i := at.I
		if i >= s.Warmup {
			i -= s.Warmup
		}
		return s.flat[i%uint64(len(s.flat))].prompt, nil
	case s.inTurn():
		return s.book.request(at), nil
	case s.ids != nil && !s.payloads:
		return s.leased(at), nil
	default:
		return s.begin(at).request(), nil
	}
}

// Schedule implements prompt.Scheduler: the timestamps of tensors, or those of payloads if all
// have one and none is before the one ahead of it.
func (s *Source) Schedule() prompt.Moments {
	if s.timed {
		return prompt.NewMoments(s.moments)
	}
	var all []time.Duration
	for i := range s.flat {
		due := s.flat[i].due
		if due < 0 || i > 0 && due < all[i-1] {
			return nil
		}
		all = append(all, due)
	}
	return prompt.NewMoments(all)
}

// bySchedule takes the timestamps off steps and puts these in their order, where the plan has any.
func (s *Source) bySchedule(items []tensor.Item) ([]tensor.Item, error) {
	if !s.timed {
		return items, nil
	}
	if len(s.moments) > 0 {
		return nil, plan.Faults{{Path: "data.tensors.files", Text: "has several streams, and a schedule is one", Hint: `write "data" as one list of steps, each with a timestamp`}}
	}
	type due struct {
		at   int64
		item tensor.Item
	}
	steps := make([]due, len(items))
	for i := range items {
		ms, ok, err := inputdata.Milliseconds(&items[i], inputdata.TimestampMember)
		switch {
		case err != nil:
			return nil, err
		case !ok:
			return nil, plan.Faults{{Path: "data.tensors.files", Text: fmt.Sprintf("step %d has no timestamp", i), Hint: `write "timestamp": [MILLISECONDS] in every step`}}
		}
		steps[i] = due{ms, items[i]}
		steps[i].item.Values = slices.DeleteFunc(slices.Clone(items[i].Values),
			func(v tensor.Value) bool { return v.Name == inputdata.TimestampMember })
	}
	slices.SortStableFunc(steps, func(a, b due) int { return cmp.Compare(a.at, b.at) })
	sorted := make([]tensor.Item, len(steps))
	for i := range steps {
		sorted[i] = steps[i].item
		s.moments = append(s.moments, time.Duration(steps[i].at)*time.Millisecond)
	}
	return sorted, nil
}
