// Package sglang reads what SGLang's bench_serving writes, and its client in Rust: one JSON
// object on a line for each run, with the single requests where --output-details was given.
package sglang

import (
	"fmt"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// by is who writes such files.
const by = "SGLang bench_serving"

// Tool reads its files. It is no command.
func Tool() tool.Tool {
	return tool.Tool{Name: "sglang-bench", Reads: "the output file of SGLang's bench_serving (single requests with --output-details)", Import: importRun, Figures: figures}
}

// read gives the runs of a file, or of those in a directory; none: it is none of these.
func read(path string) ([]importer.Bench, error) {
	return importer.Benches(path, by, tool.Inputs(), func(h *importer.Head) bool {
		return h.Has("backend", "dataset_name", "duration", "completed") && !h.Has("model_id")
	})
}

// importRun makes an output directory of a file whose runs all have their single requests.
func importRun(env tool.Env, from tool.From, dir string) (*tool.Imported, error) {
	runs, err := read(from.Path)
	if err != nil || !importer.Detailed(runs) {
		return nil, err
	}
	p := describe(dir, runs)
	header := record.Header{Version: env.Version, Decoder: p.Target.Protocol, Start: time.Unix(0, 0)}
	read := &tool.Imported{By: by, Notes: append(notes(runs), detailNotes(runs)...)}
	return read, saved.Create(p, header, func(add func(*record.Record) error) error {
		from, seq := time.Duration(0), int64(0)
		for i := range runs {
			b := &runs[i]
			begin, end, err := b.Requests(i, from, seq, false, func(r *importer.Request) error {
				r.Each = r.Each || perToken(b)
				return add(r.Record())
			})
			if err != nil {
				return err
			}
			read.Notes = importer.Noted(read.Notes, i, len(runs), importer.Window("SGLang", b.Numbers["duration"], (end-begin).Seconds()))
			from, seq = end+time.Second, seq+int64(len(b.TTFT))
		}
		return nil
	})
}

// describe is the plan that the loads of the runs come to: a stage for each.
func describe(dir string, runs []importer.Bench) *plan.Plan {
	var stages []plan.Stage
	for i := range runs {
		b := &runs[i]
		requests := b.Numbers["completed"]
		if b.Detailed() {
			requests = float64(len(b.TTFT))
		}
		st := importer.Stage(b.Numbers["request_rate"], int(min(b.Numbers["max_concurrency"], 1e9)), int64(min(requests, 1e12)))
		if st.Rate > 0 {
			st.Arrival = plan.ArrivalPoisson
		}
		stages = append(stages, st)
	}
	b := &runs[0]
	p := importer.Plan(dir, "", "", true, stages)
	p.Target.Endpoint = plan.EndpointCompletions
	importer.Endpoint(p, b.Texts["backend"])
	return p
}

// perToken reports whether its gaps are between tokens, and not between chunks: its own
// protocol says how many tokens a chunk brought, and with speculative decoding it counts
// those of OpenAI's again.
func perToken(b *importer.Bench) bool {
	backend := b.Texts["backend"]
	return backend == "sglang" || backend == "sglang-native" || b.Numbers["accept_length"] > 0 && strings.HasPrefix(backend, "sglang-oai")
}

// figures reads a file without single requests.
func figures(_ tool.Env, from tool.From) (*tool.Figures, error) {
	runs, err := read(from.Path)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	f := &tool.Figures{Imported: tool.Imported{By: by, Notes: notes(runs)}, Plan: describe("", runs)}
	for i := range runs {
		b := &runs[i]
		names := map[string]string{"e2e_latency": "request_latency"}
		if b.Numbers["total_output_tokens"] > 0 { // without any, what is about them is 0
			names["ttft"], names["tpot"], names["itl"] = "time_to_first_token", "time_per_output_token", "inter_event_latency"
			if perToken(b) {
				names["itl"] = "inter_token_latency"
			}
		}
		load := tool.LoadFigures{OK: int64(b.Numbers["completed"]), Seconds: b.Numbers["duration"]}
		if b.Detailed() {
			load.Failed = int64(len(b.TTFT)) - load.OK
		}
		load.Metrics = b.Figures(names, map[string]string{
			"request_throughput": "request_throughput", "output_throughput": "output_token_throughput", "input_throughput": "input_token_throughput",
			"total_throughput": "total_token_throughput", "concurrency": "concurrency", "request_goodput": "request_goodput", "slo_attainment": "slo_attainment",
		})
		f.Loads = append(f.Loads, load)
	}
	if !importer.Detailed(runs) {
		f.Notes = append(f.Notes, "The file does not say how many requests failed.")
	}
	f.Notes = append(f.Notes, "SGLang divides its rates by the wall time of the whole run, in which it also asks the server about itself.")
	return f, nil
}

// notes say where its definitions differ from ours.
func notes(runs []importer.Bench) []string {
	list := []string{
		"SGLang opens a new connection for each request, and the handshake is part of its time to first token; ours begins when the request is written.",
		"SGLang's E2E latency ends with the last line of the stream, [DONE] included, as ours does with the last byte; its TPOT goes to that line too, ours to the last token.",
		"SGLang leaves failed requests out of every figure but attainment.",
	}
	gaps, tokens, requested := false, false, false
	for i := range runs {
		b := &runs[i]
		gaps, tokens = gaps || !perToken(b), tokens || perToken(b)
		requested = requested || b.Texts["backend"] != "sglang" && b.Texts["backend"] != "sglang-native"
	}
	if gaps {
		list = append(list, "SGLang's ITL over OpenAI's protocol is our inter-event latency: the gap between chunks.")
	}
	if tokens {
		list = append(list, "SGLang's ITL here is our inter-token latency: the gap before a chunk is shared out among its tokens, which it counts again with its tokenizer where speculative decoding is on.")
	}
	if requested {
		list = append(list, "Over OpenAI's protocol SGLang takes the requested number of tokens for the generated one, unless the server reports usage unasked.")
	}
	return list
}

// detailNotes say what the single requests lack.
func detailNotes(runs []importer.Bench) []string {
	list := []string{
		"The file does not say when requests were sent: they are spread evenly over its duration, so that nothing over time can be told from it.",
	}
	for i := range runs {
		b := &runs[i]
		sum, n := time.Duration(0), 0
		for k := range b.TTFT {
			if !b.Failed(k) {
				sum, n = sum+b.Latency(k), n+1
			}
		}
		if theirs := b.Numbers["mean_e2e_latency_ms"]; n > 0 && theirs > 0 {
			ours := float64(sum) / float64(n) / float64(time.Millisecond)
			list = importer.Noted(list, i, len(runs), fmt.Sprintf("The file does not say when responses ended: request latency is to the last token, %.4g ms on average where SGLang has %.4g ms.", ours, theirs))
		}
	}
	return list
}
