package sharedprefix

import (
	"context"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/prompt/prompttest"
	"github.com/inferometer/inferometer/internal/token"
)

// images are so many at a place of a text.
func images(n, at float64) plan.Media {
	return plan.Media{Image: plan.Images{
		Count: fixed(n), At: plan.Spot{Dist: plan.DistFixed, Mean: at}, Sizes: []plan.Size{{Width: 8, Height: 8}},
	}}
}

// shape is a prompt with P for the shared text, Q for the question and a letter for each image:
// the same for the same bytes. Of a text in two halves either is a dot.
func shape(p prompt.Prompt, prefix string, known map[string]string) string {
	var b strings.Builder
	question := strings.TrimPrefix(strings.TrimPrefix(p.Text, prefix), " ")
	for i := range p.Parts {
		part := &p.Parts[i]
		text := strings.NewReplacer(prefix, "P", prefix[:len(prefix)/2], ".", prefix[len(prefix)/2:], ".", question, "Q").Replace(part.Text)
		if part.Kind == prompt.Text {
			b.WriteString("[" + text + "]")
			continue
		}
		if known[string(part.Data)] == "" {
			known[string(part.Data)] = string(rune('a' + len(known)))
		}
		b.WriteString(known[string(part.Data)])
	}
	return b.String()
}

func TestMedia(t *testing.T) {
	for name, c := range map[string]struct {
		shared, own plan.Media
		want        [3]string // two requests of one prompt, and one of another in its group
	}{
		"none":                  {plan.Media{}, plan.Media{}, [3]string{"", "", ""}},
		"in front":              {images(1, 0), plan.Media{}, [3]string{"a[P Q]", "a[P Q]", "a[P Q]"}},
		"behind the prefix":     {images(2, 1), plan.Media{}, [3]string{"[P]ab[ ][Q]", "[P]ab[ ][Q]", "[P]ab[ ][Q]"}},
		"within the prefix":     {images(1, 0.5), plan.Media{}, [3]string{"[.]a[. Q]", "[.]a[. Q]", "[.]a[. Q]"}},
		"of each request":       {plan.Media{}, images(1, 0), [3]string{"[P][ ]a[Q]", "[P][ ]b[Q]", "[P][ ]c[Q]"}},
		"behind the question":   {plan.Media{}, images(1, 1), [3]string{"[P Q]a", "[P Q]b", "[P Q]c"}},
		"shared, and their own": {images(1, 1), images(1, 0), [3]string{"[P]a[ ]b[Q]", "[P]a[ ]c[Q]", "[P]a[ ]d[Q]"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := plan.Data{Media: c.own, SharedPrefix: plan.SharedPrefix{Groups: 1, Prompts: 2, Prefix: fixed(1), Question: fixed(1),
				Media: c.shared}}
			s := source(t, d, token.Words{}, 1, true)
			known := map[string]string{}
			for i, at := range []uint64{0, 2, 1} {
				p := prompttest.TakeAt(t, s, prompt.Position{I: at}, 1)[0]
				if got := shape(p, s.prefixes[0].text, known); got != c.want[i] {
					t.Errorf("request %d: %s, not %s (%q)", i+1, got, c.want[i], p.Text)
				}
			}
		})
	}
}

// Groups show different things, and a later turn shows the group's no more.
func TestMediaOfGroupsAndTurns(t *testing.T) {
	d := plan.Data{SharedPrefix: plan.SharedPrefix{Groups: 2, Prompts: 1, Prefix: fixed(3), Question: fixed(3), Media: images(1, 0)}}
	s := source(t, d, token.Words{}, 1, true)
	both := prompttest.FirstPrompts(t, s, 2)
	if string(both[0].Parts[0].Data) == string(both[1].Parts[0].Data) {
		t.Error("two groups show the same image")
	}
	// differs: ip-prefix-turns
	d.SharedPrefix.MultiTurn, d.Media = true, images(1, 1)
	s = source(t, d, token.Words{}, 1, true)
	turn(t, s, prompt.Position{}, prompt.Response{Text: "so"})
	p := turn(t, s, prompt.Position{I: 2}, prompt.Response{Text: "so"})
	if len(p.Messages) != 3 || len(p.Messages[0].Parts) != 3 || len(p.Messages[2].Parts) != 2 {
		t.Errorf("%+v", p.Messages)
	}
	if _, err := s.Prompt(context.Background(), prompt.Position{I: 3}); err != nil {
		t.Error(err)
	}
}
