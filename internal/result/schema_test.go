package result

import (
	"reflect"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/sweep"
	"github.com/inferometer/inferometer/internal/testkit/schema"
)

func TestSchema(t *testing.T) {
	schema.Mirror(t, JSONSchema(), reflect.TypeFor[Result](), reflect.TypeFor[WindowStats](), reflect.TypeFor[level]())
}

// Times of windows are in the units of the document.
func TestUnitsOfWindows(t *testing.T) {
	w := windowOf(&sweep.Window{
		Begin: 2 * time.Second, End: 3 * time.Second, Send: time.Millisecond / 2,
		Latency: sweep.LatencyStats{Avg: 20 * time.Millisecond, Percentiles: []sweep.Percentile{{P: 99, Value: 30 * time.Millisecond}}},
	})
	if w.Begin != 2 || w.End != 3 || w.Send != 0.5 || w.Latency["avg"] != 20 || w.Latency["p99"] != 30 {
		t.Errorf("%+v", w)
	}
}
