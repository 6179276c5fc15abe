package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/inferometer/inferometer/internal/endpoint"
	"github.com/inferometer/inferometer/internal/engine"
	"github.com/inferometer/inferometer/internal/engine/load"
	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/registry"
	"github.com/inferometer/inferometer/internal/token"
	"github.com/inferometer/inferometer/internal/token/chat"
	"github.com/inferometer/inferometer/internal/token/loader"
)

// dataOfAllSources is data of every source. DIR is a directory with its files.
var dataOfAllSources = map[string]string{
	"synthetic":             `{source: synthetic, input: {dist: normal, mean: 9, stddev: 3}, output: {min: 1, max: 9}, salt: request}`,
	"file":                  `{source: file, file: DIR/prompts.txt}`,
	"random":                `{source: random, input: {min: 2, max: 9}, output: {min: 1, max: 9}}`,
	"mock":                  `{source: mock, output: 3}`,
	"dataset":               `{source: dataset, dataset: {kind: sharegpt, path: DIR/sharegpt.json}}`,
	"dataset that goes on":  `{source: dataset, dataset: {kind: sharegpt, path: DIR/sharegpt.json, go_on: true}}`,
	"shared_prefix":         `{source: shared_prefix, shared_prefix: {groups: 3, prompts: 3, prefix: 4, question: {min: 1, max: 5}}, output: {min: 1, max: 9}}`,
	"users of a prefix":     `{source: shared_prefix, shared_prefix: {groups: 3, prompts: 3, prefix: 4, question: {min: 1, max: 5}, multi_turn: true}, output: {min: 1, max: 9}}`,
	"conversation_replay":   `{source: conversation_replay, conversations: {count: 7, shared_prompt: 3, turns: {min: 1, max: 4}, input: {min: 1, max: 5}, tool_latency_ms: 15}, output: {min: 1, max: 9}}`,
	"tensors":               `{source: tensors, tensors: {files: [DIR/steps.json]}}`,
	"sequences":             `{source: tensors, tensors: {files: [DIR/steps.json], sequences: {mode: on, length: 3, variation: 0.5}}}`,
	"live sequences":        `{source: tensors, tensors: {files: [DIR/steps.json], sequences: {mode: on, live: 5, length: 3, variation: 0.5}}}`,
	"live sequences, ids":   `{source: tensors, tensors: {files: [DIR/steps.json], sequences: {mode: on, live: 5, length: 3, variation: 0.5, ids: 7}}}`,
	"live, after answers":   `{source: tensors, tensors: {files: [DIR/steps.json], sequences: {mode: on, live: 5, length: 3, variation: 0.5, serial: true}}}`,
	"payload":               `{source: payload, file: DIR/payload.jsonl}`,
	"payload, lines alone":  `{source: payload, file: DIR/payload.jsonl, payload: {alone: true}}`,
	"sessions":              `{source: sessions, input: 5, output: 3, sessions: {count: 6, turns: {min: 1, max: 3}, delay_ms: 10}}`,
	"endless sessions":      `{source: sessions, input: 5, output: 3, sessions: {turns: {min: 1, max: 3}, delay_ms: 10}}`,
	"system prompt":         `{source: synthetic, input: 5, output: 3, system_prompt: 20}`,
	"trace":                 `{source: trace, file: ../../examples/data/mooncake.jsonl, trace: {speed: 3}}`,
	"sessions of a trace":   `{source: trace, file: ../../examples/data/tracelab.jsonl, trace: {speed: 3000}}`,
	"otel_trace":            `{source: otel_trace, replay: {files: [../prompt/oteltrace/testdata/chain.json, ../prompt/oteltrace/testdata/fan.json]}}`,
	"weka_trace":            `{source: weka_trace, replay: {dir: testdata/weka, max_wait: 1ms}}`,
	"agents":                `{source: agents, agents: {sessions: 2, seed: 4, turns: 1, input: 9, output: 5, loop: 1, events: 4}}`,
	"vllm_bench":            `{source: vllm_bench, vllm_bench: {kind: random, requests: 900, input: 5, output: 3, input_range: 0.5}}`,
	"synthetic, in batches": `{source: synthetic, input: 5, output: 3, batch: 3}`,
}

