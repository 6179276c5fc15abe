package prompt

import "testing"

// The numbers of requests tell apart all that belongs to one run.
func TestNumbers(t *testing.T) {
	seen := map[int64]string{}
	look := func(n int64, what string) {
		if other, ok := seen[n]; ok || n < 0 {
			t.Errorf("%s has the number %d, which is that of %q", what, n, other)
		}
		seen[n] = what
	}
	for _, first := range []int64{0, 1, 2, 1<<turnShift - 1} {
		for _, turn := range []int{0, 1, 2, 1<<12 - 1, 1 << 12, 1<<20 + 1} {
			n := TurnSeq(first, turn)
			if turn == 0 && n != first {
				t.Errorf("request %d has the number %d", first, n)
			}
			look(n, "a request")
			look(Ending(n), "the end of a request")
		}
	}
}

// Requests go to the servers in turn, and so do the turns of a conversation.
func TestSpread(t *testing.T) {
	for first := range int64(5) {
		for turn := range 5 {
			p := Prompt{Seq: TurnSeq(first, turn)}
			if got, want := p.Spread(3), (int(first)+turn)%3; got != want {
				t.Errorf("turn %d of request %d goes to server %d, want %d", turn, first, got, want)
			}
		}
	}
}

func TestKept(t *testing.T) {
	k := NewKept(3, Salt{})
	if k.Get(1) != nil || k.Get(3) != nil {
		t.Error("a prompt is kept before it was made")
	}
	k.Put(1, Prompt{Text: "a"})
	k.Put(3, Prompt{Text: "b"})
	if p := k.Get(1); p == nil || p.Text != "a" {
		t.Errorf("kept %+v", p)
	}
	if k.Get(3) != nil {
		t.Error("a prompt beyond the pool is kept")
	}
	if NewKept(mostKept+1, Salt{}) != nil || NewKept(3, NewSalt("request", 1)) != nil {
		t.Error("too many prompts are kept, or salted ones")
	}
}
