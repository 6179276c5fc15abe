// Package jsonreport writes a result as result.json: the whole document,
// indented, with the keys of every map in order, so that two equal results give
// equal bytes.
//
// JSON has no word for "not a number" or infinity. A result that holds one is
// refused with the name of the field: a reader that expects a number must never
// find something else in its place.
package jsonreport

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"

	"inferometer/internal/result"
)

// Write writes r to w as indented JSON. Nothing is written when r cannot be
// encoded.
func Write(w io.Writer, r *result.Result) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(whole(r)); err != nil {
		return explain(r, err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	return nil
}

// whole gives r with every list and table in place: a reader may go through
// them without asking first whether they are there.
func whole(r *result.Result) *result.Result {
	c := *r
	if c.Verdict.Reasons == nil {
		c.Verdict.Reasons = []string{}
	}
	if c.Verdict.Checks == nil {
		c.Verdict.Checks = []result.Check{}
	}
	c.Stages = append([]result.Stage{}, r.Stages...)
	for i := range c.Stages {
		s := &c.Stages[i]
		s.Metrics = filled(s.Metrics)
		s.Tokens.Input, s.Tokens.Output = filled(s.Tokens.Input), filled(s.Tokens.Output)
		s.Targets = slices.Clone(s.Targets)
		for k := range s.Targets {
			s.Targets[k].Metrics = filled(s.Targets[k].Metrics)
		}
		s.Models = slices.Clone(s.Models)
		for k := range s.Models {
			s.Models[k].Metrics = filled(s.Models[k].Metrics)
		}
		if s.Steady != nil {
			steady := *s.Steady
			steady.Metrics = filled(steady.Metrics)
			s.Steady = &steady
		}
	}
	return &c
}

func filled[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

// explain adds to the encoder's complaint the field it is about, which the
// encoder does not tell.
func explain(r *result.Result, err error) error {
	var bad *json.UnsupportedValueError
	if errors.As(err, &bad) {
		if f, v := firstNotFinite(r); f != "" {
			return fmt.Errorf("encode JSON report: %s is %v, which JSON cannot hold: leave the metric out where it has no value", f, v)
		}
	}
	return fmt.Errorf("encode JSON report: %w", err)
}

// firstNotFinite gives the path and value of the first number in r that is
// not finite; an empty path when there is none.
func firstNotFinite(r *result.Result) (string, float64) {
	s := search{}
	s.number("duration_s", r.Duration)
	s.tree("plan", r.Plan)
	for i, c := range r.Verdict.Checks {
		s.number(fmt.Sprintf("verdict.checks[%d] (%s).value", i, c.Name), c.Value)
		s.number(fmt.Sprintf("verdict.checks[%d] (%s).budget", i, c.Name), c.Budget)
	}
	for i := range r.Stages {
		s.stage(fmt.Sprintf("stages[%d]", i), &r.Stages[i])
	}
	return s.path, s.value
}

// search remembers the first number that is not finite.
type search struct {
	path  string
	value float64
}

func (s *search) number(path string, v float64) {
	if s.path == "" && (math.IsNaN(v) || math.IsInf(v, 0)) {
		s.path, s.value = path, v
	}
}

func (s *search) window(path string, w result.Window) {
	s.number(path+".begin_s", w.Begin)
	s.number(path+".end_s", w.End)
}

func (s *search) stage(path string, st *result.Stage) {
	for i, g := range st.Goodput {
		s.number(fmt.Sprintf("%s.goodput[%d] (%s).max_ms", path, i, g.Metric), g.MaxMS)
	}
	s.window(path+".window", st.Window)
	s.metrics(path+".metrics", st.Metrics)
	for i, t := range st.Targets {
		s.metrics(fmt.Sprintf("%s.targets[%d].metrics", path, i), t.Metrics)
	}
	for i, m := range st.Models {
		s.metrics(fmt.Sprintf("%s.models[%d].metrics", path, i), m.Metrics)
	}
	if st.Steady != nil {
		s.window(path+".steady.window", st.Steady.Window)
		s.metrics(path+".steady.metrics", st.Steady.Metrics)
	}
}

func (s *search) metrics(path string, all map[string]result.Stat) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		m, path := all[name], path+"."+name
		s.number(path+".avg", m.Avg)
		if m.Error != nil {
			s.number(path+".error.avg", m.Error.Avg)
			s.number(path+".error.p99", m.Error.P99)
		}
		if m.Spread == nil {
			continue
		}
		d := m.Spread
		s.number(path+".min", d.Min)
		s.number(path+".max", d.Max)
		s.number(path+".std", d.Std)
		s.number(path+".p1", d.P1)
		s.number(path+".p5", d.P5)
		s.number(path+".p10", d.P10)
		s.number(path+".p25", d.P25)
		s.number(path+".p50", d.P50)
		s.number(path+".p75", d.P75)
		s.number(path+".p90", d.P90)
		s.number(path+".p95", d.P95)
		s.number(path+".p99", d.P99)
		s.number(path+".p99.9", d.P999)
	}
}

// tree looks into the plan, which is decoded YAML or JSON.
func (s *search) tree(path string, v any) {
	switch v := v.(type) {
	case float64:
		s.number(path, v)
	case []any:
		for i, e := range v {
			s.tree(fmt.Sprintf("%s[%d]", path, i), e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			s.tree(path+"."+k, v[k])
		}
	}
}
