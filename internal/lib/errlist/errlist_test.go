package errlist_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/inferometer/inferometer/internal/lib/errlist"
)

func TestDistinct(t *testing.T) {
	full, other := errors.New("no space left"), errors.New("no such file")
	both := fmt.Errorf("first %w, then %w", full, other)
	for _, tt := range []struct {
		err  error
		want string
	}{
		{errors.Join(full, errors.Join(other, full), errors.New("no space left")), "no space left\nno such file"},
		{full, "no space left"},
		{errors.Join(both, both, full), "first no space left, then no such file\nno space left"},
	} {
		got := errlist.Distinct(tt.err)
		if got.Error() != tt.want || !errors.Is(got, full) {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if err := errlist.Distinct(errors.Join(nil, nil)); err != nil {
		t.Errorf("nothing became %v", err)
	}
}
