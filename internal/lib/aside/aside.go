// Package aside keeps what only looks on, such as a display or a report, from ending the program: a
// panic of it is told, and the rest goes on.
package aside

import (
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
)

// Watcher is something that looks on. Once it has panicked it is not called again. It may be called
// from any goroutine; goroutines of its own need a call of Do each.
type Watcher struct {
	name   string
	tell   func(text string)
	failed atomic.Bool
}

// New makes a Watcher. Its name begins a sentence, such as "The live page"; tell is told once that it
// has failed, by the goroutine in which it did, and after what that had locked with defer was unlocked.
func New(name string, tell func(text string)) *Watcher { return &Watcher{name: name, tell: tell} }

// Do has the watcher do something; false: it has failed, now or before.
func (w *Watcher) Do(f func()) (ok bool) {
	if w.failed.Load() {
		return false
	}
	defer w.caught()
	f()
	return true
}

// Func is a function of a watcher; nil where there is none.
func Func[T any](w *Watcher, f func(T)) func(T) {
	if f == nil {
		return nil
	}
	return func(v T) {
		if w.failed.Load() {
			return
		}
		defer w.caught()
		f(v)
	}
}

// caught ends a panic. It is to be deferred itself.
func (w *Watcher) caught() {
	v := recover()
	if v == nil || w.failed.Swap(true) {
		return
	}
	w.tell(explain(w.name, v) + ". It is left out from here on, and all else goes on.")
}

// Call does something beside the rest, and makes an error of a panic. The name begins a sentence.
func Call(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%s", explain(name, v))
		}
	}()
	return f()
}

// explain says what has failed, and where. It is called while the stack of the panic is there.
func explain(name string, v any) string {
	return fmt.Sprintf("%s has failed by a mistake of this program: %v (%s)", name, v, place())
}

// place is the function and line that has panicked: what stands behind the panic itself and the
// runtime's own functions that have raised it.
func place() string {
	pcs := make([]uintptr, 64)
	frames := runtime.CallersFrames(pcs[:runtime.Callers(0, pcs)])
	for panicked := false; ; {
		frame, more := frames.Next()
		own := strings.HasPrefix(frame.Function, "runtime.")
		if panicked && !own {
			return fmt.Sprintf("%s, %s:%d", path.Base(frame.Function), filepath.Base(frame.File), frame.Line)
		}
		panicked = panicked || frame.Function == "runtime.gopanic"
		if !more {
			return "place not known"
		}
	}
}
