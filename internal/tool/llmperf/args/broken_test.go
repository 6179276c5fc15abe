package args

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenLines(t *testing.T) {
	seeds := [][]string{
		strings.Fields("-u localhost:9001 -i grpc -m ensemble --concurrency 1,4,8 --input-data p.jsonl"),
		strings.Fields("--input-data p.jsonl --measurement-interval 1e3 --output-len 9 --no-streaming"),
	}
	mutate.Lines(t, mutate.Usual, seeds, func(args []string) {
		if a, err := Parse(args, read, exists); err == nil && a.Plan != nil && planfile.Validate(a.Plan) != nil {
			t.Errorf("%q: a plan that cannot be run: %v", args, planfile.Validate(a.Plan))
		}
	})
}
