package planfile

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

var tensorsSpec = sync.OnceValue(func() codec[plan.Tensors] {
	return object(
		fieldOf("files", list("list of paths", text()), func(t *plan.Tensors) *[]string { return &t.Files },
			"Input data: JSON files of steps, or one directory of raw tensors. Relative to the working directory."),
		fieldOf("fill", word(plan.FillZero, plan.FillRandom), func(t *plan.Tensors) *string { return &t.Fill },
			"How to fill inputs without a value. Left out: `random` without files, else they are missing."),
		fieldOf("string_length", count[int](mostString), func(t *plan.Tensors) *int { return &t.StringLength }, "Length of generated strings; 0: 128."),
		fieldOf("string_data", text(), func(t *plan.Tensors) *string { return &t.StringData }, "Text used for generated strings, instead of random letters."),
		fieldOf("shapes", list("list of NAME:D1,D2", text()), func(t *plan.Tensors) *[]string { return &t.Shapes },
			"Shapes of inputs that the model leaves open and the data does not state, without the batch dimension."),
		fieldOf("batch", count[int](mostBatch), func(t *plan.Tensors) *int { return &t.Batch }, "Items of a request, from as many steps of the data; 0: one."),
		fieldOf("timestamps", boolean(), func(t *plan.Tensors) *bool { return &t.Timestamps }, "Each step has a `timestamp`, which is not a tensor: when it is due, in milliseconds from the start, for `arrival: trace`. Steps are sent in that order. Not needed for payloads."),
		fieldOf("sequences", sequencesSpec(), func(t *plan.Tensors) *plan.Sequences { return &t.Sequences }, "Request sequences, for stateful models."),
	)
})

func sequencesSpec() codec[plan.Sequences] {
	return or(object(
		fieldOf("mode", word(plan.SequencesOn, plan.SequencesOff), func(s *plan.Sequences) *string { return &s.Mode },
			"Whether requests form sequences. Left out: as the model's config says."),
		fieldOf("live", count[int](mostSequences), func(s *plan.Sequences) *int { return &s.Live },
			"Concurrent sequences, in turn, without waiting for answers. 0: one for each request in flight, each request after the answer to the one before."),
		fieldOf("serial", boolean(), func(s *plan.Sequences) *bool { return &s.Serial }, "With `live`: a request waits for the answer to the one before it in its sequence."),
		fieldOf("length", count[int](mostRequests), func(s *plan.Sequences) *int { return &s.Length }, "Requests of a sequence; 0: the steps of its stream, else 20."),
		fieldOf("variation", share(), func(s *plan.Sequences) *float64 { return &s.Variation }, "How far lengths may differ: 0.2 or 20% is from 16 to 24 of 20."),
		fieldOf("first_id", integer[uint64](), func(s *plan.Sequences) *uint64 { return &s.FirstID }, "The first sequence's id; 0: 1."),
		fieldOf("ids", integer[uint64](), func(s *plan.Sequences) *uint64 { return &s.IDs }, "Number of ids before they are reused; 0: 4294967295."),
	), "mapping", func(mode string) (plan.Sequences, error) {
		word := map[string]string{"true": plan.SequencesOn, "false": plan.SequencesOff}[mode]
		return plan.Sequences{Mode: cmp.Or(word, mode)}, nil
	}, schema{"enum": []any{plan.SequencesOn, plan.SequencesOff, true, false}})
}

// inferTensors fills in what follows from tensor data.
func (d *Draft) inferTensors() {
	data := &d.Plan.Data
	if !tensorsSpec().zero(data.Tensors) && !d.Given("data.source") && data.File == "" {
		data.Source = plan.SourceTensors
	}
	if data.Source != plan.SourceTensors {
		return
	}
	if !d.Given("data.input") {
		data.Input = plan.Length{}
	}
	if t := &data.Tensors; len(t.Files) == 0 && t.Fill == "" {
		t.Fill = plan.FillRandom
	}
}

// Bounds of tensor data.
const (
	mostBatch     = 1 << 20
	mostString    = 1 << 30
	mostSequences = 1 << 20
)

func (c *checker) tensors(p *plan.Plan) {
	d, t := &p.Data, &p.Data.Tensors
	const at = "data.tensors"
	if d.Source != plan.SourceTensors {
		if !tensorsSpec().zero(*t) {
			c.lacks(at, "data.source", "cannot be combined with source: "+d.Source, "set source to tensors or leave them out")
		}
		return
	}
	c.without("data.", "data.source", "does not apply to tensors", "leave it out",
		part{"file", d.File != ""}, part{"input", d.Input != plan.Length{}}, part{"output", d.Output != plan.Length{}},
		part{"salt", d.Salt != ""}, part{"ignore_eos", d.IgnoreEOS}, part{"min_tokens", d.MinTokens}, part{"output_cap", d.OutputCap})
	tensorsSpec().check(c, at, t)
	if p.Target.Protocol == plan.ProtocolTFServing {
		if t.Sequences != (plan.Sequences{}) {
			c.lacks(at+".sequences", "target.protocol", "are made for protocol triton alone", "leave them out")
		}
	} else if p.Target.Protocol != plan.ProtocolTriton && (t.Fill != "" || len(t.Shapes) > 0 || t.Batch > 1 || t.Sequences != plan.Sequences{}) {
		c.lacks(at, "target.protocol", "tensors are made for protocols triton and tfserving alone", "set protocol to triton, or give files whose steps have a payload")
	}
	for i, f := range t.Files {
		if f == "" {
			c.add(fmt.Sprintf("%s.files[%d]", at, i), "is empty", "name a file or a directory")
		}
	}
	for i, s := range t.Shapes {
		if !isShape(s) {
			c.add(fmt.Sprintf("%s.shapes[%d]", at, i), truncate.Quote(s)+" is not a shape", "write it as NAME:D1,D2, without the batch dimension")
		}
	}
	c.sequences(at+".sequences", &t.Sequences)
}

func (c *checker) sequences(at string, s *plan.Sequences) {
	if s.Mode == plan.SequencesOff && *s != (plan.Sequences{Mode: plan.SequencesOff}) {
		c.add(at, "has settings but is off", "leave the rest out, or set mode to on")
	}
	if s.Serial && s.Live == 0 {
		c.add(at+".serial", "there is no live", "say how many sequences are under way at a time; without it requests wait for answers anyway")
	}
	if s.IDs > 0 && uint64(s.Live) > s.IDs {
		c.add(at+".ids", fmt.Sprintf("%d ids are too few for %d sequences at a time", s.IDs, s.Live), "")
	}
	if s.FirstID > 0 && s.IDs > 0 && s.FirstID > ^uint64(0)-s.IDs {
		c.add(at+".ids", "ids go beyond 64 bits", "")
	}
}

// isShape reports whether s is NAME:D1,D2 with dimensions from 1.
func isShape(s string) bool {
	at := strings.LastIndexByte(s, ':')
	if at < 1 {
		return false
	}
	for d := range strings.SplitSeq(s[at+1:], ",") {
		if n, err := strconv.ParseInt(strings.TrimSpace(d), 10, 64); err != nil || n < 1 {
			return false
		}
	}
	return true
}
