package build

import (
	"fmt"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
)

// TestUnknownFinish: finish reasons that nobody knows are named and not failed, however many
// a server makes up.
func TestUnknownFinish(t *testing.T) {
	w := healthy()
	w.each(func(i int, r *record.Record) {
		switch {
		case i%4 == 0:
			r.Finish = "foo"
		case i%100 == 1:
			r.Finish = fmt.Sprintf("reason-%d-%s", i, strings.Repeat("x", 100))
		case i%4 == 2:
			r.Finish = "eos_token"
		}
	})
	r := w.build(t)
	if r.Verdict.Status != result.Valid {
		t.Errorf("%s: %v", r.Verdict.Status, r.Verdict.Reasons)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{`Unknown finish reason: "foo" in 500 responses, `, `…" in`, "others. They count as complete."} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %s", want, notes)
		}
	}
	if strings.Contains(notes, "eos_token") || strings.Contains(notes, strings.Repeat("x", 50)) {
		t.Error(notes)
	}
}
