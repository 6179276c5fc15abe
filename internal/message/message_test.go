package message_test

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/message"
)

// config calls the model by a name of its own, and has no seed.
var config = message.Names{Of: message.Table([][2]string{{"target.model", "server.model_name"}, {"seed", ""}, {"limits", "bounds"}}), Stage: func(i int) string { return fmt.Sprintf("part_%d", i) }}

func TestIn(t *testing.T) {
	for _, tt := range []struct {
		m         message.Message
		own, says string
	}{
		{message.New("100 %%"), "100 %", "100 %"},
		{message.New("name %d with %v", 2, message.Model), "name 2 with --model", "name 2 with server.model_name"},
		{message.New("Give another %v.", message.Seed).Or("Send others to %v.", message.Model), "Give another seed.", "Send others to server.model_name."},
		{message.New("%v", message.Seed).Or("%v %v", message.Model, message.Seed).Or("%s", "neither"), "seed", "neither"},
		{message.New("late%v", message.New(" (%v)", message.Seed).Or("")), "late (seed)", "late"},
		{message.New("late%v", message.New(" (%v)", message.Seed)).Or("never"), "late (seed)", "never"},
		{message.New("late: %v", message.Seed), "late: seed", "late: seed"}, // rather than a hole
		{message.New("beyond %v", message.StreamLimit), "beyond limits.stream", "beyond bounds"},
		{message.New("%v is late", message.Stage(2)), "stage 3 is late", "part_2 is late"},
		{message.New("%v is %q", message.CA, ""), `--ca is ""`, `--ca is ""`}, // the table says nothing of it
	} {
		if own, says := tt.m.String(), tt.m.In(config); own != tt.own || says != tt.says {
			t.Errorf("%q and %q, want %q and %q", own, says, tt.own, tt.says)
		}
	}
}

// An error is worded wherever it is, and what wraps it keeps its words.
func TestError(t *testing.T) {
	made := message.Errorf("reading: %w; name it with %v", fs.ErrNotExist, message.Model)
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
		{message.Errorf("%w (%v)", made, message.Model), worded + " (server.model_name)"},
	} {
		if got := config.Error(tt.err); got.Error() != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if got := config.Error(fmt.Errorf("x: %w", plain)); !errors.Is(got, plain) {
		t.Errorf("%v is another error, though nothing in it is worded", got)
	}
	if config.Error(nil) != nil || !errors.Is((message.Names{}).Error(made), made) {
		t.Error("what needs no words was worded")
	}
}

func TestLog(t *testing.T) {
	var b strings.Builder
	message.Log{To: &b, Names: config}.Printf("taking %s (%v names another)\n", "m", message.Model)
	if want := "taking m (server.model_name names another)\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
}
