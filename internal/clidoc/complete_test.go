package clidoc

import (
	"slices"
	"strings"
	"testing"

	"github.com/inferometer/inferometer/internal/testkit/mutate"
)

// entriesOf are the commands of a program that does not exist.
func entriesOf() []Entry {
	paint := Command{
		Name: "paint", Takes: PlanFiles, Rest: "brush",
		Groups: []Group{{"Flags", []Flag{
			{Name: "colour", Short: "c", Arg: "NAME", Values: []string{"red", "rose", "blue"}, Help: "colour of the wall (default blue)"},
			{Name: "coats", Arg: "LIST", Values: []string{"base", "top"}, Help: "coats, comma-separated"},
			{Name: "on", Arg: "DIR", Help: "where"}, {Name: "tag", Arg: "TEXT", Help: "a tag, repeatable"},
			{Name: "watch", Arg: "PORT", Optional: true, Help: "watch it dry"}, {Name: "help", Short: "h", Help: "print this help"},
		}}},
	}
	brush := Command{Name: "brush", Verbs: []Verb{{"buy", "a new one"}, {"wash", "an old one"}}, Takes: AnyFile,
		Groups: []Group{{"Flags", []Flag{{Name: "m", Single: true, Arg: "NAME", Help: "maker"}, {Name: "file", Arg: "FILE", Help: "picture"}}}}}
	return []Entry{{"paint", "paint a wall", func() Command { return paint }}, {"brush", "see to brushes", func() Command { return brush }}}
}

func TestComplete(t *testing.T) {
	for line, want := range map[string]string{
		"":                                 ":none",
		"house":                            ":none",
		"house ":                           "paint brush :none",
		"house p":                          "paint :none",
		"house -":                          "--help --version :none",
		"house nothing ":                   ":none",
		"house paint ":                     ":files yaml yml json",
		"house paint --co":                 "--coats --colour :none",
		"house paint --colour ":            "red rose blue :none",
		"house paint --colour r":           "red rose :none",
		"house paint -c r":                 "red rose :none",
		"house paint --colour=r":           "--colour=red --colour=rose :none",
		"house paint --colour red --co":    "--coats :none",
		"house paint --colour --co":        ":none",
		"house paint --coats base,":        "base,base base,top :none",
		"house paint --coats=base,t":       "--coats=base,top :none",
		"house paint --tag a --ta":         "--tag :none",
		"house paint --on ":                ":dirs",
		"house paint --on=":                ":dirs",
		"house paint --tag ":               ":none",
		"house paint --watch ":             ":none",
		"house paint --watch --he":         "--help :none",
		"house paint --watch --colour r":   "red rose :none",
		"house paint --nonsense=":          ":none",
		"house paint --nonsense x --on ":   ":dirs",
		"house paint -- ":                  "buy wash :none",
		"house paint --colour red -- -":    "--file -m :none",
		"house brush -- ":                  ":files",
		"/usr/bin/brush ":                  "buy wash :none",
		"brush.exe w":                      "wash :none",
		"brush x":                          ":files",
		"brush wash ":                      ":files",
		"brush wash -m me --f":             "--file :none",
		"brush wash --file 'a b' --file ":  ":files",
		"house paint --colour 'red' --he":  "--help :none",
		`house paint --colour "red" --he`:  "--help :none",
		`house paint my\ plan.yaml --colo`: "--colour :none",
	} {
		got := Complete(entriesOf(), Split(line, '\\')).String()
		var words []string
		for l := range strings.Lines(got) {
			l = strings.TrimSuffix(l, "\n")
			l, _, _ = strings.Cut(l, "\t")
			words = append(words, l)
		}
		if text := strings.Join(words, " "); text != want {
			t.Errorf("%q: %s, want %s", line, text, want)
		}
	}
}

// Bash replaces what stands behind the last = or : alone.
func TestCompleteWithout(t *testing.T) {
	a := Complete(entriesOf(), []string{"house", "paint", "--colour=r"}).Without("--colour=")
	if len(a.Words) != 2 || a.Words[0].Name != "red" {
		t.Errorf("%v", a)
	}
	if b := a.Without("x"); !slices.Equal(b.Words, a.Words) {
		t.Errorf("%v", b)
	}
}

// A description is a few words of the flag's help.
func TestBrief(t *testing.T) {
	for help, want := range map[string]string{
		"model name (default: the first)": "model name",
		"a time; 0: none":                 "a time",
		strings.Repeat("word ", 30):       strings.TrimSpace(strings.Repeat("word ", 14)) + " …",
	} {
		if got := brief(help); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func FuzzComplete(f *testing.F) {
	for _, s := range []string{"house paint --colour=", "brush -- ''", "house \\", "\"", "a\tb --x="} {
		f.Add(s)
	}
	mutate.Fuzz(f, func(t *testing.T, line string) {
		if a := Complete(entriesOf(), Split(line, '\\')); !strings.Contains(a.String(), ":") {
			t.Errorf("%q: %v", line, a)
		}
	})
}
