package pagedata

import (
	"slices"
	"strconv"
	"strings"

	"github.com/inferometer/inferometer/internal/record"
)

// mostKinds bounds the kinds of failures that are drawn over time: the last stands for all that come behind.
const mostKinds = 6

// kindPrefix begins the names of series of failures of one kind.
const kindPrefix = "errors_"

// Kind is a kind of failure: its class, and the status where that is what failed.
type Kind struct {
	Class  record.Class
	Status int
}

// String is how a kind is called.
func (k Kind) String() string {
	switch {
	case k == Kind{}:
		return "other failures"
	case k.Status != 0 && k.Class == record.HTTPStatus:
		return "HTTP " + strconv.Itoa(k.Status)
	case k.Status != 0 && k.Class == record.GRPCStatus:
		return "gRPC status " + strconv.Itoa(k.Status)
	}
	return strings.ReplaceAll(string(k.Class), "_", " ")
}

// kind is the place of a failure's kind among those of the run.
func (s *Builder) kind(f *record.Failure) int {
	k := Kind{Class: f.Class, Status: f.Status}
	if i := slices.Index(s.kinds, k); i >= 0 {
		return i
	}
	if len(s.kinds) == mostKinds-1 {
		k = Kind{}
	}
	if len(s.kinds) < mostKinds {
		s.kinds = append(s.kinds, k)
	}
	return len(s.kinds) - 1
}

// fail counts a failure of a kind.
func (b *bin) fail(kind int) {
	b.failed++
	for len(b.kinds) <= kind {
		b.kinds = append(b.kinds, 0)
	}
	b.kinds[kind]++
}
