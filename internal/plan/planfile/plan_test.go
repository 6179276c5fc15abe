package planfile

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

const second = plan.Duration(time.Second)

// full is a plan that says everything.
const full = `
version: 1
name: nightly
seed: 18446744073709551615
target:
  urls: [http://a:8000, https://b:8443/base]
  protocol: openai
  endpoint: completions
  path: /v1/other
  model: m
  streaming: false
  headers: {X-Team: blue, X-Number: 7}
  api_key: {env: KEY}
  body: {temperature: 0.5, stop: [a, b], logit_bias: {50256: -100}, top_k: 40, deep: {x: null, y: true}}
  tls: {ca: ca.pem, cert: c.pem, key: k.pem}
  http2: true
  timeouts: {connect: 0, first_byte: 2s, stall: 1.5s, request: 1m30s}
  retries: {count: 3, backoff: 250ms}
data:
  prompts: 10
  input: {dist: lognormal, mean: 550, stddev: 50, min: 10, max: 900}
  output: 100-200
  ignore_eos: true
  min_tokens: true
  salt: stage
tokenizer: words
stages:
  - {name: one, concurrency: 8, ramp_to: 16, warmup: 5s, duration: 30s, requests: 1e3}
  - {rate: 12.5, arrival: gamma, cv: 2, max_in_flight: 500, warmup: 100, requests: 2000, gap: 5s}
  - {rate: 50, duration: 1m, warmup: {duration: 1s, requests: 5}}
drain: 0
grace: 7s
goodput: {ttft: 200ms, request_latency: 2s}
max_errors: 5%
budgets: {dispatch_delay: 2ms, dispatch_delay_share: 2%, cpu: 90%, gc: 0, achieved: 0.5,
  token_drift: 1, short_output: 100%, clock_step: 0, start_skew: 7ms, clock_bound: 1s, resent: 3%, drift: 0.25,
  failures: 2%, unfinished: 3%, in_flight: 90%, client_stalled: 10%, client_longest_stall: 2s, cache_hit: 30%, prefix_cache_hits: 50%}
limits: {response: 2GiB, stream: 0, event: 0, header: 0, raw: 1000, file: 0, record: 0, tokenizer: 0, expansion: 2.5, template: 0, steps: 7, download: 0}
output: {dir: out, keep_raw: true}
`

func fullPlan() *plan.Plan {
	return &plan.Plan{
		Version: 1, Name: "nightly", Seed: 18446744073709551615,
		Target: plan.Target{
			URLs: []string{"http://a:8000", "https://b:8443/base"}, Protocol: "openai", Endpoint: "completions",
			Path: "/v1/other", Model: "m", Headers: map[string]string{"X-Team": "blue", "X-Number": "7"},
			APIKey: plan.Secret{Env: "KEY"},
			Body: map[string]any{
				"temperature": 0.5, "stop": []any{"a", "b"}, "logit_bias": map[string]any{"50256": -100}, "top_k": 40,
				"deep": map[string]any{"x": nil, "y": true},
			},
			TLS: plan.TLS{CA: "ca.pem", Cert: "c.pem", Key: "k.pem"}, HTTP2: true,
			Timeouts: plan.Timeouts{FirstByte: 2 * second, Stall: 3 * second / 2, Request: 90 * second},
			Retries:  plan.Retries{Count: 3, Backoff: second / 4},
		},
		Data: plan.Data{
			Source: "synthetic", Prompts: 10,
			Input:     plan.Length{Dist: "lognormal", Mean: 550, Stddev: 50, Min: 10, Max: 900},
			Output:    plan.Length{Dist: "uniform", Min: 100, Max: 200},
			IgnoreEOS: true, MinTokens: true, Salt: "stage",
		},
		Tokenizer: plan.Tokenizer{Name: "words"},
		Stages: []plan.Stage{
			{Name: "one", Concurrency: 8, RampTo: 16, Warmup: plan.Warmup{Duration: 5 * second}, Duration: 30 * second, Requests: 1000},
			{Rate: 12.5, Arrival: "gamma", CV: 2, MaxInFlight: 500, Warmup: plan.Warmup{Requests: 100}, Requests: 2000, Gap: 5 * second},
			{Rate: 50, Arrival: "constant", Duration: 60 * second, Warmup: plan.Warmup{Duration: second, Requests: 5}},
		},
		Grace:     7 * second,
		Goodput:   []plan.SLO{{Metric: "time_to_first_token", Max: second / 5}, {Metric: "request_latency", Max: 2 * second}},
		MaxErrors: plan.MaxErrors{Share: 0.05},
		Budgets: plan.Budgets{
			Lag: second / 500, LagShare: 0.02, CPU: 0.9, Achieved: 0.5,
			TokenDrift: 1, ShortOutput: 1, StartSkew: 7 * second / 1000, ClockBound: second, Resent: 0.03, Error: 0.05, Drift: 0.25,
			Failures: 0.02, Unfinished: 0.03, InFlight: 0.9, Standstill: 0.1, Pause: 2 * second, CacheHit: 0.3, Cached: 0.5,
		},
		Limits: plan.Limits{Answer: 2 << 30, Raw: 1000, Expansion: 2.5, Steps: 7},
		Output: plan.Output{Dir: "out", KeepRaw: true},
	}
}

