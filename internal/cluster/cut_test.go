package cluster

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/testkit/stallproxy"
)

// Of a worker that is cut off for less than the limit nothing is lost: it goes on meanwhile, and ships its records
// when it can.
func TestShortCut(t *testing.T) {
	s := serve(t)
	p := planFor(t, s, closedLoop[:strings.Index(closedLoop, "stages:")]+"stages: [{concurrency: 6, requests: 2400}]")
	var proxy *stallproxy.Proxy
	var made atomic.Int64
	first := func(w *WorkerOptions, _ *Coordinator, _ *run.Options) {
		w.Run.Prompt = func(*prompt.Prompt) {
			switch made.Add(1) {
			case 500:
				proxy.Hold()
			case 900:
				proxy.Release()
			}
		}
	}
	res, err := through(t, p, 2, first, func(name, address string) string {
		if name != "w0" {
			return address
		}
		proxy = stallproxy.New(t, address)
		return proxy.Address()
	})
	if err != nil {
		t.Fatal(err)
	}
	if c := res.Stages[0].Counts; c.OK != 2400 || c.Failed != 0 || made.Load() != 1200 {
		t.Errorf("%+v, %d of them of the worker that was cut off", c, made.Load())
	}
	if n := len(s.seen(t)); n != 2400 {
		t.Errorf("the server saw %d requests", n)
	}
	if said := fmt.Sprint(res.Verdict); strings.Contains(said, "cut off") {
		t.Error(said)
	}
}
