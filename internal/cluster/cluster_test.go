package cluster

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/inferometer/inferometer/internal/cluster/bus"
	"github.com/inferometer/inferometer/internal/mock"
	"github.com/inferometer/inferometer/internal/mock/config"
	"github.com/inferometer/inferometer/internal/mock/truthfile"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/result"
	"github.com/inferometer/inferometer/internal/run"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/run/rundir"
	"github.com/inferometer/inferometer/internal/run/saved"
)

// server is a mock with its truth.
type server struct {
	url   string
	mock  *mock.Server
	mu    sync.Mutex
	truth bytes.Buffer
}

func (s *server) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.truth.Write(p)
}

func serve(t *testing.T) *server {
	t.Helper()
	c := config.Default()
	c.Models = append(c.Models, "a", "b")
	c.Output.Tokens, c.Truth, c.TruthBody = 4, "-", true
	s := &server{}
	var err error
	if s.mock, err = mock.New(c, mock.WithTruth(s)); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.mock.Serve(l) }()
	s.url = "http://" + l.Addr().String()
	t.Cleanup(func() { _ = s.mock.Close() })
	return s
}

// seen is what the server saw: the prompts and lengths asked for, by the number of the request.
func (s *server) seen(t *testing.T) map[string]string {
	t.Helper()
	_ = s.mock.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	all, err := truthfile.Read(&s.truth)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, one := range all {
		if !strings.HasPrefix(one.ID, "inferometer-") {
			continue
		}
		number := one.ID[strings.LastIndexByte(one.ID, '-')+1:]
		if _, twice := out[number]; twice {
			t.Errorf("the server saw request %s twice", number)
		}
		out[number] = string(one.Body)
	}
	return out
}

func planFor(t *testing.T, s *server, text string) *plan.Plan {
	t.Helper()
	p, err := planfile.Decode("plan.yaml", []byte(strings.ReplaceAll(text, "URL", s.url)))
	if err != nil {
		t.Fatal(err)
	}
	p.Target.NoPreflight = true // tests count what the server sees
	return p
}

func options() run.Options {
	return run.Options{Kit: registry.Default(os.Getenv), Version: "test", Log: io.Discard}
}

// change changes what a worker and the coordinator work with.
type change func(w *WorkerOptions, c *Coordinator, o *run.Options)

// together runs a plan with so many workers in this process.
func together(t *testing.T, p *plan.Plan, workers int, first change) (*result.Result, error) {
	t.Helper()
	return through(t, p, workers, first, func(_, address string) string { return address })
}

