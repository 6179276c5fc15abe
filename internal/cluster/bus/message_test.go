package bus

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

type question struct {
	Name string
	Size int
}

type answer struct {
	Share int
	Plan  string
}

func TestAskAndAnswer(t *testing.T) {
	s := serve(t, ServerOptions{})
	worker, coordinator := dial(t, s.URL(), "run"), dial(t, s.URL(), "run")
	stop, err := Answer(coordinator, "join", func(q question) (answer, error) {
		if q.Name == "late" {
			return answer{}, errors.New("the run has\nbegun")
		}
		return answer{Share: len(q.Name), Plan: strings.Repeat(" ", q.Size)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := Ask[answer](limited(t), worker, "join", question{Name: "four"}); err != nil || a.Share != 4 {
		t.Errorf("answer %+v, error %v", a, err)
	}
	var no *Declined
	if _, err := Ask[answer](limited(t), worker, "join", question{Name: "late"}); !errors.As(err, &no) || no.Reason != "the run has\nbegun" {
		t.Errorf("declined: %v", err)
	}
	if _, err := Ask[answer](limited(t), worker, "join", question{Size: maxPayload}); !errors.As(err, &no) || !strings.Contains(no.Reason, "too large") {
		t.Errorf("an answer that is too large: %v", err)
	}
	if _, err := Ask[answer](limited(t), worker, "join", 17); !errors.As(err, &no) {
		t.Errorf("a question of another type: %v", err)
	}
	if _, err := Ask[int](limited(t), worker, "join", question{}); err == nil || !strings.Contains(err.Error(), "read the answer") {
		t.Errorf("an answer of another type: %v", err)
	}
	stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Ask[answer](ctx, worker, "join", question{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody answers: %v", err)
	}
}

// Whoever asks may come first, and whoever answers may wait for others.
func TestBarrier(t *testing.T) {
	s := serve(t, ServerOptions{})
	coordinator := dial(t, s.URL(), "run")
	const workers = 4
	var all sync.WaitGroup
	for range workers {
		b := dial(t, s.URL(), "run")
		all.Go(func() {
			if n, err := Ask[int](limited(t), b, "ready", true); err != nil || n != workers {
				t.Errorf("at the barrier: %d, %v", n, err)
			}
		})
	}
	var here sync.WaitGroup
	here.Add(workers)
	if _, err := Answer(coordinator, "ready", func(bool) (int, error) {
		here.Done()
		here.Wait()
		return workers, nil
	}); err != nil {
		t.Fatal(err)
	}
	all.Wait()
}

func TestTellAndHear(t *testing.T) {
	s := serve(t, ServerOptions{})
	one, other := dial(t, s.URL(), "one"), dial(t, s.URL(), "other")
	heard := make(chan int, 100)
	var mixed []string
	if _, err := Hear(one, "level", func(n int) { heard <- n }); err != nil {
		t.Fatal(err)
	}
	if _, err := Hear(other, "level", func(s string) { mixed = append(mixed, s) }); err != nil {
		t.Fatal(err)
	}
	tell := func(b *Bus, subject string, what any) {
		t.Helper()
		if err := Tell(b, subject, what); err != nil {
			t.Error(err)
		}
	}
	tell(one, "level", "not a number")
	tell(one, "something else", 7)
	for n := range 10 {
		tell(other.Space("one"), "level", n)
	}
	var got []int
	for range 10 {
		got = append(got, <-heard)
	}
	if !slices.IsSorted(got) || got[9] != 9 || len(mixed) > 0 {
		t.Errorf("heard %v, and in the other run %v", got, mixed)
	}
	if err := Tell(one, "level", func() {}); err == nil {
		t.Error("told what JSON has no words for")
	}
}

func TestSignsOfLife(t *testing.T) {
	s := serve(t, ServerOptions{})
	one, other := dial(t, s.URL(), "one"), dial(t, s.URL(), "other")
	p, err := one.Pulse()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	ctx, stop := context.WithCancel(t.Context())
	var all sync.WaitGroup
	all.Go(func() { other.Beat(ctx, "stranger", time.Hour) })
	all.Go(func() { one.Beat(ctx, "node 1.example.com", time.Hour) })
	all.Go(func() { one.Beat(ctx, "w2", time.Millisecond) })
	for _, name := range []string{"node 1.example.com", "w2"} {
		eventually(t, name, func() bool { _, ok := p.Since(name); return ok })
	}
	before, _ := p.last["w2"], 0
	eventually(t, "another beat", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.last["w2"].After(before)
	})
	stop()
	all.Wait()
	if since, ok := p.Since("stranger"); ok || since != 0 {
		t.Error("heard somebody of another run")
	}
	if since, _ := p.Since("w2"); since < 0 {
		t.Errorf("heard %v ago", since)
	}
}
