package planfile

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// brokenSeeds are good plans.
func brokenSeeds() []string {
	return []string{full, "goodput: ttft:200ms\nmax_errors: {same_failure: false}\ntarget: {preflight: false, retry_after: ignore}\n"}
}

// tryPlan reads a plan, which may be refused but not misread.
func tryPlan(t testing.TB, text string) {
	p, err := load("broken", []byte(text))
	if err != nil {
		return
	}
	out, err := Encode(p)
	if err == nil {
		_, err = Decode("again", out)
	}
	if err != nil {
		t.Errorf("%q: a plan that is printed and not read again: %v", text, err)
	}
}

func TestBrokenPlans(t *testing.T) {
	mutate.Try(t, mutate.Usual, brokenSeeds(), func(text string) { tryPlan(t, text) })
}

// Every value of a plan may be of another kind.
func TestPlansOfOtherKinds(t *testing.T) {
	seeds := brokenSeeds()
	names, err := filepath.Glob("../../../examples/plans/*.yaml")
	if err != nil || len(names) == 0 {
		t.Fatal("no example plans", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		seeds = append(seeds, string(text))
	}
	mutate.Nodes(t, seeds, func(text string) { tryPlan(t, text) })
}
