package gate_test

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/gate"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/sweep/capacity"
)

// TestCapacity: the response of a search is a figure like any other.
func TestCapacity(t *testing.T) {
	found := &capacity.Result{Outcome: capacity.Found, Unit: "requests/s", Value: 20, Lo: 18, Hi: 22}
	most := &capacity.Result{Outcome: capacity.Always, Unit: "requests in flight", Value: 32, Lo: 32}
	never := &capacity.Result{Outcome: capacity.Never, Unit: "requests/s", Hi: 1}
	unknown := &capacity.Result{Outcome: capacity.Unknown, Unit: "requests/s", Sentence: "The capacity is not known: no level was measured."}
	for _, c := range []struct {
		text   string
		answer *capacity.Result
		want   string
	}{
		{"capacity < 15", found, "held 20 requests/s"},
		{"capacity < 19", found, "held 20 requests/s: 19 requests/s lies within its 95 % interval"},
		{"capacity < 21", found, "MISSED 20 requests/s: 21 requests/s lies within its 95 % interval"},
		{"capacity < 25", found, "MISSED 20 requests/s"},
		{"unless capacity > 17", found, "held 20 requests/s (18 requests/s to 22 requests/s)"},
		{"unless capacity > 19", found, "MISSED 20 requests/s (18 requests/s to 22 requests/s): not shown"},
		{"unless capacity > 25", found, "MISSED 20 requests/s (18 requests/s to 22 requests/s)"},
		{"capacity < 30", most, "held 32 requests in flight"},
		{"unless capacity > 30", most, "held 32 requests in flight"},
		{"capacity < 40", most, "MISSED -: capacity is known only to be at least 32 requests in flight: no higher load was tried"},
		{"capacity < 1", never, "MISSED 0 requests/s: the objectives are missed at every load"},
		{"capacity < 1", unknown, "MISSED -: The capacity is not known"},
		{"capacity < 1", nil, "MISSED -: no capacity was searched for"},
	} {
		text, unless := strings.CutPrefix(c.text, "unless ")
		g, err := gate.Read(plan.Condition{Text: text, Unless: unless})
		if err != nil {
			t.Fatal(err)
		}
		list := gate.JudgeAll([]*gate.Gate{g}, &result.Result{Capacity: c.answer})
		got := list[0].Word() + " " + list[0].Found()
		if list[0].Why != "" {
			got += ": " + list[0].Why
		}
		if len(list) != 1 || !strings.HasPrefix(got, c.want) || !strings.Contains(c.want, ":") && got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestCapacityChecked: only a search has a capacity, and only one.
func TestCapacityChecked(t *testing.T) {
	search := plan.Default()
	search.Capacity.Objectives = []string{"ttft.p99 < 200ms"}
	one := plan.Default()
	for _, c := range []struct {
		text string
		plan *plan.Plan
		want string
	}{
		{"capacity < 20", &search, ""},
		{"at rate 3: capacity < 20", &search, "capacity is of the whole search, not of a level (leave \"at …:\" out)"},
		{"capacity < 20", &one, "capacity is not searched for (use inferometer capacity, or capacity in the plan)"},
	} {
		g, err := gate.Parse(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Check(c.plan); (err == nil) != (c.want == "") || err != nil && err.Error() != c.want {
			t.Errorf("%s: %v", c.text, err)
		}
	}
}
