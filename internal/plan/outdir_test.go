package plan_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
)

func TestFilledDir(t *testing.T) {
	at := time.Date(2026, 11, 17, 9, 5, 0, 0, time.FixedZone("", 3600))
	for _, c := range []struct{ dir, model, name, want string }{
		{"results", "m", "n", "results"},
		{"results/{model}/{timestamp}", "meta-llama/Llama-3.1-8B", "", "results/meta-llama-Llama-3.1-8B/20261117T080500Z"},
		{"out-{name}", "m", "first try!", "out-first-try"},
		{"out/{model}", "../x", "", "out/x"},
		{"out/{model}", "..", "", "out/unnamed"},
		{"out/{model}", "", "", "out/unnamed"},
		{"out/{model}", `C:\a/b` + "\x00\n", "", "out/C-a-b"},
		{"out/{model}", "{name}", "n", "out/name"},
		{"out/{model}", "模型", "", "out/unnamed"},
		{"out/{model}", strings.Repeat("a", 500), "", "out/" + strings.Repeat("a", 100)},
	} {
		p := plan.Plan{Name: c.name, Target: plan.Target{Model: c.model}, Output: plan.Output{Dir: c.dir}}
		got := p.FilledDir(at)
		if got != c.want {
			t.Errorf("%q, %q, %q: %q, want %q", c.dir, c.model, c.name, got, c.want)
		}
		if filepath.Clean(got) != got || filepath.Dir(got) != filepath.Dir(c.want) {
			t.Errorf("%q leads elsewhere", got)
		}
	}
	for dir, want := range map[string]string{"a/{model}-{timestamp}": "", "a/{date}": "{date}", "a/{}": "", "a/{Model}": ""} {
		if got := plan.UnknownPlaceholder(dir); got != want {
			t.Errorf("%q: %q, want %q", dir, got, want)
		}
	}
}
