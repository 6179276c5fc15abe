package args

import (
	"errors"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenLines(t *testing.T) {
	var seeds [][]string
	for _, c := range flagCases() {
		seeds = append(seeds, append(base(c.release), strings.Fields(c.args)...))
	}
	mutate.Lines(t, mutate.Usual, seeds, func(args []string) {
		if a, err := Parse(args); err == nil && a.Command == Profile && plan.Validate(a.Plan) != nil {
			t.Errorf("%q: a plan that is not valid: %v", args, plan.Validate(a.Plan))
		}
	})
}

func TestBrokenConfigFiles(t *testing.T) {
	seeds := []string{TemplateText(true), "model_names: m\nanalyze: {sweep_parameters: {concurrency: [1, 2]}}\n", "a: &a [*a]\ninput: {extra: {a: {1: 2}}}\n"}
	mutate.Try(t, mutate.Usual, seeds, func(text string) {
		if a, err := withFile(text).Parse([]string{"config", "-f", "c.yaml"}); a == nil && (err == nil || err.Error() == "") {
			t.Errorf("%q: neither an action nor words", text)
		}
	})
}

// Values out of bounds are no fault of the form: the original exits with 1.
func TestBoundsAreNoForm(t *testing.T) {
	_, err := Parse(strings.Fields("profile -m m --endpoint-type chat --isl -5"))
	var malformed *UsageError
	if err == nil || errors.As(err, &malformed) {
		t.Errorf("%v, want a fault that is not one of the form", err)
	}
}
