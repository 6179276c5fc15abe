package metric

import (
	"cmp"
	"maps"
	"slices"

	"github.com/inferometer/inferometer/internal/record"
)

// mostFinishes is how many finish reasons are told apart: a server that makes one up for
// every response has no more names than that.
const mostFinishes = 16

// OtherFinishes stands for the finish reasons beyond those that are told apart.
const OtherFinishes = "…"

// Finishes counts the finish reasons of successful responses that are not known ones.
type Finishes map[string]int64

func (f *Finishes) add(finish string, n int64) {
	if *f == nil {
		*f = Finishes{}
	}
	if _, ok := (*f)[finish]; !ok && len(*f) >= mostFinishes {
		finish = OtherFinishes
	}
	(*f)[finish] += n
}

// observe counts the finish reason of a successful response, if it is unknown.
func (f *Finishes) observe(rec *record.Record) {
	if record.UnknownFinish(rec.Finish) {
		f.add(rec.Finish, 1)
	}
}

func (f *Finishes) merge(o Finishes) {
	for _, finish := range o.List() {
		f.add(finish, o[finish])
	}
}

// List is the finish reasons, the most frequent first.
func (f Finishes) List() []string {
	return slices.SortedFunc(maps.Keys(f), func(a, b string) int { return cmp.Or(cmp.Compare(f[b], f[a]), cmp.Compare(a, b)) })
}
