// Package guidellm reads benchmarks.json of GuideLLM, in the layouts of 0.3 to 0.8: several
// benchmarks, each at a load of its own, with their figures and all or some of their requests.
package guidellm

import (
	"fmt"
	"math"
	"time"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/run/saved"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// by is who writes such files.
const by = "GuideLLM"

// Tool reads its files. It is no command.
func Tool() tool.Tool {
	return tool.Tool{Name: "guidellm", Reads: "benchmarks.json of GuideLLM", Import: importRun, Figures: figures}
}

// open reads the file of a path, or the one in a directory; nil means there is none of GuideLLM's.
func open(path string) (*document, error) {
	heads, err := importer.Files(path, ".json")
	if err != nil {
		return nil, err
	}
	name := ""
	for _, h := range heads {
		if !h.Has("benchmarks") || h.Has("experiments") {
			continue
		}
		if name != "" {
			return nil, fmt.Errorf("there are several files of GuideLLM in %s: choose one of %s, %s", path, name, h.Path)
		}
		name = h.Path
	}
	if name == "" {
		return nil, nil
	}
	d, err := importer.ReadFile(name, by, tool.Inputs(), read)
	if err != nil {
		return nil, err
	}
	if !d.known() { // somebody else has benchmarks too
		return nil, nil
	}
	return d, nil
}

// importRun makes an output directory of a file with all requests of all benchmarks: a stage each.
func importRun(env tool.Env, from tool.From, dir string) (*tool.Imported, error) {
	d, err := open(from.Path)
	if err != nil || d == nil || !d.complete() {
		return nil, err
	}
	base := d.base()
	p := d.plan(dir)
	header := record.Header{Version: env.Version, Decoder: p.Target.Protocol, Start: time.Unix(0, int64(importer.Seconds(base)))}
	read := &tool.Imported{By: d.writer(), Notes: notes()}
	for i := range d.benchmarks {
		b := &d.benchmarks[i]
		begin, end := b.span()
		read.Notes = importer.Noted(read.Notes, i, len(d.benchmarks), importer.Window(by, b.window(), end-begin))
	}
	return read, saved.Create(p, header, func(add func(*record.Record) error) error {
		var starts []float64
		for i := range d.benchmarks {
			for k := range d.benchmarks[i].requests {
				starts = append(starts, d.benchmarks[i].requests[k].start)
			}
		}
		ranks, n := importer.Ranks(starts), 0
		for i := range d.benchmarks {
			b := &d.benchmarks[i]
			for k := range b.requests {
				r := b.requests[k].foreign(base, p.Stages[i].Rate > 0)
				r.Seq, r.Stage = ranks[n], i
				n++
				if err := add(r.Record()); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// plan is what the loads of the benchmarks come to.
func (d *document) plan(dir string) *plan.Plan {
	var stages []plan.Stage
	streaming := false
	for i := range d.benchmarks {
		b := &d.benchmarks[i]
		stages = append(stages, b.stage())
		streaming = streaming || b.metrics["time_to_first_token_ms"].Successful.Count > 0
	}
	p := importer.Plan(dir, d.model, d.target, streaming, stages)
	importer.Endpoint(p, d.format)
	p.Target.Streaming = streaming
	return p
}

func (b *benchmark) stage() plan.Stage {
	s, n := b.strategy, max(b.totals.Total, int64(len(b.requests)))
	most := int(min(max(s.Max, 0), 1e9))
	switch s.Type {
	case "synchronous":
		return importer.Stage(0, 1, n)
	case "concurrent":
		return importer.Stage(0, int(min(max(s.Streams, 1), 1e9)), n)
	case "constant", "async", "poisson":
		st := importer.Stage(s.Rate, most, n)
		if st.Rate > 0 {
			st.Arrival = plan.ArrivalConstant
			if s.Type == "poisson" {
				st.Arrival = plan.ArrivalPoisson
			}
		}
		return st
	case "throughput":
		return importer.Stage(0, int(min(int64(most), max(n, 1))), n)
	}
	begin, end := b.span()
	if n > 1 && end > begin { // a trace: what it came to
		return importer.Stage(importer.Rate(n, end-begin), most, n)
	}
	return importer.Stage(0, most, n)
}

// names are the metrics that we have too.
var names = map[string]string{
	"time_to_first_token_ms": "time_to_first_token", "time_to_first_output_token_ms": "time_to_first_output_token", "inter_token_latency_ms": "time_per_output_token",
	"request_latency": "request_latency", "prompt_token_count": "input_sequence_length", "output_token_count": "output_sequence_length",
}

// rates are those of which the mean alone is one of ours.
var rates = map[string]string{
	"requests_per_second": "request_throughput", "output_tokens_per_second": "output_token_throughput", "prompt_tokens_per_second": "input_token_throughput",
	"tokens_per_second": "total_token_throughput", "request_concurrency": "concurrency",
}

func figures(_ tool.Env, from tool.From) (*tool.Figures, error) {
	d, err := open(from.Path)
	if err != nil || d == nil {
		return nil, err
	}
	f := &tool.Figures{Imported: tool.Imported{By: d.writer(), Notes: notes()}, Plan: d.plan("")}
	if base := d.base(); base < math.Inf(1) {
		f.Started = time.Unix(0, int64(importer.Seconds(base)))
	}
	for i := range d.benchmarks {
		b := &d.benchmarks[i]
		load := tool.LoadFigures{OK: b.totals.Successful, Failed: b.totals.Errored + b.totals.Incomplete, Seconds: b.window()}
		load.Metrics = b.figures()
		f.Loads = append(f.Loads, load)
	}
	if kept, all := d.kept(); kept < all {
		f.Notes = append([]string{fmt.Sprintf("The file has %d of %d successful requests (GuideLLM was told to keep a sample), so that the figures are GuideLLM's own.", kept, all)}, f.Notes...)
	}
	f.Notes = append(f.Notes,
		"GuideLLM's percentiles are values that were measured: the first with at least that share at or below it. Ours lie between the two nearest.",
		"GuideLLM's requests and tokens per second are over the window that it measures, without its warm-up and cool-down; before 0.8 those of tokens run from the first token on and come out higher.")
	return f, nil
}

func (b *benchmark) figures() importer.Figures {
	f := importer.Figures{}
	for key, id := range names {
		s := b.metrics[key].Successful
		if s.Count == 0 {
			continue
		}
		by := 1.0
		if key == "request_latency" {
			by = 1e3
		}
		for name, v := range s.statistics() {
			f.Set(id, name, v*by)
		}
	}
	for key, id := range rates {
		if s := b.metrics[key].Successful; s.Count > 0 && s.Mean != nil {
			f.Set(id, "avg", *s.Mean)
		}
	}
	t := b.totals
	f.Set("request_count", "avg", float64(t.Successful))
	f.Set("error_rate", "avg", float64(t.Errored+t.Incomplete)/float64(max(t.Successful+t.Errored+t.Incomplete, 1)))
	return f
}

// notes say where its definitions differ from ours.
func notes() []string {
	return []string{
		"GuideLLM's inter token latency is our time per output token; its own time per output token contains the time to first token. It weighs both by the tokens of each request, ours counts each request once.",
		"GuideLLM keeps the first and the last token of a request alone: there are no gaps between tokens.",
		"GuideLLM measures from when the first byte of the request is written since 0.8, and from before the connection is made in older versions; its clock is the wall clock, which counts in quarters of a microsecond.",
		"GuideLLM's incomplete requests, which it cancels when time is up, count as failed here.",
	}
}
