package plan

import (
	"slices"
	"strconv"
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

	// Needs is what must have been read well for this fault to be one; empty: Path.
	Needs string
}

// Error is the fault on one line.
func (f Fault) Error() string {
	var b strings.Builder
	if f.Where != "" {
		b.WriteString(f.Where + ": ")
	}
	// A place on the command line says by itself which field is meant.
	if f.Path != "" && !OnCommandLine(f.Where) {
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

// Sort puts faults in the order of the file. Those of flags come first, as they were found.
func (f Faults) Sort() {
	slices.SortStableFunc(f, func(a, b Fault) int { return slices.Compare(place(a.Where), place(b.Where)) })
}

// place is the line and column of file:line:column; none of a flag.
func place(where string) []int {
	parts := strings.Split(where, ":")
	if len(parts) < 3 {
		return nil
	}
	line, _ := strconv.Atoi(parts[len(parts)-2])
	column, _ := strconv.Atoi(parts[len(parts)-1])
	return []int{line, column}
}

// Err is f as an error, nil when there is none.
func (f Faults) Err() error {
	if len(f) == 0 {
		return nil
	}
	return f
}

// OnCommandLine reports whether a place is a flag or an argument.
func OnCommandLine(where string) bool {
	return strings.HasPrefix(where, "-") || strings.HasPrefix(where, "argument ")
}
