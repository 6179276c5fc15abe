package pagedata

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/result"
)

// Outline is the part of a document that is laid over others: no single requests, no plan,
// no servers, and curves of at most so many points. What is left of it shares nothing that
// is written to with the document.
func (d *Document) Outline(points int) *Document {
	out := &Document{Version: d.Version, Seed: d.Seed, Bin: d.Bin, Stages: slices.Clone(d.Stages)}
	if d.Result != nil {
		r := *d.Result
		r.Plan, r.Services, r.Notes, r.Gates, r.Capacity = nil, nil, nil, nil, nil
		r.Verdict = result.Verdict{Status: r.Verdict.Status, Valid: r.Verdict.Valid}
		r.Stages = slices.Clone(r.Stages)
		for i := range r.Stages {
			st := &r.Stages[i]
			st.Services, st.Server, st.Targets, st.Models, st.Failures, st.Steady, st.Verdict = nil, nil, nil, nil, nil, nil, nil
		}
		out.Result = &r
	}
	for i := range out.Stages {
		st := &out.Stages[i]
		st.Curves = maps.Clone(st.Curves)
		for name, c := range st.Curves {
			st.Curves[name] = Sides[Curve]{Sent: c.Sent.thin(points), Due: c.Due.thin(points)}
		}
	}
	moved := map[Column]Column{}
	take := func(c *Column) *Column {
		if c == nil {
			return nil
		}
		to, has := moved[*c]
		if !has {
			to = out.Planes.appendColumn(&d.Planes, *c)
			moved[*c] = to
		}
		return &to
	}
	for _, s := range d.Series {
		if place(s.Group) > place(groupITL) || place(s.Group) < 0 || strings.HasPrefix(s.Name, kindPrefix) {
			continue
		}
		c := &s.Column
		s.Column = Columns{T: *take(&c.T), V: take(c.V), Lo: take(c.Lo), Mid: take(c.Mid), Hi: take(c.Hi)}
		out.Series = append(out.Series, s)
	}
	return out
}

// thin leaves every so many of the points of a curve, with its ends, and seven digits of each.
func (c Curve) thin(points int) Curve {
	if c == nil {
		return nil
	}
	stride := max(1, (len(c)+points-1)/max(points, 1))
	var out Curve
	for i, p := range c {
		if i%stride == 0 || i == len(c)-1 {
			out = append(out, [2]float64{p[0], digits(p[1])})
		}
	}
	return out
}

func digits(v float64) float64 {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return v
	}
	unit := math.Pow10(6 - int(math.Floor(math.Log10(math.Abs(v)))))
	if math.IsInf(unit, 0) || unit == 0 {
		return v
	}
	return math.Round(v*unit) / unit
}
