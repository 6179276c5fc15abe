package planfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
)

// Draft is a plan in the making: what is set, where each part was set, and what is wrong. Front
// ends put flags on top of a file or the defaults, then call Finish.
type Draft struct {
	Plan   plan.Plan
	Origin map[string]string // path of a field → where it was set, as in Fault.Where
	Faults plan.Faults
	Known  Known

	unreadable bool // the file is no plan at all: there is nothing to check
}

// NewDraft is a draft that holds the defaults.
func NewDraft() *Draft {
	return &Draft{Plan: plan.Default(), Origin: map[string]string{}}
}

// Set notes where the field at path was set.
func (d *Draft) Set(path, where string) { d.Origin[path] = where }

// Given reports whether the field at path, or a part of it, was set by the user.
func (d *Draft) Given(path string) bool {
	for p := range d.Origin {
		if within(p, path) {
			return true
		}
	}
	return false
}

// Forget drops what is known about where path and its parts were set.
func (d *Draft) Forget(path string) {
	maps.DeleteFunc(d.Origin, func(p, _ string) bool { return within(p, path) })
}

// Fault adds a fault of the field at path.
func (d *Draft) Fault(path, text, hint string) {
	d.Faults = append(d.Faults, plan.Fault{Where: d.where(path), Path: path, Text: text, Hint: hint})
}

// Finish fills in what follows from what was set, checks it and returns the plan, or all faults.
func (d *Draft) Finish() (*plan.Plan, error) {
	d.infer()
	d.zeros()
	faults := d.Faults
	if !d.unreadable {
		for _, f := range check(&d.Plan, d.Known) {
			// A value that could not be read leaves its neighbours looking wrong: only the first
			// cause counts.
			if d.faulty(f.Path) || f.Needs != "" && d.faulty(f.Needs) {
				continue
			}
			f.Where = d.where(f.Path)
			faults = append(faults, f)
		}
	}
	if len(faults) > 0 {
		faults.Sort()
		return nil, faults
	}
	return &d.Plan, nil
}

// where is where path was set, or the part of the plan that holds it.
func (d *Draft) where(path string) string {
	for outer := path; ; {
		w, ok := d.Origin[outer]
		switch {
		case ok && plan.OnCommandLine(w) && outer != path:
			// A line of a file shows what is meant; a flag must be told.
			return w + ", " + strings.TrimLeft(path[len(outer):], ".")
		case ok:
			return w
		}
		cut := strings.LastIndexAny(outer, ".[")
		if cut < 0 {
			break
		}
		outer = outer[:cut]
	}
	if file, ok := d.Origin[""]; ok {
		return file
	}
	// Flags set fields one by one: the first that is part of path will do.
	for _, p := range sortedKeys(d.Origin) {
		if within(p, path) {
			return d.Origin[p]
		}
	}
	return ""
}

// faulty reports whether a fault already covers path, a part of it, or what it
// is part of.
func (d *Draft) faulty(path string) bool {
	return slices.ContainsFunc(d.Faults, func(f plan.Fault) bool {
		return f.Path != "" && (within(path, f.Path) || within(f.Path, path))
	})
}

func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// infer fills in what the user left out and what follows from the rest.
func (d *Draft) infer() {
	p := &d.Plan
	if p.Data.File != "" && !d.Given("data.source") {
		p.Data.Source = plan.SourceFile
	}
	if p.Data.Source == plan.SourceFile && !d.Given("data.input") {
		p.Data.Input = plan.Length{} // the file's prompts have the length they have
	}
	d.inferTensors()
	d.inferSources()
	d.inferSaturation()
	d.inferCapacity()
	d.inferAnthropic()
	d.inferTriton()
	d.inferHTTP()
	d.inferObjectives()
	p.Data.Input = p.Data.Input.Complete()
	p.Data.Output = p.Data.Output.Complete()
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Rate != 0 && s.Arrival == "" {
			s.Arrival = plan.ArrivalConstant
		}
	}
}

// zeros finds numbers set to 0 where 0 is no load and no end: only the draft tells them from left
// out.
func (d *Draft) zeros() {
	for i := range d.Plan.Stages {
		s := &d.Plan.Stages[i]
		for _, f := range []part{
			{"concurrency", s.Concurrency != 0}, {"rate", s.Rate != 0}, {"cv", s.CV != 0},
			{"max_in_flight", s.MaxInFlight != 0}, {"ramp_to", s.RampTo != 0},
			{"duration", s.Duration != 0}, {"requests", s.Requests != 0},
		} {
			path := fmt.Sprintf("stages[%d].%s", i, f.name)
			if _, said := d.Origin[path]; said && !f.given && !d.faulty(path) {
				d.Fault(path, "must be more than 0", "leave it out if it is not meant")
			}
		}
	}
}

// Known are the names of the protocols and sources that there are. Plans have rules for some.
type Known struct {
	Protocols, Sources []string
	// Gate says what is wrong with a gate and what to do about it; optional.
	Gate func(c plan.Condition, p *plan.Plan) (wrong, hint string)
}

// protocolNames are the protocols that a plan has rules for.
func protocolNames() []string {
	return []string{plan.ProtocolOpenAI, plan.ProtocolAnthropic, plan.ProtocolTriton, plan.ProtocolHTTP, plan.ProtocolTFServing,
		plan.ProtocolTorchServe}
}
