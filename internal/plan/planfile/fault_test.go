package planfile

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/message"
	"github.com/inferometer/inferometer/internal/plan"
)

// TestFaults reads bad plans and compares every line of what is said about them.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "p.yaml: the plan is empty (docs/plan.md shows one)"},
		{"comment", "# nothing\n", "p.yaml: the plan is empty (docs/plan.md shows one)"},
		{"not a mapping", "- 1", "p.yaml:1:1: must be a mapping of version, name, seed, target, data, tokenizer, stages, levels, saturation, capacity, measurement, cancel, drain, grace, goodput, fail_if, fail_unless, max_errors, breakers, budgets, limits, probes, cost, output, is a list"},
		{"syntax", "a: [1,\nb", "p.yaml:2: not valid YAML: did not find expected ',' or ']'"},
		{"two documents", "seed: 1\n---\nseed: 2", "p.yaml:2:1: a second document in one file (put it into a file of its own)"},
		{"all at once", `
sede: 3
target: {model: [a], streaming: maybe, urls: {}}
model: x
stages:
  - {concurrency: 1.5, durration: 5s}
  - {rate: fast, duration: 5}
data: {input: normal:mean=x, output: {mean: a}}
`, `p.yaml:2:1: sede: unknown field (did you mean "seed"?)
p.yaml:3:17: target.model: must be text, is a list
p.yaml:3:33: target.streaming: must be true or false, is "maybe"
p.yaml:3:46: target.urls: must be a list, is a mapping
p.yaml:4:1: model: unknown field (the plan has it as target.model)
p.yaml:6:19: stages[0].concurrency: must be a whole number, is "1.5"
p.yaml:6:24: stages[0].durration: unknown field (did you mean "duration"?)
p.yaml:7:12: stages[1].rate: must be a number, is "fast"
p.yaml:7:28: stages[1].duration: 5 has no unit: write 5s or 5ms
p.yaml:8:15: data.input: mean="x" is not a number: write it as 128, 100-200 or normal:mean=550,stddev=50,min=10,max=900
p.yaml:8:45: data.output.mean: must be a number, is "a"`},
		{"form and sense together", "seed: x\nstages: [{rate: 5}]\ntarget: {urls: 'localhost:8000'}",
			`p.yaml:1:7: seed: must be a whole number, is "x"
p.yaml:2:17: stages[0].rate: the load has no end (give duration or requests)
p.yaml:3:16: target.urls[0]: has no scheme: "localhost:8000" (did you mean http://localhost:8000?)`},
		{"first cause only", "stages: [{rate: 5, duration: 5}, {rate: 5, durration: 5s, arrival: poison}]", `p.yaml:1:30: stages[0].duration: 5 has no unit: write 5s or 5ms
p.yaml:1:44: stages[1].durration: unknown field (did you mean "duration"?)
p.yaml:1:68: stages[1].arrival: unknown value "poison"; did you mean "poisson"? (one of constant, poisson, gamma)`},
		{"one for several", "target: {url: 'http://h'}", `p.yaml:1:10: target.url: unknown field (did you mean "urls"?)`},
		{"given twice", "seed: 1\nseed: 2", "p.yaml:2:1: seed: given twice, first on line 1"},
		{"merge", "stages: [&a {concurrency: 1, duration: 1s}, {<<: *a}]", "p.yaml:1:46: stages[1]: merge keys (<<) are not supported (write the keys out)"},
		{"the key itself", "target: {api_key: sk-123}", "p.yaml:1:19: target.api_key: must be a mapping of env, file, is a single value"},
		{"loads", `
stages:
  - {concurrency: 4, rate: 3, duration: 1s}
  - {duration: 1s}
  - {concurrency: -1, requests: 5}
  - {concurrency: 2000000, requests: 5}
  - {rate: -3, requests: 5}
  - {rate: 5, arrival: poison, requests: 5}
  - {rate: 5, arrival: gamma, requests: 5}
  - {rate: 5, arrival: poisson, cv: 2, requests: 5}
  - {concurrency: 5, arrival: poisson, max_in_flight: 3, cv: 1, requests: 5}
  - {concurrency: 5, ramp_to: 10, requests: 5}
  - {concurrency: 5, ramp_to: 7.5, duration: 5s}
  - {concurrency: 5}
  - {concurrency: 0, requests: 0, duration: -5s}
  - {rate: 1e-9, duration: 900h, warmup: -4s, gap: -1s}
  - {rate: 5, draws: mt19937, requests: 5}
`, `p.yaml:3:28: stages[0].rate: cannot be combined with concurrency: a stage has one kind of load (give concurrency or rate; max_in_flight caps a rate)
p.yaml:4:5: stages[1]: has no load (give concurrency or rate, more than 0)
p.yaml:5:19: stages[2].concurrency: must not be negative, is -1
p.yaml:6:19: stages[3].concurrency: is 2000000, more than 1000000
p.yaml:7:12: stages[4].rate: must not be negative, is -3
p.yaml:8:24: stages[5].arrival: unknown value "poison"; did you mean "poisson"? (one of constant, poisson, gamma)
p.yaml:9:5: stages[6].cv: gamma arrivals need one, more than 0 (1 is Poisson, more is burstier)
p.yaml:10:37: stages[7].cv: only for gamma arrivals (set arrival to gamma)
p.yaml:11:31: stages[8].arrival: only for a rate: in a closed loop a request goes when another ends (give rate, or leave it out)
p.yaml:11:55: stages[8].max_in_flight: only for a rate: concurrency says how many are in flight (leave it out)
p.yaml:11:62: stages[8].cv: only for a rate (give rate, or leave it out)
p.yaml:12:31: stages[9].ramp_to: a ramp needs a duration (give duration: the time that the ramp takes)
p.yaml:13:31: stages[10].ramp_to: a concurrency is a whole number, this is 7.5
p.yaml:14:19: stages[11].concurrency: the load has no end (give duration or requests)
p.yaml:15:19: stages[12].concurrency: must be more than 0 (leave it out if it is not meant)
p.yaml:15:32: stages[12].requests: must be more than 0 (leave it out if it is not meant)
p.yaml:15:45: stages[12].duration: must not be negative, is -5s
p.yaml:16:12: stages[13].rate: is 1e-09, less than 1e-06 (requests per second)
p.yaml:16:28: stages[13].duration: is 900h, more than 30 days
p.yaml:16:42: stages[13].warmup.duration: must not be negative, is -4s
p.yaml:16:52: stages[13].gap: must not be negative, is -1s
p.yaml:17:22: stages[14].draws: only for arrival: poisson (set arrival to poisson)`},
		{"a later version", "later: {}\nversion: 2\nstages: []", "p.yaml:2:10: version: is 2; this program reads version 1 (a newer Inferometer reads it)"},
		{"no stages", "stages: []", "p.yaml:1:9: stages: is empty: no requests would be sent (give one with concurrency or rate)"},
		{"target", `
version: 0
target:
  urls: [http://u:pw@h:1:2/, ftp://h, "http://", 'http://h#x', '']
  endpoint: chatt
  protocol: kserve
  path: v1
  headers: {"a b": x, ok: "a\nb"}
  api_key: {env: A, file: b}
  tls: {cert: a, ca: b, insecure: true}
  timeouts: {stall: -1s}
`, `p.yaml:2:10: version: is 0; this program reads version 1
p.yaml:4:10: target.urls[0]: is not a URL (such as http://localhost:8000)
p.yaml:4:30: target.urls[1]: unknown scheme "ftp" (http or https; grpc or grpcs for Triton)
p.yaml:4:39: target.urls[2]: names no host (such as http://localhost:8000)
p.yaml:4:50: target.urls[3]: has a fragment (#), which is never sent (leave it out)
p.yaml:4:64: target.urls[4]: is empty (such as http://localhost:8000)
p.yaml:5:13: target.endpoint: unknown value "chatt"; did you mean "chat"? (one of chat, completions, responses, embeddings, classify, pooling, score, audio_transcription, image_generation)
p.yaml:6:13: target.protocol: unknown value "kserve" (one of openai, anthropic, triton, http, tfserving, torchserve)
p.yaml:7:9: target.path: "v1" does not begin with a slash (such as /v1/chat/completions)
p.yaml:8:12: target.headers: "a b" is not a header name
p.yaml:8:27: target.headers.ok: a header's value must be on one line
p.yaml:9:12: target.api_key: env and file cannot be combined (give one of them)
p.yaml:10:8: target.tls: ca and insecure cannot be combined (give one of them)
p.yaml:10:15: target.tls.cert: a client certificate needs both cert and key (give target.tls.key (--key))
p.yaml:11:21: target.timeouts.stall: must not be negative, is -1s`},
		{"data", `
data: {source: file, input: 5, min_tokens: true, salt: pepper, prompts: -1}
tokenizer: ""
output: {keep_raw: true}
`, `p.yaml:2:7: data.file: is missing (give the file that holds the prompts)
p.yaml:2:29: data.input: prompts from a file have the length they have (leave it out)
p.yaml:2:56: data.salt: unknown value "pepper" (one of request, stage, run)
p.yaml:2:73: data.prompts: must not be negative, is -1
p.yaml:3:12: tokenizer.name: is empty (name the model's tokenizer, builtin:gpt2 or words)
p.yaml:4:20: output.keep_raw: there is no directory to keep responses in (give output.dir (--out))`},
		{"lengths", "data: {input: {mean: 5, stddev: 2, min: 9, max: 7}, output: 0}", `p.yaml:1:15: data.input: min 9 is more than max 7
p.yaml:1:22: data.input.mean: 5 is outside min and max
p.yaml:1:61: data.output.mean: must be 1 or more, is 0 (leave it out and the server decides)`},
		{"a proxy that is none", "target: {urls: [http://h:8000], proxy: socks5://user:hunter2@p:1080}",
			`p.yaml:1:40: target.proxy: scheme "socks5" cannot be used: only http:// proxies can (environment, none, or a URL such as http://proxy.example.com:3128)`},
		{"a proxy without a host", "target: {urls: [http://h:8000], proxy: direct}",
			`p.yaml:1:40: target.proxy: is not the URL of a proxy (environment, none, or a URL such as http://proxy.example.com:3128)`},
		{"goodput", "goodput: {ttf: 200ms, itl: 0s, request_latency: soon}\nmax_errors: 120%\nbudgets: {cpu: 2, dispatch_delay: -1ms, gcc: 5}",
			`p.yaml:1:16: goodput.ttf: unknown metric; did you mean "ttft"? (one of ttft, ttfot, ttst, ttfb, itl, tpot, ntpot, latency, e2e or their full names)
p.yaml:1:28: goodput.inter_token_latency: must be more than 0, is 0s (such as 200ms)
p.yaml:1:49: goodput.request_latency: "soon" is not a duration: write it as 200ms, 30s or 1m30s
p.yaml:2:13: max_errors.share: must be from 0 to 1, is 1.2 (write 5% or 0.05)
p.yaml:3:16: budgets.cpu: must be from 0 to 1, is 2 (write 5% or 0.05)
p.yaml:3:35: budgets.dispatch_delay: must not be negative, is -1ms
p.yaml:3:41: budgets.gcc: unknown field (did you mean "gc"?)`},
		{"metric", "goodput: ttf:200ms", `p.yaml:1:10: goodput.ttf: unknown metric; did you mean "ttft"? (one of ttft, ttfot, ttst, ttfb, itl, tpot, ntpot, latency, e2e or their full names)`},
		{"objectives", "goodput: ttft,itl:3", `p.yaml:1:10: goodput: "ttft" is not an objective: write it as ttft:200ms,itl:30ms
p.yaml:1:10: goodput: itl: 3 has no unit: write 3s or 3ms`},
		{"embeddings", "target: {endpoint: embeddings, streaming: true}\ndata: {output: 5}", `p.yaml:1:43: target.streaming: embeddings are never streamed (leave it out or set it to false)
p.yaml:2:16: data.output: embeddings have no output length (leave it out)`},
		{"port", "target: {urls: [http://h:99999, 'http://[::1]:8000']}", "p.yaml:1:17: target.urls[0]: port 99999 is not from 1 to 65535"},
		{"retries", "target: {retries: {backoff: 1s}}\ngrace: -1s", `p.yaml:1:29: target.retries.backoff: there are no retries to wait for (give target.retries.count)
p.yaml:2:8: grace: must not be negative, is -1s`},
		{"too many retries", "target: {retries: {count: 5000}}", "p.yaml:1:27: target.retries.count: is 5000, more than 1000"},
		{"body that holds itself", "target: {body: {a: &a [*a]}}", "p.yaml:1:17: target.body.a: is nested too deeply or too large"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := load("p.yaml", []byte(c.in))
			if err == nil {
				t.Fatalf("no fault: %+v", p)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestSecretsStayOutOfFaults: what is said about a bad plan repeats no credential.
func TestSecretsStayOutOfFaults(t *testing.T) {
	_, err := load("p", []byte(`
target:
  urls: ["http://u:hunter2@h:1:2/"]
  api_key: [hunter2]
  headers: {Authorization: "hunter2\nx", Cookie: [hunter2]}
`))
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("got %v", err)
	}
}

// TestNumbersThatAreNone: a plan that code made can hold what no file can say.
func TestNumbersThatAreNone(t *testing.T) {
	p := plan.Default()
	p.Stages = []plan.Stage{{Rate: math.NaN(), Requests: 1}, {Rate: 1, Requests: 1, Arrival: "gamma", CV: math.Inf(1)}}
	p.Budgets.CPU = math.NaN()
	p.Data.Input.Mean = math.NaN()
	deep := any(1)
	for range 60 {
		deep = []any{deep}
	}
	p.Target.Body = map[string]any{"deep": deep}
	p.Goodput = []plan.SLO{{Metric: "request_latency", Max: 1}, {Metric: "request_latency", Max: 2}}
	want := `data.input.mean: is not a number
stages[0].rate: is not a number
stages[1].cv: is not a number
budgets.cpu: must be from 0 to 1, is NaN (write 5% or 0.05)
target.body.deep: is nested too deeply or too large
goodput.request_latency: given twice`
	if diff := cmp.Diff(want, Validate(&p).Error()); diff != "" {
		t.Error(diff)
	}
}

// Faults are worded wherever they are in an error: at the place that the user knows, with
// the names of settings in their hints.
func TestWorded(t *testing.T) {
	flags := message.Names{Of: message.Table([][2]string{{"data.file", "--file"}, {"target.tls.key", "--tls-key"}, {"output.dir", ""}})}
	placed := message.Names{Place: func(path string) (where, at string) { return "c.yml:1:1", "my." + path }}
	hinted := plan.Faults{{Path: "target.tls.cert", Text: "needs a key", Hint: "give %v", Args: []any{message.GiveKey}}}
	for name, tt := range map[string]struct {
		names message.Names
		err   error
		want  string
	}{
		"a flag":            {flags, plan.Faults{{Path: "data.file", Text: "is wrong"}}, "--file: is wrong"},
		"a flag, elsewhere": {flags, plan.Faults{{Where: "x:1", Path: "data.file", Text: "is wrong"}}, "x:1: --file: is wrong"},
		"no flag":           {flags, plan.Faults{{Path: "budgets.lag", Text: "is wrong"}}, "budgets.lag: is wrong"},
		"a part of one":     {flags, plan.Faults{{Path: "data.file[3].name", Text: "is wrong"}}, "--file: is wrong"},
		"a place":           {placed, plan.Faults{{Path: "a", Text: "is wrong"}}, "c.yml:1:1: my.a: is wrong"},
		"joined":            {flags, errors.Join(errors.New("x"), plan.Faults{{Path: "data.file", Text: "is wrong"}}), "x\n--file: is wrong"},
		"with words":        {flags, fmt.Errorf("reading: %w", plan.Faults{{Path: "data.file", Text: "is wrong"}}), "reading: --file: is wrong"},
		"own hint":          {message.Names{}, hinted, "target.tls.cert: needs a key (give target.tls.key (--key))"},
		"hint":              {flags, hinted, "target.tls.cert: needs a key (give --tls-key)"},
		"hint that is none": {flags, plan.Faults{{Text: "is wrong", Hint: "give %v", Args: []any{message.OutputDir}}}, "is wrong"},
	} {
		if got := tt.names.Error(tt.err).Error(); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}