// through does so where the address at which each finds NATS may be another.
func through(t *testing.T, p *plan.Plan, workers int, first change, route func(name, address string) string) (*result.Result, error) {
	t.Helper()
	server, err := bus.Serve(bus.ServerOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	dial := func(name string) *bus.Bus {
		b, err := bus.Dial(t.Context(), bus.DialOptions{URL: route(name, strings.TrimPrefix(server.URL(), "nats://")), Run: "test-" + t.Name(), Name: name})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	b := dial("coordinator")
	defer b.Close()
	c, err := Open(Options{Bus: b, Workers: workers, Version: "test", Wait: time.Minute, Log: t.Output()})
	if err != nil {
		t.Fatal(err)
	}
	o := options()
	o.Fleet, o.ID = c, b.Run()
	kept := p.Output.Dir + ".workers"
	if p.Output.Dir == "" {
		kept = t.TempDir()
	}
	var all sync.WaitGroup
	for i := range workers {
		name := fmt.Sprint("w", i)
		w := WorkerOptions{Bus: dial(name).Link, Name: name, Dir: filepath.Join(kept, name), Run: options(), Wait: time.Minute, Log: t.Output()}
		if i == 0 && first != nil {
			first(&w, c, &o)
		}
		all.Go(func() {
			defer w.Bus.Close()
			if err := RunWorker(ctx, w); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	res, err := run.Run(t.Context(), p, o)
	if cerr := c.Close(err); cerr != nil {
		t.Error(cerr)
	}
	if err != nil {
		cancel()
	}
	all.Wait()
	return res, err
}

const closedLoop = `
target: {urls: [URL], model: mock}
data: {source: synthetic, input: {dist: normal, mean: 30, stddev: 8}, output: {dist: uniform, min: 1, max: 6}, adapters: [{name: a, share: 0.7}, {name: b, share: 0.3}]}
seed: 7
stages:
  - {concurrency: 8, requests: 300, warmup: {requests: 20}}
  - {rate: 400, arrival: poisson, requests: 100}
`

// The server sees the same requests however many workers there are, and the report has all of
// them.
func TestTheSameRunOnAnyNumberOfWorkers(t *testing.T) {
	var first map[string]string
	dir, earlier := t.TempDir(), "" // a directory of a worker of another run
	for _, workers := range []int{0, 1, 4} {
		t.Run(fmt.Sprint(workers, " workers"), func(t *testing.T) {
			s := serve(t)
			p := planFor(t, s, closedLoop)
			p.Output.Dir = filepath.Join(dir, fmt.Sprint(workers))
			var res *result.Result
			var err error
			if workers == 0 {
				res, err = run.Run(t.Context(), p, options())
			} else {
				res, err = together(t, p, workers, nil)
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range []int64{300, 100} {
				if got := res.Stages[i].Counts; got.OK != want || got.Failed != 0 {
					t.Errorf("stage %d: %+v, want %d", i, got, want)
				}
			}
			again, err := saved.Report(p.Output.Dir)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(res.Stages, again.Stages); d != "" {
				t.Errorf("the report made again differs: %s", d)
			}
			for _, again := range []*result.Result{res, again} {
				ok := int64(0)
				for _, w := range again.Stages[0].Workers {
					if ok += w.Counts.OK; w.Counts.OK == 0 || w.Metrics["request_latency"].Count != w.Counts.OK {
						t.Errorf("worker %s: %+v", w.Name, w)
					}
				}
				if len(again.Stages[0].Workers) != workers || workers > 0 && ok != 300 {
					t.Errorf("%d answers of %d workers", ok, len(again.Stages[0].Workers))
				}
			}
			if workers > 1 {
				merges(t, p.Output.Dir, res, earlier)
			}
			earlier = filepath.Join(p.Output.Dir+".workers", "w0")
			by := map[int]int{}
			if err := rundir.Records(p).Requests(func(rec *record.Record) error { by[rec.Worker]++; return nil }); err != nil {
				t.Fatal(err)
			}
			if want := max(workers, 1); len(by) != want || by[workers] == 0 || workers > 0 && by[0] > 0 {
				t.Errorf("requests by worker: %v", by)
			}
			seen := s.seen(t)
			if len(seen) != 420 {
				t.Errorf("the server saw %d requests", len(seen))
			}
			if first == nil {
				first = seen
			} else if d := cmp.Diff(first, seen); d != "" {
				t.Errorf("not the requests of one process: %s", d)
			}
		})
	}
}

// merges makes the result of a run again from the directories of its workers, and tries some that do not go together.
func merges(t *testing.T, out string, res *result.Result, earlier string) {
	dirs, err := filepath.Glob(filepath.Join(out+".workers", "*"))
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(dirs)
	merged, err := saved.Merge(dirs, nil)
	if err != nil {
		t.Fatal(err)
	}
	// The bars of rates have the bound of the clocks, of which a worker's last word comes after its last stage.
	rates := cmpopts.IgnoreMapEntries(func(name string, _ result.ErrorBar) bool { return name == "avg" })
	for i := range res.Stages {
		if d := cmp.Diff(res.Stages[i].Metrics, merged.Result.Stages[i].Metrics, rates); d != "" || res.Stages[i].Counts != merged.Result.Stages[i].Counts {
			t.Errorf("stage %d as merged from the workers: %s", i, d)
		}
	}
	part, err := saved.Merge(dirs[:2], nil)
	if err != nil || part.Result.Verdict.Valid || !strings.Contains(fmt.Sprint(part.Result.Verdict.Reasons), "The records of 2 workers of 4 are missing: w") {
		t.Errorf("of two workers: %v, %+v", err, part.Result.Verdict.Reasons)
	}
	for want, dirs := range map[string][]string{
		"different runs":                {dirs[0], earlier},
		"both of worker":                {dirs[0], dirs[0]},
		"not the directory of a worker": {dirs[0], out},
		"is not an output directory of": {dirs[0], t.TempDir()},
	} {
		if _, err := saved.Merge(dirs, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q expected: %v", want, err)
		}
	}
}

// answered is what a server said, in a later turn.
var answered = regexp.MustCompile(`"assistant","content":"[^"]*"`)

// Stages with fewer slots or requests than there are workers are sent by some of them, and workers with more slots
// than others send more; the server sees the requests of one process. The turns of a user, after each other's responses, are
// sent by one worker.
func TestStagesTooSmallForAllWorkers(t *testing.T) {
	var first map[string]string
	for _, workers := range []int{0, 3} {
		s := serve(t)
		p := planFor(t, s, `
target: {urls: [URL], model: mock}
data: {source: shared_prefix, shared_prefix: {groups: 2, prompts: 2, prefix: 5, question: 5, multi_turn: true}, output: 3}
seed: 7
stages: [{concurrency: 1, requests: 9}]
levels: {list: [1, 5]}
`)
		p.Output.Dir = filepath.Join(t.TempDir(), "out")
		var res *result.Result
		var err error
		if workers == 0 {
			res, err = run.Run(t.Context(), p, options())
		} else {
			res, err = together(t, p, workers, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range res.Stages {
			if got := res.Stages[i].Counts; got.OK != 9 || got.Sent != 9 {
				t.Errorf("%d workers, stage %d: %+v", workers, i, got)
			}
		}
		if workers > 0 {
			dirs, _ := filepath.Glob(filepath.Join(p.Output.Dir+".workers", "*"))
			merged, err := saved.Merge(dirs, nil)
			if err != nil || len(merged.Result.Stages) != 2 || merged.Result.Stages[0].Counts.OK != 9 || merged.Result.Stages[1].Counts.OK != 9 {
				t.Errorf("as merged from the workers: %v, %+v", err, merged)
			}
		}
		seen := s.seen(t)
		answers := 0
		for number, body := range seen {
			answers += strings.Count(body, `"assistant"`)
			seen[number] = answered.ReplaceAllString(body, "")
		}
		if first == nil {
			first = seen
		} else if d := cmp.Diff(first, seen); d != "" || len(seen) != 18 || answers != 2*(4*1+2) {
			t.Errorf("the server saw %d requests, not those of one process: %s", len(seen), d)
		}
	}
}

// A worker of another version, and one too many, are refused by name. One that asks again gets the place that it has.
func TestRefused(t *testing.T) {
	c := newCoordinator(Options{Bus: bus.NewLink(nil).Bus("test"), Workers: 1, Version: "1", Log: io.Discard})
	if _, err := c.join(joinRequest{Key: "k1", Name: "old", Version: "0"}); err == nil || !strings.Contains(err.Error(), "worker old") || !strings.Contains(err.Error(), "version 0") {
		t.Error(err)
	}
	if _, err := c.join(joinRequest{Name: "a", Version: "1"}); err == nil {
		t.Error("joined without a key")
	}
	for range 2 {
		if p, err := c.join(joinRequest{Key: "k2", Name: "a", Version: "1"}); err != nil || p.Full || len(c.members) != 1 {
			t.Error(p, err)
		}
	}
	if _, err := c.join(joinRequest{Key: "k3", Name: "a", Version: "1"}); err == nil || !strings.Contains(err.Error(), "name a") {
		t.Error(err)
	}
	if p, err := c.join(joinRequest{Key: "k4", Name: "b", Version: "1"}); err != nil || !p.Full {
		t.Error(p, err)
	}
}