func TestDecodeEverything(t *testing.T) {
	got, err := load("plan.yaml", []byte(full))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(fullPlan(), got); diff != "" {
		t.Error(diff)
	}
}

func TestDefaultIsValid(t *testing.T) {
	p := plan.Default()
	if err := Validate(&p); err != nil {
		t.Error(err)
	}
	got, err := Decode("x", []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&p, got); diff != "" {
		t.Errorf("an empty plan is not the default: %s", diff)
	}
}

// TestRoundTrip prints plans and reads them back, among them one whose fields are
// zero where the defaults are not.
func TestRoundTrip(t *testing.T) {
	bare := plan.Default()
	bare.Target.Streaming = false
	bare.Target.Timeouts = plan.Timeouts{}
	bare.Drain = 0
	bare.Budgets = plan.Budgets{}
	bare.Tokenizer = plan.Tokenizer{}
	bare.Target.Protocol, bare.Target.Endpoint, bare.Version = "", "", 0
	file := plan.Default()
	file.Data = plan.Data{Source: "file", File: "p.jsonl"}
	def := plan.Default()
	unseeded := plan.Default()
	unseeded.DrawSeed = true
	if out, err := Encode(&unseeded); err != nil || bytes.Contains(out, []byte("seed")) {
		t.Errorf("a plan whose seed is drawn names one: %s, %v", out, err)
	}
	for _, p := range []*plan.Plan{fullPlan(), &bare, &file, &def} {
		out, err := Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode("out", out)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Errorf("%s\n%s", diff, out)
		}
	}
}

