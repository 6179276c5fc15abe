package genaiperf

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/inferometer/inferometer/internal/plan"
	"github.com/inferometer/inferometer/internal/tool"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

// importNotes say where the definitions of the originals differ from ours.
func importNotes() []string {
	return []string{
		"GenAI-Perf's inter token latency is our time per output token, to the last response rather than to the last token.",
		"GenAI-Perf counts tokens with its own tokenizer, and takes reasoning and tool calls for no output: its first token is the first visible one.",
		"Perf Analyzer's latency ends with the last response of the stream, as ours does; it ends at the first request that fails, and writes no file.",
	}
}

// figures reads the report of a run without its profile export, as JSON or as CSV.
func figures(_ tool.Env, from tool.From) (*tool.Figures, error) {
	heads, err := importer.Files(from.Path, ".json", ".csv")
	if err != nil {
		return nil, err
	}
	var found *importer.Head
	for _, h := range heads {
		switch {
		case h.Has("request_throughput", "input_config") && !h.Has("aiperf_version"):
			if found != nil && found.Has("input_config") {
				return nil, fmt.Errorf("there are several reports of GenAI-Perf in %s: choose one of %s, %s", from.Path, found.Path, h.Path)
			}
			found = h
		case strings.HasPrefix(h.Line, "Metric,avg,min,max,p99,") && found == nil:
			found = h
		}
	}
	if found == nil {
		return nil, nil
	}
	sum, err := readSummary(found)
	if err != nil {
		return nil, fmt.Errorf("%s: reading what GenAI-Perf wrote: %w", found.Path, err)
	}
	load := tool.LoadFigures{OK: int64(sum.Value("request_count")), Metrics: sum.Figures()}
	if rate := sum.Value("request_throughput"); rate > 0 {
		load.Seconds = float64(load.OK) / rate
	}
	f := &tool.Figures{Imported: tool.Imported{By: "GenAI-Perf", Notes: importNotes()}, Loads: []tool.LoadFigures{load}}
	f.Notes = append(f.Notes, "GenAI-Perf divides its rates by the time from the first request to the last response, as we do.")
	var known bool
	if f.Plan, known = planOf(sum, load.OK); !known {
		f.Notes = append(f.Notes, "The file does not say under which load this was measured.")
	}
	return f, nil
}

func readSummary(h *importer.Head) (*importer.Summary, error) {
	file, err := tool.Inputs().Open(h.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if h.Has("input_config") {
		return importer.ReadSummary(tool.Inputs().Reader(file, h.Path))
	}
	return importer.ReadSummaryCSV(tool.Inputs().Reader(file, h.Path))
}

// planOf is what input_config comes to. Of what else it has, headers and extra inputs among
// it, nothing is taken.
func planOf(sum *importer.Summary, requests int64) (p *plan.Plan, known bool) {
	var c struct {
		Models   []string `json:"model_names"`
		Endpoint struct {
			Type      string `json:"type"`
			Streaming bool   `json:"streaming"`
			URL       string `json:"url"`
		} `json:"endpoint"`
		Analyzer struct {
			Stimulus map[string]float64 `json:"stimulus"`
		} `json:"perf_analyzer"`
	}
	_ = json.Unmarshal(sum.Config, &c) // what fits is taken
	rate, inFlight := c.Analyzer.Stimulus["request_rate"], c.Analyzer.Stimulus["concurrency"]
	model := ""
	if len(c.Models) > 0 {
		model = c.Models[0]
	}
	p = importer.Plan("", model, c.Endpoint.URL, c.Endpoint.Streaming, []plan.Stage{importer.Stage(rate, int(min(max(inFlight, 0), 1e9)), requests)})
	importer.Endpoint(p, c.Endpoint.Type)
	return p, rate > 0 || inFlight > 0
}
