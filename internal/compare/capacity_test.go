package compare

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// searched is a side whose runs have found these responses.
func searched(name string, answers ...capacity.Result) Side {
	s := Side{Name: name}
	for i := range answers {
		p := plan.Default()
		p.Target.Model, p.Capacity.Objectives = "org/m", []string{"ttft.p99 < 200ms"}
		if answers[i].Unit == "" {
			answers[i].By, answers[i].Unit = capacity.Rate, "requests/s"
		}
		s.Runs = append(s.Runs, Run{Path: name, Plan: &p,
			Saved: &saved.Run{Plan: &p, Result: &result.Result{Capacity: &answers[i], Verdict: result.Verdict{Valid: true, Status: result.Valid}}}})
	}
	return s
}

func answered(value, lo, hi float64) capacity.Result {
	return capacity.Result{Outcome: capacity.Found, Value: value, Lo: lo, Hi: hi, Sentence: "some words"}
}

func TestCapacities(t *testing.T) {
	always := capacity.Result{Outcome: capacity.Always, Value: 50, Lo: 50}
	never := capacity.Result{Outcome: capacity.Never, Hi: 2}
	flight := answered(20, 18, 22)
	flight.By, flight.Unit = capacity.Concurrency, "requests in flight"
	for _, c := range []struct {
		name    string
		a, b    []capacity.Result
		verdict string
		lo, hi  float64 // of the difference as a share of A; NaN: none
		why     string
	}{
		{"better", []capacity.Result{answered(10, 9.5, 10.5)}, []capacity.Result{answered(20, 19, 21)}, Better, 0.863, 1.147, ""},
		{"worse", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{answered(10, 9.5, 10.5)}, Worse, -0.535, -0.464, ""},
		{"alike", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{answered(20.5, 19.5, 21.5)}, NoneSeen, -0.043, 0.098, ""},
		{"too wide", []capacity.Result{answered(2, 0.5, 12)}, []capacity.Result{answered(1.7, 0.6, 5)}, NotKnown, -0.893, 3.924, "too wide to say"},
		{"nothing holds", []capacity.Result{answered(1, 0, 2)}, []capacity.Result{answered(4, 3, 5)}, Better, 1.586, 4.414, ""},
		{"0 on the first side", []capacity.Result{answered(0, 0, 1)}, []capacity.Result{answered(4, 3, 5)}, Better, math.NaN(), math.NaN(), ""},
		{"at every load", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{always}, Better, math.NaN(), math.NaN(), "by how much is not known: the other side met the objectives at every load that was tried"},
		{"at every load, on the first", []capacity.Result{always}, []capacity.Result{answered(20, 19, 21)}, Worse, math.NaN(), math.NaN(), "by how much is not known"},
		{"at every load, but not so high", []capacity.Result{answered(60, 45, 70)}, []capacity.Result{always}, NotKnown, math.NaN(), math.NaN(), "met the objectives at every load"},
		{"at no load", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{never}, Worse, math.NaN(), math.NaN(), "missed the objectives at every load"},
		{"at no load and at every", []capacity.Result{never}, []capacity.Result{always}, Better, math.NaN(), math.NaN(), "the first side missed the objectives at every load that was tried, the other side met"},
		{"both at every load", []capacity.Result{always}, []capacity.Result{always}, NotKnown, math.NaN(), math.NaN(), "met the objectives"},
		{"no answer", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{{Outcome: capacity.Unknown}}, NotKnown, math.NaN(), math.NaN(), "the other side has no answer"},
		{"an outcome of later versions", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{{Outcome: "something else", Value: 7}}, NotKnown, math.NaN(), math.NaN(), "the other side has no answer"},
		{"other units", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{flight}, NotKnown, math.NaN(), math.NaN(), "one is in requests/s and the other in requests in flight"},
		{"several runs", []capacity.Result{answered(20, 1, 90), answered(20.2, 1, 90), answered(19.8, 1, 90)}, []capacity.Result{answered(25, 1, 90), answered(25.2, 1, 90), answered(24.8, 1, 90)}, Better, 0.227, 0.273, ""},
		{"several on one side", []capacity.Result{answered(20, 19, 21)}, []capacity.Result{answered(25, 24, 26), answered(25.2, 24, 26), answered(24.8, 24, 26)}, Better, 0.18, 0.32, ""},
	} {
		got, err := Make([]Side{searched("a", c.a...), searched("b", c.b...)}, Options{})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		published.Fits(t, got)
		r := got.Capacity.Rows[0]
		if r.Verdict != c.verdict || !strings.Contains(r.Why, c.why) || (r.Why == "") != (c.why == "") {
			t.Errorf("%s: %s, %q", c.name, r.Verdict, r.Why)
		}
		switch known := r.Delta != nil && r.Delta.Interval != nil && r.Delta.Interval.RelativeLo != nil; {
		case known == math.IsNaN(c.lo):
			t.Errorf("%s: %+v", c.name, r.Delta)
		case known && (math.Abs(*r.Delta.Interval.RelativeLo-c.lo) > 0.01 || math.Abs(*r.Delta.Interval.RelativeHi-c.hi) > 0.01):
			t.Errorf("%s: %.3f to %.3f, want %.3f to %.3f", c.name, *r.Delta.Interval.RelativeLo, *r.Delta.Interval.RelativeHi, c.lo, c.hi)
		}
	}
}

// A search and a run that is none have no capacities to compare, and searches for something else are
// not compared.
func TestCapacitiesThatAreNone(t *testing.T) {
	a, b := searched("a", answered(10, 9, 11)), searched("b", answered(10, 9, 11))
	b.Runs[0].Saved.Result.Capacity = nil
	if c, err := Make([]Side{a, b}, Options{}); err != nil || c.Capacity != nil {
		t.Errorf("%+v, %v", c.Capacity, err)
	}
	b = searched("b", answered(10, 9, 11))
	b.Runs[0].Plan.Capacity.Objectives = []string{"ttft.p99 < 500ms"}
	var refused *RefusedError
	if _, err := Make([]Side{a, b}, Options{}); !errors.As(err, &refused) || !strings.HasSuffix(err.Error(), "1 field that matters") {
		t.Errorf("other objectives: %v", err)
	}
	if c, err := Make([]Side{a, b}, Options{Anyway: true}); err != nil || len(c.Plans) != 1 {
		t.Errorf("anyway: %v", err)
	}
}
