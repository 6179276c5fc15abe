package planfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/inferometer/inferometer/internal/plan"
)

// sessionsPlan says all that sessions, data sets, sweeps, breakers and storage have.
const sessionsPlan = `
target: {urls: 'http://h', protocol: anthropic, session: {id: X-Session, token: X-Token}, slo_headers: {ttft: X-Ttft, tpot: X-Tpot, unit: s}}
data:
  source: otel_trace
  replay:
    files: ['traces/*.json']
    filter: size > 1
    models: {a: b}
    max_tokens: 10
    random_id: true
    max_wait: 15s
    headers: {tenant: X-Tenant}
    bad_tool_calls: use_recorded
  media:
    image: {count: 2, at: {dist: fixed, mean: 0.5}, sizes: [{width: 10, height: 20, weight: 2}], format: jpeg}
    video: {count: {dist: poisson, mean: 0.5}, clips: [{width: 8, height: 8, frames: 2}], format: png_frames}
  adapters: [{name: a, share: 0.25}, {name: b, share: 75%}]
stages:
  - arrival: sessions
    sessions: {concurrent: 4, rate: 2, count: 10, timeout: 1m}
breakers:
  - name: broken
    matches: [error]
    rules: [latency]
    triggers: [{kind: consecutive, threshold: 3}, {kind: rate_over_window, threshold: 0.5, window: 10s, min_samples: 5}]
probes:
  scrape: ['http://h/metrics']
  prometheus: {url: 'http://u:pw@h:9090', filters: ["a='b'"], interval: 5s, server: sglang}
output: {dir: out, s3: {bucket: b, path: p, endpoint: 'http://s3', region: r, addressing: path}, gcs: {bucket: g}}
`

func TestSessionsPlanSurvivesPrinting(t *testing.T) {
	p, err := load("p.yaml", []byte(sessionsPlan))
	if err != nil {
		t.Fatal(err)
	}
	if p.Target.Endpoint != plan.EndpointMessages || p.Data.Input != (plan.Length{}) || p.Data.Adapters[1].Share != 0.75 {
		t.Errorf("read as %+v", p)
	}
	text, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "pw") {
		t.Errorf("a password is printed:\n%s", text)
	}
	p.Probes.Prometheus.URL = "http://h:9090"
	again, err := load("printed", text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
	if err := compileSchema(t).Validate(Echo(p)); err != nil {
		t.Error(err)
	}
}

