package llmperf

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/inferometer/inferometer/internal/lib/atomicfile"
	"github.com/inferometer/inferometer/internal/prompt"
	"github.com/inferometer/inferometer/internal/record"
	"github.com/inferometer/inferometer/internal/tool/llmperf/report"
)

// order is in which order the file has the prompts, by the hashes of their content.
type order struct {
	mu     sync.Mutex
	hashes []uint64
}

func (o *order) add(p *prompt.Prompt) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if p.Seq < int64(len(o.hashes)) { // later levels begin again
		o.hashes[p.Seq] = p.Hash
	}
}

func (o *order) places() map[uint64][]int {
	if o == nil {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	places := map[uint64][]int{}
	for i, h := range o.hashes {
		places[h] = append(places[h], i)
	}
	return places
}

// writeResults writes the levels with every request of theirs.
func writeResults(name string, levels []report.LevelReport, records record.File, o *order, faithful bool) error {
	err := atomicfile.Write(name, func(w io.Writer) error {
		return report.WriteResults(w, levels, func(i int) ([]report.Request, error) {
			return requests(records, levels[i].Stage, o.places(), faithful)
		})
	})
	if err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	return nil
}

// requests are those of a stage, in the order of the prompts; places nil: in the order sent.
func requests(records record.File, stage int, places map[uint64][]int, faithful bool) ([]report.Request, error) {
	byPlace := map[int]report.Request{}
	err := records.Requests(func(rec *record.Record) error {
		if rec.Stage != stage || rec.Phase != record.Measured {
			return nil
		}
		if places == nil {
			byPlace[int(rec.Seq)] = request(rec, faithful)
		} else if at := places[rec.Prompt]; len(at) > 0 {
			byPlace[at[0]], places[rec.Prompt] = request(rec, faithful), at[1:]
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var all []report.Request
	for _, i := range slices.Sorted(maps.Keys(byPlace)) {
		all = append(all, byPlace[i])
	}
	return all, nil
}

// request is a record as the results have it. One that failed has no times. A whole response
// is its own first response; the original has none.
func request(rec *record.Record, faithful bool) report.Request {
	q := report.Request{Text: string(rec.Text), TTFT: -1, Latency: -1, InputTokens: rec.In.N, OutputTokens: rec.Out.N}
	if f := rec.Failure; f != nil {
		q.Error = strings.TrimSpace(string(f.Class) + " " + f.Message)
		return q
	}
	q.Latency = (rec.End - rec.Sent).Seconds()
	if !rec.Streamed && !faithful {
		q.TTFT = q.Latency
	}
	for _, e := range rec.Events {
		if rec.Streamed && e.Label != record.Comment && e.Mark < len(rec.Marks) {
			q.TTFT = (rec.Marks[e.Mark].Time() - rec.Sent).Seconds()
			break
		}
	}
	return q
}
