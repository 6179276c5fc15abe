package guidellm

import (
	"encoding/json"
	"errors"
	"io"
	"math"

	"github.com/inferometer/inferometer/internal/lib/pyjson"
	"github.com/inferometer/inferometer/internal/lib/truncate"
	"github.com/inferometer/inferometer/internal/tool/importer"
)

type document struct {
	version    string
	model      string
	target     string
	format     string // of requests: the path
	benchmarks []benchmark
}

type benchmark struct {
	kind     string
	strategy strategy
	metrics  map[string]distribution
	totals   totals
	requests []request
	kept     int64 // of those, the ones that succeeded
	start    float64
	end      float64
	duration float64
}

type strategy struct {
	Type    string  `json:"type_"`
	Streams float64 `json:"streams"`
	Rate    float64 `json:"rate"`
	Max     float64 `json:"max_concurrency"`
}

type totals struct {
	Successful int64 `json:"successful"`
	Errored    int64 `json:"errored"`
	Incomplete int64 `json:"incomplete"`
	Total      int64 `json:"total"`
}

// distribution is one metric, of the requests of each state.
type distribution struct {
	Successful summary `json:"successful"`
}

type summary struct {
	Mean        *float64            `json:"mean"`
	Median      *float64            `json:"median"`
	Std         *float64            `json:"std_dev"`
	Min         *float64            `json:"min"`
	Max         *float64            `json:"max"`
	Count       float64             `json:"count"`
	Percentiles map[string]*float64 `json:"percentiles"`
}

func (s *summary) statistics() map[string]float64 {
	out := map[string]float64{}
	set := func(name string, v *float64) {
		if name != "" && v != nil {
			out[name] = *v
		}
	}
	for name, v := range s.Percentiles {
		set(importer.Statistic(name), v)
	}
	for name, v := range map[string]*float64{"avg": s.Mean, "p50": s.Median, "std": s.Std, "min": s.Min, "max": s.Max} {
		set(name, v)
	}
	return out
}

// backend says what was measured. What it has of keys and headers is not read.
type backend struct {
	Target string `json:"target"`
	Model  string `json:"model"`
	Format string `json:"request_format"`
}

// mostBenchmarks bounds how many loads a file may have.
const mostBenchmarks = 10_000

// read reads a file front to back.
func read(r io.Reader) (*document, error) {
	d := pyjson.NewDecoder(r)
	doc := &document{}
	return doc, d.Object(func(key string) error {
		switch key {
		case "metadata":
			var m struct {
				Version string `json:"guidellm_version"`
			}
			err := lenient(d, &m)
			doc.version = truncate.Text(m.Version, 40)
			return err
		case "args":
			var a struct {
				Kwargs backend `json:"backend_kwargs"`
				Args   backend `json:"backend_args"`
				Target string  `json:"target"`
				Model  string  `json:"model"`
			}
			err := lenient(d, &a)
			doc.name(a.Kwargs)
			doc.name(a.Args)
			doc.name(backend{Target: a.Target, Model: a.Model})
			return err
		case "config":
			var c struct {
				Spec struct {
					Backend backend `json:"backend"`
				} `json:"spec"`
			}
			err := lenient(d, &c)
			doc.name(c.Spec.Backend)
			return err
		case "benchmarks":
			return d.Array(func() error { return doc.benchmark(d) })
		}
		return d.Skip()
	})
}

// lenient reads a value of which only what fits is taken.
func lenient(d *pyjson.Decoder, v any) error {
	err := d.Value(v)
	var other *json.UnmarshalTypeError
	if errors.As(err, &other) {
		return nil
	}
	return err
}

// name takes what is not known yet.
func (doc *document) name(b backend) {
	if doc.target == "" {
		doc.target = b.Target
	}
	if doc.model == "" {
		doc.model = b.Model
	}
	if doc.format == "" {
		doc.format = b.Format
	}
}

