package profileexport

import (
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenExports(t *testing.T) {
	mutate.Try(t, mutate.Usual, []string{sample, strings.ReplaceAll(sample, "openai", "triton")}, func(text string) {
		d, err := Read(strings.NewReader(text))
		if err != nil {
			return
		}
		var rec record.Record
		for _, e := range d.Experiments {
			for i := range e.Requests {
				if d.Record(&rec, &e.Requests[i], d.Base()) == nil {
					FromOpenAI(&rec, 0, e.Requests[i].Inputs)
				}
				d.Prompt(&e.Requests[i])
			}
		}
	})
}
