package args

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenLines(t *testing.T) {
	var seeds [][]string
	for _, line := range []string{
		"-m m -i grpc --streaming --shape a:1,2 --concurrency-range 1:4:1",
		"-m m --request-rate-range 1.5:9:0.25 -l 10 --binary-search --percentile 99",
		"-m m --sequence-id-range 1:2 --request-parameter a:b:c -H x:y --measurement-interval 500 --stability-percentage 5",
		"-m m --service-kind openai --endpoint v1/chat/completions --input-data f.json --periodic-concurrency-range 1:8:2 --request-period 3",
	} {
		seeds = append(seeds, strings.Fields(line))
	}
	mutate.Lines(t, mutate.Usual, seeds, func(args []string) {
		if a, err := Parse(args, files); err == nil && a.Plan != nil && planfile.Validate(a.Plan) != nil {
			t.Errorf("%q: a plan that cannot be run: %v", args, planfile.Validate(a.Plan))
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add("-m m -i grpc --streaming --shape a:1,2 --concurrency-range 1:4:1")
	f.Add("-m m --request-rate-range 1.5:9:0.25 -l 10 --binary-search --percentile 99")
	f.Add("-mx -va -- -z --shape=:")
	f.Add("-m m --sequence-id-range 1:2 --request-parameter a:b:c -H x")
	mutate.Fuzz(f, func(t *testing.T, line string) {
		a, err := Parse(strings.Fields(line), files)
		if err != nil || a.Plan == nil {
			return
		}
		if err := planfile.Validate(a.Plan); err != nil {
			t.Errorf("a plan that cannot be run: %v", err)
		}
	})
}
