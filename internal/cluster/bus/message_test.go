package bus

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
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
	stop, err := Handle(coordinator, "join", func(q question) (answer, error) {
		if q.Name == "late" {
			return answer{}, errors.New("the run has\nbegun")
		}
		return answer{Share: len(q.Name), Plan: strings.Repeat(" ", q.Size)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if a, err := Request[answer](limited(t), worker, "join", question{Name: "four"}); err != nil || a.Share != 4 {
		t.Errorf("answer %+v, error %v", a, err)
	}
	var no *RemoteError
	if _, err := Request[answer](limited(t), worker, "join", question{Name: "late"}); !errors.As(err, &no) || no.Reason != "the run has\nbegun" {
		t.Errorf("declined: %v", err)
	}
	if _, err := Request[answer](limited(t), worker, "join", question{Size: maxPayload}); !errors.As(err, &no) || !strings.Contains(no.Reason, "too large") {
		t.Errorf("an answer that is too large: %v", err)
	}
	if _, err := Request[answer](limited(t), worker, "join", 17); !errors.As(err, &no) {
		t.Errorf("a question of another type: %v", err)
	}
	if _, err := Request[int](limited(t), worker, "join", question{}); err == nil || !strings.Contains(err.Error(), "read the response") {
		t.Errorf("an answer of another type: %v", err)
	}
	stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := Request[answer](ctx, worker, "join", question{}); !errors.Is(err, context.DeadlineExceeded) {
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
			if n, err := Request[int](limited(t), b, "ready", true); err != nil || n != workers {
				t.Errorf("at the barrier: %d, %v", n, err)
			}
		})
	}
	var here sync.WaitGroup
	here.Add(workers)
	if _, err := Handle(coordinator, "ready", func(bool) (int, error) {
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
	if _, err := Subscribe(one, "level", func(n int) { heard <- n }); err != nil {
		t.Fatal(err)
	}
	if _, err := Subscribe(other, "level", func(s string) { mixed = append(mixed, s) }); err != nil {
		t.Fatal(err)
	}
	tell := func(b *Bus, subject string, what any) {
		t.Helper()
		if err := Publish(b, subject, what); err != nil {
			t.Error(err)
		}
	}
	tell(one, "level", "not a number")
	tell(one, "something else", 7)
	for n := range 10 {
		tell(other.ForRun("one"), "level", n)
	}
	var got []int
	for range 10 {
		got = append(got, <-heard)
	}
	if !slices.IsSorted(got) || got[9] != 9 || len(mixed) > 0 {
		t.Errorf("heard %v, and in the other run %v", got, mixed)
	}
	if err := Publish(one, "level", func() {}); err == nil {
		t.Error("told what JSON has no words for")
	}
}

// A question that is repeated, because its response was late or lost, is carried out once.
func TestRepeatedQuestions(t *testing.T) {
	s := serve(t, ServerOptions{})
	worker, coordinator := dial(t, s.URL(), "run"), dial(t, s.URL(), "run")
	var calls atomic.Int64
	again := make(chan struct{})
	if _, err := Handle(coordinator, "count", func(string) (int64, error) {
		defer func() { <-again }()
		return calls.Add(1), nil
	}); err != nil {
		t.Fatal(err)
	}
	repeated := make(chan struct{}, 100)
	if _, err := worker.conn.Subscribe(worker.subject("ask", "count"), func(*nats.Msg) { repeated <- struct{}{} }); err != nil {
		t.Fatal(err)
	}
	go func() {
		for range 3 {
			<-repeated
		}
		close(again)
	}()
	for want := range int64(2) {
		if n, err := Request[int64](limited(t), worker, "count", "x"); err != nil || n != want+1 {
			t.Errorf("%d, %v: a question was carried out again", n, err)
		}
	}
}

// What is remembered of questions is bounded, and large responses are not kept.
func TestQuestionsAreForgotten(t *testing.T) {
	var a asked
	for i := range asksKept + 10 {
		id := strconv.Itoa(i)
		if _, first := a.begin(id); !first {
			t.Fatalf("question %s was asked before", id)
		}
		a.end(id, &nats.Msg{})
	}
	if len(a.calls) != asksKept || len(a.order) != asksKept {
		t.Errorf("%d answers are kept", len(a.calls))
	}
	if _, first := a.begin("9"); !first {
		t.Error("the oldest are kept")
	}
	a.end("9", &nats.Msg{Data: make([]byte, replyKept+1)})
	if _, known := a.calls["9"]; known {
		t.Error("a large answer is kept")
	}
}
