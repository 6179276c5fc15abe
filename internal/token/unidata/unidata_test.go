package unidata

import (
	"slices"
	"testing"
	"unicode"
)

func TestAlgebra(t *testing.T) {
	a := []Range{{3, 5}, {10, 20}}
	b := []Range{{4, 12}}
	if got := Union(a, b); !slices.Equal(got, []Range{{3, 20}}) {
		t.Errorf("Union = %v", got)
	}
	if got := And(a, b); !slices.Equal(got, []Range{{4, 5}, {10, 12}}) {
		t.Errorf("And = %v", got)
	}
	if got := Not(Not(a)); !slices.Equal(got, a) {
		t.Errorf("Not(Not) = %v", got)
	}
	for r, want := range map[rune]bool{2: false, 3: true, 5: true, 6: false, 20: true, 21: false} {
		if HasIn(a, r) != want {
			t.Errorf("HasIn(%d) = %v", r, !want)
		}
	}
}

// TestSet compares a set with its ranges, on every character.
func TestSet(t *testing.T) {
	for _, name := range []string{"L", "Cn", "Han", "Any", "InBasicLatin"} {
		ranges, ok := Property(name)
		if !ok {
			t.Fatalf("there is no property %s", name)
		}
		set := NewSet(ranges)
		for r := rune(-2); r <= unicode.MaxRune+2; r++ {
			if set.Has(r) != HasIn(ranges, r) {
				t.Fatalf("%s: Has(%U) = %v", name, r, set.Has(r))
			}
		}
	}
}

// TestTables compares with the standard library where both must agree: on letters of
// ASCII and Latin-1, on what all versions of Unicode have.
func TestTables(t *testing.T) {
	for name, table := range map[string]*unicode.RangeTable{"Lu": unicode.Lu, "Greek": unicode.Greek, "Nd": unicode.Nd, "White_Space": unicode.White_Space} {
		ranges, ok := Property(name)
		if !ok {
			t.Errorf("there is no property %s", name)
		}
		for r := rune(0); r < 0x500; r++ {
			if HasIn(ranges, r) != unicode.Is(table, r) {
				t.Errorf("%s: %U differs from the standard library", name, r)
			}
		}
	}
	if _, ok := Property("no such property"); ok {
		t.Error("there is a property of no name")
	}
	for name, set := range map[string]func() *Set{"space": RustSpace, "word": RegexWord, "space of regex": RegexSpace} {
		if set().Has('a') == set().Has(' ') {
			t.Errorf("%s does not tell a letter from a space", name)
		}
	}
	if got := Lower()['Σ']; got != "σ" {
		t.Errorf("Σ in lower case is %q", got)
	}
	f := NormalForms()
	if f.Compose[[2]rune{'e', 0x301}] != 'é' || f.Canonical['é'] != "e\u0301" || f.Compatibility['ﬁ'] != "fi" || f.Class[0x301] != 230 {
		t.Error("the normal forms do not know é, ﬁ or the acute accent")
	}
	folds := CaseFolds()
	if string(folds.Full['ß']) != "ss" || !slices.ContainsFunc(folds.Groups, func(g []rune) bool { return slices.Contains(g, 'k') && slices.Contains(g, 0x212a) }) {
		t.Error("case folding does not know ß or the Kelvin sign")
	}
	seen := map[rune]int{}
	for i, s := range Scripts() {
		for _, g := range s.Ranges {
			if other, ok := seen[g.Lo]; ok {
				t.Errorf("%U is in the scripts %d and %d", g.Lo, i, other)
			}
			seen[g.Lo] = i
		}
	}
	if g := Graphemes(); !HasIn(g["Extend"], 0x301) || !HasIn(g["ExtPict"], 0x1f600) {
		t.Error("grapheme classes do not know the acute accent or 😀")
	}
}
