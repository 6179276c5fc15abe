package args

import (
	"testing"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenLines(t *testing.T) {
	const file = "target: {urls: 'http://h', body: {a: [1]}}\nstages: [{rate: 5, duration: 5s, warmup: 3}]\ngoodput: {ttft: 1s}\n"
	seeds := [][]string{
		{"http://h:1", "--concurrency", "5", "--duration", "5s", "--input-tokens", "normal:mean=5,stddev=1", "--goodput", "ttft:200ms"},
		{"p.yaml", "--rate=5", "-qH", "a: b", "--stage", "rate=5,requests=3", "--extra", "a={}", "--budget", "cpu=1"},
		{"http://h", "--no-preflight", "--retry-after", "ignore", "--path", "/x?key=k", "--scrape", "http://h/metrics", "--max-errors", "5%"},
	}
	mutate.Lines(t, mutate.Usual/4, seeds, func(args []string) {
		a, err := Run(args, planfile.Known{}, func(string) ([]byte, error) { return []byte(file), nil })
		if err == nil && a.Help == NoHelp && planfile.Validate(a.Plan) != nil {
			t.Errorf("%q: accepted a plan that is not valid: %v", args, planfile.Validate(a.Plan))
		}
		_, _ = Report(args)
		_, _ = Study(args, planfile.Known{})
	})
}
