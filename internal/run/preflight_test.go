package run

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/plan"
)

// preflightPlan is a plan of a few requests that one goes ahead of.
func preflightPlan(t *testing.T, url string) *plan.Plan {
	p := closedPlan(t, url, 2, 6)
	p.Target.NoPreflight = false
	return p
}

// What a run would fail of in every request is found by one, which names the address, the
// answer and the models.
func TestPreflightFindsWhatIsWrong(t *testing.T) {
	s := serve(t, func(c *config.Server) { c.Models = []string{"one", "two"} })
	keyed := serve(t, func(c *config.Server) { c.APIKey = "the-right-key" })
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html><title>Welcome</title></html>")
	}))
	defer page.Close()
	for _, tt := range []struct {
		name string
		url  string
		bend func(p *plan.Plan)
		want []string
	}{
		{"model", s.url, func(p *plan.Plan) { p.Target.Model = "nope" },
			[]string{"POST " + s.url + "/v1/chat/completions", "404 Not Found", `does not list model "nope"`, "it serves one, two", "--no-preflight"}},
		{"path", s.url, func(p *plan.Plan) { p.Target.Model, p.Target.Path = "one", "/v2/chat" }, []string{"POST " + s.url + "/v2/chat", "404", "--path"}},
		{"field", s.url, func(p *plan.Plan) { p.Target.Model, p.Target.Body = "one", map[string]any{"no_such_field": 1} }, []string{"400", "--extra"}},
		{"no key", keyed.url, func(p *plan.Plan) { p.Target.Model = "mock" }, []string{"401", "--api-key-env"}},
		{"page", page.URL, func(p *plan.Plan) { p.Target.Model = "m" }, []string{"bad_body", "--protocol"}},
		{"adapter", s.url, func(p *plan.Plan) {
			p.Target.Model, p.Target.Form = "one", plan.FormShaped // whose adapters need not be listed
			p.Data.Adapters = []plan.Adapter{{Name: "two", Share: 0.5}, {Name: "lora", Share: 0.5}}
		}, []string{`"lora"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := preflightPlan(t, tt.url)
			tt.bend(p)
			_, err := Run(t.Context(), p, options(io.Discard))
			var prepare *PrepareError
			if !errors.As(err, &prepare) {
				t.Fatalf("the run went on: %v", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// The request ahead of the run is in no record and no figure, and has a prompt of its own.
func TestPreflightIsNoPartOfTheRun(t *testing.T) {
	var bodies atomic.Pointer[[]string]
	bodies.Store(new([]string))
	s := serve(t, nil)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method == http.MethodPost {
			all := append(*bodies.Load(), string(body))
			bodies.Store(&all)
		}
		req, _ := http.NewRequestWithContext(r.Context(), r.Method, s.url+r.URL.Path, bytes.NewReader(body))
		req.Header = r.Header.Clone()
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		defer resp.Body.Close()
		w.Header().Set("Content-Type", resp.Header.Get("Content-Type"))
		w.WriteHeader(resp.StatusCode)
		_, _ = io.Copy(w, resp.Body)
	}))
	defer front.Close()
	for _, off := range []bool{false, true} {
		bodies.Store(new([]string))
		p := preflightPlan(t, front.URL)
		p.Stages[0].Concurrency = 1
		p.Target.NoPreflight = off
		res := mustRun(t, p)
		sent := *bodies.Load()
		more := 1
		if off {
			more = 0
		}
		if len(sent) != 6+more || res.Stages[0].Counts.Sent != 6 || len(readKept(t, p.Output.Dir).recs) != 6 {
			t.Fatalf("off %v: the server got %d requests, %d are counted and %d kept; want %d, 6, 6", off, len(sent), res.Stages[0].Counts.Sent, len(readKept(t, p.Output.Dir).recs), 6+more)
		}
		if own := strings.Contains(sent[0], "Preflight check of a benchmark"); own == off {
			t.Errorf("off %v: the first request was %s", off, sent[0])
		}
		for _, body := range sent[more:] {
			if strings.Contains(body, "Preflight check of a benchmark") {
				t.Errorf("a request of the run was %s", body)
			}
		}
	}
}

// What may pass is told, and the run is made.
func TestPreflightGoesOnWhereItMayPass(t *testing.T) {
	for _, code := range []int{429, 500, 503} {
		s := serve(t, func(c *config.Server) {
			c.Faults, c.RetryAfter = []config.Fault{{Kind: "status", Code: code, Share: 1}}, 0
		})
		var log lockedBuffer
		p := preflightPlan(t, s.url)
		res, err := Run(t.Context(), p, options(&log))
		if err != nil || res.Stages[0].Counts.Failed != 6 || res.Verdict.Valid {
			t.Fatalf("%d: %v", code, err)
		}
		if said := log.String(); !strings.Contains(said, "warning: the preflight request to "+s.url) || !strings.Contains(said, http.StatusText(code)) {
			t.Errorf("%d: told %q", code, said)
		}
	}
}

// A server that refuses now and then is measured.
func TestPreflightTriesAgain(t *testing.T) {
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n++; r.Method == http.MethodPost && n < 3 {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`)
	}))
	defer s.Close()
	p := preflightPlan(t, s.URL)
	p.Target.Model, p.Target.Streaming, p.Stages[0].Concurrency = "m", false, 1
	if res := mustRun(t, p); res.Stages[0].Counts.OK != 6 {
		t.Errorf("%+v", res.Stages[0].Counts)
	}
}
