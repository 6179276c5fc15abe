package ci

import (
	"strconv"

	"github.com/inferometer/inferometer/internal/result"
)

// xmlProperties are what else there is to know of a suite, by name.
type xmlProperties struct {
	List []xmlProperty `xml:"property"`
}

type xmlProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// properties are the figures of a search for the capacity.
func properties(r *result.Result) *xmlProperties {
	p := &xmlProperties{}
	for _, f := range r.CapacityFigures() {
		name := "capacity"
		if f.Stat != "value" {
			name += "." + f.Stat
		}
		p.List = append(p.List, xmlProperty{name, strconv.FormatFloat(f.Value, 'f', -1, 64)})
	}
	p.List = append(p.List, xmlProperty{"capacity.unit", r.Capacity.Unit}, xmlProperty{"capacity.outcome", r.Capacity.Outcome})
	return p
}

// searched is the response of a search as a test: it fails where no load meets the objectives, which
// is an objective that is missed.
func searched(r *result.Result) xmlCase {
	text := line(r.Capacity.Sentence)
	c := xmlCase{Name: "capacity", Time: "0", Out: text}
	if r.Capacity.Value == 0 {
		c.Failure = &xmlText{Message: text, Type: "capacity", Text: r.Capacity.Outcome + ": " + text}
	}
	return c
}
