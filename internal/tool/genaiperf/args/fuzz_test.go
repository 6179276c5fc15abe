package args

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func FuzzParse(f *testing.F) {
	for _, c := range flagCases() {
		f.Add(strings.Join(base(c.release), " ") + " " + c.args)
	}
	for _, c := range faultCases() {
		f.Add(c.args)
	}
	mutate.Fuzz(f, func(t *testing.T, line string) {
		a, err := Parse(strings.Fields(line))
		switch {
		case err != nil && err.Error() == "":
			t.Error("a fault without words")
		case err == nil && a.Command == Profile && planfile.Validate(a.Plan) != nil:
			t.Error("a plan that is not valid:", planfile.Validate(a.Plan))
		}
	})
}
