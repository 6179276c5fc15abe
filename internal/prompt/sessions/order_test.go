package sessions

import (
	"testing"

	"github.com/inferometer/inferometer/internal/prompt"
)

// Sessions are numbered as they begin, round after round: those of a name are one, and what has
// none is another each time.
func TestOrder(t *testing.T) {
	names := []string{"a", "b", "", "a", "c", "", "b"}
	turns := make([]turn, len(names))
	for i, name := range names {
		turns[i].prompt = prompt.Prompt{Session: name}
	}
	o := newOrder(turns)
	known, next := map[string]uint64{}, uint64(0)
	for i := range uint64(4 * len(names)) {
		name := names[i%uint64(len(names))]
		want, seen := known[name]
		if !seen {
			want = next
			next++
		}
		if name != "" {
			known[name] = want
		}
		if got := o.session(i); got != want {
			t.Errorf("place %d: session %d, want %d", i, got, want)
		}
	}
}
