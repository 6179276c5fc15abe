package planfile

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/plan"
)

// inferTensors fills in what follows from tensor data.
func (d *Draft) inferTensors() {
	data := &d.Plan.Data
	if !unset(&data.Tensors) && !d.Given("data.source") && data.File == "" {
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
		if !unset(t) {
			c.lacks(at, "data.source", "cannot be combined with source: "+d.Source, "set source to tensors or leave them out")
		}
		return
	}
	c.without("data.", "data.source", "does not apply to tensors", "leave it out",
		part{"file", d.File != ""}, part{"input", d.Input != plan.Length{}}, part{"output", d.Output != plan.Length{}},
		part{"salt", d.Salt != ""}, part{"ignore_eos", d.IgnoreEOS}, part{"min_tokens", d.MinTokens}, part{"output_cap", d.OutputCap})
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
		c.add(at+".serial", "there is no live", "give the number of concurrent sequences; without it requests wait for responses anyway")
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