func (doc *document) benchmark(d *pyjson.Decoder) error {
	if len(doc.benchmarks) == mostBenchmarks {
		return errors.New("it has too many benchmarks")
	}
	var b benchmark
	err := d.Object(func(key string) error {
		switch key {
		case "type_":
			return lenient(d, &b.kind)
		case "config", "args": // "args" up to 0.5
			var c struct {
				Strategy strategy `json:"strategy"`
				Backend  backend  `json:"backend"`
			}
			err := lenient(d, &c)
			b.strategy = c.Strategy
			doc.name(c.Backend)
			return err
		case "worker": // up to 0.3
			var w struct {
				Target string `json:"backend_target"`
				Model  string `json:"backend_model"`
			}
			err := lenient(d, &w)
			doc.name(backend{Target: w.Target, Model: w.Model})
			return err
		case "start_time":
			return lenient(d, &b.start)
		case "end_time":
			return lenient(d, &b.end)
		case "duration":
			return lenient(d, &b.duration)
		case "request_totals": // in metrics since 0.4
			return lenient(d, &b.totals)
		case "metrics":
			return b.readMetrics(d)
		case "requests":
			return d.Object(func(state string) error { return b.readRequests(d, state) })
		}
		return d.Skip()
	})
	doc.benchmarks = append(doc.benchmarks, b)
	return err
}

func (b *benchmark) readMetrics(d *pyjson.Decoder) error {
	b.metrics = map[string]distribution{}
	return d.Object(func(key string) error {
		switch {
		case key == "request_totals":
			return lenient(d, &b.totals)
		case names[key] == "" && rates[key] == "":
			return d.Skip()
		}
		var m distribution
		err := lenient(d, &m)
		b.metrics[key] = m
		return err
	})
}

// readRequests reads the requests that came to one of the states.
func (b *benchmark) readRequests(d *pyjson.Decoder, state string) error {
	if state != "successful" && state != "errored" && state != "incomplete" {
		return d.Skip()
	}
	return elements(d, func() error {
		var s stats
		if err := lenient(d, &s); err != nil {
			return err
		}
		r, ok := s.request(state)
		if !ok {
			return nil
		}
		if b.requests = append(b.requests, r); state == "successful" {
			b.kept++
		}
		return nil
	})
}

// elements reads an array, or null.
func elements(d *pyjson.Decoder, f func() error) error {
	t, err := d.Token()
	if err != nil || t != json.Delim('[') {
		return err
	}
	for d.More() {
		if err := f(); err != nil {
			return err
		}
	}
	_, err = d.Token()
	return err
}

func (doc *document) known() bool {
	for i := range doc.benchmarks {
		if doc.benchmarks[i].metrics == nil {
			return false
		}
	}
	return len(doc.benchmarks) > 0
}

func (doc *document) writer() string {
	if doc.version == "" {
		return by
	}
	return by + " " + doc.version
}

// kept is how many of the successful requests the file has, of how many.
func (doc *document) kept() (kept, all int64) {
	for i := range doc.benchmarks {
		b := &doc.benchmarks[i]
		kept, all = kept+min(b.kept, b.successful()), all+b.successful()
	}
	return kept, all
}

// successful is how many requests succeeded; 0.3 says so by the metrics alone.
func (b *benchmark) successful() int64 {
	return max(b.totals.Successful, int64(min(b.metrics["request_latency"].Successful.Count, 1e15)))
}

func (doc *document) complete() bool {
	for i := range doc.benchmarks {
		if b := &doc.benchmarks[i]; b.kept < b.successful() || len(b.requests) == 0 {
			return false
		}
	}
	return true
}

// base is the first moment of the file; infinity: it has none.
func (doc *document) base() float64 {
	base := math.Inf(1)
	for i := range doc.benchmarks {
		b := &doc.benchmarks[i]
		for k := range b.requests {
			if r := &b.requests[k]; r.due > 0 {
				base = min(base, r.due)
			}
			base = min(base, b.requests[k].start)
		}
		if len(b.requests) == 0 && b.start > 0 {
			base = min(base, b.start)
		}
	}
	return base
}

// span is when the first request went and the last ended.
func (b *benchmark) span() (begin, end float64) {
	begin = math.Inf(1)
	for i := range b.requests {
		begin, end = min(begin, b.requests[i].start), max(end, b.requests[i].end)
	}
	if len(b.requests) == 0 {
		return 0, 0
	}
	return begin, end
}

// window is how long its figures were measured, in seconds.
func (b *benchmark) window() float64 {
	if b.duration > 0 {
		return b.duration
	}
	return max(b.end-b.start, 0)
}
