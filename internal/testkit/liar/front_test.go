//go:build linux

package liar

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
)

// fronts are runs under the names of other tools, whose files and exit codes must not
// lie either.
func fronts() []situation {
	genai := func(more string) func(*play) []string {
		return func(p *play) []string {
			return append([]string{"genai-perf", "profile", "-m", "m", "--endpoint-type", "chat", "--streaming", "--url", p.server.url, "--artifact-dir", p.dir, "--isl", "8"}, strings.Fields(more)...)
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
	return []situation{
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
