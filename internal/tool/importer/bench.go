package importer

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/inferometer/inferometer/internal/lib/limitio"
	"github.com/inferometer/inferometer/internal/lib/pyjson"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/record"
)

// Bench is one run as the serving benchmarks of vLLM and SGLang write it: an object with
// figures and, where it was asked for, one list for each fact of the requests.
type Bench struct {
	Texts   map[string]string
	Numbers map[string]float64 // of what was "inf" it has infinity

	In, Out    []int
	TTFT       []float64 // seconds; 0 of what failed
	Latencies  []float64
	Starts     []float64 // by a clock of its own
	Queues     []float64
	Errors     []string
	gaps       []time.Duration // of all requests
	gapEnds    []int           // where those of each end
	hasGaps    bool
	unreadable int // elements that are no numbers
}

// most bounds how much of it is kept.
const (
	mostRuns  = 10_000
	mostTexts = 1_000
)

// Benches gives the runs of a file, or of those in a directory, that a program wrote: the
// files whose head is one of its. They are read within the limit.
func Benches(path, by string, in limitio.Limit, mine func(h *Head) bool) ([]Bench, error) {
	heads, err := Files(path, ".json", ".jsonl")
	if err != nil {
		return nil, err
	}
	var all []Bench
	for _, h := range heads {
		if !mine(h) {
			continue
		}
		runs, err := ReadFile(h.Path, by, in, ReadBench)
		if err != nil {
			return nil, err
		}
		all = append(all, runs...)
	}
	return all, nil
}

// ReadBench reads the runs of a file, each an object, one behind the other.
func ReadBench(r io.Reader) ([]Bench, error) {
	d := pyjson.NewDecoder(r)
	var list []Bench
	for d.More() {
		if len(list) == mostRuns {
			return nil, fmt.Errorf("it has more than %d runs", mostRuns)
		}
		b := Bench{Texts: map[string]string{}, Numbers: map[string]float64{}}
		if err := d.Object(func(key string) error { return b.field(d, key) }); err != nil {
			return nil, fmt.Errorf("run %d: %w", len(list)+1, err)
		}
		if err := b.check(); err != nil {
			return nil, fmt.Errorf("run %d: %w", len(list)+1, err)
		}
		list = append(list, b)
	}
	if len(list) == 0 {
		return nil, errors.New("it holds no run")
	}
	return list, nil
}

// Detailed reports whether there are runs, and all have their single requests.
func Detailed(runs []Bench) bool {
	return len(runs) > 0 && !slices.ContainsFunc(runs, func(b Bench) bool { return !b.Detailed() })
}

func (b *Bench) field(d *pyjson.Decoder, key string) error {
	lists := map[string]*[]float64{"ttfts": &b.TTFT, "latencies": &b.Latencies, "start_times": &b.Starts, "queue_times": &b.Queues}
	if list := lists[key]; list != nil {
		return d.Array(func() error { return b.number(d, func(v float64) { *list = append(*list, v) }) })
	}
	switch key {
	case "input_lens":
		return d.Array(func() error { return b.number(d, func(v float64) { b.In = append(b.In, tokenCount(v)) }) })
	case "output_lens":
		return d.Array(func() error { return b.number(d, func(v float64) { b.Out = append(b.Out, tokenCount(v)) }) })
	case "itls":
		b.hasGaps = true
		return d.Array(func() error {
			err := d.Array(func() error {
				return b.number(d, func(v float64) { b.gaps = append(b.gaps, max(Seconds(v), 0)) })
			})
			b.gapEnds = append(b.gapEnds, len(b.gaps))
			return err
		})
	case "errors":
		return d.Array(func() error {
			var text *string
			err := d.Value(&text)
			if text == nil {
				text = new(string)
			}
			b.Errors = append(b.Errors, truncate.Text(*text, 20*mostMessage))
			return err
		})
	case "generated_texts", "server_info", "failed_requests", "per_turn_metrics", "steady_state":
		return d.Skip()
	}
	return b.scalar(d, key)
}

// scalar keeps a number or a text, and passes over the rest.
func (b *Bench) scalar(d *pyjson.Decoder, key string) error {
	var v any
	if err := d.Value(&v); err != nil {
		return err
	}
	if len(b.Texts)+len(b.Numbers) > mostTexts {
		return nil
	}
	switch v := v.(type) {
	case float64:
		b.Numbers[key] = v
	case string:
		if b.Texts[key] = truncate.Text(v, mostName); strings.EqualFold(v, "inf") {
			b.Numbers[key] = math.Inf(1)
		}
	}
	return nil
}

// number reads an element of a list. What is none counts as 0, so that lists stay in step.
func (b *Bench) number(d *pyjson.Decoder, add func(float64)) error {
	v, ok, err := d.Number()
	if !ok {
		b.unreadable++
	}
	add(v)
	return err
}