func TestJSONIsYAML(t *testing.T) {
	p, err := load("p.json", []byte(`{"target": {"urls": ["http://h"], "streaming": false}, "stages": [{"rate": 5, "duration": "2s"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if p.Stages[0].Rate != 5 || p.Stages[0].Duration != 2*second || p.Target.URLs[0] != "http://h" || p.Target.Streaming {
		t.Errorf("got %+v", p)
	}
}

func TestFileSourceIsInferred(t *testing.T) {
	p, err := load("p", []byte("data: {file: prompts.jsonl}\ntarget: {endpoint: embeddings}"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan.Data{Source: "file", File: "prompts.jsonl"}, p.Data); diff != "" {
		t.Error(diff)
	}
	if p.Target.Streaming {
		t.Error("embeddings stream")
	}
}

func TestSecretsStayOut(t *testing.T) {
	p := plan.Default()
	p.Target.URLs = []string{"http://user:hunter2@host:8000/v1?api-key=abc123&max_tokens=5", "http://plain:1/?a=b"}
	p.Target.Headers = map[string]string{
		"Authorization": "Bearer abc123", "x-api-key": "abc123", "Cookie": "abc123", "X-Access-Token": "abc123",
		"X-Plain": "sk-abc123", "X-Team": "blue", "Proxy-Authorization": "abc123", "X-Auth": "abc123",
	}
	p.Target.Body = map[string]any{
		"api_key": "abc123", "max_tokens": 5, "nested": []any{map[string]any{"password": "abc123", "note": "Bearer abc123"}}, "stop_token_ids": []any{1},
	}
	before := p.Target.Headers["Authorization"]
	out, err := Encode(&p)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"abc123", "hunter2"} {
		if strings.Contains(string(out), secret) {
			t.Errorf("%s is in the printed plan:\n%s", secret, out)
		}
	}
	for _, kept := range []string{"X-Team: blue", "max_tokens: 5", "http://plain:1/?a=b", "stop_token_ids"} {
		if !strings.Contains(string(out), kept) {
			t.Errorf("%s is missing:\n%s", kept, out)
		}
	}
	if p.Target.Headers["Authorization"] != before || p.Target.Body["api_key"] != "abc123" {
		t.Error("the plan itself was changed")
	}
	echo := Echo(&p).(map[string]any)["target"].(map[string]any)["headers"].(map[string]any)
	if echo["Authorization"] != plan.Hidden || echo["X-Team"] != "blue" {
		t.Errorf("echo has %v", echo)
	}
	again, err := Decode("out", out)
	if err != nil {
		t.Fatal(err)
	}
	if err := Validate(again); err == nil || !strings.Contains(err.Error(), "taken out") {
		t.Errorf("a plan without its secrets validates: %v", err)
	}
}

func TestPut(t *testing.T) {
	d := NewDraft()
	d.Put("stages[0].rate", "--rate", "50")
	d.Put("stages[0].concurrency", "--concurrency", "0")
	d.Put("stages[1].warmup", "--stage", "100")
	d.Put("stages[1].duration", "--stage", "soon")
	d.Put("stages[7].rate", "--stage", "1")
	d.Put("stages[1].durration", "--stage", "1s")
	d.Put("data.input", "--input-tokens", "100-200")
	d.Put("target.model", "--model", "null")
	d.Put("target.urls", "argument 1", "http://h")
	d.Put("target.timeouts.request", "--timeout", "5s")
	d.Put("target.model.x", "--x", "5s")
	want := plan.Default()
	want.Stages[0].Rate, want.Stages[0].Concurrency = 50, 0
	want.Stages = append(want.Stages, plan.Stage{Warmup: plan.Warmup{Requests: 100}})
	want.Data.Input = plan.Length{Dist: "uniform", Min: 100, Max: 200}
	want.Target.Model = "null"
	want.Target.URLs = []string{"http://h"}
	want.Target.Timeouts.Request = 5 * second
	if diff := cmp.Diff(want, d.Plan); diff != "" {
		t.Error(diff)
	}
	wantFaults := `--stage: "soon" is not a duration: write it as 200ms, 30s or 1m30s
--stage: has no element "7" (they count from 0, and the next is 2)
--stage: unknown field "durration" (did you mean "duration"?)
--x: has no fields`
	if diff := cmp.Diff(wantFaults, d.Faults.Error()); diff != "" {
		t.Error(diff)
	}
}

// A protocol and a source that the plan has no rules for may be named where they are known.
func TestKnownNames(t *testing.T) {
	const text = "target: {protocol: carrier, urls: [http://h:1]}\ndata: {source: pigeons}\n"
	if _, err := load("plan.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), `"carrier"`) || !strings.Contains(err.Error(), `"pigeons"`) {
		t.Errorf("unknown names: %v", err)
	}
	d := Read("plan.yaml", []byte(text))
	d.Known = Known{Protocols: []string{plan.ProtocolOpenAI, "carrier"}, Sources: []string{"pigeons"}}
	if _, err := d.Finish(); err != nil {
		t.Error(err)
	}
	s := string(JSONSchema(d.Known))
	if strings.Count(s, `"carrier"`) != 1 || strings.Count(s, `"pigeons"`) != 1 || strings.Count(s, `"torchserve"`) != 1 {
		t.Error("the schema does not have each name once")
	}
}

// load reads a plan file and validates it.
func load(name string, data []byte) (*plan.Plan, error) { return Read(name, data).Finish() }
