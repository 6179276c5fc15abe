package metric

import (
	"fmt"
	"testing"

	"github.com/inferometer/inferometer/internal/record"
)

// TestFinishes: reasons that nobody knows are counted, over folds too, and their number is
// bounded.
func TestFinishes(t *testing.T) {
	var a, b Finishes
	for _, finish := range []string{"stop", "foo", "foo", "abort", "bar"} {
		a.observe(&record.Record{Finish: finish})
	}
	for i := range 100 {
		b.observe(&record.Record{Finish: fmt.Sprint("made up ", i)})
	}
	b.observe(&record.Record{Finish: "foo"})
	a.merge(b)
	sum := int64(0)
	for _, n := range a {
		sum += n
	}
	if a["foo"] != 2 || a["bar"] != 1 || a["abort"] != 0 || sum != 104 || len(a) > mostFinishes+1 || a.List()[0] != OtherFinishes || a.List()[1] != "foo" {
		t.Errorf("%v", a)
	}
}