func tokenCount(v float64) int { return int(min(max(v, 0), 1e9)) }

// check finds lists that are not of the same requests.
func (b *Bench) check() error {
	if !b.Detailed() {
		return nil
	}
	n := len(b.TTFT)
	if n == 0 {
		return errors.New("it has no requests")
	}
	for name, k := range map[string]int{
		"input_lens": len(b.In), "output_lens": len(b.Out), "itls": len(b.gapEnds), "latencies": len(b.Latencies), "start_times": len(b.Starts), "queue_times": len(b.Queues), "errors": len(b.Errors),
	} {
		if k != n && (k > 0 || name == "itls" || name == "output_lens") {
			return fmt.Errorf("%s has %d elements and ttfts %d", name, k, n)
		}
	}
	return nil
}

// Detailed reports whether it has the single requests.
func (b *Bench) Detailed() bool { return b.TTFT != nil && b.hasGaps && b.Out != nil }

// Gaps are those between the chunks of a request.
func (b *Bench) Gaps(i int) []time.Duration {
	from := 0
	if i > 0 {
		from = b.gapEnds[i-1]
	}
	return b.gaps[from:b.gapEnds[i]]
}

// Failed reports whether a request failed: it has an error, or nothing came.
func (b *Bench) Failed(i int) bool {
	return i < len(b.Errors) && b.Errors[i] != "" || b.Out[i] == 0 && b.TTFT[i] == 0
}

// Requests are the requests of the run: those of a stage, from a time on, the first of
// which has this number. Due says that they had a time to go, and waited for a place behind
// it. It gives the times of the first request and of the last response.
func (b *Bench) Requests(stage int, from time.Duration, seq int64, due bool,
	add func(*Request) error) (begin, end time.Duration, err error) {
	starts := b.starts()
	ranks := Ranks(starts)
	begin, end = math.MaxInt64, from
	wait := time.Duration(0) // of the first, which would else be due before the run began
	if due && len(b.Queues) > 0 {
		wait = max(Seconds(slices.Max(b.Queues)), 0)
	}
	for i := range b.TTFT {
		sent := from + starts[i] + wait
		r := &Request{
			Seq: seq + ranks[i], Stage: stage, Due: sent, Sent: sent, In: -1, Out: b.Out[i], Cached: -1,
			Streamed: true, Counted: record.FromServer,
		}
		if i < len(b.In) {
			r.In = b.In[i]
		}
		if due && i < len(b.Queues) {
			r.Held = max(Seconds(b.Queues[i]), 0)
			r.Due -= r.Held
		}
		r.End = sent + b.Latency(i)
		if b.Failed(i) {
			message := ""
			if i < len(b.Errors) {
				message = b.Errors[i]
			}
			r.Failure = Failure(0, "no response", message, r.End)
		} else {
			b.stream(i, r)
		}
		begin, end = min(begin, sent), max(end, r.End)
		if err := add(r); err != nil {
			return begin, end, err
		}
	}
	return begin, end, nil
}

// stream fills in when the chunks came.
func (b *Bench) stream(i int, r *Request) {
	gaps := b.Gaps(i)
	at := r.Sent + Seconds(b.TTFT[i])
	if b.TTFT[i] == 0 { // it was not asked for as a stream
		r.Streamed = false
		return
	}
	r.Each = len(gaps)+1 == b.Out[i]
	r.Events = append(r.Events, at)
	for _, g := range gaps {
		at += g
		r.Events = append(r.Events, at)
	}
}

// Latency is how long a request took: to the last of its chunks by default.
func (b *Bench) Latency(i int) time.Duration {
	sum := Seconds(b.TTFT[i])
	for _, g := range b.Gaps(i) {
		sum += g
	}
	if i < len(b.Latencies) && b.Latencies[i] > 0 {
		return Seconds(b.Latencies[i])
	}
	return sum
}

// Unreadable is how many elements of its lists are no numbers.
func (b *Bench) Unreadable() int { return b.unreadable }

// Timed reports whether the file says when requests went.
func (b *Bench) Timed() bool { return len(b.Starts) > 0 }

// starts are when the requests went, the first at 0. Where the file does not
// say, they are spread evenly so that the last response comes at the end of its duration.
func (b *Bench) starts() []time.Duration {
	list := make([]time.Duration, len(b.TTFT))
	if b.Timed() {
		first := b.Starts[0]
		for _, s := range b.Starts {
			first = min(first, s)
		}
		for i, s := range b.Starts {
			list[i] = Seconds(s - first)
		}
		return list
	}
	whole, step := Seconds(b.Numbers["duration"]), time.Duration(math.MaxInt64)
	for i := 1; i < len(list); i++ {
		step = min(step, max(whole-b.Latency(i), 0)/time.Duration(i))
	}
	for i := range list {
		list[i] = time.Duration(i) * step
	}
	return list
}
