package tensordata

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
		begin := func() (prompt.DeferredPrompt, prompt.Prompt) {
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
		var under []prompt.DeferredPrompt
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
		under[1].End(prompt.Response{})
		if got := <-begun; got != "101:0 [1] start" {
			t.Errorf("%s goes on with the id that is free", got)
		}
		under[0].End(prompt.Response{})
		under[2].End(prompt.Response{})
		if _, p := begin(); p.Sequence.ID != 102 {
			t.Errorf("the fifth sequence has id %d, and 101 is in use", p.Sequence.ID)
		}
		if _, p := begin(); p.Sequence.ID != 100 {
			t.Errorf("the sixth sequence has id %d", p.Sequence.ID)
		}
	})
}

// As Perf Analyzer counts them, ids of sequences go on from one level to the next.
func TestIDsGoOn(t *testing.T) {
	for _, live := range []int{0, 2} {
		s, err := Exact(plan.Data{Source: plan.SourceTensors,
			Tensors: plan.Tensors{Fill: plan.FillZero, Sequences: plan.Sequences{Mode: plan.SequencesOn, Length: 1, Live: live}}}, 7, false)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for stage := range 3 {
			s.SetStage(stage)
			for i := range 2 {
				p := at(t, s, stage, i)
				if p.Late != nil {
					late := p.Late
					if err := late.Await(t.Context()); err != nil {
						t.Fatal(err)
					}
					if p, err = late.Prompt(); err != nil {
						t.Fatal(err)
					}
					late.End(prompt.Response{})
				}
				got = append(got, p.Sequence.ID)
			}
		}
		if want := []uint64{1, 2, 3, 4, 5, 6}; !slices.Equal(got, want) {
			t.Errorf("with %d sequences in turn the ids of three levels are %v, want %v", live, got, want)
		}
	}
}

// The measured requests begin with the first step, whatever the warm-up came to.
func TestWarmup(t *testing.T) {
	s := source(t, plan.Tensors{}, `{"data": [{"x": [1]}, {"x": [2]}]}`)
	s.Warmup = 3
	got := ""
	for i := range 6 {
		got += values(at(t, s, 0, i)) + " "
	}
	if first, second := values(at(t, s, 0, 0)), values(at(t, s, 0, 1)); got != strings.Repeat(first+" "+second+" "+first+" ", 2) {
		t.Error(got)
	}
}

// A directory is one step, which sequences repeat; a file is a sequence unless it is told how long they are.
func TestSequenceOfDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x"), make([]byte, 4), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Exact(plan.Data{Source: plan.SourceTensors,
		Tensors: plan.Tensors{Files: []string{dir}, Sequences: plan.Sequences{Mode: plan.SequencesOn}}}, 7, false)
	if err != nil {
		t.Fatal(err)
	}
	if q := s.begin(prompt.Position{}); q.length != defaultLength {
		t.Errorf("a sequence of %d requests", q.length)
	}
}
