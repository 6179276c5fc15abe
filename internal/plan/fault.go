package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/message"
)

// Fault is one thing that is wrong with a plan.
type Fault struct {
	Where string // where it was said: "plan.yaml:3:5", "--rate" or "argument 1"; empty: nowhere in particular
	Path  string // the field, such as "stages[0].rate"; empty: the whole plan
	Text  string // what is wrong
	Hint  string // what to do about it; may be empty
	// Args are settings that the hint names, which then is a format.
	Args []any

	// needs is what must have been read well for this fault to be one; empty: Path.
	needs string
}

// Error is the fault on one line.
func (f Fault) Error() string {
	var b strings.Builder
	if f.Where != "" {
		b.WriteString(f.Where + ": ")
	}
	// A place on the command line says by itself which field is meant.
	if f.Path != "" && !onCommandLine(f.Where) {
		b.WriteString(f.Path + ": ")
	}
	b.WriteString(f.Text)
	if hint := f.hint(message.Names{}); hint != "" {
		b.WriteString(" (" + hint + ")")
	}
	return b.String()
}

// hint is what to do about it, in the names of a tool; empty where that lacks what to set.
func (f Fault) hint(n message.Names) string {
	if len(f.Args) == 0 {
		return f.Hint
	}
	return message.New(f.Hint, f.Args...).Or("").In(n)
}

// in is the fault in the names of a tool, at the place where its user has set the field.
func (f Fault) in(n message.Names) Fault {
	f.Hint, f.Args = f.hint(n), nil
	switch {
	case n.Place != nil && f.Where == "":
		f.Where, f.Path = n.Place(f.Path)
	case n.Place == nil && n.Of != nil:
		if flag, _ := n.Of(f.Path); flag != "" && f.Where == "" {
			f.Where, f.Path = flag, ""
		} else if flag != "" {
			f.Path = flag
		}
	}
	return f
}

// Faults is everything that is wrong with a plan.
type Faults []Fault

// Error lists the faults, one on each line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i := range f {
		lines[i] = f[i].Error()
	}
	return strings.Join(lines, "\n")
}

// Worded are the faults in the names of a tool.
func (f Faults) Worded(n message.Names) error {
	out := make(Faults, len(f))
	for i := range f {
		out[i] = f[i].in(n)
	}
	return out
}

// err is f as an error, nil when there is none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// Draft is a plan in the making: what is set so far, where each part of it was
// set, and what was found wrong on the way. Front ends put their flags on top of
// a draft that a file or the defaults began, then call Finish.
type Draft struct {
	Plan   Plan
	Origin map[string]string // path of a field → where it was set, as in Fault.Where
	Faults Faults
	Known  Known

	unreadable bool // the file is no plan at all: there is nothing to check
}

// NewDraft is a draft that holds the defaults.
func NewDraft() *Draft {
	return &Draft{Plan: Default(), Origin: map[string]string{}}
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
	d.Faults = append(d.Faults, Fault{Where: d.where(path), Path: path, Text: text, Hint: hint})
}

// Finish fills in what follows from what was set, checks the whole and returns
// the plan, or every fault there is.
func (d *Draft) Finish() (*Plan, error) {
	d.infer()
	d.zeros()
	faults := d.Faults
	if !d.unreadable {
		for _, f := range check(&d.Plan, d.Known) {
			// A value that could not be read leaves its neighbours looking wrong:
			// only the first cause is worth telling.
			if d.faulty(f.Path) || f.needs != "" && d.faulty(f.needs) {
				continue
			}
			f.Where = d.where(f.Path)
			faults = append(faults, f)
		}
	}
	if err := faults.err(); err != nil {
		return nil, err
	}
	return &d.Plan, nil
}

// where is where path was set, or the part of the plan that holds it.
func (d *Draft) where(path string) string {
	for outer := path; ; {
		w, ok := d.Origin[outer]
		switch {
		case ok && onCommandLine(w) && outer != path:
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
	// Flags set fields one by one: the first that is a part of path will do.
	for _, p := range sortedKeys(d.Origin) {
		if within(p, path) {
			return d.Origin[p]
		}
	}
	return ""
}

// onCommandLine reports whether a place is a flag or an argument.
func onCommandLine(where string) bool {
	return strings.HasPrefix(where, "-") || strings.HasPrefix(where, "argument ")
}

// faulty reports whether a fault already covers path, a part of it, or what it
// is a part of.
func (d *Draft) faulty(path string) bool {
	return slices.ContainsFunc(d.Faults, func(f Fault) bool {
		return f.Path != "" && (within(path, f.Path) || within(f.Path, path))
	})
}

// within reports whether path is outer or a part of it.
func within(path, outer string) bool {
	rest, ok := strings.CutPrefix(path, outer)
	return ok && (outer == "" || rest == "" || rest[0] == '.' || rest[0] == '[')
}

// infer fills in what the user left out and what follows from the rest.
func (d *Draft) infer() {
	p := &d.Plan
	if p.Data.File != "" && !d.Given("data.source") {
		p.Data.Source = SourceFile
	}
	if p.Data.Source == SourceFile && !d.Given("data.input") {
		p.Data.Input = Length{} // the file's prompts have the length they have
	}
	d.inferTensors()
	d.inferSources()
	d.inferSaturation()
	d.inferCapacity()
	d.inferAnthropic()
	d.inferTriton()
	d.inferHTTP()
	d.inferObjectives()
	p.Data.Input = p.Data.Input.complete()
	p.Data.Output = p.Data.Output.complete()
	for i := range p.Stages {
		if s := &p.Stages[i]; s.Rate != 0 && s.Arrival == "" {
			s.Arrival = ArrivalConstant
		}
	}
}

// zeros finds numbers that were said to be 0 where 0 is no load and no end: left
// out they mean the same, so only the draft can tell.
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
