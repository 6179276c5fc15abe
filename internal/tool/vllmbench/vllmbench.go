// Package vllmbench does what a command line of `vllm bench serve` asks for, in that tool's dialect, and reads
// what it writes, as well as its older script, its port in Rust and the descendant that InferenceX runs: one
// JSON object for each run, with the single requests where --save-detailed was given.
package vllmbench

import (
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// by is who writes such files.
const by = "vllm bench serve"

// read gives the runs of a file, or of those in a directory; none: it is none of these.
func read(path string) ([]importer.Bench, error) {
	return importer.Benches(path, by, tool.Inputs(), func(h *importer.Head) bool {
		return h.Has("backend", "model_id", "duration", "completed")
	})
}

// importRun makes an output directory of a file whose runs all have their single requests.
func importRun(env tool.Env, from tool.From, dir string) (*tool.Imported, error) {
	runs, err := read(from.Path)
	if err != nil || !importer.Detailed(runs) {
		return nil, err
	}
	p := describe(dir, runs)
	header := record.Header{Version: env.Version, Decoder: p.Target.Protocol, Start: start(&runs[0])}
	read := &tool.Imported{By: by, Notes: notes(runs)}
	return read, saved.Create(p, header, func(add func(*record.Record) error) error {
		from, seq := time.Duration(0), int64(0)
		for i := range runs {
			b := &runs[i]
			begin, end, err := b.Requests(i, from, seq, p.Stages[i].Rate > 0, func(r *importer.Request) error { return add(r.Record()) })
			if err != nil {
				return err
			}
			read.Notes = importer.Noted(read.Notes, i, len(runs), importer.Window("vllm bench", b.Numbers["duration"], (end-begin).Seconds()))
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
		rate, inFlight := b.Numbers["request_rate"], b.Numbers["max_concurrency"]
		if n := b.Numbers["multi_turn_concurrency"]; n > 0 {
			inFlight = n
		}
		requests := b.Numbers["completed"] + b.Numbers["failed"]
		if b.Detailed() {
			requests = float64(len(b.TTFT))
		}
		st := importer.Stage(rate, int(min(inFlight, 1e9)), int64(min(requests, 1e12)))
		if st.Rate > 0 {
			arrivals(&st, b.Numbers["burstiness"])
		}
		stages = append(stages, st)
	}
	b := &runs[0]
	p := importer.Plan(dir, b.Texts["model_id"], "", true, stages)
	p.Target.Endpoint = plan.EndpointCompletions
	importer.Endpoint(p, b.Texts["backend"])
	return p
}

// arrivals says how the gaps between arrivals vary: burstiness is the shape of a gamma
// distribution.
func arrivals(st *plan.Stage, burstiness float64) {
	switch {
	case burstiness == 1 || burstiness <= 0:
		st.Arrival = plan.ArrivalPoisson
	case math.IsInf(burstiness, 1):
		st.Arrival = plan.ArrivalConstant
	default:
		st.Arrival, st.CV = plan.ArrivalGamma, importer.CV(burstiness)
	}
}

// start is when a run began: its date is that of its end, to the second.
func start(b *importer.Bench) time.Time {
	if s := b.Numbers["benchmark_start_time_unix"]; s > 0 {
		return time.Unix(0, int64(importer.Seconds(s)))
	}
	for _, layout := range []string{"20060102-150405", time.RFC3339} {
		if t, err := time.Parse(layout, b.Texts["date"]); err == nil {
			return t.Add(-importer.Seconds(b.Numbers["duration"]))
		}
	}
	return time.Unix(0, 0)
}

// figures reads a file without single requests.
func figures(_ tool.Env, from tool.From) (*tool.Figures, error) {
	runs, err := read(from.Path)
	if err != nil || len(runs) == 0 {
		return nil, err
	}
	f := &tool.Figures{Imported: tool.Imported{By: by, Notes: notes(runs)}, Plan: describe("", runs), Started: start(&runs[0])}
	for i := range runs {
		b := &runs[i]
		load := tool.LoadFigures{OK: int64(b.Numbers["completed"]), Failed: int64(b.Numbers["failed"]), Seconds: b.Numbers["duration"]}
		load.Metrics = b.Figures(map[string]string{
			"ttft": "time_to_first_token", "tpot": "time_per_output_token", "itl": "inter_event_latency",
			"e2el": "request_latency", "e2el_including_client_queue": "request_latency_from_due",
		}, map[string]string{
			"request_throughput": "request_throughput", "output_throughput": "output_token_throughput", "input_throughput": "input_token_throughput",
			"total_token_throughput": "total_token_throughput", "request_goodput": "request_goodput",
		})
		f.Loads = append(f.Loads, load)
	}
	f.Notes = append(f.Notes, "vllm bench divides its rates by the wall time of the whole run, from before the wait for the first arrival to the last response.")
	return f, nil
}

// notes say where its definitions differ from ours.
func notes(runs []importer.Bench) []string {
	list := []string{
		"vllm bench takes any chunk that has choices for a token, even one that only names the role: where a server begins with such a chunk, its time to first token is the time to that.",
		"vllm bench's ITL is our inter-event latency: the gap between chunks, whatever they hold. Its TPOT is our time per output token, of requests with more than one token.",
		"vllm bench's latency begins once a request has its place among --max-concurrency and, in chats before 0.30, ends with the usage chunk; since then with the last chunk that has choices. Ours ends with the last byte.",
		"vllm bench leaves failed requests out of every figure but their number, and of goodput's denominator.",
	}
	var untimed, unended, roles, unreadable, wrong bool
	for i := range runs {
		b := &runs[i]
		if !b.Detailed() {
			continue
		}
		untimed = untimed || !b.Timed()
		unended = unended || len(b.Latencies) == 0
		unreadable = unreadable || b.Unreadable() > 0
		ok, more := 0, 0
		for k := range b.TTFT {
			if b.Failed(k) {
				continue
			}
			if ok++; len(b.Gaps(k)) == b.Out[k] {
				more++
			}
		}
		roles = roles || ok > 0 && more == ok
		wrong = wrong || float64(ok) != b.Numbers["completed"]
	}
	for _, n := range []struct {
		is   bool
		text string
	}{
		{untimed, "The file does not say when requests were sent: they are spread evenly over its duration, so that nothing over time can be told from it."},
		{unended, "The file does not say when responses ended: request latency is to the last chunk, and shorter than vllm bench's where a usage chunk came behind it."},
		{roles, "Every response has one chunk more than tokens: the first of them is one without a token, from which vllm bench measures."},
		{unreadable, "Values that are no numbers count as 0."},
		{wrong, "The number of requests that succeeded is not the one that the file gives."},
	} {
		if n.is {
			list = append(list, n.text)
		}
	}
	return list
}
