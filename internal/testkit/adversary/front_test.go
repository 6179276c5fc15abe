//go:build linux

package adversary

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// fronts are runs under the names of other tools, whose files and exit codes must not
// lie either.
func fronts() []situation {
	genai := func(more string) func(*play) []string {
		return func(p *play) []string {
			return append([]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "--streaming", "--url", p.server.url, "--artifact-dir", p.dir, "--isl", "8", "--tokenizer", "builtin:gpt2"}, strings.Fields(more)...)
		}
	}
	quarter := always(func(c *call) {
		if c.n%4 == 3 {
			c.status(500, `{"error":{"message":"out of memory"}}`)
			return
		}
		c.stream(20*ms, 5*ms, 4)
	})
	bailian := ""
	for i := range 221 {
		bailian += fmt.Sprintf(`{"chat_id":%d,"parent_chat_id":-1,"timestamp":%.3f,"input_length":32,"output_length":4,"type":"text","turn":1,"hash_ids":[%d,%d]}`+"\n", i, float64(i)*0.0125, rand.IntN(1e9), rand.IntN(1e9))
	}
	third := always(func(c *call) {
		c.words(40*ms, 10*ms, 2)
		if c.n%3 == 2 {
			c.closing(strings.Replace(finish, `"stop"`, `"abort"`, 1), usage("8", "2"), done)
			c.fate = refused
			return
		}
		c.read = time.Now()
		c.stream(10*ms, 10*ms, 28)
	})
	pairs, plain := steady(40*ms, 50*ms, 2), steady(40*ms, 20*ms, 5)
	blink := flicker(1900*ms, 100*ms)
	inference := func(rate, length int) func(*play) {
		return func(p *play) {
			file("config.yml", fmt.Sprintf("api:\n  type: chat\n  streaming: true\ndata:\n  type: mock\nload:\n  type: constant\n  stages:\n    - rate: %d\n      duration: %d\nserver:\n  type: vllm\n  model_name: m\n  base_url: %s\n  ignore_eos: true\nstorage:\n  local_storage:\n    path: %s\n", rate, length, p.server.url, p.dir))(p)
		}
	}
	config := func(*play) []string { return []string{"inference-perf", "--config_file", "config.yml"} }
	return []situation{
		{name: "genai-perf: paused", lie: "Verdict: valid", server: pairs, run: genai("--concurrency 8 --request-count 500"), during: blink, host: true},
		{name: "genai-perf: paused, open loop", lie: "Verdict: valid", server: pairs, run: genai("--request-rate 80 --request-count 480"), during: blink, host: true},
		{name: "genai-perf: a third ends with abort", lie: "requests/s +50 %", server: third, run: genai("--concurrency 8 --request-count 240"), truth: []claim{never("a third of the answers were none")}},
		{name: "genai-perf", lie: "nothing", server: plain, run: genai("--concurrency 8 --request-count 240"), healthy: true},
		{name: "inference-perf: paused", lie: "exit 0 and a report", server: steady(40*ms, 50*ms, 30), before: inference(60, 6), run: config, during: blink, host: true},
		{name: "inference-perf: a third ends with abort", lie: "requests/s +50 %", server: third, before: inference(60, 4), run: config, truth: []claim{never("a third of the answers were none")}},
		front("perf_analyzer: paused", 100*ms, func(p *play) []string {
			return strings.Fields("perf_analyzer -m vllm_model -i grpc -u " + p.mocks[1] + " --async --streaming --input-data input.json --concurrency-range 8 -p 2000 --out " + p.dir)
		}),
		front("llm_perf: paused", 100*ms, func(p *play) []string {
			return strings.Fields("llm_perf -i grpc -u " + p.mocks[1] + " -m vllm_model --concurrency 8 --input-data input.jsonl --output-len 2 --out " + p.dir)
		}),
		{name: "genai-perf: warm-up", lie: "10.3 requests/s, the original says 15.5", server: steady(500*ms, 0, 1), run: genai("--concurrency 8 --request-count 16 --warmup-request-count 9"),
			always: []claim{exported("request_throughput", 16, 0.1)}, truth: []claim{served}},
		{name: "genai-perf: a quarter answered 500", lie: "exit 0 and a table", server: quarter, run: genai("--concurrency 8 --request-count 240"), truth: []claim{never("a quarter of the requests failed")}},
		{name: "genai-perf: a trace in seconds", lie: "a Bailian trace passes for Mooncake", server: steady(20*ms, 5*ms, 4), before: file("trace.jsonl", bailian),
			run: genai("--input-file payload:trace.jsonl --fixed-schedule"), truth: []claim{lasted(2.75)}, quick: true},
		{name: "inference-perf: a quarter answered 500", lie: "exit 0 and a report", server: quarter, before: func(p *play) {
			file("config.yml", fmt.Sprintf("api:\n  type: chat\n  streaming: true\ndata:\n  type: mock\nload:\n  type: constant\n  stages:\n    - rate: 60\n      duration: 4\nserver:\n  type: vllm\n  model_name: m\n  base_url: %s\n  ignore_eos: true\nstorage:\n  local_storage:\n    path: %s\n", p.server.url, p.dir))(p)
		}, run: func(*play) []string { return []string{"inference-perf", "--config_file", "config.yml"} }, truth: []claim{never("a quarter of the requests failed")}},
	}
}

// front is a run under another tool's name over the gRPC streams of the program's own mock.
func front(name string, pause time.Duration, run func(*play) []string) situation {
	s := triton(name, "a table, and exit 0", pause, "--ttft", "40ms", "--itl", "50ms", "--output-tokens", "2")
	mock := s.before
	s.before = func(p *play) {
		mock(p)
		var lines strings.Builder
		for i := range 480 {
			fmt.Fprintf(&lines, `{"input":"Hello %d","max_tokens":2}`+"\n", i)
		}
		file("input.jsonl", lines.String())(p)
		file("input.json", `{"data":[{"text_input":["Hello"],"stream":[true],"sampling_parameters":["{\"max_tokens\":\"2\"}"]}]}`)(p)
	}
	s.run = run
	return s
}

// file writes a file for the program to read.
func file(name, text string) func(*play) {
	return func(p *play) {
		if err := os.WriteFile(filepath.Join(p.tmp, name), []byte(text), 0o644); err != nil {
			p.t.Error(err)
		}
	}
}

// lasted claims that the requests came over so many seconds.
func lasted(seconds float64) claim {
	return func(p *play) []finding {
		n := len(p.calls)
		if n < 2 {
			return nil
		}
		return []finding{{what: "seconds between the first request and the last", said: p.calls[n-1].arrived.Sub(p.calls[0].arrived).Seconds(), low: seconds, high: seconds, stated: 0.5, spoils: p.late.Seconds()}}
	}
}

// exported claims a figure of the file that GenAI-Perf writes.
func exported(metric string, is, share float64) claim {
	return func(p *play) []finding {
		f := finding{what: metric + " of the export", said: math.NaN(), low: is * (1 - share), high: is * (1 + share)}
		_ = filepath.WalkDir(p.dir, func(name string, _ os.DirEntry, _ error) error {
			if filepath.Base(name) == "profile_export_genai_perf.json" {
				var doc map[string]any
				if text, err := os.ReadFile(name); err == nil && json.Unmarshal(text, &doc) == nil {
					if m, ok := doc[metric].(map[string]any); ok {
						f.said, _ = m["avg"].(float64)
					}
				}
			}
			return nil
		})
		return []finding{f}
	}
}
