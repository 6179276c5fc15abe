package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestGrowth(t *testing.T) {
	p, err := load("p.yaml", []byte("stages: [{concurrency: 1, growth: {to: 7, step: 2, responses: 5}}]"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan.Stage{Concurrency: 1, Growth: plan.Growth{To: 7, Step: 2, Responses: 5}}, p.Stages[0]); diff != "" {
		t.Error(diff)
	}
	text, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	again, err := load("out", text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Errorf("printed and read again: %s\n%s", diff, text)
	}
}

func TestGrowthFaults(t *testing.T) {
	for text, want := range map[string]string{
		"stages: [{concurrency: 1, growth: {to: 7, step: 4, responses: 5}}]":                               "steps of 4 do not lead from 1 to 7",
		"stages: [{concurrency: 8, growth: {to: 7, step: 1, responses: 5}}]":                               "is 7, less than the concurrency it begins with (8)",
		"stages: [{growth: {to: 7, step: 1, responses: 5}}]":                                               "needs an initial concurrency",
		"stages: [{concurrency: 1, growth: {to: 7, step: 1}}]":                                             "stages[0].growth.responses: must be from 1 to",
		"stages: [{concurrency: 1, growth: {to: 7, responses: 2}}]":                                        "stages[0].growth.step: must be from 1 to",
		"stages: [{concurrency: 1, duration: 5s, growth: {to: 7, step: 1, responses: 5}}]":                 "stages[0].duration: cannot be combined with growth",
		"stages: [{concurrency: 1, warmup: 5, growth: {to: 7, step: 1, responses: 5}}]":                    "stages[0].warmup: cannot be combined with growth",
		"{target: {streaming: false}, stages: [{concurrency: 1, growth: {to: 7, step: 1, responses: 5}}]}": "a request that is not streamed has one",
		"{measurement: {mode: time}, stages: [{concurrency: 1, growth: {to: 7, step: 1, responses: 5}}]}":  "cannot be combined with levels and windows",
		"{levels: {list: [1, 2]}, stages: [{concurrency: 1, growth: {to: 7, step: 1, responses: 5}}]}":     "cannot be combined with levels and windows",
	} {
		if _, err := load("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v, want %q", text, err, want)
		}
	}
}
