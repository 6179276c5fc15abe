package mutate

import (
	"slices"
	"testing"
)

func TestVersionsAreTheSameEveryTime(t *testing.T) {
	seeds := []string{"load: {rate: 5}\nserver: x\n", ""}
	all := func() (texts []string) {
		Try(t, Usual, seeds, func(text string) { texts = append(texts, text) })
		return texts
	}
	first := all()
	if !slices.Equal(first, all()) || len(first) != len(seeds)+Usual {
		t.Error("two rounds differ")
	}
	if !slices.Equal(first[:2], seeds) {
		t.Errorf("the seeds themselves were not tried: %q", first[:2])
	}
	slices.Sort(first)
	if n := len(slices.Compact(first)); n < Usual/2 {
		t.Errorf("only %d different versions", n)
	}
}

// silent notes failures in place of reporting them.
type silent struct {
	testing.TB
	failed bool
}

func (s *silent) Helper()               {}
func (s *silent) Errorf(string, ...any) { s.failed = true }

func TestPanicIsAFailure(t *testing.T) {
	s := &silent{TB: t}
	Try(s, 10, []string{"x"}, func(string) { panic("a reader's") })
	if !s.failed {
		t.Error("a panic went unnoticed")
	}
}

func TestLinesAreWords(t *testing.T) {
	var got [][]string
	Lines(t, 0, [][]string{{"run", "--a b"}}, func(args []string) { got = append(got, args) })
	if len(got) != 1 || !slices.Equal(got[0], []string{"run", "--a b"}) {
		t.Errorf("got %q", got)
	}
}
