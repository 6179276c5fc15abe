package message

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
)

// config calls the model by a name of its own, and has no seed.
var config = Names{Of: Table([][2]string{{"target.model", "server.model_name"}, {"seed", ""}, {"limits", "bounds"}}), Stage: func(i int) string { return fmt.Sprintf("part_%d", i) }}

func TestIn(t *testing.T) {
	for _, tt := range []struct {
		m         Message
		own, says string
	}{
		{New("100 %%"), "100 %", "100 %"},
		{New("name %d with %v", 2, Model), "name 2 with --model", "name 2 with server.model_name"},
		{New("Give another %v.", Seed).Or("Send others to %v.", Model), "Give another seed.", "Send others to server.model_name."},
		{New("%v", Seed).Or("%v %v", Model, Seed).Or("%s", "neither"), "seed", "neither"},
		{New("late%v", New(" (%v)", Seed).Or("")), "late (seed)", "late"},
		{New("late%v", New(" (%v)", Seed)).Or("never"), "late (seed)", "never"},
		{New("late: %v", Seed), "late: seed", "late: seed"}, // rather than a hole
		{New("beyond %v", StreamLimit), "beyond limits.stream", "beyond bounds"},
		{New("%v is late", Stage(2)), "stage 3 is late", "part_2 is late"},
		{New("%v is %q", CA, ""), `--ca is ""`, `--ca is ""`}, // the table says nothing of it
	} {
		if own, says := tt.m.String(), tt.m.In(config); own != tt.own || says != tt.says {
			t.Errorf("%q and %q, want %q and %q", own, says, tt.own, tt.says)
		}
	}
}

// An error is worded wherever it is, and what wraps it keeps its words.
func TestError(t *testing.T) {
	made := Errorf("reading: %w; name it with %v", fs.ErrNotExist, Model)
	if !errors.Is(made, fs.ErrNotExist) || made.Error() != "reading: file does not exist; name it with --model" {
		t.Errorf("%v", made)
	}
	const worded = "reading: file does not exist; name it with server.model_name"
	plain := errors.New("plain")
	for _, tt := range []struct {
		err  error
		want string
	}{
		{made, worded},
		{fmt.Errorf("target 1: %w", made), "target 1: " + worded},
		{fmt.Errorf("%w and %w", plain, made), "plain and " + worded},
		{errors.Join(plain, fmt.Errorf("x: %w", made)), "plain\nx: " + worded},
		{Errorf("%w (%v)", made, Model), worded + " (server.model_name)"},
	} {
		if got := config.Error(tt.err); got.Error() != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := config.Error(fmt.Errorf("x: %w", plain)); !errors.Is(got, plain) {
		t.Errorf("%v is another error, though nothing in it is worded", got)
	}
	if config.Error(nil) != nil || !errors.Is((Names{}).Error(made), made) {
		t.Error("what needs no words was worded")
	}
}

func TestLog(t *testing.T) {
	var b strings.Builder
	Log{To: &b, Names: config}.Printf("taking %s (%v names another)\n", "m", Model)
	if want := "taking m (server.model_name names another)\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
