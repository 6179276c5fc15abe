package args

import (
	"errors"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenLines(t *testing.T) {
	var seeds [][]string
	for _, c := range flagCases() {
		seeds = append(seeds, append(base(c.release), strings.Fields(c.args)...))
	}
	mutate.Lines(t, mutate.Usual, seeds, func(args []string) {
		if a, err := Parse(args); err == nil && a.Command == Profile && planfile.Validate(a.Plan) != nil {
			t.Errorf("%q: a plan that is not valid: %v", args, planfile.Validate(a.Plan))
		}
	})
}

// tryConfig reads a config file, which may be refused with words.
func tryConfig(t testing.TB, text string) {
	if a, err := withFile(text).Parse([]string{"config", "-f", "c.yaml"}); a == nil && (err == nil || err.Error() == "") {
		t.Errorf("%q: neither an action nor words", text)
	}
}

func TestBrokenConfigFiles(t *testing.T) {
	seeds := []string{TemplateText(true), "model_names: m\nanalyze: {sweep_parameters: {concurrency: [1, 2]}}\n", "a: &a [*a]\ninput: {extra: {a: {1: 2}}}\n"}
	mutate.Try(t, mutate.Usual, seeds, func(text string) { tryConfig(t, text) })
}

// Every value of a config file, and of a file of charts, may be of another kind.
func TestFilesOfOtherKinds(t *testing.T) {
	seeds := []string{TemplateText(true), "model_names: m\nanalyze: {sweep_parameters: {concurrency: [1, 2], request_rate: {start: 1, stop: 8, step: 1}}}\nprocess: {input_path: p}\ninput: {extra: {a: {b: 1}}}\n"}
	mutate.Nodes(t, seeds, func(text string) { tryConfig(t, text) })
	charts := "plot1: {title: t, x_metric: a, y_metric: b, x_label: x, y_label: y, width: 1, height: 1, type: box, paths: [p, q], output: o}\nplot2: {type: scatter}\n"
	mutate.Nodes(t, []string{charts}, func(text string) {
		if a, err := withFile(text).Parse([]string{"compare", "--config", "c.yaml"}); a == nil && (err == nil || err.Error() == "") {
			t.Errorf("%q: neither an action nor words", text)
		}
	})
}

// What the original's parser of flags finds ends it with 2; values that it takes and that
// cannot be meant, with 1.
func TestFaultsOfTheForm(t *testing.T) {
	for line, form := range map[string]bool{
		"--isl -5":                               false,
		"--isl x":                                true,
		"--fixed-schedule false":                 false,
		"--fixed-schedule false --concurrency 2": true,
		"--fixed-schedule true --request-rate 2": true,
		"--fixed-schedule= --concurrency 2":      true,
		"--concurrency 2 --request-rate 2":       true,
	} {
		_, err := Parse(strings.Fields("profile -m m --endpoint-type chat " + line))
		var malformed *UsageError
		if err == nil || errors.As(err, &malformed) != form {
			t.Errorf("%s: %v, of the form: %v", line, err, form)
		}
	}
}
