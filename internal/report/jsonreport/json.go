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
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/inferometer/inferometer/internal/result"
)

// Write writes r to w as indented JSON. Nothing is written when r cannot be
// encoded.
func Write(w io.Writer, r *result.Result) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(withDefaults(r)); err != nil {
		return explain(r, err)
	}
	if _, err := w.Write(buf.Bytes()); err != nil {
		return fmt.Errorf("write JSON report: %w", err)
	}
	return nil
}

// withDefaults gives r with every list and table in place: a reader may go through
// them without asking first whether they are there.
func withDefaults(r *result.Result) *result.Result {
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
		if s.Verdict != nil && s.Verdict.Reasons == nil {
			v := *s.Verdict
			v.Reasons = []string{}
			s.Verdict = &v
		}
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
		if path, v := firstNotFinite("", reflect.ValueOf(r)); path != "" {
			return fmt.Errorf("encode JSON report: %s is %v, which JSON cannot hold: leave the metric out where it has no value", path[1:], v)
		}
	}
	return fmt.Errorf("encode JSON report: %w", err)
}

// firstNotFinite gives the path and value of the first number in v that is
// not finite; an empty path when there is none.
func firstNotFinite(path string, v reflect.Value) (string, float64) {
	look := func(more string, v reflect.Value) (string, float64) { return firstNotFinite(path+more, v) }
	switch v.Kind() {
	case reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return path, f
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return look("", v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			if found, f := look(fmt.Sprintf("[%d]", i), v.Index(i)); found != "" {
				return found, f
			}
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			if found, f := look("."+k.String(), v.MapIndex(k)); found != "" {
				return found, f
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			name, _, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
			if name != "" {
				name = "." + name
			}
			if found, f := look(name, v.Field(i)); found != "" {
				return found, f
			}
		}
	}
	return "", 0
}
