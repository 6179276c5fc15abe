package jsonscan

import (
	"fmt"
	"strings"
	"testing"
)

// A key is taken for no other, whatever its length, and where in the text it stands.
func TestKeysOfAllLengths(t *testing.T) {
	type seen struct{ which string }
	for n := 1; n <= 24; n++ {
		name := strings.Repeat("n", n)
		names := []string{name}
		for i := range n { // each differs in one letter
			names = append(names, name[:i]+"m"+name[i+1:])
		}
		list := []Member[seen]{{Name: "first", Read: func(s *Scanner, _ *seen) { s.Skip() }}}
		for _, name := range names {
			list = append(list, Member[seen]{Name: name, Read: func(s *Scanner, to *seen) { to.which += name + "=" + string(s.Quoted()) + ";" }})
		}
		table := NewMembers(list...)
		for _, behind := range []string{"", `,"tail":"` + strings.Repeat(" ", 32) + `"`} {
			var order Order
			for range 2 {
				for _, name := range append(names, names[0]) {
					var s Scanner
					s.Reset(fmt.Appendf(nil, `{"first":0,"%s":"v"%s}`, name, behind))
					var got seen
					table.Read(&s, &order, &got)
					if !s.End() || got.which != name+"=v;" {
						t.Errorf("%s%s: %q, %v", name, behind, got.which, s.Err())
					}
				}
			}
		}
	}
}

// An array of one number is taken whole, and anything else not at all.
func TestOnlyInt(t *testing.T) {
	for text, want := range map[string]int64{
		"[0]": 0, "[7]": 7, "[-12]": -12, "[123456789012345678]": 123456789012345678, "[12345678]": 12345678,
		"[]": -1, "[1,2]": -1, "[1": -1, "[ 1]": -1, "[1 ]": -1, "[1.5]": -1, "[1e3]": -1, "[01]": -1, "[null]": -1, "[-]": -1,
		"[1234567890123456789]": -1, "1]": -1, "": -1, `["1"]`: -1, "[1}": -1,
	} {
		var s Scanner
		s.Reset([]byte(text))
		n, ok := s.OnlyInt()
		taken := 0
		if ok {
			taken = len(text)
		}
		if ok != (want != -1) || ok && n != want || s.Pos() != taken || s.Err() != nil {
			t.Errorf("%s: %d, %v, %d bytes taken, %v", text, n, ok, s.Pos(), s.Err())
		}
	}
	var s Scanner
	s.Reset([]byte(`{"a":[5],"b":6}`)) // what follows is read as ever
	s.Object()
	for name, ok := s.Key(); ok; name, ok = s.Key() {
		if n, only := s.OnlyInt(); only && n != 5 || !only && s.Int() != 6 {
			t.Errorf("%s: %d, %v", name, n, only)
		}
	}
	if !s.End() {
		t.Error(s.Err())
	}
}
