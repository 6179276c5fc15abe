package aside

import (
	"errors"
	"strings"
	"sync"
	"testing"
)

func index(list []int, i int) int { return list[i] }

// A watcher that panics is told of once, with the place, and not called again.
func TestWatcher(t *testing.T) {
	var told []string
	w := New("The view", func(text string) { told = append(told, text) })
	calls := 0
	look := Func(w, func(i int) {
		calls++
		index([]int{1}, i)
	})
	look(0)
	if !w.Do(func() { calls++ }) {
		t.Error("it has failed before it did")
	}
	look(3)
	look(0)
	if w.Do(func() { calls++ }) {
		t.Error("a watcher that has failed does more")
	}
	if calls != 3 {
		t.Errorf("%d calls, want 3", calls)
	}
	if len(told) != 1 || !strings.HasPrefix(told[0], "The view has failed by a mistake of this program: runtime error: index out of range [3] with length 1 (aside.index, aside_test.go:") {
		t.Errorf("told %q", told)
	}
	if Func[int](w, nil) != nil {
		t.Error("a function of nobody")
	}
}

// Several goroutines may meet the same fault at a time.
func TestWatcherTellsOnce(t *testing.T) {
	told := make(chan string, 100)
	w := New("It", func(text string) { told <- text })
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() { w.Do(func() { panic("no") }) })
	}
	all.Wait()
	if len(told) != 1 {
		t.Errorf("told %d times", len(told))
	}
}

// What is locked with defer is free again when it is told.
func TestWatcherUnlocks(t *testing.T) {
	var mu sync.Mutex
	free := false
	w := New("It", func(string) { free = mu.TryLock() })
	w.Do(func() {
		mu.Lock()
		defer mu.Unlock()
		panic("no")
	})
	if !free {
		t.Error("it is told while the lock is held")
	}
}

func TestCall(t *testing.T) {
	plain := errors.New("plain")
	if err := Call("It", func() error { return plain }); !errors.Is(err, plain) {
		t.Errorf("%v", err)
	}
	if err := Call("It", func() error { return nil }); err != nil {
		t.Errorf("%v", err)
	}
	var m map[string]int
	err := Call("The page", func() error { m["a"] = 1; return nil })
	if err == nil || !strings.HasPrefix(err.Error(), "The page has failed by a mistake of this program: assignment to entry in nil map (aside.TestCall.func3, aside_test.go:") {
		t.Errorf("%v", err)
	}
}
