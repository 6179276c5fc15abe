package plan

import (
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

func TestBrokenPlans(t *testing.T) {
	mutate.Try(t, mutate.Usual, []string{full, "goodput: ttft:200ms\nmax_errors: {alike: false}\ntarget: {preflight: false, retry_after: ignore}\n"}, func(text string) {
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
	})
}
