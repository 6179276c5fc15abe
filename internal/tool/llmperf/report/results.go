package report

import (
	"fmt"
	"io"
	"strconv"

	"github.com/inferometer/inferometer/internal/lib/orderedjson"
)

// Request is one request as the file of results has it. Times are in seconds; -1: none.
type Request struct {
	Text         string  `json:"output_text"`
	TTFT         float64 `json:"ttft"`
	Latency      float64 `json:"e2e_latency"`
	InputTokens  int     `json:"input_tokens"`
	OutputTokens int     `json:"output_tokens"`
	Error        string  `json:"error,omitempty"` // why it failed; empty: it did not
}

// WriteResults writes the file of results: levels by their concurrency, the later of equal ones,
// each with its requests in the order of the prompts. requests gives those of the i-th level.
func WriteResults(w io.Writer, levels []LevelReport, requests func(i int) ([]Request, error)) error {
	last := map[string]int{}
	for i := range levels {
		last[levels[i].key()] = i
	}
	begin := "{"
	for i := range levels {
		l := &levels[i]
		if last[l.key()] != i {
			continue
		}
		all, err := requests(i)
		if err != nil {
			return err
		}
		if all == nil {
			all = []Request{}
		}
		text, err := orderedjson.Compact(l.document(all))
		if err != nil {
			return fmt.Errorf("writing the results of concurrency %s: %w", l.key(), err)
		}
		if _, err := fmt.Fprintf(w, "%s%s: %s", begin, strconv.Quote(l.key()), text); err != nil {
			return err
		}
		begin = ", "
	}
	if begin == "{" {
		begin = "{}"
	} else {
		begin = "}"
	}
	_, err := io.WriteString(w, begin)
	return err
}

// document is a level as the file has it, its keys in the original's order.
func (l *LevelReport) document(requests []Request) orderedjson.Object {
	var level, metrics orderedjson.Object
	if l.Load != "" {
		level.Set("load", l.Load)
	} else {
		level.Set("concurrency", l.Concurrency)
	}
	for _, m := range l.metrics() {
		metrics.Set(m.name, m.value)
	}
	level.Set("client_requests", l.Payloads)
	level.Set("throughput", l.Throughput())
	level.Set("perf_results", requests)
	level.Set("metrics", metrics)
	return level
}

func (l *LevelReport) key() string {
	if l.Load != "" {
		return l.Load
	}
	return strconv.Itoa(l.Concurrency)
}
