package run

import (
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/inferometer/inferometer/internal/plan/planfile"
	"github.com/inferometer/inferometer/internal/run/registry"
)

// A check costs what the plan's text costs, whatever its numbers would.
func TestCheckOfLargeNumbers(t *testing.T) {
	const agents = `{stages: [{arrival: sessions, sessions: {concurrent: 1}}], data: {source: agents, agents: `
	for name, tt := range map[string]struct {
		plan string
		want string // in the error; empty: there is none
	}{
		"sessions":           {`data: {source: sessions, input: 10, sessions: {count: 1000000000}}`, "more than 1000000 turns"},
		"turns":              {`data: {source: sessions, input: 10, sessions: {count: 2, turns: 100000000}}`, "more than 1000000 turns"},
		"drawn turns":        {`data: {source: sessions, input: 10, sessions: {count: 1000000, turns: {mean: 1000000, stddev: 1}}}`, ""},
		"prompt":             {`data: {source: synthetic, input: 100000000}`, ""},
		"random prompt":      {`data: {source: random, input: 100000000}`, ""},
		"prefixes":           {`data: {source: synthetic, input: 10, prefixes: {count: 1000000000, length: 100000000}}`, ""},
		"pool":               {`data: {source: synthetic, input: 10, prompts: 1000000, pool: true}`, ""},
		"pool too large":     {`data: {source: synthetic, input: 10, prompts: 1000001, pool: true}`, "a pool of 1000001 requests"},
		"pool of batches":    {`{target: {endpoint: embeddings}, data: {source: synthetic, input: 10, prompts: 20, batch: 30, pool: true}}`, "a request holds 30 texts, and there are 20"},
		"batch":              {`{target: {endpoint: embeddings}, data: {source: synthetic, input: 10, batch: 1000000000}}`, ""},
		"passages":           {`{target: {protocol: http, endpoint: rankings}, data: {source: synthetic, input: 10, batch: 2, passages: {count: 1000000000}}}`, ""},
		"groups":             {`data: {source: shared_prefix, shared_prefix: {groups: 1000000, prompts: 60, prefix: 100000000, question: 10}}`, ""},
		"too many groups":    {`data: {source: shared_prefix, shared_prefix: {groups: 1000000000, prompts: 1000000000, prefix: 10, question: 10}}`, "are more than 67108864 prompts"},
		"conversations":      {`data: {source: conversation_replay, conversations: {count: 1000000000, shared_prompt: 100000000, turns: 100000000, input: 100000000}}`, ""},
		"turns of agents":    {agents + `{sessions: 1000000000, turns: 100000000, input: 10, output: 10, events: 1000000000}}}`, ""},
		"texts of agents":    {agents + `{sessions: 1, turns: 1, input: 100000000, output: 10, head: 100000000, catalog: 100000000, calls: 100000000}}}`, ""},
		"recorded sessions":  {`{stages: [{arrival: sessions, sessions: {concurrent: 1}}], data: {source: otel_trace, replay: {dir: ../../examples/data/otel-agents, sessions: 1000000000}}}`, ""},
		"images":             {`data: {source: synthetic, input: 10, media: {image: {count: 100000000, noise: true, sizes: [{width: 16384, height: 16384}]}}}`, ""},
		"widths":             {`data: {source: synthetic, input: 10, media: {image: {count: 1, width: 16384, height: {mean: 16384, stddev: 100}}}}`, ""},
		"video":              {`data: {source: synthetic, input: 10, media: {video: {count: 1, clips: [{width: 4096, height: 4096, frames: 10000}]}}}`, ""},
		"sound":              {`data: {source: synthetic, input: 10, media: {audio: {count: 1, noise: true, clips: [{length: 1h}]}}}`, ""},
		"requests and rates": {`stages: [{rate: 10000000, arrival: gamma, cv: 2, duration: 700h, max_in_flight: 1000000}]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := planfile.Decode("plan.yaml", []byte(tt.plan))
			if err != nil {
				t.Fatal(err)
			}
			p.Target.URLs = []string{"http://127.0.0.1:1"}
			before := memory()
			begun := time.Now()
			_, err = Check(t.Context(), p, registry.Offline(os.Getenv))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
			if used := memory() - before; used > 200<<20 {
				t.Errorf("it took %d MB in all, and %s", used>>20, time.Since(begun))
			}
		})
	}
}

// memory is how much has been allocated so far, freed or not.
func memory() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