// allLoads is a load of every shape.
var allLoads = []plan.Stage{
	{Concurrency: 112, Requests: 9, Warmup: plan.Warmup{Requests: 3}},
	{Concurrency: 3, Requests: 8},
	{Concurrency: 4, RampTo: 40, Duration: plan.Duration(10 * time.Hour), Requests: 9},
	{Rate: 50, Requests: 9, Warmup: plan.Warmup{Requests: 3}},
	{Rate: 300, Arrival: plan.ArrivalPoisson, Requests: 9, MaxInFlight: 5},
	{Rate: 50, Arrival: plan.ArrivalGamma, CV: 2, Requests: 9},
	{Rate: 20, RampTo: 200, Duration: plan.Duration(10 * time.Hour), Requests: 9},
	{Arrival: plan.ArrivalIntervals, Intervals: []plan.Duration{1e6, 0, 7e6}, Requests: 9},
	{Arrival: plan.ArrivalTrace, Requests: 9},
	{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Count: 5, Concurrent: 4}},
	{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Count: 5, Rate: 40}},
	{Arrival: plan.ArrivalSessions, Sessions: plan.SessionLoad{Count: 5}},
	{Concurrency: 2, Growth: plan.Growth{To: 10, Step: 2, Responses: 1}},
	{Rate: 50, Duration: plan.Duration(300 * time.Millisecond)}, // in which no response counts
}

// sentRequest is what a server can know of a request.
type sentRequest struct {
	seq           int64
	stage         int
	due           time.Duration // from the stage's begin on; -1: it depends on answers
	hash          uint64
	asked, turn   int
	model, called string
}

// answering is a server that says the same whatever it is asked, and keeps the records.
type answering struct {
	start time.Time
	mu    sync.Mutex
	recs  []*record.Exchange
}

func (a *answering) now() time.Duration                            { return time.Since(a.start) }
func (a *answering) prepare(*prompt.Prompt) (endpoint.Call, error) { return a, nil }
func (a *answering) Blank(int) *record.Exchange                    { return new(record.Exchange) }
func (a *answering) Begin(*record.Exchange)                        {}

func (a *answering) Put(rec *record.Exchange) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.recs = append(a.recs, rec)
}

func (a *answering) Do(_ context.Context, rec *record.Exchange) {
	rec.Sent = a.now()
	if rec.Watch != nil {
		rec.Watch([]byte("data: yes\n\n"))
	}
	<-time.After(10 * time.Millisecond)
	rec.End = a.now()
}

func (a *answering) decode(rec *record.Exchange) {
	rec.Text, rec.Events = []byte("yes"), []record.Event{{Label: record.Content, Text: 3}}
}

// sameCase is a plan, and by how many it is sent, each with prompts of its own.
type sameCase struct {
	plan    *plan.Plan
	workers []prompt.Source
	feeders int
	goesOn  bool // later turns come after answers: the data, not the load, says how many requests there are
}

// promptsOf makes the prompts of a plan, for one process.
func promptsOf(t *testing.T, p *plan.Plan) prompt.Source {
	t.Helper()
	tok := token.Tokenizer(token.Words{})
	if p.Data.Source == plan.SourceVLLM { // which draws from a vocabulary
		var err error
		if tok, err = token.GPT2(); err != nil {
			t.Fatal(err)
		}
	}
	made, err := registry.Offline(func(string) string { return "" }).Prompts(t.Context(), p, &loader.Found{Tokenizer: tok, Chat: &chat.Config{}})
	if err != nil {
		t.Fatal(err)
	}
	return made.Source
}

// load is the i-th of all loads.
func (c sameCase) load(i int, first int64) load.Profile {
	todo := load.NewSpec(c.plan, i, allLoads[i])
	todo.Lanes, todo.Sessions, todo.First = prompt.LanesOf(c.workers[0]), todo.Stage.Sessions.Count, first
	schedule := make([]time.Duration, 19)
	for i := range schedule {
		schedule[i] = time.Duration(i*i) * time.Millisecond
	}
	s := todo.Compile(func() load.Arrivals { return load.Trace(prompt.NewMoments(schedule)) })
	s.Drain = time.Hour
	if s.Growth.Step == 0 && c.goesOn {
		s.Sessions, s.Requests, s.WarmupRequests = 5, 0, 0
	}
	return s
}

