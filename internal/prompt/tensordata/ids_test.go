package tensordata

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/prompt"
)

// Where there are few ids, no two sequences have one at a time: who begins takes the next that is
// free, or waits for it.
// differs: pa-few-ids
func TestFewIDs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := source(t, plan.Tensors{Sequences: plan.Sequences{Mode: plan.SequencesOn, FirstID: 100, IDs: 3, Length: 2}}, `{"data": [{"A": [1]}]}`)
		number := 0
		begin := func() (prompt.Late, prompt.Prompt) {
			p := at(t, s, 0, number)
			number++
			if p.Late == nil || p.Rest == nil {
				t.Fatal("a sequence has its id before it begins")
			}
			if err := p.Late.Await(t.Context()); err != nil {
				t.Fatal(err)
			}
			sent, err := p.Late.Prompt()
			if err != nil {
				t.Fatal(err)
			}
			return p.Late, sent
		}
		var under []prompt.Late
		for _, want := range []string{"100:0 [1] start", "101:0 [1] start", "102:0 [1] start"} {
			late, p := begin()
			if got := describe(p); got != want {
				t.Errorf("begins with %s, want %s", got, want)
			}
			if last := describe(*p.Sequence.Last); last != want[:3]+":1 [1] end" {
				t.Errorf("ends with %s", last)
			}
			under = append(under, late)
		}
		begun := make(chan string)
		go func() {
			late, p := begin()
			under[1] = late
			begun <- describe(p)
		}()
		synctest.Wait()
		select {
		case p := <-begun:
			t.Fatalf("%s begins while all ids are in use", p)
		default:
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if s.ids.await(gone) == nil {
			t.Error("who is told to leave stays")
		}
		under[1].End(prompt.Answer{})
		if got := <-begun; got != "101:0 [1] start" {
			t.Errorf("%s goes on with the id that is free", got)
		}
		under[0].End(prompt.Answer{})
		under[2].End(prompt.Answer{})
		if _, p := begin(); p.Sequence.ID != 102 {
			t.Errorf("the fifth sequence has id %d, and 101 is in use", p.Sequence.ID)
		}
		if _, p := begin(); p.Sequence.ID != 100 {
			t.Errorf("the sixth sequence has id %d", p.Sequence.ID)
		}
	})
}