func TestSourceFaults(t *testing.T) {
	const stage = "stages: [{rate: 1, duration: 1s}]\n"
	for _, c := range []struct{ text, want string }{
		{stage + "data: {source: random, input: {dist: skew_normal, mean: 10, stddev: 2, skew: 3}}", ""},
		{stage + "data: {source: random, input: {dist: normal, mean: 10, skew: 3}}", "data.input.skew: only for dist: skew_normal"},
		{stage + "data: {source: random, input: {dist: poisson, mean: 10, stddev: 3}}", "data.input.stddev: a Poisson length"},
		{stage + "data: {source: random, input: {dist: normal, mean: 10, shifted: true}}", "data.input.shifted: only for dist: lognormal"},
		{stage + "data: {source: random, trace: {lengths: a.csv}}", ""},
		{stage + "data: {source: synthetic, trace: {lengths: a.csv}}", "data.trace.lengths: only for source: random"},
		{stage + "data: {source: mock, input: 3}", "data.input: does not apply to source: mock"},
		{stage + "data: {source: mock}", ""},
		{stage + "data: {source: shared_prefix, shared_prefix: {groups: 2, prefix: 10, question: 5}}", ""},
		{stage + "data: {source: shared_prefix}", "data.shared_prefix.question: is missing"},
		{stage + "data: {source: random, shared_prefix: {groups: 2}}", "data.shared_prefix: cannot be combined with source: random"},
		{stage + "data: {source: dataset, dataset: {kind: sharegtp}}", `did you mean "sharegpt"?`},
		{stage + "data: {source: dataset, dataset: {kind: infinity_instruct}}", "data.dataset.path: is missing"},
		{stage + "data: {source: dataset, dataset: {kind: sharegpt, input: {min: 9, max: 3}}}", "data.dataset.input: min is more than max"},
		{stage + "data: {source: conversation_replay, conversations: {turns: 2}}", "data.conversations.input: is missing"},
		{stage + "data: {source: otel_trace}", "data.replay: needs one of dir, files and hub, has 0"},
		{stage + "data: {source: mock, replay: {dir: x}}", "data.replay: cannot be combined with source: mock"},
		{stage + "data: {source: otel_trace, replay: {dir: x, idle_gap: 1s}}", "data.replay.idle_gap: only for source: weka_trace"},
		{stage + "data: {source: otel_trace, replay: {dir: x, block_size: 16, think_time_only: true}}", "data.replay.think_time_only: only for source: weka_trace"},
		{stage + "data: {source: weka_trace, replay: {dir: x, headers: {a: b}}}", "data.replay.headers: only for source: otel_trace"},
		{stage + "data: {source: weka_trace, replay: {dir: x, tool_choice: as_recorded}}", "data.replay.tool_choice: only for source: otel_trace"},
		{stage + "data: {media: {image: {count: 1, sizes: [{width: 0, height: 3}]}}}", "width and height must be from 1"},
		{stage + "data: {media: {image: {count: 1-3}, audio: {count: 1, clips: [{length: 2s}]}}}", ""},
		{stage + "target: {endpoint: completions}\ndata: {media: {image: {count: 1}}}", `data.media: endpoint "completions" takes text alone`},
		{stage + "target: {protocol: anthropic}\ndata: {media: {audio: {count: 1}}}", "data.media.audio: messages of Anthropic's API hold no sound"},
		{stage + "target: {protocol: anthropic}\ndata: {media: {video: {count: 1}}}", "data.media.video: messages of Anthropic's API hold no video"},
		{stage + "target: {protocol: http, endpoint: rerank}\ndata: {batch: 5}", ""},
		{stage + "target: {protocol: http, endpoint: rerank, streaming: true}", "target.streaming: rerank returns a single response"},
		{stage + "target: {protocol: http, endpoint: rerank}\ndata: {output: 5}", "data.output: rerank has no output length"},
		{stage + "target: {protocol: http, endpoint: template}", "target.template: is missing"},
		{stage + "target: {template: x}", "target.template: only for endpoint template"},
		{stage + "target: {protocol: http, endpoint: image_retrieval}", "data.media.image.count: is missing"},
		{stage + "data: {batch: 5}", "data.batch: endpoint \"chat\" takes a single text"},
		{stage + "data: {adapters: [{name: a, share: 0.5}]}", "the shares add up to 0.5, not to 1"},
		{stage + "target: {protocol: anthropic, endpoint: chat}", "target.endpoint: unknown value"},
		{stage + "target: {session: {id: 'a b'}}", "target.session.id"},
		{stage + "target: {headers: {x-ttft: soon}, slo_headers: {ttft: X-TTFT}}", "target.headers.x-ttft: must be a number more than 0"},
		{stage + "breakers: [{name: a}]", "breakers[0].matches: is missing"},
		{stage + "breakers: [{name: a, matches: [x], triggers: [{kind: rate_over_window, threshold: 2}]}]", "breakers[0].triggers[0].threshold: must be from 0 to 1"},
		{stage + "probes: {prometheus: {filters: [a]}}", "probes.prometheus.url: is missing"},
		{stage + "output: {dir: a, s3: {path: x}}", "output.s3.bucket: is missing"},
		{"saturation: {kind: geometric}", ""},
		{"capacity: {objectives: 'ttft.p99 < 1s'}", ""},
		{"capacity: {objectives: ['ttft.p99 < 1s', 'errors < 1%'], max: 5, max_time: 1m, precision: 10%}\nstages: [{concurrency: 2}]", ""},
		{"capacity: {max: 5}", "there are none"},
		{"capacity: {objectives: [a], max: 5}\nstages: [{concurrency: 8}]", "below the load 8"},
		{"capacity: {objectives: [a], precision: 90%}", "must be from 0.5% to 50%"},
		{"capacity: {objectives: [a], max_time: 1s}", "must be 5s or more"},
		{stage + "capacity: {objectives: [a]}", "finds out how long its levels last"},
		{"capacity: {objectives: [a]}\nstages: [{rate: 5, ramp_to: 9}]", "needs one load at a time"},
		{"capacity: {objectives: [a]}\nlevels: {list: [1]}", "cannot be combined with levels"},
		{"saturation: {kind: cubic}", "saturation.kind: unknown value"},
		{stage + "saturation: {kind: linear}", "finds the rates itself"},
		{"stages: [{arrival: sessions, rate: 3}]", "stages[0].rate: cannot be combined with a load of sessions"},
		{"stages: [{arrival: sessions, sessions: {count: 2}}]", "stages[0].arrival: source: synthetic has no sessions that come to an end"},
		{"data: {file: f}\nstages: [{arrival: sessions}]", ""},
		{"stages: [{rate: 3, duration: 1s, sessions: {count: 1}}]", "stages[0].sessions: only for arrival: sessions"},
	} {
		_, err := load("p.yaml", []byte(c.text))
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s:\n%v\nwant %s", c.text, err, c.want)
		}
	}
}

func TestObjectivesOfHeaders(t *testing.T) {
	const text = "stages: [{rate: 1, duration: 1s}]\ngoodput: {e2e: 9s, tpot: 7ms}\n" +
		"target: {headers: {x-ttft: '250', X-Tpot: '0.5', other: '3'}, slo_headers: {ttft: X-TTFT, tpot: x-tpot%s}}\n"
	for unit, want := range map[string][]plan.SLO{
		"":          {{Metric: "request_latency", Max: 9e9}, {Metric: "time_per_output_token", Max: 5e5}, {Metric: "time_to_first_token", Max: 250e6}},
		", unit: s": {{Metric: "request_latency", Max: 9e9}, {Metric: "time_per_output_token", Max: 5e8}, {Metric: "time_to_first_token", Max: 250e9}},
	} {
		p, err := load("p.yaml", []byte(strings.Replace(text, "%s", unit, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, p.Goodput); d != "" {
			t.Errorf("%s: %s", unit, d)
		}
	}
}