// send sends all loads of a plan and gives what was sent, in order.
func (c sameCase) send(t *testing.T) []sentRequest {
	t.Helper()
	all := &answering{start: time.Now()}
	engines := make([]*engine.Engine, len(c.workers))
	for i := range engines {
		engines[i] = engine.New(engine.Config{
			Now: all.now, Source: c.workers[i], Prepare: all.prepare, Decoder: endpoint.Decoder{Decode: all.decode}, Sink: all,
			NewSleeper: load.NewTimerSleeper, Live: engine.NewLive(len(allLoads)), Feeders: c.feeders,
		})
		defer engines[i].Close()
	}
	var list []sentRequest
	var next int64
	for i := range allLoads {
		whole, first := c.load(i, 0), next
		if whole.Lanes > 0 && whole.Sessions > 0 {
			continue // a plan has sessions to play or lanes
		}
		senders := whole.Senders(len(engines))
		for k := range senders {
			mark, err := engines[k].Run(t.Context(), c.load(i, first).Part(load.Shard{Index: k, Of: senders}), nil)
			if err != nil {
				t.Fatal(err)
			}
			next = max(next, engines[k].Next())
			list = append(list, all.taken(&whole, mark.Begin)...)
		}
	}
	slices.SortFunc(list, func(a, b sentRequest) int { return cmp.Compare(a.seq, b.seq) })
	return list
}

// taken is what was sent since it was asked last.
func (a *answering) taken(s *load.Profile, begin time.Duration) []sentRequest {
	var list []sentRequest
	for _, r := range a.recs {
		one := sentRequest{r.Seq, r.Stage, r.Due - begin, r.Prompt, r.RequestedTokens, r.Turn, r.Model, r.Session + "/" + r.Call}
		if s.Arrivals == nil || r.Seq >= prompt.TurnSeq(0, 1) {
			one.due = -1
		}
		if s.Lanes > 0 {
			one.called = "" // a conversation may have the name of one of the stage before
		}
		list = append(list, one)
	}
	a.recs = nil
	return list
}

// Whatever the data and whatever the load, the same requests are sent at the same moments, by any
// number of feeders and workers.
func TestTheSameRequestsWhoeverSendsThem(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"prompts.txt":   "one\ntwo words\nthree words here\n",
		"sharegpt.json": `[{"conversations": [{"from": "human", "value": "a b"}, {"from": "gpt", "value": "c"}]}, {"conversations": [{"from": "human", "value": "d"}, {"from": "gpt", "value": "e f"}]}, {"conversations": [{"from": "human", "value": "g"}, {"from": "gpt", "value": "h"}]}]`,
		"steps.json":    `{"data": [[{"A": [1]}, {"A": [4]}], [{"A": [2]}], [{"A": [3]}]]}`,
		"payload.jsonl": `{"session_id": "a", "text": "one", "output_length": 3}` + "\n" + `{"text": "lonely"}` + "\n" + `{"session_id": "b", "text": "two"}` + "\n" + `{"session_id": "a", "text": "three"}` + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	missing := maps.Clone(registry.Default(os.Getenv).Sources)
	for name, data := range dataOfAllSources {
		p, err := planfile.Decode("plan.yaml", fmt.Appendf(nil, "target: {urls: ['http://localhost'], model: m}\nseed: 7\ntokenizer: words\nstages: [{concurrency: 1, requests: 1}]\ndata: %s", strings.ReplaceAll(data, "DIR", dir)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		p.Data.Adapters = []plan.Adapter{{Name: "a", Share: 0.7}, {Name: "b", Share: 0.3}}
		delete(missing, p.Data.Source)
		t.Run(name, func(t *testing.T) {
			var want []sentRequest
			one := []prompt.Source{promptsOf(t, p)}
			four := []prompt.Source{one[0], one[0], one[0], one[0]}
			for i := range four {
				if prompt.LanesOf(one[0]) > 0 { // others keep nothing
					four[i] = promptsOf(t, p)
				}
			}
			q, err := one[0].Prompt(t.Context(), prompt.Position{})
			if err != nil {
				t.Fatal(err)
			}
			goesOn := q.Rest != nil || q.Play != nil
			for _, c := range []sameCase{{p, one, 1, goesOn}, {p, one, 7, goesOn}, {p, four, 2, goesOn}} {
				synctest.Test(t, func(t *testing.T) {
					got := c.send(t)
					if want == nil {
						want = got
					}
					for i := range want {
						if i >= len(got) || got[i] != want[i] {
							t.Fatalf("%d workers of %d feeders: %d requests of %d, and request %d is not that of one process:\n%+v\n%+v", len(c.workers), c.feeders, len(got), len(want), i, want[i], got[min(i, len(got)-1)])
						}
					}
				})
			}
		})
	}
	for name := range missing {
		t.Errorf("there is no data of source %s", name)
	}
}
